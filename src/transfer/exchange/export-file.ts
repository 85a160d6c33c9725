/**
 * The export file format: JSON Lines. The first line is a header with the format version, the last one has the number of
 * records, so that a truncated file is detected. docs/exchange.md describes the records.
 */

import { closeSync, readSync, statSync } from 'node:fs'
import { exportRecordSchema, firstIssue } from '../../api/record-schemas.ts'
import { parseJsonObject } from '../../hook/payload.ts'
import { errorMessage, MemError, systemCode } from '../../lib/errors.ts'
import { openRegularFileSync } from '../../lib/files.ts'
import type { ExportRecord } from '../../store/exchange-records.ts'
import type { NumberedLine } from '../transcripts/lines.ts'
import type { ImportItem } from './import.ts'

/** Raised when an older program would misread a file. */
const FORMAT_VERSION = 1

interface ExportHeader {
  'claude-mem': number
  /** Version of the program that wrote the file. */
  program: string
  exportedAt: string
}

interface ExportEnd {
  kind: 'end'
  /** Number of records before this line. */
  records: number
}

/** Longer than any record, which has a few texts of at most 64 KB. Longer lines are skipped. */
export const MAX_LINE_CHARS = 4_000_000

export function* exportLines(
  records: Iterable<ExportRecord>,
  header: Omit<ExportHeader, 'claude-mem'>,
): Generator<ExportHeader | ExportRecord | ExportEnd> {
  yield { 'claude-mem': FORMAT_VERSION, ...header }
  let count = 0
  for (const record of records) {
    yield record
    count += 1
  }
  yield { kind: 'end', records: count }
}

/** Throws if the first line is not the header of an export that this version can read. */
export async function checkExport(lines: AsyncIterable<NumberedLine>, name: string): Promise<void> {
  for await (const { number, text } of lines) {
    if (text === null) throw notAnExport(name)
    const line = trimLine(number, text)
    if (line !== '') return checkHeader(line, name)
  }
  throw notAnExport(name)
}

/** `done`: bytes of the file read so far. */
export async function* readExport(
  lines: AsyncIterable<NumberedLine>,
  name: string,
  done: () => number,
): AsyncGenerator<ImportItem> {
  let hasHeader = false
  let hasEnd = false
  let lastLine = 0
  for await (const { number, text } of lines) {
    lastLine = number
    const at = `line ${number}`
    if (text === null) {
      if (!hasHeader) throw notAnExport(name)
      yield { at, done: done(), problem: `longer than ${MAX_LINE_CHARS} characters` }
      continue
    }
    const line = trimLine(number, text)
    if (line === '') continue
    if (!hasHeader) {
      checkHeader(line, name)
      hasHeader = true
      continue
    }
    const item = parseItem(line)
    if ('ended' in item) hasEnd = true
    else yield { at, done: done(), ...item }
  }
  if (!hasHeader) throw notAnExport(name)
  if (!hasEnd)
    yield { at: `line ${lastLine}`, done: done(), problem: 'the file ends here without its last line: it is truncated' }
}

/** Some editors add a byte order mark. */
function trimLine(number: number, text: string): string {
  return (number === 1 ? text.replace(/^\ufeff/, '') : text).trim()
}

function checkHeader(line: string, name: string): void {
  const version = parseJsonObject(line)?.['claude-mem']
  if (typeof version !== 'number') throw notAnExport(name)
  if (version <= FORMAT_VERSION) return
  throw new MemError(
    'unsupported_version',
    `${name} was written by a newer claude-mem (format ${version}; this one knows up to ${FORMAT_VERSION}). Update claude-mem and try again.`,
  )
}

function parseItem(line: string): { record: ExportRecord } | { problem: string } | { ended: true } {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    // The error of JSON.parse is not used: it quotes the line.
    return { problem: 'not JSON, or truncated' }
  }
  if (Object(value).kind === 'end') return { ended: true }
  const record = exportRecordSchema.safeParse(value)
  return record.success ? { record: record.data } : { problem: firstIssue(record.error) }
}

function notAnExport(name: string): MemError {
  return new MemError(
    'bad_request',
    `${name} is neither an export of claude-mem nor a database of the original claude-mem. Nothing was imported.`,
  )
}

/** A million observations have about 2 GB. */
const MAX_IMPORT_BYTES = 8 * 1024 ** 3

const SQLITE_MAGIC = 'SQLite format 3\0'

/** What kind of file the user wants to import. `text` is not yet known to be an export; `checkExport` tells. */
export function detectImportFile(file: string): { is: 'database' | 'text'; bytes: number } {
  try {
    const stat = statSync(file)
    if (!stat.isFile()) throw new MemError('bad_request', `${file} is not a file`)
    if (stat.size === 0) throw new MemError('bad_request', `${file} is empty`)
    if (stat.size > MAX_IMPORT_BYTES) {
      throw new MemError(
        'too_large',
        `${file} has more than ${MAX_IMPORT_BYTES / 1024 ** 3} GB; export less: --project, --since`,
      )
    }
    return { is: readMagic(file) === SQLITE_MAGIC ? 'database' : 'text', bytes: stat.size }
  } catch (error) {
    if (error instanceof MemError) throw error
    if (systemCode(error) === 'ENOENT') throw new MemError('not_found', `${file} does not exist`)
    throw new MemError('storage', `${file} cannot be read: ${errorMessage(error)}`, { cause: error })
  }
}

function readMagic(file: string): string {
  const descriptor = openRegularFileSync(file)
  try {
    const buffer = Buffer.alloc(SQLITE_MAGIC.length)
    const length = readSync(descriptor, buffer, 0, buffer.length, 0)
    return buffer.toString('latin1', 0, length)
  } finally {
    closeSync(descriptor)
  }
}
