/**
 * The file format of word vectors: a header, one scale per word, the length of each word, the words from the most
 * frequent on, and their vectors as signed bytes. Numbers are little-endian. The last 32 bytes are the SHA-256 of the
 * rest.
 */
import { createHash } from 'node:crypto'

const MAGIC = 'CMEMVECT'
const FORMAT_VERSION = 1
/** Magic, then version, words, dimensions and bytes of text, 32 bits each. */
const HEADER_BYTES = 24
const DIGEST_BYTES = 32
/** The length of a word is stored in one byte. */
const MAX_WORD_BYTES = 255
/** Largest component: a signed byte, symmetric around 0. */
const MAX_COMPONENT = 127

export interface WordVector {
  word: string
  vector: readonly number[]
}

export type WordVectorFile = ReturnType<typeof decodeWordVectors>

export function encodeWordVectors(words: readonly WordVector[], dimensions: number): Buffer {
  const texts = words.map(({ word }) => Buffer.from(word))
  const header = Buffer.alloc(HEADER_BYTES)
  header.write(MAGIC, 'latin1')
  const textBytes = texts.reduce((sum, { length }) => sum + length, 0)
  for (const [i, value] of [FORMAT_VERSION, words.length, dimensions, textBytes].entries()) {
    header.writeUInt32LE(value, MAGIC.length + 4 * i)
  }
  const scales = words.map(({ vector }) => Math.fround(Math.max(...vector.map(Math.abs)) / MAX_COMPONENT))
  const vectors = Buffer.alloc(words.length * dimensions)
  for (const [n, { word, vector }] of words.entries()) {
    const length = texts[n]?.length ?? 0
    if (length === 0 || length > MAX_WORD_BYTES) throw new RangeError(`"${word}" has ${length} bytes`)
    if (vector.length !== dimensions) throw new RangeError(`"${word}" has ${vector.length} dimensions`)
    for (const [i, value] of vector.entries()) {
      vectors.writeInt8(Math.round(value / (scales[n] || 1)), n * dimensions + i)
    }
  }
  const lengths = Buffer.from(texts.map(({ length }) => length))
  const body = Buffer.concat([header, floats(scales), lengths, ...texts, vectors])
  return Buffer.concat([body, digest(body)])
}

/** Throws an error that says what is wrong with the file. */
export function decodeWordVectors(file: Buffer) {
  if (file.length < HEADER_BYTES + DIGEST_BYTES || file.toString('latin1', 0, MAGIC.length) !== MAGIC) {
    throw new Error('it is not a file of word vectors')
  }
  const field = (i: number) => file.readUInt32LE(MAGIC.length + 4 * i)
  if (field(0) !== FORMAT_VERSION) throw new Error(`its format is ${field(0)}, not ${FORMAT_VERSION}`)
  const [count, dimensions, textBytes] = [field(1), field(2), field(3)]
  const expected = HEADER_BYTES + 5 * count + textBytes + count * dimensions + DIGEST_BYTES
  if (file.length !== expected) throw new Error(`it has ${file.length} bytes instead of ${expected}`)
  const body = file.subarray(0, file.length - DIGEST_BYTES)
  if (!digest(body).equals(file.subarray(body.length))) throw new Error('its checksum is wrong')
  const lengthsAt = HEADER_BYTES + 4 * count
  const textAt = lengthsAt + count
  const starts = wordOffsets(file.subarray(lengthsAt, textAt))
  if (starts[count] !== textBytes) throw new Error('the lengths of its words are wrong')
  return {
    dimensions,
    /** The bytes of all words without separators. */
    text: file.subarray(textAt, textAt + textBytes),
    /** Offset of word `n` in `text`, and the end of the last word. */
    starts,
    /** A component of word `n` is its byte times `scales[n]`. */
    scales: readFloats(file, HEADER_BYTES, count),
    vectors: new Int8Array(file.buffer, file.byteOffset + textAt + textBytes, count * dimensions),
  }
}

function wordOffsets(lengths: Buffer): Uint32Array {
  const starts = new Uint32Array(lengths.length + 1)
  let at = 0
  for (let n = 0; n < lengths.length; n++) {
    at += lengths[n] ?? 0
    starts[n + 1] = at
  }
  return starts
}

function floats(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries()) bytes.writeFloatLE(value, 4 * i)
  return bytes
}

function readFloats(file: Buffer, at: number, count: number): Float32Array {
  const values = new Float32Array(count)
  const view = new DataView(file.buffer, file.byteOffset + at, 4 * count)
  for (let i = 0; i < count; i++) values[i] = view.getFloat32(4 * i, true)
  return values
}

function digest(body: Buffer): Buffer {
  return createHash('sha256').update(body).digest()
}
