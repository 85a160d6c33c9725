/** Who follows the stream. A follower that cannot keep up is dropped and may resume; nobody waits for it. */
import type { WebSocket } from 'ws'
import type { StreamItem } from '../actors/stream.ts'
import { type Answer, PROTOCOL_VERSION } from './protocol.ts'

/** Commits remembered for those who come back. */
const REMEMBERED = 1_000
/** What may wait unsent for one follower, in bytes. */
const MAX_BACKLOG_BYTES = 4 * 1024 * 1024
/** WebSocket close code "try again later". */
export const CLOSE_TOO_SLOW = 1013

export class Subscriptions {
  readonly #followers = new Set<WebSocket>()
  #recent: { seq: number; text: string }[] = []
  #seq: number

  /** `seq`: the newest commit there is. */
  constructor(seq: number) {
    this.#seq = seq
  }

  get size(): number {
    return this.#followers.size
  }

  publish(item: StreamItem): void {
    const text = JSON.stringify({ v: PROTOCOL_VERSION, type: 'commit', ...item })
    this.#seq = item.seq
    this.#recent.push({ seq: item.seq, text })
    if (this.#recent.length > REMEMBERED * 2) this.#recent = this.#recent.slice(-REMEMBERED)
    for (const socket of this.#followers) this.#send(socket, text)
  }

  /** `since` that is no longer remembered: the follower has to load everything anew. */
  add(socket: WebSocket, id: string, since: number | null): void {
    const missed = since === null ? [] : this.#recent.filter((item) => item.seq > since)
    const oldest = this.#recent[0]?.seq ?? this.#seq + 1
    const gap = since !== null && since < this.#seq && since + 1 < oldest
    const answer: Answer = gap
      ? {
          v: PROTOCOL_VERSION,
          id,
          type: 'error',
          code: 'not_found',
          message: `commits after ${since} are no longer remembered; load again and subscribe from ${this.#seq}`,
          retryable: false,
        }
      : { v: PROTOCOL_VERSION, id, type: 'subscribed', seq: this.#seq }
    socket.send(JSON.stringify(answer))
    if (gap) return
    for (const { text } of missed) socket.send(text)
    this.#followers.add(socket)
    socket.once('close', () => this.#followers.delete(socket))
  }

  #send(socket: WebSocket, text: string): void {
    if (socket.bufferedAmount > MAX_BACKLOG_BYTES) {
      this.#followers.delete(socket)
      socket.close(CLOSE_TOO_SLOW, 'too slow; resume from your last seq')
      return
    }
    socket.send(text)
  }
}
