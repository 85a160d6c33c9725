/**
 * `npm run bench -- restore [--sessions 10000] [--unfinished 1000] [--json]`: a start on 10,000 sessions of which 1,000 are
 * unfinished: time of the first ack, memory of the daemon until all work is done, and whether sessions without work are
 * awake. The database is filled with real events through the real machine. Then the memory of a daemon with three sessions.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { DaemonStatus } from '../../src/api/operations/daemon.ts'
import { Supervisor } from '../../src/daemon/actors/supervisor.ts'
import { VERSION } from '../../src/lib/version.ts'
import { plainObserver } from '../../src/observer/plain.ts'
import type { Observer } from '../../src/observer/port.ts'
import type { Store } from '../../src/store/port.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import * as payloads from '../lib/payloads.ts'
import { bash, eventOf, type Payload, type Turn } from '../lib/payloads.ts'
import { memoryMb, Progress, printNote, report, rounded } from '../lib/report.ts'
import {
  connect,
  daemonStatus,
  kill,
  makeSandbox,
  processesIn,
  type Sandbox,
  spawnDaemon,
  stopServing,
  until,
} from '../lib/sandbox.ts'

/** Sessions that are filled at the same time: enough for full group commits. */
const AT_ONCE = 250
const FINISHED_TIMEOUT_MS = 60_000

/** The sessions are an hour old, so that every deadline has passed, as after a night. In ms. */
const AGO_MS = 3_600_000
const then = () => Date.now() - AGO_MS

const POLICY = {
  batching: true,
  batchMaxSize: 20,
  idleFlushMs: 600_000,
  effectTimeoutMs: 120_000,
  compactTokens: 24_000,
  maxAttempts: 3,
}

/** Never answers, so that messages stay claimed. */
const silentObserver: Observer = {
  provider: 'silent',
  observe: () => new Promise(() => undefined),
  summarize: () => new Promise(() => undefined),
  compact: () => new Promise(() => undefined),
}

interface Population {
  finished: number
  /** The daemon was killed during an observer call: messages are claimed, the effect is in the snapshot. */
  abandoned: number
  /** The daemon was stopped: it released the messages, which are due at once. */
  released: number
  messagesEach: number
}

async function populate(sandbox: Sandbox, population: Population, progress: (text: string) => void): Promise<void> {
  const store = await openLocalStore({ databaseFile: sandbox.paths.database, backupsDir: sandbox.paths.backups })
  const { finished, released, abandoned, messagesEach } = population
  await inChunks(finished, 'finished', progress, async (names) => {
    const host = supervisor(store, plainObserver)
    await reportSessions(host, sandbox, names, (turn) => finishedSession(turn))
    const idle = await until(async () => (await waiting(store)) === 0, FINISHED_TIMEOUT_MS, 5)
    if (!idle) throw new Error('the finished sessions still have work after a minute')
  })
  const releasing = supervisor(store, silentObserver)
  await inChunks(released, 'released', progress, (names) =>
    reportSessions(releasing, sandbox, names, (turn) => unfinishedSession(turn, messagesEach)),
  )
  await releasing.drain('a stop')
  const abandoning = supervisor(store, silentObserver)
  await inChunks(abandoned, 'abandoned', progress, (names) =>
    reportSessions(abandoning, sandbox, names, (turn) => unfinishedSession(turn, messagesEach)),
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
    spool: { deliver: async () => 0 },
    log: () => undefined,
    freshId: randomUUID,
    now: then,
  })
}

async function reportSessions(
  host: Supervisor,
  sandbox: Sandbox,
  names: string[],
  story: (turn: Turn) => Payload[],
): Promise<void> {
  await Promise.all(
    names.map(async (session) => {
      const turn = { session, prompt: `${session}-p1`, cwd: sandbox.paths.dataDir }
      for (const payload of story(turn)) await host.accept(eventOf(payload, then()))
    }),
  )
}

function finishedSession(turn: Turn): Payload[] {
  return [
    payloads.sessionStart(turn),
    payloads.userPrompt(turn, `look into ${turn.session}`),
    payloads.bash(turn, `${turn.session}-1`, 'npm test', 'x'.repeat(500)),
    payloads.edit(turn, `${turn.session}-2`, `${turn.cwd}/src/${turn.session}.ts`),
    payloads.stop(turn, 'done'),
    payloads.sessionEnd(turn),
  ]
}

function unfinishedSession(turn: Turn, messages: number): Payload[] {
  const uses = Array.from({ length: messages }, (_, i) =>
    payloads.bash(turn, `${turn.session}-${i}`, 'npm test', 'x'.repeat(500)),
  )
  return [payloads.userPrompt(turn, `work on ${turn.session}`), ...uses, payloads.stop(turn, 'done')]
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

const MESSAGES_EACH = 5
const WORKED_OFF_LIMIT_MS = 180_000
/** A session is unloaded, and the search thread closed, after a minute without events; plus a few ticks, in ms. */
const ASLEEP_LIMIT_MS = 75_000
/** Long enough for the first run of the indexer, which starts the search thread; in ms. */
const STARTED_MS = 10_000

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    sessions: { type: 'string', default: '10000' },
    unfinished: { type: 'string', default: '1000' },
  },
})
const sessions = Number(options.sessions)
const unfinished = Number(options.unfinished)
const progress = new Progress()
const sandbox = makeSandbox('bench-restore')
const began = performance.now()
try {
  const released = Math.floor(unfinished / 2)
  await populate(
    sandbox,
    { finished: sessions - unfinished, released, abandoned: unfinished - released, messagesEach: MESSAGES_EACH },
    (text) => progress.show(text),
  )
  const buildSeconds = (performance.now() - began) / 1_000
  const started = performance.now()
  const daemon = spawnDaemon(sandbox)
  await firstAck(sandbox)
  const firstAckMs = performance.now() - started
  const { workedOffMs, peakAwake } = await workedOff(sandbox, started)
  const peakRss = memoryMb(daemon, 'VmHWM')
  const awakeAtLast = await asleep(sandbox)
  const status = await daemonStatus(sandbox)
  await stopServing(sandbox)
  const small = await smallDaemonMemory()
  progress.clear()
  check(status)
  // Only the new session and those that had work may have been awake.
  const wokenForNothing = Math.max(0, peakAwake - unfinished - 1)
  report(
    {
      first_ack_ms: rounded(firstAckMs, 0),
      peak_rss_mb: peakRss,
      started_rss_mb: small.started,
      idle_rss_mb: small.idle,
      awake: Math.max(wokenForNothing, awakeAtLast),
      awake_peak: peakAwake,
      worked_off_ms: rounded(workedOffMs, 0),
      sessions,
      unfinished,
      messages: unfinished * MESSAGES_EACH,
      database_mb: rounded(status.databaseBytes / 2 ** 20, 1),
      build_s: rounded(buildSeconds, 0),
    },
    options.json,
  )
  if (peakRss !== null && peakRss > 160) printNote('peak_rss_mb is above the bound of 160 MB')
  if (small.idle !== null && small.idle > 95) printNote('idle_rss_mb is above the bound of 95 MB')
} finally {
  for (const pid of processesIn(sandbox)) kill(pid)
  sandbox.remove()
}

/** Memory of a daemon with a new data directory: right after its start with three sessions, and a minute later. */
async function smallDaemonMemory(): Promise<{ started: number | null; idle: number | null }> {
  const at = makeSandbox('bench-idle')
  try {
    const daemon = spawnDaemon(at)
    const client = await connect(at, WORKED_OFF_LIMIT_MS)
    if (client === null) throw new Error('the daemon did not serve')
    for (const session of ['a', 'b', 'c']) {
      const turn = { session, prompt: `${session}-p1`, cwd: at.paths.dataDir }
      for (const payload of finishedSession(turn)) {
        await client.call('event', { event: eventOf(payload), version: VERSION })
      }
    }
    client.close()
    progress.show('memory of a small daemon, right after its start')
    await sleep(STARTED_MS)
    const started = memoryMb(daemon, 'VmRSS')
    progress.show('memory of a small daemon, a minute later')
    await sleep(ASLEEP_LIMIT_MS)
    return { started, idle: memoryMb(daemon, 'VmRSS') }
  } finally {
    for (const pid of processesIn(at)) kill(pid)
    at.remove()
  }
}

async function firstAck(at: Sandbox): Promise<void> {
  const event = eventOf(bash({ session: 'new', prompt: 'new-p1', cwd: at.paths.dataDir }, 'new-1', 'ls', ''))
  const client = await connect(at, WORKED_OFF_LIMIT_MS)
  if (client === null) throw new Error('the daemon did not serve')
  await client.call('event', { event, version: VERSION })
  client.close()
}

/** Waits until only the message of the new session is pending: its turn is open. */
async function workedOff(at: Sandbox, since: number): Promise<{ workedOffMs: number; peakAwake: number }> {
  let peakAwake = 0
  for (;;) {
    const { queue, awake } = await daemonStatus(at)
    peakAwake = Math.max(peakAwake, awake)
    progress.show(`worked off: ${queue.pending} pending, ${queue.processing} processing, ${awake} awake`)
    const workedOffMs = performance.now() - since
    if (queue.processing === 0 && queue.pending <= 1) return { workedOffMs, peakAwake }
    if (workedOffMs > WORKED_OFF_LIMIT_MS) throw new Error(`messages are left: ${JSON.stringify(queue)}`)
    await sleep(100)
  }
}

/** Sessions that are awake after a minute without events, though none has work. */
async function asleep(at: Sandbox): Promise<number> {
  const deadline = performance.now() + ASLEEP_LIMIT_MS
  for (;;) {
    const { awake } = await daemonStatus(at)
    if (awake === 0 || performance.now() > deadline) return awake
    progress.show(`falling asleep: ${awake} awake`)
    await sleep(500)
  }
}

function check({ observations, queue, sessions: stored }: DaemonStatus): void {
  const expected = (sessions - unfinished) * 2 + unfinished * MESSAGES_EACH
  if (observations !== expected)
    throw new Error(`${expected} observations were expected, but there are ${observations}`)
  if (queue.failed > 0) throw new Error(`${queue.failed} messages failed`)
  if (stored !== sessions + 1) throw new Error(`there are ${stored} sessions, not ${sessions + 1}`)
}
