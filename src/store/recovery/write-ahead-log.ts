/**
 * Reads SQLite's write-ahead log (https://sqlite.org/fileformat2.html#the_write_ahead_log) as SQLite does: up to the last
 * commit before the first frame that is damaged or older than the log's header.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import { endianness } from 'node:os'
import { fileSize } from './database-files.ts'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** The lowest bit says in which order the checksums read their words. */
const MAGIC = 0x377f0682
const PAGE_SIZE_AT = 8
const SALTS_AT = 16
const HEADER_SUM_AT = 24
/** In the header of a frame. */
const COMMIT_AT = 4
const FRAME_SALTS_AT = 8
const FRAME_SUM_AT = 16
/** The checksum of a frame covers its page number and commit mark, and its page. */
const SUMMED_HEADER_BYTES = 8

/** In the index of the log: its header, which is stored twice. */
const INDEX_HEADER_BYTES = 48
const INDEX_FRAMES_AT = 16
const INDEX_SALTS_AT = 32

interface Log {
  /** Where the newest committed version of a page begins, by page number. */
  pages: Map<number, number>
  /** Frames up to the last intact commit. */
  frames: number
  /** The file has commits behind damage, which SQLite ignores. */
  hasCommitsBehindDamage: boolean
}

const EMPTY: Log = { pages: new Map(), frames: 0, hasCommitsBehindDamage: false }

/** Where the newest committed version of a page begins in the log, by page number. */
export function loggedPages(file: string): Map<number, number> {
  return readLog(file).pages
}

/**
 * Whether commits may be lost because the log of a database is damaged; asked before SQLite opens it. A commit is behind the
 * damage, or the log's index has more than the log: it follows the log once that is on disk. One that the power failure
 * interrupted may count, too, if its end reached the disk before its beginning.
 */
export function hasLostCommits(databaseFile: string): boolean {
  const log = readLog(`${databaseFile}-wal`)
  return log.hasCommitsBehindDamage || indexedFrames(databaseFile) > log.frames
}

function readLog(file: string): Log {
  const size = fileSize(file)
  if (size <= HEADER_BYTES) return EMPTY
  const descriptor = openSync(file, 'r')
  try {
    return readFrames(descriptor, size)
  } finally {
    closeSync(descriptor)
  }
}

function readFrames(descriptor: number, size: number): Log {
  const header = Buffer.alloc(HEADER_BYTES)
  readSync(descriptor, header, 0, HEADER_BYTES, 0)
  const magic = header.readUInt32BE(0)
  const sum = new Checksum((magic & 1) === 1)
  sum.add(header.subarray(0, HEADER_SUM_AT))
  if ((magic & ~1) >>> 0 !== MAGIC || !sum.equals(header, HEADER_SUM_AT)) {
    return { ...EMPTY, hasCommitsBehindDamage: size > HEADER_BYTES + FRAME_HEADER_BYTES }
  }
  const pages = new Map<number, number>()
  let frames = 0
  let uncommitted = new Map<number, number>()
  let isIntact = true
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + header.readUInt32BE(PAGE_SIZE_AT))
  for (let n = 1, at = HEADER_BYTES; at + frame.length <= size; n += 1, at += frame.length) {
    readSync(descriptor, frame, 0, frame.length, at)
    const isCommit = frame.readUInt32BE(COMMIT_AT) !== 0
    if (!isIntact) {
      if (isCommit && hasSalts(frame, header)) return { pages, frames, hasCommitsBehindDamage: true }
      continue
    }
    sum.add(frame.subarray(0, SUMMED_HEADER_BYTES))
    sum.add(frame.subarray(FRAME_HEADER_BYTES))
    isIntact = hasSalts(frame, header) && sum.equals(frame, FRAME_SUM_AT)
    if (!isIntact) continue
    uncommitted.set(frame.readUInt32BE(0), at + FRAME_HEADER_BYTES)
    if (!isCommit) continue
    for (const [page, offset] of uncommitted) pages.set(page, offset)
    uncommitted = new Map()
    frames = n
  }
  return { pages, frames, hasCommitsBehindDamage: false }
}

/** Frames that were committed and synced, as the index says; 0 if it is missing, damaged or of another log. */
function indexedFrames(databaseFile: string): number {
  const [index, log] = [
    readStart(`${databaseFile}-shm`, 2 * INDEX_HEADER_BYTES),
    readStart(`${databaseFile}-wal`, HEADER_BYTES),
  ]
  if (index === null || log === null) return 0
  const isWhole = index.compare(index, INDEX_HEADER_BYTES, 2 * INDEX_HEADER_BYTES, 0, INDEX_HEADER_BYTES) === 0
  const isOfLog = index.compare(log, SALTS_AT, HEADER_SUM_AT, INDEX_SALTS_AT, INDEX_SALTS_AT + 8) === 0
  if (!isWhole || !isOfLog) return 0
  return endianness() === 'LE' ? index.readUInt32LE(INDEX_FRAMES_AT) : index.readUInt32BE(INDEX_FRAMES_AT)
}

function readStart(file: string, bytes: number): Buffer | null {
  if (fileSize(file) < bytes) return null
  const descriptor = openSync(file, 'r')
  try {
    const start = Buffer.alloc(bytes)
    readSync(descriptor, start, 0, bytes, 0)
    return start
  } finally {
    closeSync(descriptor)
  }
}

/** Frames of earlier use of the file have other salts. */
function hasSalts(frame: Buffer, header: Buffer): boolean {
  return frame.compare(header, SALTS_AT, HEADER_SUM_AT, FRAME_SALTS_AT, FRAME_SUM_AT) === 0
}

class Checksum {
  readonly #bigEndian: boolean
  #first = 0
  #second = 0

  constructor(bigEndian: boolean) {
    this.#bigEndian = bigEndian
  }

  add(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += 8) {
      this.#first = (this.#first + this.#word(bytes, at) + this.#second) >>> 0
      this.#second = (this.#second + this.#word(bytes, at + 4) + this.#first) >>> 0
    }
  }

  equals(bytes: Buffer, at: number): boolean {
    return bytes.readUInt32BE(at) === this.#first && bytes.readUInt32BE(at + 4) === this.#second
  }

  #word(bytes: Buffer, at: number): number {
    return this.#bigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)
  }
}
