/** Events that keep a daemon and whoever watches it busy, at a steady pace, over one connection. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChannelClient } from '../../src/channel/client.ts'
import { VERSION } from '../../src/version.ts'
import { eventOf } from '../lib/events.ts'
import { bash, sessionEnd, stop, userPrompt } from '../lib/payloads.ts'

const SESSIONS = 8
/** Tool uses of a turn, between its prompt and its end. */
const TURN = 18
const TICK_MS = 25

export class Feed {
  readonly #client: ChannelClient
  #sent = 0
  #acked = 0

  constructor(client: ChannelClient) {
    this.#client = client
  }

  get acked(): number {
    return this.#acked
  }

  /** `perSecond` for so long, or as many as are asked for. Resolves once all are durable. */
  async run({ perSecond, count }: { perSecond: number; count: number }): Promise<void> {
    const began = performance.now()
    const waiting: Promise<unknown>[] = []
    for (let sent = 0; sent < count; ) {
      const due = Math.min(count, Math.floor(((performance.now() - began) / 1_000) * perSecond) + 1)
      for (; sent < due; sent += 1) waiting.push(this.#send())
      await sleep(TICK_MS)
    }
    await Promise.all(waiting)
  }

  async #send(): Promise<void> {
    const n = this.#sent++
    const event = eventOf(payloadOf(n))
    await this.#client.request('ack', { type: 'event', event, version: VERSION })
    this.#acked += 1
  }
}

/** Eight sessions in turn: a prompt, tool uses, the end of the turn; now and then the end of the session. */
function payloadOf(n: number) {
  const round = Math.floor(n / SESSIONS)
  const place = round % (TURN + 2)
  const number = Math.floor(round / (TURN + 2))
  const turn = {
    session: `feed-${n % SESSIONS}-${Math.floor(number / 5)}`,
    prompt: `feed-${n % SESSIONS}-${number}`,
    cwd: '/home/dev/feed',
  }
  if (place === 0) return userPrompt(turn, `Look into part ${number} of the feed`)
  if (place <= TURN) return bash(turn, `toolu_feed_${n}`, `npm run step-${n}`, `step ${n} took ${n % 90} ms`)
  return number % 5 === 4 ? sessionEnd(turn) : stop(turn, `Part ${number} is done`)
}
