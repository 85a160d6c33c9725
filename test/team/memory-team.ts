/** A shared log and a team store in memory, for tests of the sync service alone. The real ones have their own tests. */
import type { ReceivedRecord, RecordOrigin, TeamRecord } from '../../src/domain/team-record.ts'
import type {
  AppliedRecords,
  LogCursor,
  OutboxBatch,
  OutboxStats,
  SharedCounts,
  SharedMemories,
  SharedProject,
  SharePreview,
  TeamStore,
} from '../../src/store/team-port.ts'
import type { LogRepository, PulledRecords, PushOutcome, SharedLog } from '../../src/team/shared-log.ts'

const NO_COUNTS: SharedCounts = { observation: 0, summary: 0, passage: 0, link: 0, pin: 0, status: 0 }

type Method = keyof SharedLog

/** The server: what every connection sees. */
export class MemoryServer {
  readonly records: ReceivedRecord[] = []
  readonly repositories = new Map<string, LogRepository>()
  readonly connections = new Set<MemoryLog>()
  generation = 'one'
  /** Called before each call; may throw, or return a promise that never ends. */
  fault: (method: Method, connection: MemoryLog) => Promise<void> | void = () => undefined
  refuse: (record: TeamRecord) => string | null = () => null
  canListen = true
  heldBackMs: number | null = null
  calls: Method[] = []

  connect(): MemoryLog {
    const connection = new MemoryLog(this)
    this.connections.add(connection)
    return connection
  }

  /** As another machine would. */
  put(records: readonly TeamRecord[], origin: RecordOrigin): void {
    for (const record of records) this.records.push({ ...record, ...origin } as ReceivedRecord)
    for (const { repository } of records) this.tell(repository)
  }

  tell(repository: string): void {
    for (const { heard } of this.connections) heard?.(repository)
  }
}

export class MemoryLog implements SharedLog {
  readonly #server: MemoryServer
  heard: ((repository: string) => void) | null = null

  constructor(server: MemoryServer) {
    this.#server = server
  }

  async push(records: readonly TeamRecord[], origin: RecordOrigin): Promise<PushOutcome[]> {
    await this.#begin('push')
    const known = new Set(this.#server.records.map(({ id }) => id))
    const outcomes = records.map((record): PushOutcome => {
      const reason = this.#server.repositories.has(record.repository)
        ? this.#server.refuse(record)
        : 'the repository is not known'
      if (reason !== null) return { is: 'refused', reason }
      if (known.has(record.id)) return { is: 'known' }
      this.#server.put([record], origin)
      return { is: 'stored' }
    })
    return outcomes
  }

  async pull(cursors: readonly LogCursor[], limit: number): Promise<PulledRecords> {
    await this.#begin('pull')
    const after = new Map(cursors.map((cursor) => [cursor.repository, cursor]))
    const found = this.#server.records
      .map((record, index) => ({ record, sequence: index + 1 }))
      .filter(({ record, sequence }) => sequence > Number(after.get(record.repository)?.sequence ?? Infinity))
    const taken = found.slice(0, limit)
    for (const { record, sequence } of taken) {
      const cursor = after.get(record.repository)
      if (cursor !== undefined) after.set(record.repository, { ...cursor, sequence: String(sequence) })
    }
    const { heldBackMs } = this.#server
    return {
      records: taken.map(({ record }) => record),
      cursors: [...after.values()],
      more: found.length > taken.length,
      heldBackMs,
    }
  }

  async behind(cursors: readonly LogCursor[]): Promise<number> {
    await this.#begin('behind')
    const after = new Map(cursors.map(({ repository, sequence }) => [repository, Number(sequence)]))
    return this.#server.records.filter((record, i) => i + 1 > (after.get(record.repository) ?? Infinity)).length
  }

  async newest(repository: string, limit: number): Promise<ReceivedRecord[]> {
    await this.#begin('newest')
    return this.#server.records
      .filter((record) => record.repository === repository && ['observation', 'summary'].includes(record.kind))
      .slice(-limit)
      .reverse()
  }

  async start(repositories: readonly string[]): Promise<LogCursor[]> {
    await this.#begin('start')
    const { generation } = this.#server
    return repositories.map((repository) => ({ repository, generation, transaction: '0', sequence: '0' }))
  }

  async repositories(): Promise<LogRepository[]> {
    await this.#begin('repositories')
    return [...this.#server.repositories.values()]
  }

  async register(repository: string): Promise<void> {
    await this.#begin('register')
    this.#server.repositories.set(repository, { key: repository, mayWrite: true, mayEraseOthers: true })
  }

  async listen(heard: (repository: string) => void): Promise<(() => Promise<void>) | null> {
    await this.#begin('listen')
    if (!this.#server.canListen) return null
    this.heard = heard
    return async () => {
      this.heard = null
    }
  }

  async close(): Promise<void> {
    this.#server.connections.delete(this)
  }

  async #begin(method: Method): Promise<void> {
    this.#server.calls.push(method)
    await this.#server.fault(method, this)
  }
}

/** One machine's memory: what it made (outbox) and what it has. */
export class MemoryTeamStore implements TeamStore {
  readonly shared = new Map<string, SharedProject>()
  readonly has = new Map<string, ReceivedRecord | TeamRecord>()
  readonly cursors = new Map<string, LogCursor>()
  /** Ids of records that `applyRecords` cannot take. */
  readonly poison = new Set<string>()
  #outbox: { seq: number; record: TeamRecord; at: number }[] = []
  #seq = 0

  make(...records: TeamRecord[]): void {
    for (const record of records) {
      this.has.set(record.id, record)
      if (this.shared.has(record.repository)) this.#outbox.push({ seq: ++this.#seq, record, at: record.at })
    }
  }

  async sharedProjects(): Promise<SharedProject[]> {
    return [...this.shared.values()]
  }

  async sharedMemories(): Promise<SharedMemories[]> {
    return [...this.shared.keys()].map((project) => {
      const records = [...this.has.values()].filter(({ repository }) => repository === project)
      const received = records.filter((record) => 'author' in record).length
      return { project, own: records.length - received, received }
    })
  }

  async shareProject(project: Omit<SharedProject, 'at'>, at: number, dryRun: boolean): Promise<SharedCounts> {
    const own = [...this.has.values()].filter(
      (record): record is TeamRecord => record.repository === project.project && !('author' in record),
    )
    if (!dryRun) {
      this.shared.set(project.project, { ...project, at })
      for (const record of own) this.#outbox.push({ seq: ++this.#seq, record, at })
    }
    return { ...NO_COUNTS, observation: own.length }
  }

  async previewShare(): Promise<SharePreview> {
    return { records: [], next: null }
  }

  async resendProject(project: string): Promise<void> {
    const shared = this.shared.get(project)
    if (shared !== undefined) await this.shareProject(shared, shared.at, false)
  }

  async unshareProject(project: string): Promise<SharedCounts> {
    this.shared.delete(project)
    return NO_COUNTS
  }

  async outbox(maxRecords: number): Promise<OutboxBatch> {
    const taken = this.#outbox.slice(0, maxRecords)
    return {
      records: taken.map(({ record }) => record),
      upTo: taken.at(-1)?.seq ?? 0,
      left: this.#outbox.length - taken.length,
    }
  }

  async outboxDone(upTo: number): Promise<void> {
    this.#outbox = this.#outbox.filter(({ seq }) => seq > upTo)
  }

  async outboxStats(): Promise<OutboxStats> {
    return { waiting: this.#outbox.length, oldestAt: this.#outbox[0]?.at ?? null }
  }

  async applyRecords(records: readonly ReceivedRecord[], cursors: readonly LogCursor[]): Promise<AppliedRecords> {
    if (records.some(({ id }) => this.poison.has(id))) throw new Error('a record cannot be stored')
    const fresh = records.filter(({ id }) => !this.has.has(id))
    for (const record of records) if (!this.has.has(record.id)) this.has.set(record.id, record)
    for (const cursor of cursors) this.cursors.set(cursor.repository, cursor)
    const added = fresh.length
    const projects = [...new Set(fresh.map(({ repository }) => repository))]
    return {
      added,
      known: records.length - added,
      erased: 0,
      erasedObservations: [],
      refused: [],
      waiting: 0,
      projects,
      seq: null,
    }
  }

  async logCursors(): Promise<LogCursor[]> {
    return [...this.cursors.values()]
  }
}
