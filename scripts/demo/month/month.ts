/**
 * Fills a database with a fortnight of work: real events, the real machine and store, on a clock that goes through the
 * days. Only the model is played: it answers what the story says was learned, and is paid for like one.
 */
import { createHash, randomUUID } from 'node:crypto'
import { Supervisor } from '../../../src/actors/supervisor.ts'
import { startOfDay } from '../../../src/memory/day.ts'
import { estimateTokens, type ObservationDraft, type Usage } from '../../../src/memory/observation.ts'
import { offlineObserver } from '../../../src/observer/offline/index.ts'
import type { Observer, SessionMatter } from '../../../src/observer/port.ts'
import { costOf, priceOf } from '../../../src/observer/prices.ts'
import { openLocalStore } from '../../../src/store/sqlite/local.ts'
import { eventOf } from '../../lib/events.ts'
import * as say from '../../lib/payloads.ts'
import type { Place } from '../../lib/place.ts'
import { Random } from '../../lib/random.ts'
import { until } from '../../lib/until.ts'
import { type Learned, WORK, type WorkTurn } from './work.ts'

const MODEL = 'claude-haiku-4-5'
const PROMPT_VERSION = '2'
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
const DAYS = 14
const SETTLE_MS = 20_000
/** The beginning of the observer's conversation: its instructions. */
const OPENING_TOKENS = 1_450

const POLICY = {
  batching: true,
  batchMaxSize: 20,
  idleFlushMs: 600_000,
  silenceMs: DAY_MS,
  effectTimeoutMs: 120_000,
  compactTokens: 24_000,
  maxAttempts: 3,
}

export async function fillMonth(place: Place): Promise<void> {
  const store = await openLocalStore({ databaseFile: place.paths.database, backupsDir: place.paths.backups })
  const dice = new Random(7)
  const clock = { now: beginningOf(0, dice) }
  const model = new PlayedModel(clock, dice)
  const host = new Supervisor({
    store,
    observer: () => model,
    offlineObserver,
    policy: () => POLICY,
    concurrency: () => 1,
    spool: { drain: async () => 0 },
    log: () => undefined,
    freshId: randomUUID,
    now: () => clock.now,
    random: () => dice.next(),
  })
  for (const [i, work] of WORK.entries()) {
    clock.now = beginningOf(i, dice)
    model.work = work
    await session(host, work, i, clock, dice)
    const done = await until(async () => (await store.summaries({ limit: 100 })).length > i, SETTLE_MS)
    if (!done) throw new Error(`the turn "${work.prompt}" was not summarised`)
    await store.sampleQueue(clock.now)
  }
  await host.drain('the story is told')
  await store.close()
}

/** In working hours of its day; the last one is an hour ago. */
function beginningOf(i: number, dice: Random): number {
  const last = WORK.length - 1
  if (i === last) return Date.now() - HOUR_MS
  const day = startOfDay(Date.now() - Math.round(((last - i) * (DAYS - 1)) / last) * DAY_MS)
  return Math.min(day + dice.between(9, 17) * HOUR_MS, Date.now() - 2 * HOUR_MS)
}

async function session(host: Supervisor, work: WorkTurn, i: number, clock: { now: number }, dice: Random) {
  const name = createHash('sha256').update(`${work.project}-${i}`).digest('hex')
  const turn = { session: uuidLike(name), prompt: `p-${i}`, cwd: `/home/dev/${work.project}` }
  const report = async (payload: say.Payload) => {
    clock.now += dice.between(8, 70) * 1_000
    await host.accept(eventOf(payload, clock.now))
  }
  await report(say.sessionStart(turn))
  await report(say.userPrompt(turn, work.prompt))
  for (const [n, what] of work.did.entries()) await report(toolUse(turn, `toolu_${name.slice(0, 8)}${n}`, what))
  await report(say.stop(turn, work.completed))
  await report(say.sessionEnd(turn))
}

function toolUse(turn: say.Turn, id: string, what: string): say.Payload {
  const isFile = /^[\w./-]+\.\w+$/.test(what)
  return isFile ? say.edit(turn, id, `${turn.cwd}/${what}`) : say.bash(turn, id, what, `${what}: done in 1.31 s`)
}

function uuidLike(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}

class PlayedModel implements Observer {
  readonly provider = 'anthropic'
  work: WorkTurn | null = null
  readonly #clock: { now: number }
  readonly #dice: Random

  constructor(clock: { now: number }, dice: Random) {
    this.#clock = clock
    this.#dice = dice
  }

  async observe({ messages, calls }: Parameters<Observer['observe']>[0]) {
    const learned = this.work?.learned ?? []
    const told = messages.map(({ id }) => id)
    const share = Math.max(1, Math.ceil(told.length / Math.max(1, learned.length)))
    const observations = learned.map((one, i) => draftOf(one, told.slice(i * share, (i + 1) * share), this.#dice))
    const usage = this.#call(calls, messages.length * 640, JSON.stringify(learned).length)
    const named = new Set(observations.flatMap(({ sources }) => sources))
    return {
      ...this.#answer(usage),
      observations,
      folded: [],
      skipped: told.filter((id) => !named.has(id)).map((eventId) => ({ eventId, reason: 'routine' })),
      seen: [],
    }
  }

  async summarize({ calls }: Parameters<Observer['summarize']>[0]) {
    const work = this.work
    const usage = this.#call(calls, 420, 600)
    const summary =
      work === null
        ? null
        : {
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

  #call(calls: SessionMatter['calls'], input: number, outputChars: number): Usage {
    const usage = { input, output: estimateTokens('x'.repeat(outputChars)), cacheRead: OPENING_TOKENS, cacheWrite: 180 }
    const price = priceOf(MODEL, [])
    const cost = price === null ? null : costOf(usage, price)
    const sent = `What happened since the last message: ${input} tokens of tool uses.`
    const end = calls.begin({
      provider: this.provider,
      model: MODEL,
      promptVersion: PROMPT_VERSION,
      sent,
      expected: { usage, cost },
    })
    this.#clock.now += this.#dice.between(1_400, 5_200)
    end({ usage, cost, error: null, received: '<observation>…</observation>' })
    return usage
  }

  #answer(usage: Usage) {
    return {
      usage,
      turns: [],
      contextTokens: OPENING_TOKENS + usage.input + usage.output,
      model: MODEL,
      promptVersion: PROMPT_VERSION,
    }
  }
}

function draftOf(learned: Learned, sources: string[], dice: Random): ObservationDraft {
  return {
    type: learned.type,
    title: learned.title,
    subtitle: learned.subtitle,
    narrative: learned.narrative,
    facts: learned.facts,
    concepts: learned.concepts,
    filesRead: learned.read ?? [],
    filesModified: learned.modified ?? [],
    functionsChanged: learned.functions ?? [],
    agent: null,
    discoveryTokens: dice.between(3_000, 26_000),
    discoveryEstimated: true,
    sources,
  }
}
