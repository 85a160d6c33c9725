/**
 * Receives the records of the shared projects from the log, after a cursor for each repository. A batch of records and its
 * cursors are applied in one transaction, so a load that is cut continues where it was. `LISTEN` is a hint that there is
 * something; the log is asked without it too, less often the longer nothing happens.
 *
 * A repository of which nothing was received yet gets its newest memories first: a session can start with them while the
 * whole is received in the background.
 */
import { setImmediate } from 'node:timers/promises'
import type { ReceivedRecord, RecordOrigin } from '../domain/team-record.ts'
import { SerialQueue } from '../lib/serial-queue.ts'
import type { AppliedRecords, LogCursor, SharedProject, TeamStore } from '../store/team-port.ts'
import { checkReceived } from './received.ts'
import type { PulledRecords, SharedLog } from './shared-log.ts'
import { type SyncRecord, teamFailure } from './sync-status.ts'
import { type Changes, jittered, SyncStopped, type WakeSignal } from './waiting.ts'

export interface PullOptions {
  store: Pick<TeamStore, 'sharedProjects' | 'resendProject' | 'logCursors'>
  origin: () => RecordOrigin
  /** Applies them and tells everyone who shows memories. */
  receive: (records: readonly ReceivedRecord[], cursors: readonly LogCursor[]) => Promise<AppliedRecords>
  record: SyncRecord
  changes: Changes
  wake: WakeSignal
  call: <T>(work: Promise<T>, signal: AbortSignal) => Promise<T>
  /** Something was put into the outbox. */
  outboxFilled: () => void
  /** Records of this machine's name that it did not make. */
  foreignTwin: (machine: string) => void
  notice: (level: 'info' | 'warn', text: string) => void
  random: () => number
  now: () => number
}

/** Records of one request at most, as of an import: hooks wait while they are stored. */
const MAX_PULL_RECORDS = 200
/** Records that are checked at a time: masking takes a while, and events are accepted on the same thread. */
const CHECKED_AT_ONCE = 20
/** An answer that is larger makes the next request smaller: a hostile member may write large records. */
const LARGE_ANSWER_BYTES = 4 * 1_048_576
/** What a session's start can show, and some more for search. */
const NEWEST_RECORDS = 200
/** Time between two requests without a hint, in ms: the first after a change, and the longest. */
const FIRST_POLL_MS = 1_000
const LONGEST_POLL_MS = 30_000
/** With a connection that listens, asking is only for certainty, in ms. */
const LISTENING_POLL_MS = 60_000
const MEMORY_KINDS: ReadonlySet<string> = new Set(['observation', 'summary', 'passage'])

export class LogPull {
  readonly #options: PullOptions
  readonly #cursors = new Map<string, LogCursor>()
  /** Repositories of which something was received, in this process or an earlier one. */
  readonly #begun = new Set<string>()
  /** Repositories that were received up to the end once: records of this machine are known from then on. */
  readonly #complete = new Set<string>()
  /** Projects whose state in the log was looked at last time. */
  readonly #checked = new Set<string>()
  /** Projects to which this role could not write when they were looked at. */
  readonly #notWritable = new Set<string>()
  readonly #following = new SerialQueue()
  #limit = MAX_PULL_RECORDS
  #isOutdated = true

  constructor(options: PullOptions) {
    this.#options = options
  }

  /** Shared projects have changed, or the connection is a new one. */
  outdated(): void {
    this.#isOutdated = true
    this.#options.wake.wake()
  }

  /** There may be something new in the log. */
  wake(): void {
    this.#options.wake.wake()
  }

  isFollowed(repository: string): boolean {
    return this.#cursors.has(repository)
  }

  /** Whether the newest memories of a repository are here. */
  hasBegun(repository: string): boolean {
    return this.#begun.has(repository)
  }

  async run(log: SharedLog, isListening: () => boolean, signal: AbortSignal): Promise<void> {
    const { wake, random } = this.#options
    for (let quiet = 0; !signal.aborted; ) {
      if (this.#isOutdated) await this.#following.run(() => this.#follow(log, signal))
      const { records, more } = await this.#pullOnce(log, signal)
      if (more) continue
      quiet = records === 0 ? quiet + 1 : 0
      const longest = isListening() ? LISTENING_POLL_MS : Math.min(LONGEST_POLL_MS, FIRST_POLL_MS * 2 ** quiet)
      await wake.wait(jittered(longest, random), signal)
    }
  }

  /** Before records of these projects are pushed: a repository that the log does not know yet is registered first. */
  async ensureRegistered(log: SharedLog, projects: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    if ([...projects].every((project) => this.#checked.has(project))) return
    await this.#following.run(() => this.#follow(log, signal))
  }

  /** Cursors for the projects that are shared now, and the newest memories of those that are new here. */
  async #follow(log: SharedLog, signal: AbortSignal): Promise<void> {
    const { store, call, record } = this.#options
    this.#isOutdated = false
    const shared = await store.sharedProjects()
    const writable = await this.#register(log, shared, signal)
    for (const project of writable) if (this.#notWritable.delete(project)) await this.#sendAgain(project)
    const followed = shared.filter(({ project }) => !record.unavailable.has(project))
    const names = followed.map(({ project }) => project)
    const starts = names.length === 0 ? [] : await call(log.start(names), signal)
    const known = new Map((await store.logCursors()).map((cursor) => [cursor.repository, cursor]))
    this.#cursors.clear()
    for (const start of starts) {
      const cursor = known.get(start.repository)
      const isSameLog = cursor?.generation === start.generation
      if (cursor !== undefined && !isSameLog) await this.#beginAnew(start.repository)
      this.#cursors.set(start.repository, cursor !== undefined && isSameLog ? cursor : start)
      if (cursor !== undefined && isSameLog) {
        this.#begun.add(start.repository)
        this.#complete.add(start.repository)
      } else await this.#receiveNewest(log, start.repository, signal)
    }
    this.#options.changes.happened()
  }

  /** Makes the projects known to the log. Returns those to which this role may write. */
  async #register(log: SharedLog, shared: readonly SharedProject[], signal: AbortSignal): Promise<string[]> {
    const { call, record } = this.#options
    record.unavailable.clear()
    this.#checked.clear()
    if (shared.length === 0) return []
    const known = new Map((await call(log.repositories(), signal)).map(({ key, mayWrite }) => [key, mayWrite]))
    const writable: string[] = []
    for (const { project } of shared) {
      const mayWrite = known.get(project) ?? (await this.#registerOne(log, project, signal))
      if (mayWrite) writable.push(project)
      else this.#notWritable.add(project)
      this.#checked.add(project)
    }
    return writable
  }

  async #registerOne(log: SharedLog, project: string, signal: AbortSignal): Promise<boolean> {
    const { call, record } = this.#options
    try {
      await call(log.register(project), signal)
      return true
    } catch (error) {
      const failure = teamFailure(error)
      if (failure.retryable || error instanceof SyncStopped) throw error
      record.unavailable.set(project, failure.message)
      return false
    }
  }

  async #moveTo(cursors: readonly LogCursor[]): Promise<void> {
    for (const cursor of cursors) {
      const before = this.#cursors.get(cursor.repository)
      // It was withdrawn meanwhile.
      if (before === undefined) continue
      this.#cursors.set(cursor.repository, cursor)
      if (before.generation !== cursor.generation) await this.#beginAnew(cursor.repository)
    }
  }

  /** The log was restored from a backup, or made anew: what this machine sent may not be in it. */
  async #beginAnew(repository: string): Promise<void> {
    const { notice } = this.#options
    notice('info', `the team's log is a new one: the memory of ${repository} is sent and received again`)
    this.#complete.delete(repository)
    await this.#sendAgain(repository)
  }

  /** What this machine had sent is not in the log: it was refused, or the log was made anew. */
  async #sendAgain(repository: string): Promise<void> {
    await this.#options.store.resendProject(repository)
    this.#options.outboxFilled()
  }

  async #receiveNewest(log: SharedLog, repository: string, signal: AbortSignal): Promise<void> {
    const records = await this.#options.call(log.newest(repository, NEWEST_RECORDS), signal)
    await this.#apply(records, [])
    this.#begun.add(repository)
    this.#options.changes.happened()
  }

  async #pullOnce(log: SharedLog, signal: AbortSignal): Promise<{ records: number; more: boolean }> {
    const { call, record, changes, now } = this.#options
    if (this.#cursors.size === 0) {
      record.loading = null
      return { records: 0, more: false }
    }
    const pulled = await call(log.pull([...this.#cursors.values()], this.#limit), signal)
    const bytes = await this.#apply(pulled.records, pulled.cursors)
    await this.#moveTo(pulled.cursors)
    record.heldBackMs = pulled.heldBackMs
    if (pulled.more) await this.#continueLoad(log, pulled, signal)
    else this.#endLoad(now())
    this.#limit = bytes > LARGE_ANSWER_BYTES ? Math.ceil(this.#limit / 2) : Math.min(MAX_PULL_RECORDS, this.#limit * 2)
    changes.happened()
    return { records: pulled.records.length, more: pulled.more }
  }

  async #continueLoad(log: SharedLog, { records }: PulledRecords, signal: AbortSignal): Promise<void> {
    const { record, call, now } = this.#options
    if (record.loading === null) {
      const left = await call(log.behind([...this.#cursors.values()]), signal)
      record.loading = { done: 0, total: records.length + left, since: now() }
    }
    const done = record.loading.done + records.length
    // Others go on pushing while it is received.
    record.loading = { ...record.loading, done, total: Math.max(record.loading.total, done) }
  }

  #endLoad(at: number): void {
    const { record } = this.#options
    record.loading = null
    record.currentAt = at
    for (const repository of this.#cursors.keys()) {
      this.#begun.add(repository)
      this.#complete.add(repository)
    }
  }

  /** Returns how large the records were, in bytes. */
  async #apply(given: readonly unknown[], cursors: readonly LogCursor[]): Promise<number> {
    const { origin, record, now } = this.#options
    const repositories = new Set(this.#cursors.keys())
    const valid: ReceivedRecord[] = []
    let bytes = 0
    for (let at = 0; at < given.length; at += CHECKED_AT_ONCE) {
      const part = checkReceived(given.slice(at, at + CHECKED_AT_ONCE), { repositories, own: origin() })
      valid.push(...part.valid)
      bytes += part.bytes
      for (const { id, reason } of part.refused) record.refuse({ direction: 'received', id, reason, at: now() })
      await setImmediate()
    }
    await this.#noticeTwin(valid)
    if (valid.length === 0 && cursors.length === 0) return bytes
    try {
      this.#count(await this.#options.receive(valid, cursors))
    } catch (error) {
      await this.#applyOneByOne(valid, cursors, error)
    }
    return bytes
  }

  /** One record that the store cannot take must not stop all others for ever. If it can take none, the fault is the store's. */
  async #applyOneByOne(
    records: readonly ReceivedRecord[],
    cursors: readonly LogCursor[],
    failure: unknown,
  ): Promise<void> {
    const { receive, record, now } = this.#options
    const failed: { id: string; reason: string }[] = []
    for (const one of records) {
      try {
        this.#count(await receive([one], []))
      } catch (error) {
        failed.push({ id: one.id, reason: `it could not be stored: ${teamFailure(error).message}` })
      }
    }
    if (failed.length === records.length) throw failure
    for (const { id, reason } of failed) record.refuse({ direction: 'received', id, reason, at: now() })
    await receive([], cursors)
  }

  #count({ added, erased, refused }: AppliedRecords): void {
    const { record, now } = this.#options
    record.counts.received += added
    record.counts.erased += erased
    for (const { id, reason } of refused) record.refuse({ direction: 'received', id, reason, at: now() })
  }

  /**
   * After a disk was copied, two machines have one name. What this machine made comes back as known; what is new under its
   * name was made by another one. Nothing is lost: ids are random.
   */
  async #noticeTwin(records: readonly ReceivedRecord[]): Promise<void> {
    const { author, machine } = this.#options.origin()
    const own = records.filter(
      (record) =>
        record.machine === machine &&
        record.author === author &&
        record.body !== null &&
        MEMORY_KINDS.has(record.kind) &&
        this.#complete.has(record.repository),
    )
    if (own.length === 0) return
    const applied = await this.#options.receive(own, [])
    this.#count(applied)
    if (applied.added > 0) this.#options.foreignTwin(machine)
  }
}
