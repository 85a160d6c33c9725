/**
 * A connection that reconnects by itself and resumes the live stream. It runs in browsers and in Node: the caller opens
 * the WebSocket.
 *
 * 1. `connecting` until the stream is subscribed, then `live`. A connection that breaks is `stale` until it is live again.
 * 2. `onLoad` is called before the first item, and again whenever items were missed that the daemon no longer keeps: the
 *    caller must load again what it shows. Items that arrive during that load may already be in it; items have a `seq` and
 *    rows have ids, so applying one twice changes nothing.
 * 3. Items arrive in the order of `seq`, none twice.
 * 4. After a silence the daemon is probed. Without an answer the connection counts as dead, whatever the operating system
 *    reports.
 */
import type { CallArguments, OperationName, OutputOf } from '../api/index.ts'
import { MemError } from '../lib/errors.ts'
import { type AnswerMessage, isStreamMessage, PendingRequests, type StreamMessage } from './messages.ts'

/** What browser sockets and those of `ws` have in common. */
interface LiveSocket {
  send(text: string): void
  close(): void
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
}

export type LiveState = 'connecting' | 'live' | 'stale' | 'closed'

interface LiveConnectionOptions {
  /** May first check who answers; if it rejects, it is tried again later. */
  open(): LiveSocket | Promise<LiveSocket>
  onLoad(): void
  onItem(item: StreamMessage): void
  onState(state: LiveState): void
  /** The connection broke, or could not be opened, for the nth time in a row. */
  onBroken?(attempt: number): void
  /** Resume after this item; null: from now on. */
  since?: number | null
}

/** Pauses before reconnecting: short at first, because a restart takes a second. In ms. */
const RETRY_MS = [250, 500, 1_000, 2_000, 4_000] as const
/** Silence after which the daemon is probed, in ms. */
const QUIET_MS = 15_000
const PROBE_TIMEOUT_MS = 5_000

export class LiveConnection {
  readonly #options: LiveConnectionOptions
  #requests = new PendingRequests()
  #socket: LiveSocket | null = null
  /** Of the newest attempt to connect: an older one may still be opening its socket. */
  #opening = 0
  #state: LiveState = 'connecting'
  #last: number | null
  #attempt = 0
  #retryTimer: ReturnType<typeof setTimeout> | undefined
  #probeTimer: ReturnType<typeof setTimeout> | undefined

  constructor(options: LiveConnectionOptions) {
    this.#options = options
    this.#last = options.since ?? null
  }

  get state(): LiveState {
    return this.#state
  }
  /** The newest item that was received; null before the first connection. */
  get seq(): number | null {
    return this.#last
  }

  start(): void {
    this.#connect()
  }

  close(): void {
    this.#enter('closed')
    clearTimeout(this.#retryTimer)
    this.#drop()
  }

  /** Does not wait for a connection: without one it rejects with `not_running`. */
  async call<N extends OperationName>(name: N, ...args: CallArguments<N>): Promise<OutputOf<N>> {
    const socket = this.#socket
    if (socket === null || this.#state !== 'live') {
      throw new MemError('not_running', 'the connection to the daemon is interrupted', { retryable: true })
    }
    return await this.#requests.send((text) => socket.send(text), name, ...args)
  }

  /** The user returned: reconnects now, or probes the connection. */
  reconnectNow(): void {
    if (this.#state === 'live') {
      this.#probe()
    } else if (this.#socket === null && this.#state !== 'closed') {
      clearTimeout(this.#retryTimer)
      this.#connect()
    }
  }

  #connect(): void {
    this.#opening += 1
    const number = this.#opening
    const isNewest = () => number === this.#opening && this.#state !== 'closed'
    const failed = () => {
      if (isNewest()) this.#retry()
    }
    let opened: LiveSocket | Promise<LiveSocket>
    try {
      opened = this.#options.open()
    } catch {
      failed()
      return
    }
    // A socket that is there already is used at once: it may open before a promise resolves.
    if (opened instanceof Promise) {
      opened.then((socket) => (isNewest() ? this.#use(socket) : socket.close()), failed)
    } else {
      this.#use(opened)
    }
  }

  #use(socket: LiveSocket): void {
    const requests = new PendingRequests()
    this.#socket = socket
    this.#requests = requests
    const isCurrent = () => this.#socket === socket
    socket.onopen = () => {
      if (!isCurrent()) return socket.close()
      const subscribed = requests.send((text) => socket.send(text), 'subscribe', { since: this.#last })
      subscribed.catch(() => socket.close())
    }
    socket.onmessage = (event: { data: unknown }) => {
      if (isCurrent()) this.#receive(String(event.data))
    }
    socket.onclose = () => {
      requests.rejectAll()
      if (isCurrent()) this.#retry()
    }
    // A close event always follows.
    socket.onerror = () => undefined
  }

  #receive(text: string): void {
    this.#restartProbeTimer()
    const message: AnswerMessage | StreamMessage = JSON.parse(text)
    if (isStreamMessage(message)) {
      if (this.#last !== null && message.seq <= this.#last) return
      this.#last = message.seq
      this.#options.onItem(message)
      return
    }
    this.#requests.settle(message)
    // Synchronously, not when the promise of `subscribe` resolves: the first item may be in the same packet.
    if (isSubscribed(message)) this.#follow(message)
  }

  #follow({ seq, resumed }: { seq: number; resumed: boolean }): void {
    // A number below ours: the database was replaced by an older one.
    const continues = this.#last !== null && resumed && seq >= this.#last
    if (!continues) this.#last = seq
    this.#attempt = 0
    this.#enter('live')
    if (!continues) this.#options.onLoad()
  }

  #restartProbeTimer(): void {
    clearTimeout(this.#probeTimer)
    this.#probeTimer = setTimeout(() => this.#probe(), QUIET_MS)
  }

  #probe(): void {
    const socket = this.#socket
    this.call('indexing', {}, PROBE_TIMEOUT_MS).catch(() => {
      if (socket !== null && this.#socket === socket) this.#retry()
    })
  }

  #retry(): void {
    this.#drop()
    if (this.#state === 'closed') return
    if (this.#state === 'live') this.#enter('stale')
    this.#attempt += 1
    this.#options.onBroken?.(this.#attempt)
    const pause = RETRY_MS[Math.min(this.#attempt, RETRY_MS.length) - 1]
    this.#retryTimer = setTimeout(() => this.#connect(), pause)
  }

  #drop(): void {
    clearTimeout(this.#probeTimer)
    const socket = this.#socket
    this.#socket = null
    this.#requests.rejectAll()
    socket?.close()
  }

  #enter(state: LiveState): void {
    if (state === this.#state) return
    this.#state = state
    this.#options.onState(state)
  }
}

function isSubscribed(answer: AnswerMessage): answer is AnswerMessage & { seq: number; resumed: boolean } {
  return answer.type === 'subscribed'
}
