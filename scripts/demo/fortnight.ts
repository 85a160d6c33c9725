/**
 * Fills a database with the fourteen days of work in `fortnight.json`: real events, the real machine and store, with a
 * clock that moves through the days. Only the model is simulated: it answers what the JSON says was learned, and its
 * calls have a price.
 */
import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Supervisor } from '../../src/daemon/actors/supervisor.ts'
import { startOfDay } from '../../src/domain/dates.ts'
import { estimateTokens, type FunctionChange, type ObservationDraft, type Usage } from '../../src/domain/observation.ts'
import { offlineObserver } from '../../src/observer/offline/index.ts'
import type { Observer, ObserverSession } from '../../src/observer/port.ts'
import { modelPrice, usageCost } from '../../src/observer/prices.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import * as payloads from '../lib/payloads.ts'
import { Random } from '../lib/random.ts'
import { ROOT, type Sandbox, until } from '../lib/sandbox.ts'

interface LearnedFact
  extends Pick<ObservationDraft, 'type' | 'title' | 'subtitle' | 'narrative' | 'facts' | 'concepts'> {
  read?: string[]
  modified?: string[]
  functions?: FunctionChange[]
}

interface WorkTurn {
  project: string
  prompt: string
  /** Commands, or files that were read or edited. */
  did: string[]
  learned: LearnedFact[]
  completed: string
  nextSteps: string
}

const WORK: readonly WorkTurn[] = JSON.parse(readFileSync(join(ROOT, 'scripts', 'demo', 'fortnight.json'), 'utf8'))
const MODEL = 'claude-haiku-4-5'
const PROMPT_VERSION = '2'
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const DAYS = 14
const TIMEOUT_MS = 20_000
/** The instructions at the start of the observer's conversation. */
const INSTRUCTION_TOKENS = 1_450

const POLICY = {
  batching: true,
  batchMaxSize: 20,
  idleFlushMs: 600_000,
  effectTimeoutMs: 120_000,
  compactTokens: 24_000,
  maxAttempts: 3,
}

export async function fillFortnight(sandbox: Sandbox): Promise<void> {
  const store = await openLocalStore({ databaseFile: sandbox.paths.database, backupsDir: sandbox.paths.backups })
  const random = new Random(7)
  const clock = { now: startTime(0, random) }
  const model = new SimulatedModel(clock, random)
  const supervisor = new Supervisor({
    store,
    observer: () => model,
    offlineObserver,
    policy: () => POLICY,
    concurrency: () => 1,
    spool: { deliver: async () => 0 },
    log: () => undefined,
    freshId: randomUUID,
    now: () => clock.now,
    random: () => random.next(),
  })
  for (const [index, work] of WORK.entries()) {
    clock.now = startTime(index, random)
    model.work = work
    await reportSession(supervisor, work, index, clock, random)
    const done = await until(async () => (await store.summaries({ limit: 100 })).length > index, TIMEOUT_MS)
    if (!done) throw new Error(`the turn "${work.prompt}" has no summary after ${TIMEOUT_MS / 1000} s`)
    await store.sampleQueue(clock.now)
  }
  await supervisor.drain('all sessions are stored')
  await store.close()
}

/** In working hours of its day; the last session started an hour ago. */
function startTime(index: number, random: Random): number {
  const last = WORK.length - 1
  if (index === last) return Date.now() - HOUR_MS
  const day = startOfDay(Date.now() - Math.round(((last - index) * (DAYS - 1)) / last) * DAY_MS)
  return Math.min(day + random.between(9, 17) * HOUR_MS, Date.now() - 2 * HOUR_MS)
}

async function reportSession(
  supervisor: Supervisor,
  work: WorkTurn,
  index: number,
  clock: { now: number },
  random: Random,
): Promise<void> {
  const hash = createHash('sha256').update(`${work.project}-${index}`).digest('hex')
  const turn = { session: uuidFromHex(hash), prompt: `p-${index}`, cwd: `/home/dev/${work.project}` }
  const report = async (payload: payloads.Payload) => {
    clock.now += random.between(8, 70) * 1_000
    await supervisor.accept(payloads.eventOf(payload, clock.now))
  }
  await report(payloads.sessionStart(turn))
  await report(payloads.userPrompt(turn, work.prompt))
  for (const [n, action] of work.did.entries()) await report(toolUse(turn, `toolu_${hash.slice(0, 8)}${n}`, action))
  await report(payloads.stop(turn, work.completed))
  await report(payloads.sessionEnd(turn))
}

function toolUse(turn: payloads.Turn, id: string, action: string): payloads.Payload {
  const isFile = /^[\w./-]+\.\w+$/.test(action)
  return isFile
    ? payloads.edit(turn, id, `${turn.cwd}/${action}`)
    : payloads.bash(turn, id, action, `${action}: done in 1.31 s`)
}

function uuidFromHex(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}

class SimulatedModel implements Observer {
  readonly provider = 'anthropic'
  work: WorkTurn | null = null
  readonly #clock: { now: number }
  readonly #random: Random

  constructor(clock: { now: number }, random: Random) {
    this.#clock = clock
    this.#random = random
  }

  async observe({ messages, calls }: Parameters<Observer['observe']>[0]) {
    const learned = this.work?.learned ?? []
    const ids = messages.map(({ id }) => id)
    const share = Math.max(1, Math.ceil(ids.length / Math.max(1, learned.length)))
    const observations = learned.map((fact, i) => this.#draft(fact, ids.slice(i * share, (i + 1) * share)))
    const usage = await this.#call(calls, messages.length * 640, JSON.stringify(learned).length)
    const used = new Set(observations.flatMap(({ sources }) => sources))
    return {
      ...this.#answer(usage),
      observations,
      folded: [],
      skipped: ids.filter((id) => !used.has(id)).map((eventId) => ({ eventId, reason: 'routine' })),
      seen: [],
    }
  }

  async summarize({ calls }: Parameters<Observer['summarize']>[0]) {
    const { work } = this
    const usage = await this.#call(calls, 420, 600)
    const summary = work && {
      request: work.prompt,
      investigated: work.did.slice(0, 3).join(', '),
      learned: work.learned.map(({ title }) => title).join('. '),
      completed: work.completed,
      nextSteps: work.nextSteps,
      notes: null,
      filesRead: [],
      filesEdited: work.learned.flatMap(({ modified = [] }) => modified),
    }
    return { ...this.#answer(usage), summary, skipReason: null, observations: [] }
  }

  async compact() {
    return this.#answer({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })
  }

  async #call(calls: ObserverSession['calls'], input: number, outputChars: number): Promise<Usage> {
    const output = estimateTokens('x'.repeat(outputChars))
    const usage = { input, output, cacheRead: INSTRUCTION_TOKENS, cacheWrite: 180 }
    const price = modelPrice(MODEL, [])
    const cost = price === null ? null : usageCost(usage, price)
    const sent = `What happened since the last message: ${input} tokens of tool uses.`
    const call = { provider: this.provider, model: MODEL, promptVersion: PROMPT_VERSION, sent }
    const end = await calls.begin({ ...call, expected: { usage, cost } })
    this.#clock.now += this.#random.between(1_400, 5_200)
    end({ usage, cost, error: null, received: '<observation>…</observation>' })
    return usage
  }

  #answer(usage: Usage) {
    const contextTokens = INSTRUCTION_TOKENS + usage.input + usage.output
    return { usage, turns: [], contextTokens, model: MODEL, promptVersion: PROMPT_VERSION }
  }

  #draft(fact: LearnedFact, sources: string[]): ObservationDraft {
    const { read = [], modified = [], functions = [], ...fields } = fact
    return {
      ...fields,
      filesRead: read,
      filesModified: modified,
      functionsChanged: functions,
      agent: null,
      discoveryTokens: this.#random.between(3_000, 26_000),
      discoveryEstimated: true,
      sources,
    }
  }
}
