/**
 * Word vectors that come with the program: no model, no network, microseconds a text. A text is the sum of its words,
 * the rare ones counting more.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MemError, messageOf } from '../../errors.ts'
import type { Embedder } from '../embedder.ts'
import { tokensOf } from '../tokens.ts'
import { Lexicon } from './lexicon.ts'
import { decodeVectorFile, type VectorFile } from './vector-file.ts'
import { Vocabulary } from './vocabulary.ts'
import { weightOf } from './weights.ts'

/** With its number: whatever changes a vector of any text takes the next one. */
export const STATIC_NAME = 'static-1'

/** The meaning of a text is settled long before; a whole file pasted into a prompt costs no more than this. */
const MAX_CHARS = 20_000

export async function staticEmbedder({ file = vectorsFile() }: { file?: string } = {}): Promise<Embedder> {
  const vectors = await load(file)
  const lexicon = new Lexicon(new Vocabulary(vectors.text, vectors.starts))
  return {
    name: STATIC_NAME,
    dimensions: vectors.dimensions,
    embed: async (texts) => texts.map((text) => embedOne(text, vectors, lexicon)),
  }
}

async function load(file: string): Promise<VectorFile> {
  try {
    return decodeVectorFile(await readFile(file))
  } catch (cause) {
    throw new MemError('internal', `${file} cannot be used: ${messageOf(cause)}. Install claude-mem again.`, { cause })
  }
}

function embedOne(text: string, file: VectorFile, lexicon: Lexicon): Float32Array | null {
  const sum = new Float64Array(file.dimensions)
  for (const token of tokensOf(text.slice(0, MAX_CHARS))) {
    for (const rank of lexicon.ranksOfToken(token)) add(sum, file, rank)
  }
  return unitOf(sum)
}

function add(sum: Float64Array, { vectors, scales, dimensions }: VectorFile, rank: number): void {
  const factor = (scales[rank] ?? 0) * weightOf(rank)
  const at = rank * dimensions
  for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + factor * (vectors[at + i] ?? 0)
}

/** Null: no word was known. */
function unitOf(sum: Float64Array): Float32Array | null {
  let square = 0
  for (const value of sum) square += value * value
  if (!(square > 0)) return null
  const factor = 1 / Math.sqrt(square)
  // Many times faster than `Float32Array.from` with a function.
  const unit = new Float32Array(sum.length)
  for (let i = 0; i < sum.length; i++) unit[i] = (sum[i] ?? 0) * factor
  return unit
}

const FILE = join('assets', 'word-vectors.bin')
const MAX_FOLDERS_UP = 6 // dist/chunks lies two below the package, a build in node_modules/.cache up to five

/** Beside the built program's directory, or at the root of the sources. */
function vectorsFile(): string {
  const start = dirname(fileURLToPath(import.meta.url))
  let at = start
  for (let up = 0; up < MAX_FOLDERS_UP; up++, at = dirname(at)) {
    if (existsSync(join(at, FILE))) return join(at, FILE)
  }
  throw new MemError('internal', `${FILE} is missing above ${start}. Install claude-mem again.`)
}
