/**
 * Runs a backfill: sends a few sessions at a time, newest first, until all are sent or the user stops it. A session is
 * sent the way its hooks would have: event by event, in order, each acknowledged when it is durable. Events are
 * idempotent, so an interrupted session is simply sent again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isInboxEvent, type MemoryEvent } from '../../domain/event.ts'
import { errorMessage, MemError } from '../../lib/errors.ts'
import { VERSION } from '../../lib/version.ts'
import type { DaemonClient } from '../../transport/client.ts'
import { readTranscriptEvents, type TranscriptOptions } from '../transcripts/index.ts'
import type { PlannedSession } from './plan.ts'

/** While one is read, others are observed. This also bounds the number of pending messages. */
const SESSIONS_AT_ONCE = 4

/** The state of a backfill. It survives a lost connection: after the daemon restarts, the backfill continues. */
export interface BackfillProgress {
  /** Sessions to send, or to send again; newest first. */
  left: PlannedSession[]
  done: PlannedSession[]
  failed: { session: string; file: string; reason: string }[]
  /** Acknowledged tool uses, including those that were already known. */
  toolUses: number
  /** Acknowledged events that were not known before. */
  fresh: number
  observations: number
  summaries: number
  /** Why there is no progress. */
  waiting: string | null
}

export function newBackfillProgress(sessions: readonly PlannedSession[]): BackfillProgress {
  return {
    left: [...sessions],
    done: [],
    failed: [],
    toolUses: 0,
    fresh: 0,
    observations: 0,
    summaries: 0,
    waiting: null,
  }
}

interface BackfillOptions {
  client: DaemonClient
  settings: TranscriptOptions['settings']
  /** Starts no further session; those in progress are finished. */
  stop: AbortSignal
  onProgress: (progress: BackfillProgress) => void
}

/** Rejects if it cannot continue, for example without a daemon; unfinished sessions are then in `left` again. */
export async function runBackfill(progress: BackfillProgress, options: BackfillOptions): Promise<void> {
  const aborted = new AbortController()
  const workers = Array.from({ length: SESSIONS_AT_ONCE }, async () => {
    for (;;) {
      const next = options.stop.aborted || aborted.signal.aborted ? undefined : progress.left.shift()
      if (next === undefined) return
      await backfillSession(next, progress, options, aborted)
    }
  })
  await Promise.all(workers)
  aborted.signal.throwIfAborted()
}

async function backfillSession(
  planned: PlannedSession,
  progress: BackfillProgress,
  { client, settings, onProgress }: BackfillOptions,
  aborted: AbortController,
): Promise<void> {
  const { session, file, forgotten, client: clientName, project, cwd } = planned
  let toolUses = 0
  try {
    if (forgotten) await client.call('revive_sessions', { sessions: [session] })
    const sent = await sendSession({
      client,
      clientName,
      file,
      session,
      filed: { project, cwd },
      settings,
      signal: aborted.signal,
      acked: ({ kind }) => {
        if (kind !== 'tool_use' && kind !== 'tool_failure') return
        toolUses += 1
        progress.toolUses += 1
        progress.waiting = null
        onProgress(progress)
      },
      waiting: (reason) => {
        progress.waiting = reason
        onProgress(progress)
      },
    })
    progress.done.push(planned)
    progress.waiting = null
    progress.fresh += sent.fresh
    progress.observations += sent.observations
    progress.summaries += sent.summaries
  } catch (error) {
    if (aborted.signal.aborted || stopsBackfill(error)) {
      progress.toolUses -= toolUses
      progress.left.unshift(planned)
      aborted.abort(error)
      return
    }
    progress.failed.push({ session, file, reason: errorMessage(error) })
  }
  onProgress(progress)
}

/** No daemon, a full disk, no provider: the next session would fail too. */
function stopsBackfill(error: unknown): boolean {
  return isDaemonGone(error) || (error instanceof MemError && error.retryable)
}

export function isDaemonGone(error: unknown): boolean {
  return error instanceof MemError && (error.code === 'not_running' || error.code === 'draining')
}

/** Unacknowledged events: enough to fill the daemon's group commits, few enough to hold in memory. */
const MAX_IN_FLIGHT = 32
/**
 * Backpressure: the session's actor keeps 32 unfinished turns separately; further ones are merged and lose their
 * summaries. Half of that leaves room for interrupted turns.
 */
const MAX_TURNS_AHEAD = 16
/** Backpressure within one turn. Above the largest batch, at which messages are observed before the turn ends. */
const MAX_MESSAGES_AHEAD = 1_000
const LARGEST_BATCH = 500
/** Polling interval for a session's progress, in ms; doubled up to the maximum. */
const MIN_POLL_MS = 5
const MAX_POLL_MS = 250
/** After this time (ms) without an answer of the provider, the backfill stops. */
const OBSERVER_TIMEOUT_MS = 120_000

interface SendSessionOptions extends Pick<BackfillOptions, 'client' | 'settings'> {
  /** Whose transcript it is; Claude Code's by default. */
  clientName?: string
  file: string
  session: string
  /** As in `TranscriptOptions`. */
  filed?: NonNullable<TranscriptOptions['filed']>
  /** Called for each acknowledged event. */
  acked?: (event: MemoryEvent) => void
  /** Called with the reason while the observer does not answer. */
  waiting?: (reason: string) => void
  /** Stops at once. Acknowledged events stay; the next run sends the rest. */
  signal: AbortSignal
}

/** What was stored of a session; `fresh`: acknowledged events that were not known before. */
type SentSession = Pick<BackfillProgress, 'fresh' | 'observations' | 'summaries'>

/** Resolves when the session is observed, summarised and closed. */
export async function sendSession(options: SendSessionOptions): Promise<SentSession> {
  const { session, file, clientName, filed, settings, signal } = options
  const window = new SendWindow(options)
  let turns = 0
  let messages = 0
  for await (const event of readTranscriptEvents(file, {
    settings,
    ...(clientName === undefined ? {} : { client: clientName }),
    ...(filed === undefined ? {} : { filed }),
  })) {
    if (event.session !== session) continue
    signal.throwIfAborted()
    await window.send(event)
    // The start event marks the session as a backfill. Without it the next run would skip it as reported by hooks.
    if (event.kind === 'session_start') await window.drain()
    if (isInboxEvent(event)) messages += 1
    if (event.kind === 'turn_end') turns += 1
    if (turns >= MAX_TURNS_AHEAD && event.kind === 'turn_end') {
      // All messages belong to finished turns, so all of them will be observed.
      await window.drain()
      await waitForSession(options, ({ pending }) => pending === 0)
      turns = 0
      messages = 0
    } else if (messages >= MAX_MESSAGES_AHEAD) {
      await window.drain()
      await waitForSession(options, ({ pending }) => pending <= LARGEST_BATCH)
      messages = 0
    }
  }
  await window.drain()
  if (window.acked === 0) return { fresh: 0, observations: 0, summaries: 0 }
  const { observations, summaries } = await waitForSession(options, ({ closed }) => closed)
  return { fresh: window.fresh, observations, summaries }
}

class SendWindow {
  readonly #options: SendSessionOptions
  readonly #inFlight = new Set<Promise<void>>()
  #failure: unknown = null
  /** Acknowledged events, and how many of them were not known before. */
  acked = 0
  fresh = 0

  constructor(options: SendSessionOptions) {
    this.#options = options
  }

  /** Resolves when the next event may be sent. */
  async send(event: MemoryEvent): Promise<void> {
    const sending = this.#deliver(event)
      .catch((error: unknown) => {
        this.#failure ??= error
      })
      .finally(() => this.#inFlight.delete(sending))
    this.#inFlight.add(sending)
    if (this.#inFlight.size >= MAX_IN_FLIGHT) await Promise.race(this.#inFlight)
    this.#check()
  }

  async drain(): Promise<void> {
    await Promise.all(this.#inFlight)
    this.#check()
  }

  async #deliver(event: MemoryEvent): Promise<void> {
    const { client, acked } = this.#options
    const { duplicate } = await client.call('event', { event, version: VERSION })
    this.acked += 1
    if (!duplicate) this.fresh += 1
    acked?.(event)
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure
  }
}

interface SessionProgress {
  pending: number
  closed: boolean
  observations: number
  summaries: number
}

/** Polls the session until `isEnough`. */
async function waitForSession(
  { client, session, signal, waiting }: SendSessionOptions,
  isEnough: (progress: SessionProgress) => boolean,
): Promise<SessionProgress> {
  let waitingSince: number | null = null
  for (let pollMs = MIN_POLL_MS; ; pollMs = Math.min(pollMs * 2, MAX_POLL_MS)) {
    const { view } = await client.call('session', { session, trace: 0 })
    const { row, messages, observations, summaries } = view
    const progress: SessionProgress = {
      pending: messages.filter(({ status }) => status !== 'failed').length,
      closed: row.state === 'closed',
      observations,
      summaries,
    }
    if (row.quarantine !== null) {
      const next = `to restore it: claude-mem queue retry --session ${session}`
      throw new MemError('quarantined', `the session is quarantined (${row.quarantine}); ${next}`)
    }
    if (isEnough(progress)) return progress
    if (row.waiting === null) waitingSince = null
    else {
      waiting?.(row.waiting)
      waitingSince ??= Date.now()
      if (Date.now() - waitingSince > OBSERVER_TIMEOUT_MS)
        throw new MemError('internal', `the observer does not answer: ${row.waiting}`, { retryable: true })
    }
    await sleep(pollMs, undefined, { signal })
  }
}
