/**
 * Sends the outbox to the shared log, oldest first. At least once: a batch leaves the outbox only after the log said that it
 * is stored, so a batch whose answer was lost is sent again and the log knows its records. What the log will never accept is
 * counted, kept with its reason, and not sent again.
 *
 * Backpressure: one batch is on its way at a time. After a failure or a slow answer the next one is half as large, after a
 * fast one twice, so that a record which fails every time is alone in the end and is refused without the others.
 */
import type { RecordOrigin } from '../domain/team-record.ts'
import type { OutboxBatch, TeamStore } from '../store/team-port.ts'
import type { SharedLog } from './shared-log.ts'
import { type SyncRecord, teamFailure } from './sync-status.ts'
import type { Changes, WakeSignal } from './waiting.ts'

export interface PushOptions {
  store: Pick<TeamStore, 'outbox' | 'outboxDone'>
  origin: () => RecordOrigin
  record: SyncRecord
  changes: Changes
  wake: WakeSignal
  /** Runs one call to the log within its deadline. */
  call: <T>(work: Promise<T>, signal: AbortSignal) => Promise<T>
  /** Called before records of these projects are sent: the log must know them. */
  prepare: (log: SharedLog, projects: ReadonlySet<string>, signal: AbortSignal) => Promise<void>
  refused: (reason: string, count: number) => void
  now: () => number
}

/** Records of one batch at most: one transaction of the server, some hundred KB. */
const MAX_BATCH_RECORDS = 500
/** Of one batch, as JSON. One record may be larger. */
const MAX_BATCH_BYTES = 1_048_576
/** A batch that takes longer makes the next one smaller, in ms. */
const SLOW_BATCH_MS = 2_000
/** The outbox is read this often even if nothing was announced, in ms. */
const SAFETY_POLL_MS = 30_000
/** Failures that are about the records of the batch and not about the connection. */
const RECORD_FAILURES: ReadonlySet<string> = new Set(['refused'])

export class OutboxPush {
  readonly #options: PushOptions
  #batchRecords = MAX_BATCH_RECORDS

  constructor(options: PushOptions) {
    this.#options = options
  }

  /** Until the signal is aborted, or a call fails. */
  async run(log: SharedLog, signal: AbortSignal): Promise<void> {
    const { wake } = this.#options
    while (!signal.aborted) {
      if (!(await this.step(log, signal))) await wake.wait(SAFETY_POLL_MS, signal)
    }
  }

  /** Sends one batch. False: nothing waits. */
  async step(log: SharedLog, signal: AbortSignal): Promise<boolean> {
    const { store, changes } = this.#options
    const batch = await store.outbox(this.#batchRecords, MAX_BATCH_BYTES)
    if (batch.records.length > 0) await this.#send(log, batch, signal)
    // What was forgotten before it was sent is no longer there.
    else if (batch.upTo > 0) await store.outboxDone(batch.upTo)
    changes.happened()
    return batch.records.length > 0 || batch.left > 0
  }

  async #send(log: SharedLog, batch: OutboxBatch, signal: AbortSignal): Promise<void> {
    const { store, origin, record, prepare, call, now } = this.#options
    await prepare(log, new Set(batch.records.map(({ repository }) => repository)), signal)
    const startedAt = now()
    try {
      const outcomes = await call(log.push(batch.records, origin()), signal)
      if (outcomes.length !== batch.records.length) {
        throw new Error(`the log answered for ${outcomes.length} of ${batch.records.length} records`)
      }
      await store.outboxDone(batch.upTo)
      const reasons = outcomes.map((outcome) => (outcome.is === 'refused' ? outcome.reason : null))
      this.#noteRefused(batch, reasons)
      record.counts.pushed += outcomes.filter(({ is }) => is === 'stored' || is === 'known').length
      this.#resize(now() - startedAt <= SLOW_BATCH_MS)
    } catch (error) {
      this.#resize(false)
      const failure = teamFailure(error)
      if (!RECORD_FAILURES.has(failure.code)) throw error
      if (batch.records.length > 1) return
      await store.outboxDone(batch.upTo)
      this.#noteRefused(batch, [failure.message])
    }
  }

  #noteRefused({ records }: OutboxBatch, reasons: readonly (string | null)[]): void {
    const { record, refused, now } = this.#options
    const byReason = new Map<string, number>()
    for (const [index, reason] of reasons.entries()) {
      if (reason === null) continue
      record.refuse({ direction: 'pushed', id: records[index]?.id ?? '', reason, at: now() })
      byReason.set(reason, (byReason.get(reason) ?? 0) + 1)
    }
    for (const [reason, count] of byReason) refused(reason, count)
  }

  #resize(larger: boolean): void {
    const next = larger ? this.#batchRecords * 2 : Math.floor(this.#batchRecords / 2)
    this.#batchRecords = Math.min(MAX_BATCH_RECORDS, Math.max(1, next))
  }
}
