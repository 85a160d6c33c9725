/** Opens a damaged database for reading, with a borrowed first page if it lost its own. */
import { closeSync, copyFileSync, existsSync, openSync, readSync, writeSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import { removeDatabase, sizeOf } from './files.ts'
import { type Connection, get } from './statement.ts'

export interface Source {
  db: Connection
  close(): void
}

/** Null when not even that helps. */
export function openDamaged(file: string, donorFile: string): Source | null {
  if (sizeOf(file) === 0) return null
  return openReadable(file) ?? openWithBorrowedHeader(file, donorFile)
}

function openReadable(file: string, cleanUp: () => void = () => {}): Source | null {
  let db: Connection | undefined
  try {
    db = new BetterSqlite3(file, { readonly: true, fileMustExist: true })
    get(db, 'SELECT 1 AS n FROM sdk_sessions LIMIT 0')
    const opened = db
    return {
      db: opened,
      close: () => {
        opened.close()
        cleanUp()
      },
    }
  } catch {
    db?.close()
    cleanUp()
    return null
  }
}

const HEADER_PAGE_SIZE_AT = 16
const HEADER_FORMAT_AT = 18
const HEADER_PAGE_COUNT_AT = 28

/**
 * The first page holds the header and the roots of all tables. Backups are page by page copies and migrations
 * run in one order, so the donor's first page fits; it is put before a copy, the damaged file stays as it is.
 */
function openWithBorrowedHeader(file: string, donorFile: string): Source | null {
  const copy = `${file}.borrowed-header`
  removeDatabase(copy)
  copyFileSync(file, copy)
  const hasLog = existsSync(`${file}-wal`)
  if (hasLog) copyFileSync(`${file}-wal`, `${copy}-wal`)
  const page = firstPage(donorFile)
  page.writeUInt32BE(Math.floor(sizeOf(copy) / page.length), HEADER_PAGE_COUNT_AT)
  page.fill(hasLog ? 2 : 1, HEADER_FORMAT_AT, HEADER_FORMAT_AT + 2)
  const descriptor = openSync(copy, 'r+')
  writeSync(descriptor, page, 0, page.length, 0)
  closeSync(descriptor)
  return openReadable(copy, () => removeDatabase(copy))
}

function firstPage(file: string): Buffer {
  const descriptor = openSync(file, 'r')
  try {
    const header = Buffer.alloc(100)
    readSync(descriptor, header, 0, header.length, 0)
    const size = header.readUInt16BE(HEADER_PAGE_SIZE_AT)
    const page = Buffer.alloc(size === 1 ? 65_536 : size)
    readSync(descriptor, page, 0, page.length, 0)
    return page
  } finally {
    closeSync(descriptor)
  }
}
