/**
 * The file format: JSON Lines. The first line says what it is and which version of the format, the last one how many
 * lines there are, so that a file that was cut off is told from a whole one. docs/exchange.md describes the rest.
 */
import { MemError } from '../errors.ts'
import type { ExportRecord } from '../store/import-port.ts'
import { complaintOf, recordSchema } from './schema.ts'
import type { SourceItem } from './source.ts'

/** Raised when an older program would misunderstand a file. */
export const FORMAT_VERSION = 1

export interface Header {
  'claude-mem': number
  /** Version of the program that wrote it. */
  program: string
  exportedAt: string
}

export interface EndRecord {
  kind: 'end'
  /** Records before it. */
  records: number
}

/** Longer than any record: one holds some texts of at most 64 KB. Longer lines are passed over. */
export const MAX_LINE_CHARS = 4_000_000

export interface Line {
  /** From 1. */
  number: number
  /** Null where it was longer than `MAX_LINE_CHARS`. */
  text: string | null
}

export function* exportLines(
  records: Iterable<ExportRecord>,
  header: Omit<Header, 'claude-mem'>,
): Generator<Header | ExportRecord | EndRecord> {
  yield { 'claude-mem': FORMAT_VERSION, ...header }
  let count = 0
  for (const record of records) {
    yield record
    count += 1
  }
  yield { kind: 'end', records: count }
}

/** Before anything is started for it: throws where the first line is not that of an export that can be read here. */
export async function checkExport(lines: AsyncIterable<Line>, name: string): Promise<void> {
  for await (const { number, text } of lines) {
    if (text === null) throw foreign(name)
    const line = trimmed(number, text)
    if (line !== '') return checkHeader(line, name)
  }
  throw foreign(name)
}

/** `done`: how much of the file was read. */
export async function* readExport(
  lines: AsyncIterable<Line>,
  name: string,
  done: () => number,
): AsyncGenerator<SourceItem> {
  let headed = false
  let ended = false
  let last = 0
  for await (const { number, text } of lines) {
    last = number
    const at = `line ${number}`
    if (text === null) {
      if (!headed) throw foreign(name)
      yield { at, done: done(), problem: `longer than ${MAX_LINE_CHARS} characters` }
      continue
    }
    const line = trimmed(number, text)
    if (line === '') continue
    if (!headed) {
      checkHeader(line, name)
      headed = true
      continue
    }
    const item = itemOf(line)
    if ('ended' in item) ended = true
    else yield { at, done: done(), ...item }
  }
  if (!headed) throw foreign(name)
  if (!ended)
    yield { at: `line ${last}`, done: done(), problem: 'the file ends here, without its last line: it was cut off' }
}

/** Some editors put a mark at the very beginning. */
function trimmed(number: number, text: string): string {
  return (number === 1 ? text.replace(/^\ufeff/, '') : text).trim()
}

function checkHeader(line: string, name: string): void {
  const header = parsed(line)
  const version = isObject(header?.value) ? header.value['claude-mem'] : undefined
  if (typeof version !== 'number') throw foreign(name)
  if (version <= FORMAT_VERSION) return
  throw new MemError(
    'unsupported_version',
    `${name} was written by a newer claude-mem (format ${version}; this one knows up to ${FORMAT_VERSION}). Update claude-mem and try again.`,
  )
}

function itemOf(line: string): { record: ExportRecord } | { problem: string } | { ended: true } {
  const json = parsed(line)
  if (json === undefined) return { problem: 'not JSON, or only half of it' }
  const { value } = json
  if (isObject(value) && value.kind === 'end') return { ended: true }
  const record = recordSchema.safeParse(value)
  return record.success ? { record: record.data } : { problem: complaintOf(record.error) }
}

/** The engine's own message would quote the line. */
function parsed(line: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(line) }
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function foreign(name: string): MemError {
  return new MemError(
    'bad_request',
    `${name} is neither an export of claude-mem (its first line would say so) nor a database of the original claude-mem. Nothing was imported.`,
  )
}
