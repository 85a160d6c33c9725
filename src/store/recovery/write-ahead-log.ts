/**
 * Reads SQLite's write-ahead log (https://sqlite.org/fileformat2.html#the_write_ahead_log) as SQLite does: up to the last
 * commit before the first frame that is damaged or older than the log's header.
 */
import { closeSync, openSync, readSync } from 'node:fs'
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

/** Where the newest committed version of a page begins in the log, by page number. */
export function loggedPages(file: string): Map<number, number> {
  const size = fileSize(file)
  if (size <= HEADER_BYTES) return new Map()
  const descriptor = openSync(file, 'r')
  try {
    return readFrames(descriptor, size)
  } finally {
    closeSync(descriptor)
  }
}

function readFrames(descriptor: number, size: number): Map<number, number> {
  const pages = new Map<number, number>()
  const header = Buffer.alloc(HEADER_BYTES)
  readSync(descriptor, header, 0, HEADER_BYTES, 0)
  const magic = header.readUInt32BE(0)
  const sum = new Checksum((magic & 1) === 1)
  sum.add(header.subarray(0, HEADER_SUM_AT))
  if ((magic & ~1) >>> 0 !== MAGIC || !sum.equals(header, HEADER_SUM_AT)) return pages
  let uncommitted = new Map<number, number>()
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + header.readUInt32BE(PAGE_SIZE_AT))
  for (let at = HEADER_BYTES; at + frame.length <= size; at += frame.length) {
    readSync(descriptor, frame, 0, frame.length, at)
    sum.add(frame.subarray(0, SUMMED_HEADER_BYTES))
    sum.add(frame.subarray(FRAME_HEADER_BYTES))
    if (!hasSalts(frame, header) || !sum.equals(frame, FRAME_SUM_AT)) break
    uncommitted.set(frame.readUInt32BE(0), at + FRAME_HEADER_BYTES)
    if (frame.readUInt32BE(COMMIT_AT) === 0) continue
    for (const [page, offset] of uncommitted) pages.set(page, offset)
    uncommitted = new Map()
  }
  return pages
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
