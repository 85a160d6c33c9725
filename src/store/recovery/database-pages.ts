/**
 * Reads the pages of a damaged database (https://sqlite.org/fileformat2.html) without SQLite, which gives up where a page is
 * lost that leads to others: one of the schema, or the root of a table. Nothing that is read here is trusted.
 */
import { closeSync, openSync, readSync } from 'node:fs'
import type { SqlValue } from '../sqlite/database.ts'
import { fileSize } from './database-files.ts'
import { loggedPages } from './write-ahead-log.ts'

/** SQLite's default, which every database of claude-mem has: the header, which may be lost, is not needed. */
const PAGE_BYTES = 4096
/** On the first page the header of the file comes before the page's own. */
const FILE_HEADER_BYTES = 100

const INTERIOR_INDEX = 0x02
const INTERIOR_TABLE = 0x05
const LEAF_INDEX = 0x0a
const LEAF_TABLE = 0x0d
/** A page without rows: of a long row, or free. */
const NO_TREE = 0x00
export type PageType = 'interior' | 'leaf' | 'index' | 'other' | 'unreadable'

const CELLS_AT = 3
const RIGHTMOST_AT = 8
const LEAF_HEADER_BYTES = 8
const INTERIOR_HEADER_BYTES = 12
/** A larger part of a row than these is on overflow pages: the formulas of the file format for this page size. */
const LARGEST_LOCAL_TABLE = PAGE_BYTES - 35
const LARGEST_LOCAL_INDEX = Math.floor(((PAGE_BYTES - 12) * 64) / 255) - 23
const SMALLEST_LOCAL = Math.floor(((PAGE_BYTES - 12) * 32) / 255) - 23
const OVERFLOW_BYTES = PAGE_BYTES - 4

export interface StoredRow {
  /** 0 in an index. */
  rowid: number
  values: SqlValue[]
}

interface LeafRows {
  rows: StoredRow[]
  /** Cells that cannot be read. */
  damaged: number
}

export class DatabasePages {
  /** Number of the last page; the first one is 1. */
  readonly count: number
  readonly #file: number
  readonly #fileBytes: number
  readonly #log: number | null
  readonly #inLog: ReadonlyMap<number, number>
  /** The cell that an overflow page belongs to: another one that leads to it is damaged, and reading stays linear. */
  readonly #cellOf = new Map<number, string>()

  constructor(file: string) {
    this.#inLog = loggedPages(`${file}-wal`)
    this.#file = openSync(file, 'r')
    this.#fileBytes = fileSize(file)
    this.#log = this.#inLog.size === 0 ? null : openSync(`${file}-wal`, 'r')
    this.count = Math.max(Math.floor(this.#fileBytes / PAGE_BYTES), ...this.#inLog.keys())
  }

  /** The header says that there were more pages; a lost header says nothing. */
  get isCutOff(): boolean {
    const first = this.#read(1)
    return (
      first === null || (first.toString('latin1', 0, 15) === 'SQLite format 3' && first.readUInt32BE(28) > this.count)
    )
  }

  close(): void {
    closeSync(this.#file)
    if (this.#log !== null) closeSync(this.#log)
  }

  typeOf(page: number): PageType {
    const bytes = this.#read(page)
    switch (bytes?.[headerAt(page)]) {
      case INTERIOR_TABLE:
        return 'interior'
      case LEAF_TABLE:
        return 'leaf'
      case INTERIOR_INDEX:
      case LEAF_INDEX:
        return 'index'
      case NO_TREE:
        return 'other'
      default:
        return 'unreadable'
    }
  }

  /** The pages below one of type `interior`. */
  children(page: number): number[] {
    const bytes = this.#read(page)
    if (bytes === null) return []
    const start = headerAt(page)
    const cells = cellOffsets(bytes, start, INTERIOR_HEADER_BYTES).filter((at) => at <= PAGE_BYTES - 4)
    return [...cells, start + RIGHTMOST_AT].map((at) => bytes.readUInt32BE(at))
  }

  /** The rows of a leaf of a table or an index. */
  rows(page: number): LeafRows {
    const bytes = this.#read(page)
    const type = bytes?.[headerAt(page)]
    if (bytes === null || (type !== LEAF_TABLE && type !== LEAF_INDEX)) return { rows: [], damaged: 1 }
    const found: LeafRows = { rows: [], damaged: 0 }
    for (const at of cellOffsets(bytes, headerAt(page), LEAF_HEADER_BYTES)) {
      const row = this.#row(bytes, at, type === LEAF_TABLE, `${page}:${at}`)
      if (row === null) found.damaged += 1
      else found.rows.push(row)
    }
    return found
  }

  #row(bytes: Buffer, at: number, inTable: boolean, cell: string): StoredRow | null {
    const size = readVarint(bytes, at)
    const key = inTable ? readVarint(bytes, size.next) : { value: 0, next: size.next }
    const largestLocal = inTable ? LARGEST_LOCAL_TABLE : LARGEST_LOCAL_INDEX
    const payload = this.#payload(bytes, key.next, size.value, largestLocal, cell)
    const values = payload === null ? null : decodeRecord(payload)
    return values === null ? null : { rowid: key.value, values }
  }

  #payload(bytes: Buffer, start: number, size: number, largestLocal: number, cell: string): Buffer | null {
    if (size > this.count * PAGE_BYTES) return null
    const rest = SMALLEST_LOCAL + ((size - SMALLEST_LOCAL) % OVERFLOW_BYTES)
    const local = size <= largestLocal ? size : rest <= largestLocal ? rest : SMALLEST_LOCAL
    const end = start + local
    if (local === size) return end > PAGE_BYTES ? null : bytes.subarray(start, end)
    if (end + 4 > PAGE_BYTES) return null
    const parts = [bytes.subarray(start, end)]
    let next = bytes.readUInt32BE(end)
    const chain = new Set<number>()
    for (let left = size - local; left > 0; left -= OVERFLOW_BYTES) {
      const page = chain.has(next) || (this.#cellOf.get(next) ?? cell) !== cell ? null : this.#read(next)
      if (page === null) return null
      chain.add(next)
      this.#cellOf.set(next, cell)
      parts.push(page.subarray(4, 4 + Math.min(left, OVERFLOW_BYTES)))
      next = page.readUInt32BE(0)
    }
    // The last page of a row leads to no other.
    return next === 0 ? Buffer.concat(parts) : null
  }

  #read(page: number): Buffer | null {
    const logged = this.#inLog.get(page)
    const at = logged ?? (page - 1) * PAGE_BYTES
    const descriptor = logged === undefined ? this.#file : this.#log
    if (descriptor === null || page < 1 || (logged === undefined && at + PAGE_BYTES > this.#fileBytes)) return null
    const bytes = Buffer.alloc(PAGE_BYTES)
    readSync(descriptor, bytes, 0, PAGE_BYTES, at)
    return bytes
  }
}

function headerAt(page: number): number {
  return page === 1 ? FILE_HEADER_BYTES : 0
}

function cellOffsets(bytes: Buffer, start: number, headerBytes: number): number[] {
  const most = (PAGE_BYTES - start - headerBytes) >> 1
  const count = Math.min(bytes.readUInt16BE(start + CELLS_AT), most)
  return Array.from({ length: count }, (_, n) => bytes.readUInt16BE(start + headerBytes + 2 * n))
}

/** `next`: where the number ends. Past the end of the page it is a size that no row has. */
function readVarint(bytes: Buffer, at: number): { value: number; next: number } {
  let value = 0n
  for (let n = 0; n < 9; n += 1) {
    const byte = bytes[at + n]
    if (byte === undefined) break
    if (n === 8) return { value: Number(BigInt.asIntN(64, (value << 8n) | BigInt(byte))), next: at + 9 }
    value = (value << 7n) | BigInt(byte & 0x7f)
    if (byte < 0x80) return { value: Number(value), next: at + n + 1 }
  }
  return { value: Number.MAX_SAFE_INTEGER, next: at }
}

/** Null if its types and its length contradict each other. */
function decodeRecord(record: Buffer): SqlValue[] | null {
  const header = readVarint(record, 0)
  if (header.value > record.length) return null
  const values: SqlValue[] = []
  let at = header.value
  for (let next = header.next; next < header.value; ) {
    const type = readVarint(record, next)
    next = type.next
    const bytes = sizeOf(type.value)
    if (bytes === null || next > header.value || at + bytes > record.length) return null
    values.push(decodeValue(type.value, record.subarray(at, at + bytes)))
    at += bytes
  }
  return at === record.length && values.length > 0 ? values : null
}

/** Bytes of the numbered types: null, integers, a double, and the integers 0 and 1. */
const SIZES = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0]
const DOUBLE = 7
/** From here on even types are blobs and odd ones texts. */
const FIRST_BLOB = 12

function sizeOf(type: number): number | null {
  if (type >= FIRST_BLOB) return Math.floor((type - FIRST_BLOB) / 2)
  return SIZES[type] ?? null
}

function decodeValue(type: number, bytes: Buffer): SqlValue {
  if (type >= FIRST_BLOB) return type % 2 === 0 ? Buffer.from(bytes) : bytes.toString('utf8')
  if (type === 0) return null
  if (type === DOUBLE) return bytes.readDoubleBE(0)
  if (bytes.length === 0) return type - 8
  return bytes.length === 8 ? Number(bytes.readBigInt64BE(0)) : bytes.readIntBE(0, bytes.length)
}
