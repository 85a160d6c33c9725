/**
 * The load of a soak: sessions whose events arrive through hook processes and through direct connections, viewers that come
 * and go, and searches. Everything continues over restarts of the daemon, as the real programs do.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorMessage, MemError } from '../../src/lib/errors.ts'
import { VERSION } from '../../src/lib/version.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import { type LogEntry, logEntry, sessionSteps } from '../chaos/clients.ts'
import { eventOf, type Payload } from '../lib/payloads.ts'
import { Random } from '../lib/random.ts'
import { runHook, type Sandbox } from '../lib/sandbox.ts'

/** Sessions that work at the same time. */
const SESSIONS = 6
/** Share of the events that a hook process reports; it costs a hundred times as much as a direct call. */
const THROUGH_HOOK = 0.12
const VIEWERS = 4
const VIEWER_LIFE_MS = 30_000
const SEARCH_EVERY_MS = 1_500
const REST_EVERY_MS = 4_000
const RETRY_MS = 100
const CALL_TIMEOUT_MS = 5_000
const WORDS = ['echo', 'test', 'exit code', 'edit', 'total', 'what was done', 'explored', 'src', 'chaos', 'overloaded']

export class SoakLoad {
  readonly log: LogEntry[] = []
  readonly errors: string[] = []
  /** Sessions whose events are all reported, with the time of the last one. */
  readonly finished = new Map<string, number>()
  events = 0
  hooks = 0
  searches = 0
  requests = 0
  viewers = 0
  /** Items that viewers received. */
  items = 0
  readonly #sandbox: Sandbox
  readonly #directories: readonly [string, ...string[]]
  readonly #seed: number
  /** Between two events of one session, in ms. */
  readonly #pauseMs: number
  #running = true
  #tasks: Promise<void>[] = []
  #direct: DaemonClient | null = null

  constructor(sandbox: Sandbox, directories: readonly [string, ...string[]], seed: number, eventsPerSecond: number) {
    this.#sandbox = sandbox
    this.#directories = directories
    this.#seed = seed
    this.#pauseMs = (SESSIONS / eventsPerSecond) * 1_000
  }

  start(): void {
    const random = (n: number) => new Random(this.#seed + 7_919 * (n + 1))
    this.#tasks = [
      ...Array.from({ length: SESSIONS }, (_, i) => this.#work(i, random(i))),
      ...Array.from({ length: VIEWERS }, (_, i) => this.#watch(random(100 + i))),
      this.#search(random(200)),
      this.#request(random(300)),
    ]
  }

  /** Resolves when every event that was begun is durable. A daemon must be running. */
  async stop(): Promise<void> {
    this.#running = false
    await Promise.all(this.#tasks)
    this.#direct?.close()
  }

  async #work(worker: number, random: Random): Promise<void> {
    for (let n = 0; this.#running; n++) {
      const session = `soak-${worker}-${n}`
      for (const together of sessionSteps(random, session, random.pick(this.#directories))) {
        if (!this.#running) return
        await Promise.all(together.map((payload) => this.#deliver(payload, random)))
        await sleep(together.length * this.#pauseMs * (0.5 + random.next()))
      }
      this.finished.set(session, performance.now())
    }
  }

  async #deliver(payload: Payload, random: Random): Promise<void> {
    if (random.chance(THROUGH_HOOK)) {
      this.hooks += 1
      const run = await runHook(this.#sandbox, payload)
      if (!run.reported) this.errors.push(`hook: ${JSON.stringify(run)}`)
      this.#record(payload, run.reported)
      return
    }
    // As the hook would: one id for all attempts.
    const event = eventOf(payload)
    for (;;) {
      const answer = await this.#ask((client) => client.call('event', { event, version: VERSION }, CALL_TIMEOUT_MS))
      if (answer !== 'none') return this.#record(payload, answer === 'answered')
      await sleep(RETRY_MS)
    }
  }

  #record(payload: Payload, reported: boolean): void {
    // The oldest payloads are deleted in a long run, so only ids are compared.
    this.log.push({ ...logEntry(payload, reported), content: null })
    this.events += 1
  }

  /** One connection for all direct calls, opened again after a restart. `none`: the daemon did not answer. */
  async #ask(question: (client: DaemonClient) => Promise<unknown>): Promise<'answered' | 'refused' | 'none'> {
    try {
      this.#direct ??= await this.#connect(() => {
        this.#direct = null
      })
      await question(this.#direct)
      return 'answered'
    } catch (error) {
      if (error instanceof MemError && (error.retryable || error.code === 'not_running')) return 'none'
      this.errors.push(errorMessage(error))
      return 'refused'
    }
  }

  async #connect(onClose: () => void): Promise<DaemonClient> {
    const client = await DaemonClient.connect(this.#sandbox.paths)
    client.onClose = onClose
    return client
  }

  /** A viewer subscribes, follows for a while, leaves without notice, and comes back where it was or from now on. */
  async #watch(random: Random): Promise<void> {
    let seen: number | null = null
    while (this.#running) {
      try {
        const client = await DaemonClient.connect(this.#sandbox.paths)
        const closed = new Promise<void>((resolve) => {
          client.onClose = resolve
        })
        client.onStream = () => {
          this.items += 1
        }
        const since: number | null = random.chance(0.5) ? seen : null
        const answer: { seq: number } = await client.call('subscribe', { since }, CALL_TIMEOUT_MS)
        seen = answer.seq
        this.viewers += 1
        await Promise.race([closed, this.#pause(random.between(1_000, VIEWER_LIFE_MS))])
        client.close()
      } catch {
        await sleep(RETRY_MS)
      }
    }
  }

  async #search(random: Random): Promise<void> {
    while (this.#running) {
      const query = `${random.pick(['', '"', '-'])}${WORDS[random.between(0, WORDS.length - 1)]}`
      const asked = await this.#ask(async (client) => {
        if (random.chance(0.7)) await client.call('search', { query }, CALL_TIMEOUT_MS)
        else await client.call('sessions', { limit: 20 }, CALL_TIMEOUT_MS)
      })
      if (asked === 'answered') this.searches += 1
      await this.#pause(SEARCH_EVERY_MS * (0.5 + random.next()))
    }
  }

  async #request(random: Random): Promise<void> {
    const { port, token } = this.#sandbox.paths
    while (this.#running) {
      try {
        const path = random.pick(['/api/health', '/api/search?q=test', '/api/sessions', '/api/stats', '/nothing'])
        const address: { port: number } = JSON.parse(readFileSync(port, 'utf8'))
        const response = await fetch(`http://127.0.0.1:${address.port}${path}`, {
          headers: { authorization: `Bearer ${readFileSync(token, 'utf8').trim()}` },
          signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
        })
        await response.arrayBuffer()
        if (response.status >= 500) this.errors.push(`${path} was answered with ${response.status}`)
        this.requests += 1
      } catch {
        // The daemon is being restarted.
      }
      await this.#pause(REST_EVERY_MS * (0.5 + random.next()))
    }
  }

  /** Short steps, so that the end of the run does not wait for the longest pause. */
  async #pause(ms: number): Promise<void> {
    const deadline = performance.now() + ms
    while (this.#running && performance.now() < deadline) await sleep(Math.min(RETRY_MS, ms))
  }
}
