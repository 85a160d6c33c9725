/** Export and import between two real stores, without a daemon in between. */
import { Readable } from 'node:stream'
import { cleanImportBatch } from '../../../src/api/import.ts'
import type { Project } from '../../../src/domain/project.ts'
import { MEMORY_KINDS, NO_FILTERS, type SearchFilters } from '../../../src/domain/search-query.ts'
import type { ExportRecord, ImportBatch } from '../../../src/store/exchange-records.ts'
import type { Store } from '../../../src/store/port.ts'
import { SqliteExport } from '../../../src/store/sqlite/export.ts'
import { exportLines, readExport } from '../../../src/transfer/exchange/export-file.ts'
import {
  type ImportOptions,
  type ImportReport,
  type ImportSource,
  importRecords,
  ProjectMap,
} from '../../../src/transfer/exchange/import.ts'
import { readLines } from '../../../src/transfer/transcripts/lines.ts'
import { NOW } from '../../store/samples.ts'

export const EVERYTHING: SearchFilters = { ...NO_FILTERS, kinds: MEMORY_KINDS }

export function recordsOf(file: string, filters: Partial<SearchFilters> = {}): ExportRecord[] {
  const source = SqliteExport.open(file, { ...EVERYTHING, ...filters })
  try {
    return [...source.records()]
  } finally {
    source.close()
  }
}

export function fileText(records: Iterable<ExportRecord>): string {
  const header = { program: '0.0.0', exportedAt: new Date(NOW).toISOString() }
  return [...exportLines(records, header)].map((line) => `${JSON.stringify(line)}\n`).join('')
}

export function textSource(text: string, maxChars = 4_000_000): ImportSource {
  const lines = () => readLines(Readable.from([text]), maxChars)
  return { what: 'export', total: 1, items: () => readExport(lines(), 'memory.jsonl', () => 1), close: () => undefined }
}

export interface Importing {
  map?: Record<string, Project>
  dryRun?: boolean
  batchBytes?: number
  isExcluded?: ImportOptions['isExcluded']
  pins?: boolean
  forgotten?: boolean
  /** Called before each batch: throws where the process should die. */
  before?: (batch: ImportBatch) => void
}

export async function importInto(
  store: Store,
  source: ImportSource,
  {
    map = {},
    dryRun = false,
    batchBytes = 8_192,
    isExcluded = () => false,
    pins = true,
    forgotten = false,
    before,
  }: Importing = {},
): Promise<ImportReport & { projects: ProjectMap['projects'] }> {
  const projects = new ProjectMap(store, new Map(Object.entries(map)))
  const report = await importRecords(source, {
    send: async (batch) => {
      before?.(batch)
      return await store.importBatch(cleanImportBatch(batch), NOW)
    },
    projects,
    isExcluded,
    pins,
    forgotten,
    dryRun,
    batchBytes,
    recordBytes: 1_000_000,
    progress: () => undefined,
  })
  return { ...report, projects: projects.projects }
}

/** Ids as the order in which they stand in the file. */
export function withoutIds(records: readonly ExportRecord[]): ExportRecord[] {
  const order = new Map<number, number>()
  for (const record of records) if (record.kind === 'observation') order.set(record.id, order.size + 1)
  const place = (id: number) => order.get(id) ?? -1
  return records.map((record) => {
    if (record.kind === 'observation') return { ...record, id: place(record.id) }
    if (record.kind === 'link') return { ...record, from: place(record.from), to: place(record.to) }
    if (record.kind === 'pin') return { ...record, observation: place(record.observation) }
    return record
  })
}

export const NOTHING = { observation: 0, summary: 0, prompt: 0, passage: 0, link: 0, pin: 0 }
