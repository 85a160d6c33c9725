/**
 * What searches cost those who do not search: how long a hook waits for its ack, and how long the daemon's main thread is
 * held up, idle, while others search, and while others search and what hooks report is observed and indexed.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PROTOCOL_VERSION } from '../../src/channel/protocol.ts'
import { ask } from '../../src/hook/websocket.ts'
import type { MemoryEvent } from '../../src/memory/event.ts'
import { VERSION } from '../../src/version.ts'
import { connect, type DaemonProcess, spawnDaemon, statusOf, stopServing } from '../lib/daemon.ts'
import { eventOf } from '../lib/events.ts'
import { memoryMb } from '../lib/memory-use.ts'
import { bash, stop } from '../lib/payloads.ts'
import { kill, type Place } from '../lib/place.ts'
import { ROOT } from '../lib/root.ts'
import { percentile, rounded } from '../lib/stats.ts'
import { until } from '../lib/until.ts'
import { startSearchers } from './searchers.ts'

const ROUNDS = 3
const EVENTS = 400
/** Sessions end well below the largest batch, so that nothing is observed unless their turn ends. */
const EVENTS_PER_SESSION = 40
const OUTPUT_BYTES = 500
/** A large database is checked at the start. */
const START_LIMIT_MS = 300_000
const SETTLE_LIMIT_MS = 300_000
const ANSWER_MS = 10_000

/** Of the daemon's main thread, the longest: without a next turn, and at work without one. */
export interface Stall {
  stall: number
  work: number
}

export interface Beside {
  ackIdleP99Ms: number
  ackSearchingP99Ms: number
  /** How much longer, of the 99th percentiles. */
  ratio: number
  /** Null where it cannot be measured. */
  idle: Stall | null
  searching: Stall | null
  rssMb: number | null
  peakRssMb: number | null
  answersPerS: number
}

export async function besideSearches(place: Place, queries: readonly string[]): Promise<Beside> {
  const stalls = join(place.paths.dataDir, 'stalls.json')
  const probe = join(ROOT, 'scripts', 'search', 'stall-probe.cjs')
  const daemon = spawnDaemon(place, { NODE_OPTIONS: `--require ${JSON.stringify(probe)}`, BENCH_STALLS: stalls })
  try {
    ;(await connect(place, START_LIMIT_MS))?.close()
    await settled(place)
    return await measured(place, daemon, stalls, queries)
  } finally {
    await stopServing(place, START_LIMIT_MS)
    kill(daemon.pid)
  }
}

async function measured(
  place: Place,
  daemon: DaemonProcess,
  stallsFile: string,
  queries: readonly string[],
): Promise<Beside> {
  const hooks = new Hooks(place)
  const idle: number[] = []
  const searching: number[] = []
  const idleStalls: Stall[] = []
  const stalls: Stall[] = []
  let answers = 0
  let searchedMs = 0
  // The vectors are read before anything counts.
  await (await startSearchers({ dataDir: place.paths.dataDir, queries })).stop()
  const stall = async () => await longestStall(daemon, stallsFile)
  for (let n = 0; n < ROUNDS; n++) {
    await stall()
    idle.push(...(await hooks.report(EVENTS, false)))
    idleStalls.push(...(await stall()))
    const searchers = await startSearchers({ dataDir: place.paths.dataDir, queries })
    const began = performance.now()
    await stall()
    searching.push(...(await hooks.report(EVENTS, false)))
    await hooks.report(EVENTS, true)
    stalls.push(...(await stall()))
    answers += await searchers.stop()
    searchedMs += performance.now() - began
    await settled(place)
  }
  const p99 = (ms: readonly number[]) => percentile(ms, 0.99)
  return {
    ackIdleP99Ms: rounded(p99(idle), 1),
    ackSearchingP99Ms: rounded(p99(searching), 1),
    ratio: rounded(p99(searching) / p99(idle)),
    idle: longest(idleStalls),
    searching: longest(stalls),
    rssMb: memoryMb(daemon, 'VmRSS'),
    peakRssMb: memoryMb(daemon, 'VmHWM'),
    answersPerS: rounded((answers * 1_000) / searchedMs, 1),
  }
}

/** Nothing waits to be observed or indexed. */
async function settled(place: Place): Promise<void> {
  const isDone = async () => {
    const { queue, indexing } = await statusOf(place)
    return queue.processing === 0 && indexing === null
  }
  if (!(await until(isDone, SETTLE_LIMIT_MS, 100))) throw new Error('the daemon did not come to rest')
}

/** Events the way hooks send them: one after the other, each over a connection of its own. */
class Hooks {
  readonly #place: Place
  #sent = 0

  constructor(place: Place) {
    this.#place = place
  }

  /** How long each ack took, in ms. `ends`: turns end, so that they are observed and indexed. */
  async report(count: number, ends: boolean): Promise<number[]> {
    const times: number[] = []
    for (let n = 0; n < count; n++) {
      const turn = { session: `hook-${Math.floor(this.#sent / EVENTS_PER_SESSION)}`, prompt: 'p', cwd: '/' }
      const isLast = this.#sent % EVENTS_PER_SESSION === EVENTS_PER_SESSION - 1
      const id = `hook-${this.#sent++}`
      const event = eventOf(
        ends && isLast ? stop(turn, 'done') : bash(turn, id, `npm test ${id}`, 'x'.repeat(OUTPUT_BYTES)),
      )
      const began = performance.now()
      await this.#send(event)
      times.push(performance.now() - began)
    }
    return times
  }

  async #send(event: MemoryEvent): Promise<void> {
    const request = { v: PROTOCOL_VERSION, id: event.id, type: 'event', event, version: VERSION }
    const result = await ask({
      connect: { path: this.#place.paths.socket },
      message: JSON.stringify(request),
      connectTimeoutMs: ANSWER_MS,
      answerTimeoutMs: ANSWER_MS,
      read: (text): string => JSON.parse(text).type,
    })
    if (result.type === 'failed' || result.answer !== 'ack') throw new Error(`no ack: ${JSON.stringify(result)}`)
  }
}

/** Since it was last asked, in ms; empty where there are no such signals. */
async function longestStall(daemon: DaemonProcess, file: string): Promise<Stall[]> {
  if (process.platform === 'win32') return []
  rmSync(file, { force: true })
  process.kill(daemon.pid, 'SIGUSR2')
  const isThere = () => existsSync(file) && readFileSync(file, 'utf8').endsWith('}')
  if (!(await until(isThere, ANSWER_MS))) throw new Error('the daemon did not tell its stalls')
  return [JSON.parse(readFileSync(file, 'utf8'))]
}

function longest(stalls: readonly Stall[]): Stall | null {
  if (stalls.length === 0) return null
  const most = (of: (one: Stall) => number) => rounded(Math.max(...stalls.map(of)), 1)
  return { stall: most((one) => one.stall), work: most((one) => one.work) }
}
