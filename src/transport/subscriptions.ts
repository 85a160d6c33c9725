/**
 * Subscribers of the live stream. Backpressure: a subscriber that cannot keep up is disconnected and may resume; it never
 * delays the others.
 */
import type { WebSocket } from 'ws'
import type { StreamItem } from '../daemon/actors/stream.ts'
import { PROTOCOL_VERSION } from '../domain/protocol.ts'

/** Items kept for subscribers that resume, in number and in bytes. */
const KEPT_ITEMS = 1_000
const KEPT_BYTES = 4 * 1024 * 1024
/** How long items are kept after the last subscriber has gone, in ms: a page that reloads resumes. */
const KEPT_WITHOUT_SUBSCRIBERS_MS = 5 * 60_000
/** Unsent bytes of one subscriber: more than everything that is kept. */
const MAX_BACKLOG_BYTES = 8 * 1024 * 1024
/** WebSocket close code "try again later". */
export const CLOSE_TOO_SLOW = 1013
/** A subscriber that does not answer from one ping to the next is disconnected, in ms. */
const PING_MS = 30_000

interface Subscriber {
  /** Everything up to this number was sent. */
  after: number
  answeredPing: boolean
}

interface KeptItem {
  seq: number
  /** Serialised once for all subscribers. */
  bytes: Buffer
}

export class Subscriptions {
  readonly #subscribers = new Map<WebSocket, Subscriber>()
  readonly #pings: NodeJS.Timeout
  #kept: KeptItem[] = []
  #keptBytes = 0
  /** Every item with a higher number is kept. */
  #dropped: number
  #seq: number
  /** When a subscriber was there last; null: there was none yet. */
  #followedAt: number | null = null
  #unsent: StreamItem[] = []

  /** `seq`: the newest number. */
  constructor(seq: number, pingMs = PING_MS) {
    this.#seq = seq
    this.#dropped = seq
    this.#pings = setInterval(() => this.#ping(), pingMs).unref()
  }

  get size(): number {
    return this.#subscribers.size
  }

  /**
   * Sent at the end of this turn of the event loop, in the order of `seq`: items of one group commit are published in the
   * order in which their callers happen to be resumed.
   */
  publish(item: StreamItem): void {
    if (this.#unsent.push(item) === 1) setImmediate(() => this.#flush())
  }

  /**
   * Where items after `since` are no longer kept, `resumed` is false and the subscriber gets what comes from now on. The
   * caller sends the answer before it yields: missed items are sent in the next microtask, behind the answer.
   */
  add(socket: WebSocket, since: number | null): { seq: number; resumed: boolean } {
    const resumed = since === null || (since >= this.#dropped && since <= this.#seq)
    const after = resumed && since !== null ? since : this.#seq
    if (!this.#subscribers.has(socket)) {
      socket.once('close', () => this.#subscribers.delete(socket))
      socket.on('pong', () => this.#answered(socket))
    }
    this.#subscribers.set(socket, { after, answeredPing: true })
    queueMicrotask(() => {
      for (const item of this.#kept) this.#send(socket, item)
    })
    return { seq: this.#seq, resumed }
  }

  close(): void {
    clearInterval(this.#pings)
  }

  #flush(): void {
    const items = this.#unsent.sort((a, b) => a.seq - b.seq)
    this.#unsent = []
    if (!this.#isFollowed()) {
      this.#seq = Math.max(this.#seq, items.at(-1)?.seq ?? 0)
      this.#dropKept()
      return
    }
    for (const item of items) {
      if (erasesContent(item)) this.#dropKept()
      const kept = { seq: item.seq, bytes: Buffer.from(JSON.stringify({ v: PROTOCOL_VERSION, ...item })) }
      this.#keep(kept)
      for (const socket of this.#subscribers.keys()) this.#send(socket, kept)
    }
  }

  /** Most of the time nobody follows: then nothing is serialised for each event. */
  #isFollowed(): boolean {
    const now = performance.now()
    if (this.#subscribers.size > 0) this.#followedAt = now
    return this.#followedAt !== null && now - this.#followedAt < KEPT_WITHOUT_SUBSCRIBERS_MS
  }

  #keep(item: KeptItem): void {
    this.#seq = Math.max(this.#seq, item.seq)
    this.#kept.push(item)
    this.#keptBytes += item.bytes.length
    while (this.#kept.length > KEPT_ITEMS || this.#keptBytes > KEPT_BYTES) {
      const oldest = this.#kept.shift()
      if (oldest === undefined) break
      this.#keptBytes -= oldest.bytes.length
      this.#dropped = Math.max(this.#dropped, oldest.seq)
    }
  }

  /** Kept items contain memories: a forgotten one must not be sent again. Subscribers that resume then load again. */
  #dropKept(): void {
    this.#dropped = this.#seq
    this.#kept = []
    this.#keptBytes = 0
  }

  #send(socket: WebSocket, { seq, bytes }: KeptItem): void {
    const subscriber = this.#subscribers.get(socket)
    if (subscriber === undefined || seq <= subscriber.after) return
    if (socket.bufferedAmount > MAX_BACKLOG_BYTES) {
      this.#subscribers.delete(socket)
      socket.close(CLOSE_TOO_SLOW, 'too slow; resume from your last seq')
      return
    }
    subscriber.after = seq
    socket.send(bytes, { binary: false })
  }

  #ping(): void {
    for (const [socket, subscriber] of this.#subscribers) {
      if (!subscriber.answeredPing) {
        this.#subscribers.delete(socket)
        socket.terminate()
        continue
      }
      subscriber.answeredPing = false
      socket.ping()
    }
  }

  #answered(socket: WebSocket): void {
    const subscriber = this.#subscribers.get(socket)
    if (subscriber !== undefined) subscriber.answeredPing = true
  }
}

function erasesContent(item: StreamItem): boolean {
  return item.type === 'change' && (item.change === 'forgotten' || item.change === 'erased')
}
