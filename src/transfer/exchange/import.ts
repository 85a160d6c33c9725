/**
 * Imports records from a source into the daemon: packs them into batches, maps projects and ids, and counts the outcome
 * of each. Import is idempotent: the daemon recognises records that it already has, so no state is kept between runs.
 */

import { isImportedProjectKey, type Project } from '../../domain/project.ts'
import { MemError } from '../../lib/errors.ts'
import type {
  ExportRecord,
  ImportBatch,
  ImportedRecord,
  ImportedSession,
  ImportOutcome,
  ImportResult,
  LinkRecord,
  PinRecord,
  SessionRecord,
} from '../../store/exchange-records.ts'
import type { StoreReader } from '../../store/port.ts'

export type ImportItem = {
  /** Position in the source for messages: `line 12`, `observation 5`. */
  at: string
  done: number
} & (
  | { record: ExportRecord }
  /** An unusable item; the other items are still imported. */
  | { problem: string }
)

export interface ImportSource {
  what: 'export' | 'original' | 'auto-memory'
  /** Value of `done` at the end, in bytes or rows. */
  total: number
  items(): AsyncIterable<ImportItem>
  close(): void
}

export type ImportCounts = Record<ImportedRecord['kind'], number>

export interface ImportReport {
  added: ImportCounts
  known: ImportCounts
  /** Number of lines and records that could not be imported. */
  refused: number
  /** The first of these problems. */
  problems: { at: string; problem: string }[]
  /** Number of records of excluded projects, which are not imported. */
  excluded: number
  /** Number of records whose time is in the future, which are not imported. */
  future: number
  /** Number of records of sessions that were erased here, which are not imported. */
  forgotten: number
  /** Number of pins that were not imported, because pins were not asked for. */
  pinsLeftOut: number
  /** Keys of the projects that got memories; empty in a dry run. */
  writtenTo: string[]
}

/** A record is stored and indexed in about a millisecond: a hook waiting behind a batch is still answered in time. */
const BATCH_RECORDS = 50
const NO_OUTCOME: ImportOutcome = { is: 'refused', reason: 'the daemon did not report an outcome' }
/** Sessions, and links and pins, of a file: they are kept in memory until the end. */
const MAX_KEPT = 1_000_000
/** Problems kept for the report. */
const MAX_PROBLEMS = 100

export interface ImportOptions {
  send(batch: ImportBatch): Promise<Pick<ImportResult, 'outcomes' | 'projects'>>
  projects: ProjectMap
  /** Whether sessions in this directory or project are excluded from memory. */
  isExcluded(cwd: string, project: Project): boolean
  /** Pinned observations are part of every context: the user decides whether those of a file are. */
  pins: boolean
  /** Also sessions that were erased here. */
  forgotten: boolean
  dryRun: boolean
  /** Size limits of the records of one request, and of a single record. */
  batchBytes: number
  recordBytes: number
  progress(done: number, total: number): void
}

export async function importRecords(source: ImportSource, options: ImportOptions): Promise<ImportReport> {
  const importer = new Importer(options)
  for await (const item of source.items()) {
    await importer.add(item)
    options.progress(item.done, source.total)
  }
  return await importer.end()
}

class Importer {
  readonly #options: ImportOptions
  readonly #report: ImportReport = {
    added: noCounts(),
    known: noCounts(),
    refused: 0,
    problems: [],
    excluded: 0,
    future: 0,
    forgotten: 0,
    pinsLeftOut: 0,
    writtenTo: [],
  }
  readonly #names = new Map<string, string>()
  readonly #sessions = new Map<string, ImportedSession>()
  /** From an observation's id in the file to its id here; null in a dry run for a new one. */
  readonly #ids = new Map<number, number | null>()
  /** Ids in the file of observations that were left out: links and pins to them are left out too. */
  readonly #leftOut = new Set<number>()
  /** Excluded sessions, and the ids of their observations in the file. */
  readonly #excluded = new Set<string | number>()
  /** Links and pins are sent last, when all ids are known. */
  readonly #marks: { at: string; record: LinkRecord | PinRecord }[] = []
  #packed: { at: string; record: ImportedRecord }[] = []
  #bytes = 0
  #begun = false

  constructor(options: ImportOptions) {
    this.#options = options
  }

  async add(item: ImportItem): Promise<void> {
    if ('problem' in item) return this.#refuse(item.at, item.problem)
    const { at, record } = item
    switch (record.kind) {
      case 'project':
        this.#names.set(record.key, record.name)
        await this.#projectOf(record.key)
        return
      case 'session':
        if (this.#sessions.size >= MAX_KEPT) return this.#refuse(at, `more than ${MAX_KEPT} sessions`)
        return await this.#session(record)
      case 'pin':
        if (!this.#options.pins) {
          this.#report.pinsLeftOut += 1
          return
        }
        return this.#keepMark(at, record)
      case 'link':
        return this.#keepMark(at, record)
      case 'prompt':
        if (this.#excluded.has(record.session)) return this.#countExcluded()
        return await this.#pack(at, record)
      default: {
        const project = await this.#projectOf(record.project)
        if (this.#excluded.has(record.session) || this.#options.isExcluded('', project)) {
          if (record.kind === 'observation') this.#excluded.add(record.id)
          return this.#countExcluded()
        }
        await this.#pack(at, { ...record, project: project.key })
      }
    }
  }

  async end(): Promise<ImportReport> {
    this.#begin()
    await this.#flush()
    for (const { at, record } of this.#marks) await this.#mark(at, record)
    await this.#flush()
    return this.#report
  }

  #keepMark(at: string, record: LinkRecord | PinRecord): void {
    if (this.#marks.length >= MAX_KEPT) this.#refuse(at, `more than ${MAX_KEPT} links and pins`)
    else this.#marks.push({ at, record })
  }

  async #session({ kind: _, project: key, ...session }: SessionRecord): Promise<void> {
    const project = await this.#projectOf(key)
    if (this.#options.isExcluded(session.cwd, project)) this.#excluded.add(session.id)
    else this.#sessions.set(session.id, { ...session, project })
  }

  #projectOf(key: string): Promise<Project> {
    return this.#options.projects.resolve({ key, name: this.#names.get(key) ?? key })
  }

  /** Replaces the ids of the file by the ids here. */
  async #mark(at: string, record: LinkRecord | PinRecord): Promise<void> {
    const fileIds = record.kind === 'link' ? [record.from, record.to] : [record.observation]
    if (fileIds.some((id) => this.#excluded.has(id))) return this.#countExcluded()
    if (fileIds.some((id) => this.#leftOut.has(id))) return
    const [first, second] = fileIds.map((id) => this.#ids.get(id))
    if (first === undefined || (record.kind === 'link' && second === undefined))
      return this.#refuse(at, `observation ${fileIds.find((id) => !this.#ids.has(id))} is not in the file`)
    // In a dry run a new observation has no id; its links and pins would be new too.
    if (first === null || second === null) {
      this.#report.added[record.kind] += 1
      return
    }
    if (record.kind === 'link') await this.#pack(at, { ...record, from: first, to: second ?? first })
    else await this.#pack(at, { ...record, observation: first })
  }

  async #pack(at: string, record: ImportedRecord): Promise<void> {
    this.#begin()
    const bytes = Buffer.byteLength(JSON.stringify(record))
    if (bytes > this.#options.recordBytes)
      return this.#refuse(at, 'larger than the largest message that the daemon accepts')
    if (this.#packed.length >= BATCH_RECORDS || this.#bytes + bytes > this.#options.batchBytes) await this.#flush()
    this.#packed.push({ at, record })
    this.#bytes += bytes
  }

  /** Projects come first in a file: now all are known, and nothing was sent yet. */
  #begin(): void {
    if (!this.#begun) this.#options.projects.refuseUnused()
    this.#begun = true
  }

  async #flush(): Promise<void> {
    const packed = this.#packed
    if (packed.length === 0) return
    this.#packed = []
    this.#bytes = 0
    const records = packed.map(({ record }) => record)
    const used = new Set(records.flatMap((record) => ('session' in record ? [record.session] : [])))
    const sessions = [...used].flatMap((id) => this.#sessions.get(id) ?? [])
    const { dryRun, forgotten } = this.#options
    const { outcomes, projects } = await this.#options.send({ sessions, records, forgotten, dryRun })
    this.#report.writtenTo = [...new Set([...this.#report.writtenTo, ...projects])]
    for (const [index, { at, record }] of packed.entries()) {
      const outcome = outcomes[index] ?? NO_OUTCOME
      if (outcome.is === 'refused') {
        this.#refuse(at, outcome.reason)
        continue
      }
      if (outcome.is === 'left_out') {
        if (record.kind === 'observation') this.#leftOut.add(record.id)
        this.#report[outcome.because] += 1
        continue
      }
      if (record.kind === 'observation') this.#ids.set(record.id, outcome.id)
      this.#report[outcome.is][record.kind] += 1
    }
  }

  #countExcluded(): void {
    this.#report.excluded += 1
  }

  #refuse(at: string, problem: string): void {
    this.#report.refused += 1
    if (this.#report.problems.length < MAX_PROBLEMS) this.#report.problems.push({ at, problem })
  }
}

function noCounts(): ImportCounts {
  return { observation: 0, summary: 0, prompt: 0, passage: 0, link: 0, pin: 0 }
}

export interface MappedProject {
  from: Project
  to: Project
}

/** Maps the projects of a file to projects of this memory. */
export class ProjectMap {
  readonly #reader: Pick<StoreReader, 'projects'>
  readonly #requested: ReadonlyMap<string, Project>
  readonly #used = new Set<string>()
  readonly #mapped = new Map<string, MappedProject>()

  /** `requested`: the `--project-map` options, by the key or name of a project in the file. */
  constructor(reader: Pick<StoreReader, 'projects'>, requested: ReadonlyMap<string, Project>) {
    this.#reader = reader
    this.#requested = requested
  }

  /** The projects found in the file, in order. */
  get projects(): MappedProject[] {
    return [...this.#mapped.values()]
  }

  async resolve(from: Project): Promise<Project> {
    const known = this.#mapped.get(from.key)
    if (known !== undefined) return known.to
    const to =
      this.#requestedProject(from) ?? (isImportedProjectKey(from.key) ? await this.#projectWithName(from) : from)
    this.#mapped.set(from.key, { from, to })
    return to
  }

  /** A mapping of a project that is not in the file is a typing error: refused before anything is imported. */
  refuseUnused(): void {
    const unused = [...this.#requested.keys()].filter((name) => !this.#used.has(name))
    if (unused.length === 0) return
    const names = this.projects.map(({ from }) => from.name).join(', ')
    throw new MemError(
      'bad_request',
      `--project-map names ${unused.join(', ')}, which is not in the file; its projects: ${names || 'none'}. Nothing was imported.`,
    )
  }

  #requestedProject({ key, name }: Project): Project | undefined {
    for (const id of [key, name]) {
      const to = this.#requested.get(id)
      if (to === undefined) continue
      this.#used.add(id)
      return to
    }
    return undefined
  }

  /** The only repository project with this name; the imported project itself if there is none or several. */
  async #projectWithName(from: Project): Promise<Project> {
    const all = await this.#reader.projects({ name: from.name })
    const real = all.filter(({ key }) => !isImportedProjectKey(key))
    const [only, ...others] = real
    return only === undefined || others.length > 0 ? from : { key: only.key, name: only.name }
  }
}
