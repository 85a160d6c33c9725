/**
 * From a source to the daemon: records are packed into batches, projects and ids are mapped, and what became of each is
 * counted. Nothing is kept here that a second run would need: what is there already is known again.
 */
import type { Project } from '../memory/project.ts'
import type {
  ImportBatch,
  ImportedRecord,
  ImportedSession,
  ImportOutcome,
  LinkRecord,
  PinRecord,
  ProjectRecord,
  SessionRecord,
} from '../store/import-port.ts'
import type { ProjectMap } from './project-map.ts'
import type { Source, SourceItem } from './source.ts'

const COUNTED = ['observation', 'summary', 'prompt', 'link', 'pin'] as const
type CountedKind = (typeof COUNTED)[number]
export type Counts = Record<CountedKind, number>

export interface Problem {
  at: string
  problem: string
}

export interface ImportReport {
  added: Counts
  known: Counts
  /** Lines and records that could not be taken in. */
  refused: number
  /** The first of them. */
  problems: Problem[]
  /** Of excluded projects, which leave no trace: not taken in. */
  excluded: number
}

/** Each is indexed with its batch, in about a millisecond: a hook that waits behind it gets its answer in time. */
const BATCH_RECORDS = 50
/** More of them say nothing new. */
const PROBLEMS_KEPT = 100

export interface ImportOptions {
  send(batch: ImportBatch): Promise<ImportOutcome[]>
  projects: ProjectMap
  /** Whether a session in this directory, of this project as it is here, leaves no trace. */
  isExcluded(cwd: string, project: Project): boolean
  dryRun: boolean
  /** What the records of a request may come to together, and the largest that one of them may be. */
  batchBytes: number
  recordBytes: number
  progress(done: number, total: number): void
}

export async function importFrom(source: Source, options: ImportOptions): Promise<ImportReport> {
  const importer = new Importer(options)
  for await (const item of source.items()) {
    await importer.take(item)
    options.progress(item.done, source.total)
  }
  return await importer.end()
}

interface Packed {
  at: string
  record: ImportedRecord
}

class Importer {
  readonly #options: ImportOptions
  readonly #report: ImportReport = { added: noCounts(), known: noCounts(), refused: 0, problems: [], excluded: 0 }
  readonly #names = new Map<string, string>()
  readonly #sessions = new Map<string, ImportedSession>()
  /** From an id in the file to the one here; null where a dry run would give one. */
  readonly #ids = new Map<number, number | null>()
  /** Sessions of excluded projects, and ids in the file of what was learned there. */
  readonly #silent = new Set<string | number>()
  /** They come last, when every id is known. */
  readonly #marks: { at: string; record: LinkRecord | PinRecord }[] = []
  #packed: Packed[] = []
  #bytes = 0
  #begun = false

  constructor(options: ImportOptions) {
    this.#options = options
  }

  async take(item: SourceItem): Promise<void> {
    if ('problem' in item) return this.#refuse(item.at, item.problem)
    const { at, record } = item
    switch (record.kind) {
      case 'project':
        return await this.#project(record)
      case 'session':
        return await this.#session(record)
      case 'link':
      case 'pin':
        this.#marks.push({ at, record })
        return
      case 'prompt':
        if (this.#silent.has(record.session)) return this.#leaveOut()
        return await this.#pack(at, record)
      default: {
        const project = await this.#projectOf(record.project)
        if (this.#silent.has(record.session) || this.#options.isExcluded('', project)) {
          if (record.kind === 'observation') this.#silent.add(record.id)
          return this.#leaveOut()
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

  async #project({ key, name }: ProjectRecord): Promise<void> {
    this.#names.set(key, name)
    await this.#projectOf(key)
  }

  async #session({ kind: _, project: key, ...session }: SessionRecord): Promise<void> {
    const project = await this.#projectOf(key)
    if (this.#options.isExcluded(session.cwd, project)) this.#silent.add(session.id)
    else this.#sessions.set(session.id, { ...session, project })
  }

  #projectOf(key: string): Promise<Project> {
    return this.#options.projects.resolve({ key, name: this.#names.get(key) ?? key })
  }

  /** With the ids that its observations have here. */
  async #mark(at: string, record: LinkRecord | PinRecord): Promise<void> {
    const old = record.kind === 'link' ? [record.from, record.to] : [record.observation]
    if (old.some((id) => this.#silent.has(id))) return this.#leaveOut()
    const [first, second] = old.map((id) => this.#ids.get(id))
    if (first === undefined || (record.kind === 'link' && second === undefined))
      return this.#refuse(at, `observation ${old.find((id) => !this.#ids.has(id))} is not in the file`)
    // Only a dry run has observations without an id: what hangs on them would be new, too.
    if (first === null || second === null) return this.#count(record.kind, 'added')
    if (record.kind === 'link') await this.#pack(at, { ...record, from: first, to: second ?? first })
    else await this.#pack(at, { ...record, observation: first })
  }

  async #pack(at: string, record: ImportedRecord): Promise<void> {
    this.#begin()
    const bytes = Buffer.byteLength(JSON.stringify(record))
    if (bytes > this.#options.recordBytes) return this.#refuse(at, 'larger than a message to the daemon may be')
    if (this.#packed.length >= BATCH_RECORDS || this.#bytes + bytes > this.#options.batchBytes) await this.#flush()
    this.#packed.push({ at, record })
    this.#bytes += bytes
  }

  /** Projects come first in a file: from here on they are known, and nothing was sent yet. */
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
    const outcomes = await this.#options.send({ sessions, records, dryRun: this.#options.dryRun })
    for (const [index, { at, record }] of packed.entries()) {
      const outcome = outcomes[index] ?? { is: 'refused', reason: 'the daemon said nothing about it' }
      if (outcome.is === 'refused') this.#refuse(at, outcome.reason)
      else this.#taken(record, outcome)
    }
  }

  #taken(record: ImportedRecord, { is, id }: Exclude<ImportOutcome, { is: 'refused' }>): void {
    if (record.kind === 'observation') this.#ids.set(record.id, id)
    this.#count(record.kind, is)
  }

  #count(kind: CountedKind, is: 'added' | 'known'): void {
    this.#report[is][kind] += 1
  }

  #leaveOut(): void {
    this.#report.excluded += 1
  }

  #refuse(at: string, problem: string): void {
    this.#report.refused += 1
    if (this.#report.problems.length < PROBLEMS_KEPT) this.#report.problems.push({ at, problem })
  }
}

function noCounts(): Counts {
  return { observation: 0, summary: 0, prompt: 0, link: 0, pin: 0 }
}
