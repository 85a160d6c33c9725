/**
 * The clients of a chaos run: several at once, each working through sessions by running hooks, some of which are killed
 * or run twice. What they reported they write down themselves; the daemon has no part in this log.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type HookRun, type Interruption, runHook } from './hook.ts'
import type { Payload, Turn } from './payloads.ts'
import * as say from './payloads.ts'
import type { Place } from './place.ts'
import { Random } from './random.ts'

const HOOK_KILLED = 0.06
const HOOK_TERMINATED = 0.03
const DELIVERED_TWICE = 0.04
/** A hook takes some fifty milliseconds: killed within these it may be anywhere in its work. */
const HOOK_LIFE_MS = 120

/** Between two steps of a client while no daemon serves, at most: leaves a small machine room to start one, in ms. */
const PAUSE_MS = 250

export interface LogEntry {
  session: string
  /** The tool use's id, else the event's name and turn: unique within the run. */
  key: string
  kind: 'message' | 'prompt' | 'other'
  /** False: its hook was killed. It may be stored or not, but never twice. */
  reported: boolean
}

export class Clients {
  readonly log: LogEntry[] = []
  /** Hooks that failed though nobody killed them. */
  readonly failures: HookRun[] = []
  readonly #place: Place
  readonly #seed: number
  readonly #serving: () => boolean
  #running = true
  #workers: Promise<void>[] = []

  constructor(place: Place, seed: number, serving: () => boolean) {
    this.#place = place
    this.#seed = seed
    this.#serving = serving
  }

  start(count: number): void {
    this.#workers = Array.from({ length: count }, (_, i) => this.#work(i, new Random(this.#seed + 7_919 * (i + 1))))
  }

  /** Resolves once every hook that was started has ended. */
  async stop(): Promise<void> {
    this.#running = false
    await Promise.all(this.#workers)
  }

  async #work(worker: number, random: Random): Promise<void> {
    for (let n = 0; this.#running; n++) {
      for (const together of sessionSteps(random, `chaos-${worker}-${n}`, this.#place.paths.dataDir)) {
        if (!this.#running) return
        await Promise.all(together.map((payload) => this.#deliver(payload, random)))
        if (!this.#serving()) await sleep(random.between(0, PAUSE_MS))
      }
    }
  }

  async #deliver(payload: Payload, random: Random): Promise<void> {
    const interruption = interruptionOf(random)
    const twice = interruption === null && random.chance(DELIVERED_TWICE)
    const runs = await Promise.all([
      runHook(this.#place, payload, interruption),
      ...(twice ? [runHook(this.#place, payload)] : []),
    ])
    if (interruption === null) this.failures.push(...runs.filter((run) => !run.reported))
    this.log.push({
      session: payload.session_id,
      key: keyOf(payload),
      kind: kindOf(payload),
      reported: runs.some((run) => run.reported),
    })
  }
}

function interruptionOf(random: Random): Interruption | null {
  const dice = random.next()
  if (dice >= HOOK_KILLED + HOOK_TERMINATED) return null
  return { signal: dice < HOOK_KILLED ? 'SIGKILL' : 'SIGTERM', afterMs: random.between(0, HOOK_LIFE_MS) }
}

function keyOf(payload: Payload): string {
  return typeof payload.tool_use_id === 'string'
    ? payload.tool_use_id
    : `${payload.hook_event_name}:${payload.prompt_id}`
}

function kindOf({ hook_event_name: name }: Payload): LogEntry['kind'] {
  if (name === 'UserPromptSubmit') return 'prompt'
  return name === 'PostToolUse' || name === 'PostToolUseFailure' || name === 'SubagentStop' ? 'message' : 'other'
}

/** One session's life, step by step; payloads of one step are reported by hooks that run at the same time. */
function* sessionSteps(random: Random, session: string, cwd: string): Generator<Payload[]> {
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
  // The others are interrupted: the next prompt, or the end of the session, finds them open.
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
