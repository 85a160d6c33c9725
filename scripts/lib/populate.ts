/** Fills a database with sessions the way a daemon does: real events, the real machine, real commits. */
import { randomUUID } from 'node:crypto'
import { Supervisor } from '../../src/actors/supervisor.ts'
import { plainObserver } from '../../src/observer/plain.ts'
import type { Observer } from '../../src/observer/port.ts'
import type { Store } from '../../src/store/port.ts'
import { openLocalStore } from '../../src/store/sqlite/local.ts'
import { eventOf } from './events.ts'
import type { Payload, Turn } from './payloads.ts'
import * as say from './payloads.ts'
import type { Place } from './place.ts'
import { until } from './until.ts'

/** Sessions at once: enough for full group commits. */
const AT_ONCE = 250
const WORKED_OFF_LIMIT_MS = 60_000

/** The sessions are an hour old: what had a deadline is overdue, as after a night. In ms. */
const AGO_MS = 3_600_000
const then = () => Date.now() - AGO_MS

const POLICY = {
  batching: true,
  batchMaxSize: 20,
  idleFlushMs: 600_000,
  silenceMs: 86_400_000,
  effectTimeoutMs: 120_000,
  compactTokens: 24_000,
  maxAttempts: 3,
}

/** Asked and asked, and never says a word: what it was asked stays claimed. */
const silentObserver: Observer = {
  provider: 'silent',
  observe: () => new Promise(() => undefined),
  summarize: () => new Promise(() => undefined),
  compact: () => new Promise(() => undefined),
}

export interface Population {
  finished: number
  /** Their daemon died while the observer was at work: messages are claimed, the effect is in the snapshot. */
  abandoned: number
  /** Their daemon was stopped: it let go of the messages, which are due at once. */
  released: number
  messagesEach: number
}

export async function populate(place: Place, population: Population, progress: (text: string) => void): Promise<void> {
  const store = await openLocalStore({ databaseFile: place.paths.database, backupsDir: place.paths.backups })
  const { finished, released, abandoned, messagesEach } = population
  await inChunks(finished, 'finished', progress, async (names) => {
    const host = supervisor(store, plainObserver)
    await report(host, place, names, (turn) => finishedSession(turn))
    const idle = await until(async () => (await waiting(store)) === 0, WORKED_OFF_LIMIT_MS, 5)
    if (!idle) throw new Error('the finished sessions were not worked off')
  })
  const releasing = supervisor(store, silentObserver)
  await inChunks(released, 'released', progress, (names) =>
    report(releasing, place, names, (turn) => unfinishedSession(turn, messagesEach)),
  )
  await releasing.drain('a stop')
  const abandoning = supervisor(store, silentObserver)
  await inChunks(abandoned, 'abandoned', progress, (names) =>
    report(abandoning, place, names, (turn) => unfinishedSession(turn, messagesEach)),
  )
  await store.close()
}

function supervisor(store: Store, observer: Observer): Supervisor {
  return new Supervisor({
    store,
    observer: () => observer,
    offlineObserver: plainObserver,
    policy: () => POLICY,
    concurrency: () => 16,
    spool: { drain: async () => 0 },
    log: () => undefined,
    freshId: randomUUID,
    now: then,
  })
}

async function report(
  host: Supervisor,
  place: Place,
  names: string[],
  story: (turn: Turn) => Payload[],
): Promise<void> {
  await Promise.all(
    names.map(async (session) => {
      const turn = { session, prompt: `${session}-p1`, cwd: place.paths.dataDir }
      for (const payload of story(turn)) await host.accept(eventOf(payload, then()))
    }),
  )
}

function finishedSession(turn: Turn): Payload[] {
  return [
    say.sessionStart(turn),
    say.userPrompt(turn, `look into ${turn.session}`),
    say.bash(turn, `${turn.session}-1`, 'npm test', 'x'.repeat(500)),
    say.edit(turn, `${turn.session}-2`, `${turn.cwd}/src/${turn.session}.ts`),
    say.stop(turn, 'done'),
    say.sessionEnd(turn),
  ]
}

function unfinishedSession(turn: Turn, messages: number): Payload[] {
  const uses = Array.from({ length: messages }, (_, i) =>
    say.bash(turn, `${turn.session}-${i}`, 'npm test', 'x'.repeat(500)),
  )
  return [say.userPrompt(turn, `work on ${turn.session}`), ...uses, say.stop(turn, 'done')]
}

async function waiting(store: Store): Promise<number> {
  const { pending, processing } = await store.queueStats()
  return pending + processing + (await store.unfinishedEffects()).length
}

async function inChunks(
  count: number,
  kind: string,
  progress: (text: string) => void,
  work: (names: string[]) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < count; at += AT_ONCE) {
    progress(`making sessions: ${at} of ${count} ${kind}`)
    const length = Math.min(AT_ONCE, count - at)
    await work(Array.from({ length }, (_, i) => `${kind}-${at + i}`))
  }
}
