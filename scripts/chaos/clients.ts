/**
 * The clients of a chaos run: several at a time, each working through sessions by running hooks, some of which are killed
 * or run twice. They log what they reported; the daemon has no part in this log. The model of the run is a Messages API on
 * loopback that outlives every daemon.
 */
import Database from 'better-sqlite3'
import { goodAnswer } from '../../test/observer/servers/answers.ts'
import type { Fault, Handler, ModelRequest } from '../../test/observer/servers/fault.ts'
import { MessagesServer } from '../../test/observer/servers/messages-server.ts'
import type { Payload, Turn } from '../lib/payloads.ts'
import * as say from '../lib/payloads.ts'
import { Random } from '../lib/random.ts'
import { type HookKind, type HookRun, type Interruption, runHook, type Sandbox, until } from '../lib/sandbox.ts'
import { contentDigest } from './verdict.ts'

const KEY = 'sk-chaos-0123456789'

/** Exactly one observation per message and no budget, so that losses and duplicates can be counted. */
export function countedModelSettings(baseUrl: string, key: string): Record<string, string> {
  return {
    CLAUDE_MEM_PROVIDER: 'anthropic',
    CLAUDE_MEM_ANTHROPIC_API_KEY: key,
    CLAUDE_MEM_ANTHROPIC_BASE_URL: baseUrl,
    CLAUDE_MEM_NOVELTY_ENABLED: 'false',
    CLAUDE_MEM_DAILY_BUDGET_USD: '10000',
    CLAUDE_MEM_DAILY_BUDGET_TOKENS: '1000000000',
  }
}

export class ChaosModel {
  readonly #server: MessagesServer
  /** Calls that got a fault instead of an answer. */
  failed = 0
  #fault: Fault | null = null

  private constructor(server: MessagesServer) {
    this.#server = server
  }

  static async listen(): Promise<ChaosModel> {
    const answers: { model: ChaosModel | null } = { model: null }
    const handler: Handler = (call) => answers.model?.answer(call) ?? goodAnswer(call)
    answers.model = new ChaosModel(await MessagesServer.listen(handler, { apiKey: KEY }))
    return answers.model
  }

  answer(call: ModelRequest): string | Fault {
    if (this.#fault === null) return goodAnswer(call)
    this.failed += 1
    return this.#fault
  }

  /** Every call gets this fault until `recover`. */
  fail(fault: Fault): void {
    this.#fault = fault
  }

  recover(): void {
    this.#fault = null
  }

  get settings(): Record<string, string> {
    return countedModelSettings(this.#server.url, KEY)
  }

  /** Calls that were repeated because the daemon was killed before it stored the answer. */
  figures(databaseFile: string): Record<string, number> {
    const asked = this.#server.requests.flatMap(({ call }) =>
      call === null ? [] : [call.messages.at(-1)?.content ?? ''],
    )
    const db = new Database(databaseFile, { readonly: true })
    try {
      const settled = db.prepare<[], number>('SELECT count(*) FROM calls WHERE error IS NULL').pluck().get() ?? 0
      return { model_calls: asked.length, answers_kept: settled, repeated_calls: asked.length - new Set(asked).size }
    } finally {
      db.close()
    }
  }

  async close(): Promise<void> {
    await this.#server.close()
  }
}

const HOOK_KILLED = 0.06
const HOOK_TERMINATED = 0.03
const DELIVERED_TWICE = 0.04
/** A hook takes about 50 ms: a kill within this time may hit any of its steps. */
const HOOK_LIFE_MS = 120

/**
 * While no daemon serves, a client goes on with its next step or waits for one, by chance: on any machine a few events are
 * spooled between two daemons, and most find one.
 */
const WAITS = 0.6
const WAIT_LIMIT_MS = 30_000

export interface LogEntry {
  session: string
  /** The id of the tool use, else name and turn of the event: unique within the run. */
  key: string
  kind: 'message' | 'prompt' | 'other'
  /** Of what must be stored (`contentDigest`); null if only the id is compared. */
  content: string | null
  /** The event's id in the program. */
  event: string
  /** False: its hook was killed. The event may be stored or not, but never twice. */
  reported: boolean
}

/** Of a payload as the hook reads it. */
export function logEntry(payload: Payload, reported: boolean): LogEntry {
  const { hook_event_name: name, tool_use_id: toolUse, prompt_id: prompt } = payload
  const event = say.eventOf(payload)
  const isMessage = name === 'PostToolUse' || name === 'PostToolUseFailure' || name === 'SubagentStop'
  return {
    session: payload.session_id,
    key: typeof toolUse === 'string' ? toolUse : `${name}:${prompt}`,
    kind: isMessage ? 'message' : name === 'UserPromptSubmit' ? 'prompt' : 'other',
    content: contentDigest(event),
    event: event.id,
    reported,
  }
}

export class Clients {
  readonly log: LogEntry[] = []
  /** Reported events in the log. */
  acks = 0
  /** Hooks that failed without being killed. */
  readonly failures: HookRun[] = []
  readonly #sandbox: Sandbox
  readonly #seed: number
  readonly #serving: () => boolean
  #running = true
  #workers: Promise<void>[] = []

  readonly #hook: HookKind

  constructor(sandbox: Sandbox, seed: number, serving: () => boolean, hook: HookKind = 'websocket') {
    this.#sandbox = sandbox
    this.#hook = hook
    this.#seed = seed
    this.#serving = serving
  }

  start(count: number): void {
    this.#workers = Array.from({ length: count }, (_, i) => this.#work(i, new Random(this.#seed + 7_919 * (i + 1))))
  }

  /** Resolves when every started hook has ended. */
  async stop(): Promise<void> {
    this.#running = false
    await Promise.all(this.#workers)
  }

  async #work(worker: number, random: Random): Promise<void> {
    for (let n = 0; this.#running; n++) {
      for (const together of sessionSteps(random, `chaos-${worker}-${n}`, this.#sandbox.paths.dataDir)) {
        if (!this.#running) return
        await Promise.all(together.map((payload) => this.#deliver(payload, random)))
        if (!this.#serving() && random.chance(WAITS)) {
          await until(() => this.#serving() || !this.#running, WAIT_LIMIT_MS, 20)
        }
      }
    }
  }

  async #deliver(payload: Payload, random: Random): Promise<void> {
    const interruption = interruptionOf(random)
    const twice = interruption === null && random.chance(DELIVERED_TWICE)
    const runs = await Promise.all([
      runHook(this.#sandbox, payload, interruption, this.#hook),
      ...(twice ? [runHook(this.#sandbox, payload, null, this.#hook)] : []),
    ])
    if (interruption === null) this.failures.push(...runs.filter((run) => !run.reported))
    const reported = runs.some((run) => run.reported)
    this.log.push(logEntry(payload, reported))
    if (reported) this.acks += 1
  }
}

function interruptionOf(random: Random): Interruption | null {
  const dice = random.next()
  if (dice >= HOOK_KILLED + HOOK_TERMINATED) return null
  return { signal: dice < HOOK_KILLED ? 'SIGKILL' : 'SIGTERM', afterMs: random.between(0, HOOK_LIFE_MS) }
}

/** One session in steps; the payloads of one step are reported by hooks that run at the same time. */
export function* sessionSteps(random: Random, session: string, cwd: string): Generator<Payload[]> {
  yield [say.sessionStart({ session, prompt: `${session}-start`, cwd })]
  const turns = random.between(1, 3)
  for (let n = 1; n <= turns; n++) yield* turnSteps(random, { session, prompt: `${session}-p${n}`, cwd })
  if (random.chance(0.2)) return
  yield [say.sessionEnd({ session, prompt: `${session}-end`, cwd })]
  if (random.chance(0.2)) yield* turnSteps(random, { session, prompt: `${session}-resumed`, cwd })
}

function* turnSteps(random: Random, turn: Turn): Generator<Payload[]> {
  yield [say.userPrompt(turn, `do ${turn.prompt}`)]
  let uses = random.between(1, 6)
  while (uses > 0) {
    const together = Math.min(uses, random.chance(0.3) ? 2 : 1)
    yield Array.from({ length: together }, (_, i) => toolUse(random, turn, `${turn.prompt}-tool${uses - i}`))
    uses -= together
  }
  if (random.chance(0.15)) yield [say.subagentStop(turn, `explored ${turn.prompt}`)]
  if (random.chance(0.1)) yield [say.preCompact(turn)]
  // The other turns are interrupted: the next prompt or the end of the session ends them.
  if (random.chance(0.85)) {
    yield [random.chance(0.9) ? say.stop(turn, `done with ${turn.prompt}`) : say.stopFailure(turn, 'overloaded')]
  }
}

function toolUse(random: Random, turn: Turn, id: string): Payload {
  const dice = random.next()
  if (dice < 0.2) return say.bashFailure(turn, id, `exit code 1 of ${id}`)
  if (dice < 0.5) return say.edit(turn, id, `${turn.cwd}/src/${id}.ts`)
  return say.bash(turn, id, `echo ${id}`, 'x'.repeat(random.between(0, 4_000)))
}
