/** Who follows the stream. A follower that cannot keep up is dropped and may resume; nobody waits for it. */
import type { WebSocket } from 'ws'
import type { StreamItem } from '../actors/stream.ts'
import { type Answer, PROTOCOL_VERSION } from './protocol.ts'

/** Items remembered for those who come back, in number and bytes. */
const REMEMBERED = 1_000
const REMEMBERED_BYTES = 4 * 1024 * 1024
/** What may wait unsent for one follower, in bytes: more than everything that is remembered. */
const MAX_BACKLOG_BYTES = 8 * 1024 * 1024
/** WebSocket close code "try again later". */
export const CLOSE_TOO_SLOW = 1013
/** A follower that does not answer from one ping to the next is gone, in ms. */
const PING_MS = 30_000

interface Follower {
  /** It has everything up to here. */
  after: number
  answers: boolean
}

interface Remembered {
  seq: number
  /** The same bytes for all who follow. */
  bytes: Buffer
}

export class Subscriptions {
  readonly #followers = new Map<WebSocket, Follower>()
  readonly #pings: NodeJS.Timeout
  #recent: Remembered[] = []
  #recentBytes = 0
  /** Everything after it is remembered. */
  #forgotten: number
  #seq: number
  #waiting: StreamItem[] = []

  /** `seq`: the newest there is. */
  constructor(seq: number, pingMs = PING_MS) {
    this.#seq = seq
    this.#forgotten = seq
    this.#pings = setInterval(() => this.#ping(), pingMs).unref()
  }

  get size(): number {
    return this.#followers.size
  }

  /**
   * Sent at the end of this turn of the event loop: what the store made durable in one go comes back in the order in
   * which its callers happen to be resumed.
   */
  publish(item: StreamItem): void {
    if (this.#waiting.push(item) === 1) setImmediate(() => this.#flush())
  }

  /** Where `since` is not remembered any more, or never was, the follower is told so and follows from now on. */
  add(socket: WebSocket, id: string, since: number | null): void {
    const resumed = since === null || (since >= this.#forgotten && since <= this.#seq)
    const after = resumed && since !== null ? since : this.#seq
    const answer: Answer = { v: PROTOCOL_VERSION, id, type: 'subscribed', seq: this.#seq, resumed }
    socket.send(JSON.stringify(answer))
    if (!this.#followers.has(socket)) {
      socket.once('close', () => this.#followers.delete(socket))
      socket.on('pong', () => this.#answered(socket))
    }
    this.#followers.set(socket, { after, answers: true })
    for (const item of this.#recent) this.#send(socket, item)
  }

  close(): void {
    clearInterval(this.#pings)
  }

  #flush(): void {
    const items = this.#waiting.sort((a, b) => a.seq - b.seq)
    this.#waiting = []
    for (const item of items) {
      if (takesAway(item)) this.#forgetRecent()
      const remembered = { seq: item.seq, bytes: Buffer.from(JSON.stringify({ v: PROTOCOL_VERSION, ...item })) }
      this.#remember(remembered)
      for (const socket of this.#followers.keys()) this.#send(socket, remembered)
    }
  }

  #remember(item: Remembered): void {
    this.#seq = Math.max(this.#seq, item.seq)
    this.#recent.push(item)
    this.#recentBytes += item.bytes.length
    while (this.#recent.length > REMEMBERED || this.#recentBytes > REMEMBERED_BYTES) {
      const oldest = this.#recent.shift()
      if (oldest === undefined) break
      this.#recentBytes -= oldest.bytes.length
      this.#forgotten = Math.max(this.#forgotten, oldest.seq)
    }
  }

  /** Items hold what was learned: none of it may be told again once it is forgotten. Who comes back then loads anew. */
  #forgetRecent(): void {
    this.#forgotten = this.#seq
    this.#recent = []
    this.#recentBytes = 0
  }

  #send(socket: WebSocket, { seq, bytes }: Remembered): void {
    const follower = this.#followers.get(socket)
    if (follower === undefined || seq <= follower.after) return
    if (socket.bufferedAmount > MAX_BACKLOG_BYTES) {
      this.#followers.delete(socket)
      socket.close(CLOSE_TOO_SLOW, 'too slow; resume from your last seq')
      return
    }
    follower.after = seq
    socket.send(bytes, { binary: false })
  }

  #ping(): void {
    for (const [socket, follower] of this.#followers) {
      if (!follower.answers) {
        this.#followers.delete(socket)
        socket.terminate()
        continue
      }
      follower.answers = false
      socket.ping()
    }
  }

  #answered(socket: WebSocket): void {
    const follower = this.#followers.get(socket)
    if (follower !== undefined) follower.answers = true
  }
}

function takesAway(item: StreamItem): boolean {
  return item.type === 'change' && (item.change === 'forgotten' || item.change === 'erased')
}
