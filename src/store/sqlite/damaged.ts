/** Opens a damaged database for reading, with a borrowed first page if it lost its own. */
import { closeSync, copyFileSync, existsSync, openSync, readSync, writeSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import { removeDatabase, sizeOf } from './files.ts'
import { type Connection, get } from './statement.ts'

export interface Source {
  db: Connection
  /** Its list of tables is a donor's, which may know fewer than there are. */
  borrowedSchema: boolean
  close(): void
}

/** Null when not even that helps. */
export function openDamaged(file: string, donorFile: string): Source | null {
  if (sizeOf(file) === 0) return null
  return openReadable(file) ?? openWithBorrowedPage(file, donorFile)
}

function openReadable(file: string, borrowedSchema = false): Source | null {
  let db: Connection | undefined
  try {
    db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
    get(db, 'SELECT 1 AS n FROM sdk_sessions LIMIT 0')
    const opened = db
    return {
      db: opened,
      borrowedSchema,
      close: () => opened.close(),
    }
  } catch {
    db?.close()
    return null
  }
}

const HEADER_BYTES = 100
const HEADER_PAGE_SIZE_AT = 16
const HEADER_FORMAT_AT = 18
const HEADER_PAGE_COUNT_AT = 28

/**
 * The first page holds the header and, behind it, the roots of all tables. The header fits any database of ours. The
 * rest is borrowed only where it is lost too: it fits if both files went through the same migrations at the same
 * size, as a file and its own backup did. The donor's bytes go into a copy, the damaged file stays as it is.
 */
function openWithBorrowedPage(file: string, donorFile: string): Source | null {
  const copy = `${file}.borrowed-header`
  removeDatabase(copy)
  copyFileSync(file, copy)
  const hasLog = existsSync(`${file}-wal`)
  if (hasLog) copyFileSync(`${file}-wal`, `${copy}-wal`)
  const page = firstPage(donorFile)
  page.writeUInt32BE(Math.floor(sizeOf(copy) / page.length), HEADER_PAGE_COUNT_AT)
  page.fill(hasLog ? 2 : 1, HEADER_FORMAT_AT, HEADER_FORMAT_AT + 2)
  overwriteStart(copy, page.subarray(0, HEADER_BYTES))
  let source = openReadable(copy)
  if (source === null) {
    overwriteStart(copy, page)
    source = openReadable(copy, true)
  }
  if (source === null) {
    removeDatabase(copy)
    return null
  }
  const { close } = source
  return {
    ...source,
    close: () => {
      close()
      removeDatabase(copy)
    },
  }
}

function overwriteStart(file: string, bytes: Buffer): void {
  const descriptor = openSync(file, 'r+')
  try {
    writeSync(descriptor, bytes, 0, bytes.length, 0)
  } finally {
    closeSync(descriptor)
  }
}

function firstPage(file: string): Buffer {
  const descriptor = openSync(file, 'r')
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    readSync(descriptor, header, 0, header.length, 0)
    const size = header.readUInt16BE(HEADER_PAGE_SIZE_AT)
    const page = Buffer.alloc(size === 1 ? 65_536 : size)
    readSync(descriptor, page, 0, page.length, 0)
    return page
  } finally {
    closeSync(descriptor)
  }
}
