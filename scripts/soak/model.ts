/**
 * The model of a soak: a Messages API on loopback that answers well most of the time. It fails now and then, and is out of
 * order for a while every few minutes, each time in another way.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { goodAnswer } from '../../test/observer/servers/answers.ts'
import type { Fault, ModelRequest } from '../../test/observer/servers/fault.ts'
import { MessagesServer } from '../../test/observer/servers/messages-server.ts'
import { countedModelSettings } from '../chaos/clients.ts'
import type { Random } from '../lib/random.ts'

const KEY = 'sk-soak-0123456789'
/** Share of calls that fail outside of an outage. */
const FAULTY = 0.04
const OUTAGE_EVERY_MS = 180_000
const OUTAGE_MS = 20_000
const SLOW_MS = 4_000
/** Requests are recorded by the server; older ones are dropped, so that this process does not grow. */
const MAX_RECORDED = 200

type Trouble = 'rate-limit' | 'error' | 'timeout' | 'garbage' | 'broken' | 'slow'
const TROUBLES = ['rate-limit', 'error', 'timeout', 'garbage', 'broken', 'slow'] as const

export class SoakModel {
  calls = 0
  readonly faults: Partial<Record<Trouble, number>> = {}
  readonly #server: MessagesServer
  /** False in the end, when what is left is worked off. */
  #faulty = true

  private constructor(server: MessagesServer) {
    this.#server = server
  }

  static async listen(random: Random): Promise<SoakModel> {
    const began = performance.now()
    let model: SoakModel | null = null
    const server = await MessagesServer.listen(
      (call) => model?.answer(call, random, performance.now() - began) ?? goodAnswer(call),
      { apiKey: KEY },
    )
    model = new SoakModel(server)
    return model
  }

  get settings(): Record<string, string> {
    return { ...countedModelSettings(this.#server.url, KEY), CLAUDE_MEM_EFFECT_TIMEOUT_SECONDS: '8' }
  }

  recover(): void {
    this.#faulty = false
  }

  async close(): Promise<void> {
    await this.#server.close()
  }

  answer(call: ModelRequest, random: Random, at: number): Fault | string {
    this.calls += 1
    if (this.#server.requests.length > MAX_RECORDED) this.#server.requests.splice(0, MAX_RECORDED / 2)
    const trouble = this.#troubleAt(at, random)
    if (trouble === null) return goodAnswer(call)
    this.faults[trouble] = (this.faults[trouble] ?? 0) + 1
    return faultOf(trouble, call, random)
  }

  #troubleAt(at: number, random: Random): Trouble | null {
    if (!this.#faulty) return null
    const outage = Math.floor(at / OUTAGE_EVERY_MS)
    const until = outage * OUTAGE_EVERY_MS + OUTAGE_MS
    // None at the very start.
    if (outage > 0 && at < until) return TROUBLES[(outage - 1) % TROUBLES.length] ?? null
    return random.chance(FAULTY) ? random.pick(TROUBLES) : null
  }
}

function faultOf(trouble: Trouble, call: ModelRequest, random: Random): Fault | string {
  switch (trouble) {
    case 'rate-limit':
      return { fault: 'status', status: 429, retryAfterSeconds: random.between(1, 5) }
    case 'error':
      return { fault: 'status', status: random.pick([500, 502, 529]) }
    case 'timeout':
      return { fault: 'hang' }
    case 'garbage':
      return random.pick<string | Fault>([
        'I cannot help with that.',
        '<observation><type>change</type><title>',
        { fault: 'wrong-json' },
        { fault: 'html', status: 200 },
        { fault: 'no-text' },
      ])
    case 'broken':
      return random.pick<Fault>([{ fault: 'reset' }, { fault: 'reset-mid-body' }, { fault: 'empty-body' }])
    case 'slow':
      return { fault: 'slow-headers', text: goodAnswer(call), until: sleep(random.between(500, SLOW_MS)) }
  }
}
