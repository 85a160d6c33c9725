/**
 * One session of the past, sent the way its hooks would have: event by event, in order, each acknowledged once it is
 * durable. What is known already counts once, so a session that was cut off is simply sent again.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChannelClient } from '../channel/client.ts'
import { MemError } from '../errors.ts'
import { readTranscript, type TranscriptOptions } from '../hook/transcript/index.ts'
import { isMessage, type MemoryEvent } from '../memory/event.ts'
import { VERSION } from '../version.ts'

/** Events under way to the daemon: enough to fill its group commits, and few enough to be held in memory twice. */
const IN_FLIGHT = 32
/**
 * The session's actor remembers 32 unfinished turns one by one; beyond that they melt together and lose their summaries.
 * Half of that leaves room for turns that were interrupted.
 */
const TURNS_AHEAD = 16
/** Of a turn that never ends, this much waits at most; above the largest batch, which goes to the observer by itself. */
const MESSAGES_AHEAD = 1_000
const LARGEST_BATCH = 500
/** How often the daemon is asked how far a session is, in ms: at first, and after a while. */
const LOOK_AGAIN_MS = 5
const LOOK_AGAIN_MOST_MS = 250
/** A provider that refuses this long will not come back while somebody watches, in ms. */
const GIVE_UP_MS = 120_000

export interface SendOptions {
  client: ChannelClient
  file: string
  session: string
  settings: TranscriptOptions['settings']
  /** Each event that is on disk. */
  acked?: (event: MemoryEvent, duplicate: boolean) => void
  /** Why nothing moves. */
  waiting?: (reason: string) => void
  /** Ends at once. What was acknowledged stays, the rest comes with the next run. */
  signal: AbortSignal
}

export interface Sent {
  events: number
  /** Not known before. */
  fresh: number
  observations: number
  summaries: number
}

/** Resolves once the session is observed, summarised and closed. */
export async function sendSession(options: SendOptions): Promise<Sent> {
  const { session, file, settings, signal } = options
  const window = new Window(options)
  let turns = 0
  let messages = 0
  for await (const event of readTranscript(file, { settings })) {
    if (event.session !== session) continue
    signal.throwIfAborted()
    await window.send(event)
    // By its start a session is known as one of a transcript: without it the next run would take the rest for a hook's.
    if (event.kind === 'session_start') await window.landed()
    if (isMessage(event)) messages += 1
    if (event.kind === 'turn_end') turns += 1
    if (turns >= TURNS_AHEAD && event.kind === 'turn_end') {
      // Every message so far belongs to a turn that has ended: all of it gets worked off.
      await window.landed()
      await workedOff(options, ({ pending }) => pending === 0)
      turns = 0
      messages = 0
    } else if (messages >= MESSAGES_AHEAD) {
      await window.landed()
      await workedOff(options, ({ pending }) => pending <= LARGEST_BATCH)
      messages = 0
    }
  }
  await window.landed()
  if (window.events === 0) return { events: 0, fresh: 0, observations: 0, summaries: 0 }
  const { observations, summaries } = await workedOff(options, ({ closed }) => closed)
  return { events: window.events, fresh: window.fresh, observations, summaries }
}

class Window {
  readonly #options: SendOptions
  readonly #underWay = new Set<Promise<void>>()
  #failure: unknown = null
  events = 0
  fresh = 0

  constructor(options: SendOptions) {
    this.#options = options
  }

  /** Resolves when there is room for the next one. */
  async send(event: MemoryEvent): Promise<void> {
    const sending = this.#deliver(event)
      .catch((error: unknown) => {
        this.#failure ??= error
      })
      .finally(() => this.#underWay.delete(sending))
    this.#underWay.add(sending)
    if (this.#underWay.size >= IN_FLIGHT) await Promise.race(this.#underWay)
    this.#check()
  }

  async landed(): Promise<void> {
    await Promise.all(this.#underWay)
    this.#check()
  }

  async #deliver(event: MemoryEvent): Promise<void> {
    const { client, acked } = this.#options
    const { duplicate } = await client.request('ack', { type: 'event', event, version: VERSION })
    this.events += 1
    if (!duplicate) this.fresh += 1
    acked?.(event, duplicate)
  }

  #check(): void {
    if (this.#failure !== null) throw this.#failure
  }
}

interface SessionLook {
  pending: number
  closed: boolean
  observations: number
  summaries: number
}

/** Until the session is where it should be; its daemon does the work meanwhile. */
async function workedOff(
  { client, session, signal, waiting }: SendOptions,
  enough: (look: SessionLook) => boolean,
): Promise<SessionLook> {
  let stuckSince: number | null = null
  for (let pauseMs = LOOK_AGAIN_MS; ; pauseMs = Math.min(pauseMs * 2, LOOK_AGAIN_MOST_MS)) {
    const { view } = await client.request('session', { type: 'session', session, trace: 0 })
    const { row, messages, observations, summaries } = view
    const look: SessionLook = {
      pending: messages.filter(({ status }) => status !== 'failed').length,
      closed: row.state === 'closed',
      observations,
      summaries,
    }
    if (row.quarantine !== null) throw new MemError('quarantined', `the session is quarantined: ${row.quarantine}`)
    if (enough(look)) return look
    if (row.waiting === null) stuckSince = null
    else {
      waiting?.(row.waiting)
      stuckSince ??= Date.now()
      if (Date.now() - stuckSince > GIVE_UP_MS)
        throw new MemError('internal', `the observer waits: ${row.waiting}`, { retryable: true })
    }
    await sleep(pauseMs, undefined, { signal })
  }
}
