/**
 * A connection that outlives the daemon: it comes back by itself, goes on in the stream where it stopped, and says so
 * where that is not possible. The same in a browser and in Node: whoever uses it says how a WebSocket is opened.
 *
 * 1. `connecting` until the stream is followed, then `live`. A connection that breaks is `stale` until it is live again.
 * 2. `onLoad` comes before the first item, and again whenever items were missed that nobody remembers: whatever is shown
 *    has to be asked for anew. Items that come while that is under way may be in what is loaded already; each has a
 *    `seq` and rows have ids, so taking one twice changes nothing.
 * 3. Items come in the order of `seq`, none twice.
 * 4. A connection on which nothing is heard for a while is asked; one that gives no answer is dead, whatever the
 *    operating system believes.
 */
import { MemError } from '../errors.ts'
import type { Answer, StreamMessage } from './protocol.ts'
import { type AnswerOf, Questions, type RequestBody } from './questions.ts'

/** What browsers' sockets and those of `ws` have in common. */
export interface LiveSocket {
  send(text: string): void
  close(): void
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
}

export type LiveState = 'connecting' | 'live' | 'stale' | 'closed'

export interface LiveOptions {
  open(): LiveSocket
  onLoad(): void
  onItem(item: StreamMessage): void
  onState(state: LiveState): void
  /** The connection broke, or never came about, for the nth time in a row. */
  onBroken?(attempt: number): void
  /** Go on after this item; null: from now on. */
  since?: number | null
}

/** The first try comes soon, as a restart takes a second; later ones are rare enough not to be noticed, in ms. */
const RETRY_MS = [250, 500, 1_000, 2_000, 4_000] as const
const ANSWER_MS = 30_000
/** Silence after which the other end is asked whether it is there, in ms. */
const QUIET_MS = 15_000
const PROBE_MS = 5_000

export class LiveChannel {
  readonly #options: LiveOptions
  #questions = new Questions()
  #socket: LiveSocket | null = null
  #state: LiveState = 'connecting'
  #last: number | null
  #attempt = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #probe: ReturnType<typeof setTimeout> | undefined

  constructor(options: LiveOptions) {
    this.#options = options
    this.#last = options.since ?? null
  }

  get state(): LiveState {
    return this.#state
  }
  /** The newest item that was taken; null before the first connection. */
  get seq(): number | null {
    return this.#last
  }

  start(): void {
    this.#connect()
  }

  close(): void {
    this.#turn('closed')
    clearTimeout(this.#timer)
    this.#drop()
  }

  /** Does not wait for a connection: without one it rejects with `not_running`. */
  async request<T extends Answer['type']>(expected: T, body: RequestBody, timeoutMs = ANSWER_MS): Promise<AnswerOf<T>> {
    const socket = this.#socket
    if (socket === null || this.#state !== 'live')
      throw new MemError('not_running', 'the daemon does not answer at the moment', { retryable: true })
    return await this.#questions.ask(expected, body, timeoutMs, (text) => socket.send(text))
  }

  /** Somebody came back: a connection that is gone is tried now, and one that seems to be there is asked. */
  hurry(): void {
    if (this.#state === 'live') {
      this.#askWhetherThere()
    } else if (this.#socket === null && this.#state !== 'closed') {
      clearTimeout(this.#timer)
      this.#connect()
    }
  }

  #connect(): void {
    let socket: LiveSocket
    try {
      socket = this.#options.open()
    } catch {
      this.#broken()
      return
    }
    const questions = new Questions()
    this.#socket = socket
    this.#questions = questions
    const isCurrent = () => this.#socket === socket
    socket.onopen = () => {
      if (!isCurrent()) return socket.close()
      const body = { type: 'subscribe', since: this.#last } as const
      const asked = questions.ask('subscribed', body, ANSWER_MS, (text) => socket.send(text))
      asked.catch(() => socket.close())
    }
    socket.onmessage = (event: { data: unknown }) => {
      if (isCurrent()) this.#take(String(event.data))
    }
    socket.onclose = () => {
      questions.giveUp()
      if (isCurrent()) this.#broken()
    }
    // A close always follows.
    socket.onerror = () => undefined
  }

  #take(text: string): void {
    this.#listen()
    const message: Answer | StreamMessage = JSON.parse(text)
    if (message.type === 'commit' || message.type === 'change') {
      if (this.#last !== null && message.seq <= this.#last) return
      this.#last = message.seq
      this.#options.onItem(message)
      return
    }
    this.#questions.answered(message)
    // At once, not when the question's promise comes round: the first item may be in the same packet.
    if (message.type === 'subscribed') this.#follows(message)
  }

  #follows({ seq, resumed }: AnswerOf<'subscribed'>): void {
    // A number below ours: the memory was replaced by an older one.
    const goesOn = this.#last !== null && resumed && seq >= this.#last
    if (!goesOn) this.#last = seq
    this.#attempt = 0
    this.#turn('live')
    if (!goesOn) this.#options.onLoad()
  }

  /** Something was heard: the other end is there. */
  #listen(): void {
    clearTimeout(this.#probe)
    this.#probe = setTimeout(() => this.#askWhetherThere(), QUIET_MS)
  }

  #askWhetherThere(): void {
    const socket = this.#socket
    this.request('indexing', { type: 'indexing' }, PROBE_MS).catch(() => {
      if (socket !== null && this.#socket === socket) this.#broken()
    })
  }

  #broken(): void {
    this.#drop()
    if (this.#state === 'closed') return
    if (this.#state === 'live') this.#turn('stale')
    this.#attempt += 1
    this.#options.onBroken?.(this.#attempt)
    const pause = RETRY_MS[Math.min(this.#attempt, RETRY_MS.length) - 1]
    this.#timer = setTimeout(() => this.#connect(), pause)
  }

  #drop(): void {
    clearTimeout(this.#probe)
    const socket = this.#socket
    this.#socket = null
    this.#questions.giveUp()
    socket?.close()
  }

  #turn(state: LiveState): void {
    if (state === this.#state) return
    this.#state = state
    this.#options.onState(state)
  }
}
