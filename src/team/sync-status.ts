/** What the sync service says about itself: what it does, why it waits, how far it is, and what was refused. */

import { errorMessage } from '../lib/errors.ts'
import type { OutboxStats } from '../store/team-port.ts'

/** Why something failed. */
export interface TeamFailure {
  /** For programs; `unknown` where the error has none. */
  code: string
  /** Says what to do, where something can be done. */
  message: string
  /** It may succeed later without anybody doing anything. */
  retryable: boolean
}

export type SyncPhase =
  /** No team is connected, or the daemon stops. */
  | { is: 'off' }
  | { is: 'connecting'; since: number }
  /** `listening`: the server tells when others have pushed; else it is asked now and then. */
  | { is: 'connected'; since: number; listening: boolean }
  /** The connection failed; the next attempt is at `retryAt`. Everything else goes on working without it. */
  | { is: 'waiting'; since: number; retryAt: number; attempts: number; failure: TeamFailure }

export interface RefusedNote {
  direction: 'pushed' | 'received'
  id: string
  reason: string
  at: number
}

export interface SyncCounts {
  /** Since the daemon started. */
  pushed: number
  received: number
  erased: number
  refusedPushed: number
  refusedReceived: number
}

export interface LoadProgress {
  /** Records received since the load began. */
  done: number
  /** What there was to receive when it began, or more if that has grown. */
  total: number
  since: number
}

export interface SyncStatus extends SyncCounts {
  phase: SyncPhase
  outbox: OutboxStats
  /** While there is more in the log than was received; null: everything was, at `currentAt`. */
  loading: LoadProgress | null
  /** When everything in the log had been received last; null: not since the daemon started. */
  currentAt: number | null
  /** Age of the server's oldest transaction that holds back newer records; null: none does. */
  heldBackMs: number | null
  /** The newest refused records, newest last. */
  refused: RefusedNote[]
  /** Why the memory of a project is not in the log, by the key of the project. */
  unavailable: { project: string; reason: string }[]
}

/** Refused records that are kept with their reason; all of them are counted. */
const MAX_REFUSED_NOTES = 20

export class SyncRecord {
  phase: SyncPhase = { is: 'off' }
  loading: LoadProgress | null = null
  currentAt: number | null = null
  heldBackMs: number | null = null
  readonly counts: SyncCounts = { pushed: 0, received: 0, erased: 0, refusedPushed: 0, refusedReceived: 0 }
  readonly unavailable = new Map<string, string>()
  #refused: RefusedNote[] = []

  refuse(note: RefusedNote): void {
    if (note.direction === 'pushed') this.counts.refusedPushed += 1
    else this.counts.refusedReceived += 1
    this.#refused = [...this.#refused, note].slice(-MAX_REFUSED_NOTES)
  }

  status(outbox: OutboxStats): SyncStatus {
    const { phase, loading, currentAt, heldBackMs, counts } = this
    const unavailable = [...this.unavailable].map(([project, reason]) => ({ project, reason }))
    return { phase, outbox, loading, currentAt, heldBackMs, ...counts, refused: [...this.#refused], unavailable }
  }
}

export function teamFailure(error: unknown): TeamFailure {
  const field = (name: string): unknown => (error instanceof Error ? Reflect.get(error, name) : undefined)
  const [code, retryable] = [field('code'), field('retryable')]
  return {
    code: typeof code === 'string' ? code : 'unknown',
    message: withoutEndMark(errorMessage(error)),
    // A failure that nobody described may be over the next time.
    retryable: retryable !== false,
  }
}

/** Messages are joined with others. */
function withoutEndMark(text: string): string {
  return text.endsWith('.') ? text.slice(0, -1) : text
}

/** One line: what it does, how far it is, what to do next. */
export function syncStatusText(status: SyncStatus, now: number): { state: 'ok' | 'working' | 'problem'; text: string } {
  const { phase, outbox, loading, heldBackMs } = status
  const waits = outbox.waiting === 0 ? '' : `; ${count(outbox.waiting, 'record')} to be sent`
  switch (phase.is) {
    case 'off':
      return { state: 'ok', text: 'not connected' }
    case 'connecting':
      return { state: 'working', text: `connecting${waits}` }
    case 'waiting': {
      const { failure, retryAt } = phase
      const seconds = Math.max(0, Math.ceil((retryAt - now) / 1_000))
      return { state: 'problem', text: `not connected: ${failure.message}; next attempt in ${seconds} s${waits}` }
    }
    case 'connected': {
      if (loading !== null) {
        const { done, total } = loading
        return { state: 'working', text: `connected, receiving: ${done} of ${total} records${waits}` }
      }
      if (heldBackMs !== null && heldBackMs > HELD_BACK_SHOWN_MS) {
        const minutes = Math.round(heldBackMs / 60_000)
        const why = `a transaction of ${count(minutes, 'minute')} on the server holds back newer records`
        return { state: 'problem', text: `connected; ${why}: end it, or wait until it ends${waits}` }
      }
      if (status.unavailable.length > 0) {
        return { state: 'problem', text: `connected; ${unavailableText(status)}${waits}` }
      }
      return {
        state: 'ok',
        text: outbox.waiting === 0 ? 'connected, everything is sent and received' : `connected${waits}`,
      }
    }
  }
}

/** Shorter transactions are ordinary work of a server. */
const HELD_BACK_SHOWN_MS = 120_000

function unavailableText({ unavailable }: SyncStatus): string {
  const [first] = unavailable
  if (first === undefined) return ''
  const others = unavailable.length > 1 ? ` and ${count(unavailable.length - 1, 'other project')}` : ''
  return `${first.project}${others} cannot be shared: ${first.reason}`
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`
}
