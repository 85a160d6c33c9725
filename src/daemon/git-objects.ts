/**
 * Looks for commits in the object store of a repository, without running git. A commit counts only if its text is there and
 * has the id: an index can list any id, and a link can lead into another repository. For the same reason objects that are
 * borrowed from another store (`alternates`) do not count.
 *
 * Everything read here may be hostile: sizes, counts and depths are bounded, and nothing but regular files is opened.
 */
import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { lstat, opendir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inflate } from 'node:zlib'
import { openRegularFile, readRegularFile } from '../lib/files.ts'

/** A commit with a very long message, in bytes. */
const MAX_COMMIT_BYTES = 1 << 20
/** Repositories that are never packed together have some dozens. */
const MAX_PACKS = 64
/** The 256 directories of loose objects, `info` and `pack`. */
const MAX_PREFIX_ENTRIES = 300
/** Entries of the directory of packs that are looked at. */
const MAX_PACK_ENTRIES = 2_000
/** git itself makes chains of at most 50 deltas unless told otherwise. */
const MAX_DELTA_DEPTH = 50

const inflateAsync = promisify(inflate)

/** The first of these commits that is really in the repository's own store; null if none is. */
export async function findCommit(gitDir: string, ids: readonly string[]): Promise<string | null> {
  const objects = await ownDirectory(gitDir, 'objects')
  if (objects === null || ids.length === 0) return null
  const prefixes = await entryNames(objects, MAX_PREFIX_ENTRIES)
  for (const id of ids) {
    if (prefixes.includes(id.slice(0, 2)) && (await isLooseCommit(objects, id))) return id
  }
  const directory = await ownDirectory(objects, 'pack')
  if (directory === null) return null
  for (const name of await packNames(directory)) {
    const found = await findInPack(join(directory, name), ids)
    if (found !== null) return found
  }
  return null
}

/** Null if it does not exist, or is a link: then its content belongs to another repository. */
async function ownDirectory(parent: string, name: string): Promise<string | null> {
  try {
    const path = join(await realpath(parent), name)
    return (await realpath(path)) === path && (await lstat(path)).isDirectory() ? path : null
  } catch {
    return null
  }
}

async function isOwnFile(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isFile()
  } catch {
    return false
  }
}

async function isLooseCommit(objects: string, id: string): Promise<boolean> {
  const directory = join(objects, id.slice(0, 2))
  const file = join(directory, id.slice(2))
  if (!(await isOwnFile(file)) || (await ownDirectory(objects, id.slice(0, 2))) === null) return false
  try {
    const packed = await readRegularFile(file, MAX_COMMIT_BYTES)
    const object = await inflateAsync(packed, { maxOutputLength: MAX_COMMIT_BYTES })
    return object.subarray(0, 7).toString('latin1') === 'commit ' && hashOf(object, id.length) === id
  } catch {
    return false
  }
}

const hashOf = (object: Buffer, idChars: number): string =>
  createHash(idChars === SHA256_CHARS ? 'sha256' : 'sha1')
    .update(object)
    .digest('hex')
const SHA256_CHARS = 64

/** Names without ending of the packs that have an index. */
async function packNames(directory: string): Promise<string[]> {
  const indexes = (await entryNames(directory, MAX_PACK_ENTRIES)).filter((name) => name.endsWith('.idx'))
  return indexes.slice(0, MAX_PACKS).map((name) => name.slice(0, -'.idx'.length))
}

async function entryNames(directory: string, max: number): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of await opendir(directory)) {
    if (names.push(name) >= max) break
  }
  return names
}

async function findInPack(pack: string, ids: readonly string[]): Promise<string | null> {
  const handles: FileHandle[] = []
  try {
    if (!(await isOwnFile(`${pack}.idx`))) return null
    const index = await openRegularFile(`${pack}.idx`)
    handles.push(index)
    let data: FileHandle | null = null
    const readers = new Map<number, PackIndex>()
    for (const id of ids) {
      const reader = readers.get(id.length) ?? (await PackIndex.open(index, id.length / 2))
      readers.set(id.length, reader)
      const offset = await reader.offsetOf(Buffer.from(id, 'hex'))
      if (offset === null) continue
      if (data === null) {
        if (!(await isOwnFile(`${pack}.pack`))) return null
        data = await openRegularFile(`${pack}.pack`)
        handles.push(data)
      }
      if (await isPackedCommit(data, reader, offset, id)) return id
    }
    return null
  } catch {
    // Not an index that git wrote, or one that is being replaced.
    return null
  } finally {
    for (const handle of handles) await handle.close()
  }
}

const INDEX_MAGIC = 0xff744f63
const FAN_OUT_BYTES = 256 * 4
const NAMES_AT = 8 + FAN_OUT_BYTES
/** Ids of one bucket that are read at once; a larger bucket is narrowed down first. */
const MAX_READ_IDS = 4_096
/** Ids of a pack that are read at once, in bytes: some 200,000 objects. */
const MAX_IDS_BYTES = 4 << 20

/** An index of version 2, the only one that git has written since 2007. */
class PackIndex {
  static async open(file: FileHandle, idBytes: number): Promise<PackIndex> {
    const head = await readAt(file, 0, NAMES_AT)
    const fanOut = Array.from({ length: 256 }, (_, i) => head.readUInt32BE(8 + i * 4))
    const count = fanOut[255] ?? 0
    const isSorted = fanOut.every((value, i) => i === 0 || value >= (fanOut[i - 1] ?? 0))
    const { size } = await file.stat()
    const isWhole = size >= NAMES_AT + count * (idBytes + 8) + 2 * idBytes
    if (head.readUInt32BE(0) !== INDEX_MAGIC || head.readUInt32BE(4) !== 2 || !isSorted || !isWhole) {
      throw new RangeError('not a pack index')
    }
    return new PackIndex(file, idBytes, fanOut, count)
  }

  /** All ids, where they are not too many to read at once: most commits that are looked for are not there. */
  #all: Promise<Buffer> | null = null

  private constructor(
    readonly file: FileHandle,
    readonly idBytes: number,
    readonly fanOut: readonly number[],
    readonly count: number,
  ) {
    const bytes = count * idBytes
    if (bytes <= MAX_IDS_BYTES) this.#all = readAt(file, NAMES_AT, bytes)
    // Who looks for an id gets the error.
    this.#all?.catch(() => undefined)
  }

  /** Where the object begins in the pack; null if it is not listed. */
  async offsetOf(id: Buffer): Promise<number | null> {
    const first = id[0] ?? 0
    let low = first === 0 ? 0 : (this.fanOut[first - 1] ?? 0)
    let high = this.fanOut[first] ?? 0
    while (high - low > MAX_READ_IDS) {
      const middle = low + Math.floor((high - low) / 2)
      const order = Buffer.compare(await this.#ids(middle, middle + 1), id)
      if (order <= 0) low = middle
      else high = middle
    }
    const ids = await this.#ids(low, high)
    for (let i = 0; i < high - low; i++) {
      if (ids.compare(id, 0, this.idBytes, i * this.idBytes, (i + 1) * this.idBytes) === 0) {
        return await this.#offset(low + i)
      }
    }
    return null
  }

  async #ids(from: number, to: number): Promise<Buffer> {
    const [start, end] = [from * this.idBytes, to * this.idBytes]
    if (this.#all !== null) return (await this.#all).subarray(start, end)
    return await readAt(this.file, NAMES_AT + start, end - start)
  }

  async #offset(position: number): Promise<number> {
    // After the ids, the table of checksums with 4 bytes each.
    const table = NAMES_AT + this.count * (this.idBytes + 4)
    const offset = (await readAt(this.file, table + position * 4, 4)).readUInt32BE(0)
    if (offset < 2 ** 31) return offset
    const large = await readAt(this.file, table + this.count * 4 + (offset - 2 ** 31) * 8, 8)
    return Number(large.readBigUInt64BE(0))
  }
}

async function isPackedCommit(pack: FileHandle, index: PackIndex, offset: number, id: string): Promise<boolean> {
  try {
    const object = await packedObject(pack, index, offset, 0)
    const header = Buffer.from(`commit ${object.body.length}\0`, 'latin1')
    return object.type === COMMIT && hashOf(Buffer.concat([header, object.body]), id.length) === id
  } catch {
    return false
  }
}

/** Types of objects in a pack. */
const [COMMIT, OFFSET_DELTA, ID_DELTA] = [1, 6, 7]
/** Longest header of an object: type, size, and the base of a delta. In bytes. */
const MAX_HEADER_BYTES = 64

interface PackedObject {
  type: number
  body: Buffer
}

async function packedObject(pack: FileHandle, index: PackIndex, at: number, depth: number): Promise<PackedObject> {
  const header = await readUpTo(pack, at, MAX_HEADER_BYTES)
  const first = header.readUInt8(0)
  const type = (first >> 4) & 7
  let position = 1
  let size = first & 15
  for (let shift = 4, byte = first; byte & 128; shift += 7) {
    byte = header.readUInt8(position++)
    size += (byte & 127) * 2 ** shift
  }
  if (size > MAX_COMMIT_BYTES || depth > MAX_DELTA_DEPTH) throw new RangeError('larger than any commit')
  let base: number | null = null
  if (type === OFFSET_DELTA) {
    const back = deltaOffset(header, position)
    base = at - back.distance
    position = back.end
  } else if (type === ID_DELTA) {
    base = await index.offsetOf(header.subarray(position, position + index.idBytes))
    position += index.idBytes
  }
  const body = await inflateAt(pack, at + position, size)
  if (type !== OFFSET_DELTA && type !== ID_DELTA) return { type, body }
  if (base === null || base <= 0) throw new RangeError('a delta without its base')
  const below = await packedObject(pack, index, base, depth + 1)
  return { type: below.type, body: applyDelta(below.body, body) }
}

/** How far before a delta its base begins. */
function deltaOffset(header: Buffer, start: number): { distance: number; end: number } {
  let end = start
  let byte = header.readUInt8(end++)
  let distance = byte & 127
  while (byte & 128) {
    byte = header.readUInt8(end++)
    distance = (distance + 1) * 128 + (byte & 127)
  }
  return { distance, end }
}

async function inflateAt(pack: FileHandle, at: number, size: number): Promise<Buffer> {
  // What cannot be compressed grows by a few bytes for each block.
  const packed = await readUpTo(pack, at, size + (size >> 8) + MAX_HEADER_BYTES)
  const body = await inflateAsync(packed, { maxOutputLength: Math.max(size, 1) })
  if (body.length !== size) throw new RangeError('not the size that the pack says')
  return body
}

/** The text that a delta makes of its base: pieces of the base, and new ones. */
function applyDelta(base: Buffer, delta: Buffer): Buffer {
  let at = 0
  const next = (): number => delta.readUInt8(at++)
  const size = (): number => {
    let value = 0
    for (let shift = 0, byte = 128; byte & 128; shift += 7) {
      byte = next()
      value += (byte & 127) * 2 ** shift
    }
    return value
  }
  const [baseSize, resultSize] = [size(), size()]
  if (baseSize !== base.length || resultSize > MAX_COMMIT_BYTES) throw new RangeError('not a delta of this base')
  const result = Buffer.alloc(resultSize)
  let length = 0
  while (at < delta.length) {
    const command = next()
    let piece: Buffer
    if (command & 128) {
      const number = (bits: number, count: number): number => {
        let value = 0
        for (let i = 0; i < count; i++) if (command & (bits << i)) value += next() * 2 ** (8 * i)
        return value
      }
      const from = number(1, 4)
      const bytes = number(16, 3) || 0x10000
      piece = base.subarray(from, from + bytes)
    } else {
      piece = delta.subarray(at, at + command)
      at += command
    }
    if (piece.length === 0 || length + piece.length > resultSize) throw new RangeError('not a delta')
    length += piece.copy(result, length)
  }
  return result.subarray(0, length)
}

/** Exactly these bytes. */
async function readAt(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const read = await readUpTo(file, at, bytes)
  if (read.length < bytes) throw new RangeError('the file ends too early')
  return read
}

async function readUpTo(file: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, at)
  return buffer.subarray(0, bytesRead)
}
