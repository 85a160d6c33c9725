/**
 * A start on 10,000 sessions of which 1,000 are unfinished: when the first new event is acknowledged, how much memory
 * the daemon takes until all is worked off, and whether sessions without work are awake.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Status } from '../../src/channel/protocol.ts'
import { VERSION } from '../../src/version.ts'
import { connect, spawnDaemon, statusOf, stopServing } from '../lib/daemon.ts'
import { eventOf } from '../lib/events.ts'
import { memoryMb } from '../lib/memory-use.ts'
import { Progress, report, say } from '../lib/output.ts'
import { bash } from '../lib/payloads.ts'
import { kill, makePlace, type Place, processesIn } from '../lib/place.ts'
import { populate } from '../lib/populate.ts'
import { rounded } from '../lib/stats.ts'

const MESSAGES_EACH = 5
const WORKED_OFF_LIMIT_MS = 180_000
/** A session sleeps after a quiet minute; a few ticks more, in ms. */
const ASLEEP_LIMIT_MS = 75_000

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
const place = makePlace('bench-restore')
const began = performance.now()
try {
  const released = Math.floor(unfinished / 2)
  await populate(
    place,
    { finished: sessions - unfinished, released, abandoned: unfinished - released, messagesEach: MESSAGES_EACH },
    (text) => progress.show(text),
  )
  const buildSeconds = (performance.now() - began) / 1_000
  const started = performance.now()
  const daemon = spawnDaemon(place)
  await firstAck(place)
  const firstAckMs = performance.now() - started
  const { workedOffMs, peakAwake } = await workedOff(place, started)
  const peakRss = memoryMb(daemon, 'VmHWM')
  const awakeAtLast = await asleep(place)
  const status = await statusOf(place)
  await stopServing(place)
  progress.clear()
  check(status)
  // The one session that is new here, and every one that had work, may have been awake: no other.
  const wokenForNothing = Math.max(0, peakAwake - unfinished - 1)
  report(
    {
      first_ack_ms: rounded(firstAckMs, 0),
      peak_rss_mb: peakRss,
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
  if (peakRss !== null && peakRss > 160) say('above the bound of 160 MB')
} finally {
  for (const pid of processesIn(place)) kill(pid)
  place.remove()
}

async function firstAck(at: Place): Promise<void> {
  const event = eventOf(bash({ session: 'new', prompt: 'new-p1', cwd: at.paths.dataDir }, 'new-1', 'ls', ''))
  const client = await connect(at, WORKED_OFF_LIMIT_MS)
  if (client === null) throw new Error('the daemon did not serve')
  await client.request('ack', { type: 'event', event, version: VERSION })
  client.close()
}

/** Until only the new session's message waits, whose turn is open. */
async function workedOff(at: Place, since: number): Promise<{ workedOffMs: number; peakAwake: number }> {
  let peakAwake = 0
  for (;;) {
    const { queue, awake } = await statusOf(at)
    peakAwake = Math.max(peakAwake, awake)
    progress.show(`worked off: ${queue.pending} pending, ${queue.processing} processing, ${awake} awake`)
    const workedOffMs = performance.now() - since
    if (queue.processing === 0 && queue.pending <= 1) return { workedOffMs, peakAwake }
    if (workedOffMs > WORKED_OFF_LIMIT_MS) throw new Error(`not worked off: ${JSON.stringify(queue)}`)
    await sleep(100)
  }
}

/** How many are awake after a minute in which nothing happened: none of them has work. */
async function asleep(at: Place): Promise<number> {
  const deadline = performance.now() + ASLEEP_LIMIT_MS
  for (;;) {
    const { awake } = await statusOf(at)
    if (awake === 0 || performance.now() > deadline) return awake
    progress.show(`falling asleep: ${awake} awake`)
    await sleep(500)
  }
}

function check({ observations, queue, sessions: stored }: Status): void {
  const expected = (sessions - unfinished) * 2 + unfinished * MESSAGES_EACH
  if (observations !== expected) throw new Error(`${expected} observations were to be made, there are ${observations}`)
  if (queue.failed > 0) throw new Error(`${queue.failed} messages failed`)
  if (stored !== sessions + 1) throw new Error(`there are ${stored} sessions, not ${sessions + 1}`)
}
