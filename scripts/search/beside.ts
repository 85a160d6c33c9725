/**
 * The cost of searches for everything else: how long a hook waits for its ack, and how long the daemon's main thread is
 * blocked, when idle, while clients search, and while clients search and new events are observed and indexed.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { postPayload } from '../../src/hook/post.ts'
import { dataPaths, type Paths } from '../../src/lib/paths.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import { bash, stop } from '../lib/payloads.ts'
import { memoryMb, percentile, rounded } from '../lib/report.ts'
import {
  connect,
  type DaemonProcess,
  daemonStatus,
  kill,
  ROOT,
  type Sandbox,
  spawnDaemon,
  stopServing,
  until,
} from '../lib/sandbox.ts'

const CHILD = '--search-clients'
const CLIENTS = 2
/** The first query loads all vectors. */
const FIRST_ANSWER_MS = 300_000

interface Work {
  dataDir: string
  queries: readonly string[]
}

interface Searchers {
  /** Stops the clients; resolves with the number of answered queries. */
  stop(): Promise<number>
}

/** Starts clients that search one query after the other, in a child process; resolves after the first answers. */
async function startSearchers(work: Work): Promise<Searchers> {
  const script = process.argv[1]
  if (script === undefined) throw new Error('process.argv[1] is empty: the child process cannot be started')
  const child = fork(script, [CHILD])
  child.send(work)
  await messageOf(child)
  return {
    stop: async () => {
      child.send('stop')
      return Number(await messageOf(child))
    },
  }
}

async function messageOf(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the searching clients ended with exit code ${code}`)
  })
  const [message] = await Promise.race([once(child, 'message'), ended])
  return message
}

/** True in the child process, after its work is done. */
export async function isSearchChild(): Promise<boolean> {
  if (!process.argv.includes(CHILD)) return false
  const [work]: Work[] = await once(process, 'message')
  if (work === undefined) throw new Error('the child process got no queries')
  const paths = dataPaths(work.dataDir)
  let stopped = false
  process.once('message', () => {
    stopped = true
  })
  const first = await Promise.all(Array.from({ length: CLIENTS }, (_, n) => client(paths, work.queries, n)))
  process.send?.('searching')
  const counts = await Promise.all(first.map((search) => search(() => stopped)))
  process.send?.(
    counts.reduce((sum, count) => sum + count, 0),
    () => process.exit(0),
  )
  return true
}

/** Connects and waits for the first answer. */
async function client(paths: Paths, queries: readonly string[], from: number) {
  const channel = await DaemonClient.connect(paths)
  const ask = async (n: number) => {
    const query = queries[(from * 7 + n) % queries.length] ?? ''
    await channel.call('search', { query, mode: 'hybrid', limit: 10 }, FIRST_ANSWER_MS)
  }
  await ask(0)
  return async (isOver: () => boolean): Promise<number> => {
    let answered = 0
    while (!isOver()) await ask(++answered)
    channel.close()
    return answered
  }
}

const ROUNDS = 3
const EVENTS = 400
/** Below the largest batch, so that nothing is observed before the turn ends. */
const EVENTS_PER_SESSION = 40
const OUTPUT_BYTES = 500
/** A large database is checked at the start, in ms. */
const START_LIMIT_MS = 300_000
const SETTLE_LIMIT_MS = 300_000
const ANSWER_MS = 10_000

/** Longest stall of the daemon's main thread: without a turn of its event loop, and of that in its own work. */
interface Stall {
  stall: number
  work: number
}

export interface Beside {
  ackIdleP99Ms: number
  ackSearchingP99Ms: number
  /** Ratio of the 99th percentiles. */
  ratio: number
  /** Null if it cannot be measured. */
  idle: Stall | null
  searching: Stall | null
  rssMb: number | null
  peakRssMb: number | null
  answersPerS: number
}

export async function besideSearches(sandbox: Sandbox, queries: readonly string[]): Promise<Beside> {
  const stalls = join(sandbox.paths.dataDir, 'stalls.json')
  const probe = join(ROOT, 'scripts', 'search', 'stall-probe.cjs')
  const daemon = spawnDaemon(sandbox, { NODE_OPTIONS: `--require ${JSON.stringify(probe)}`, BENCH_STALLS: stalls })
  try {
    ;(await connect(sandbox, START_LIMIT_MS))?.close()
    await settled(sandbox)
    return await measured(sandbox, daemon, stalls, queries)
  } finally {
    await stopServing(sandbox, START_LIMIT_MS)
    kill(daemon.pid)
  }
}

async function measured(
  sandbox: Sandbox,
  daemon: DaemonProcess,
  stallsFile: string,
  queries: readonly string[],
): Promise<Beside> {
  const hooks = new Hooks(sandbox)
  const idle: number[] = []
  const searching: number[] = []
  const idleStalls: Stall[] = []
  const stalls: Stall[] = []
  let answers = 0
  let searchedMs = 0
  // Loads the vectors before the measurement.
  await (await startSearchers({ dataDir: sandbox.paths.dataDir, queries })).stop()
  const stall = async () => await longestStall(daemon, stallsFile)
  for (let n = 0; n < ROUNDS; n++) {
    await stall()
    idle.push(...(await hooks.report(EVENTS, false)))
    idleStalls.push(...(await stall()))
    const searchers = await startSearchers({ dataDir: sandbox.paths.dataDir, queries })
    const began = performance.now()
    await stall()
    searching.push(...(await hooks.report(EVENTS, false)))
    await hooks.report(EVENTS, true)
    stalls.push(...(await stall()))
    answers += await searchers.stop()
    searchedMs += performance.now() - began
    await settled(sandbox)
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

/** Waits until nothing is left to observe or index. */
async function settled(sandbox: Sandbox): Promise<void> {
  const isDone = async () => {
    const { queue, indexing } = await daemonStatus(sandbox)
    return queue.processing === 0 && indexing === null
  }
  if (!(await until(isDone, SETTLE_LIMIT_MS, 100))) throw new Error('the daemon still has work after five minutes')
}

/** Sends events as hooks do: one after the other, one connection each. */
class Hooks {
  readonly #sandbox: Sandbox
  #sent = 0

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox
  }

  /** Time of each ack, in ms. `ends`: turns end, so that they are observed and indexed. */
  async report(count: number, ends: boolean): Promise<number[]> {
    const times: number[] = []
    for (let n = 0; n < count; n++) {
      const turn = { session: `hook-${Math.floor(this.#sent / EVENTS_PER_SESSION)}`, prompt: 'p', cwd: '/' }
      const isLast = this.#sent % EVENTS_PER_SESSION === EVENTS_PER_SESSION - 1
      const id = `hook-${this.#sent++}`
      const payload = ends && isLast ? stop(turn, 'done') : bash(turn, id, `npm test ${id}`, 'x'.repeat(OUTPUT_BYTES))
      const began = performance.now()
      await this.#send(payload)
      times.push(performance.now() - began)
    }
    return times
  }

  async #send(payload: object): Promise<void> {
    const post = { client: 'claude-code', seed: String(this.#sent), colors: false, cwd: '/', event: '', variables: {} }
    const posted = await postPayload(Buffer.from(JSON.stringify(payload)), this.#sandbox.paths, post)
    if ('failure' in posted) throw new Error(`no answer: ${posted.failure}`)
  }
}

/** Stalls since the last call, in ms; empty where the platform has no such signal. */
async function longestStall(daemon: DaemonProcess, file: string): Promise<Stall[]> {
  if (process.platform === 'win32') return []
  rmSync(file, { force: true })
  process.kill(daemon.pid, 'SIGUSR2')
  const isThere = () => existsSync(file) && readFileSync(file, 'utf8').endsWith('}')
  if (!(await until(isThere, ANSWER_MS))) throw new Error('the daemon did not write its stalls')
  return [JSON.parse(readFileSync(file, 'utf8'))]
}

function longest(stalls: readonly Stall[]): Stall | null {
  if (stalls.length === 0) return null
  const most = (of: (one: Stall) => number) => rounded(Math.max(...stalls.map(of)), 1)
  return { stall: most((one) => one.stall), work: most((one) => one.work) }
}
