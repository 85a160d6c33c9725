/** The daemon under attack: a real process that is watched from outside for its exit, its memory and stalls of its event loop. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERSION } from '../../src/lib/version.ts'
import { memoryMb } from '../lib/report.ts'
import {
  connect,
  type DaemonProcess,
  kill,
  makeSandbox,
  processesIn,
  ROOT,
  type Sandbox,
  spawnDaemon,
  until,
} from '../lib/sandbox.ts'
import { INPUT_LIMIT_MS } from './target.ts'

const START_LIMIT_MS = 60_000
const STOP_LIMIT_MS = 60_000
/** Four times of what a busy daemon needs, in MB. */
const MEMORY_LIMIT_MB = 600
/** A daemon that does not answer for this long hangs, in ms. */
const HELLO_LIMIT_MS = 20_000

export interface DaemonFigures {
  peakMb: number
  /** Longest time in which the event loop did nothing else, without the time in which it waited for the processor. */
  longestStallMs: number
  longestHelloMs: number
}

export class WatchedDaemon {
  readonly sandbox: Sandbox
  readonly figures: DaemonFigures = { peakMb: 0, longestStallMs: 0, longestHelloMs: 0 }
  readonly problems: string[] = []
  readonly #stalls: string
  #daemon: DaemonProcess | null = null
  #stopping = false

  constructor() {
    this.sandbox = makeSandbox('fuzz', { HOME: '/nonexistent', CLAUDE_MEM_IDLE_EXIT_MINUTES: '0' })
    this.#stalls = join(this.sandbox.paths.dataDir, 'stalls.json')
  }

  async start(): Promise<void> {
    const probe = join(ROOT, 'scripts', 'search', 'stall-probe.cjs')
    this.#daemon = spawnDaemon(this.sandbox, { NODE_OPTIONS: `--require ${probe}`, BENCH_STALLS: this.#stalls })
    this.#stopping = false
    const client = await connect(this.sandbox, START_LIMIT_MS)
    client?.close()
    if (client === null) throw new Error(`the daemon did not start (exit ${JSON.stringify(this.#daemon.exit)})`)
  }

  /** `where`: the inputs since the last look, for the report. Starts another daemon after a crash. */
  async look(where: string): Promise<void> {
    const daemon = this.#daemon
    if (daemon === null || this.#stopping) return
    if (daemon.exit !== null) {
      this.problems.push(`the daemon ended (${JSON.stringify(daemon.exit)}) during ${where}`)
      await this.start()
      return
    }
    this.#readStall(where)
    daemon.child.kill('SIGUSR2')
    const mb = memoryMb(daemon, 'VmRSS') ?? 0
    if (mb > MEMORY_LIMIT_MB && this.figures.peakMb <= MEMORY_LIMIT_MB)
      this.problems.push(`the daemon needs ${mb} MB during ${where}`)
    this.figures.peakMb = Math.max(this.figures.peakMb, mb)
    const took = await this.#hello()
    if (took > HELLO_LIMIT_MS) this.problems.push(`the daemon does not answer to hello during ${where}`)
    this.figures.longestHelloMs = Math.max(this.figures.longestHelloMs, Math.round(took))
  }

  #readStall(where: string): void {
    if (!existsSync(this.#stalls)) return
    try {
      const { stall, work }: { stall: number; work: number } = JSON.parse(readFileSync(this.#stalls, 'utf8'))
      // Both are estimates: a real stall shows in both.
      const ms = Math.round(Math.min(stall, work))
      if (ms > INPUT_LIMIT_MS) this.problems.push(`the daemon did nothing else for ${ms} ms during ${where}`)
      this.figures.longestStallMs = Math.max(this.figures.longestStallMs, ms)
    } catch {
      // It is being written.
    }
  }

  async #hello(): Promise<number> {
    const began = performance.now()
    const client = await connect(this.sandbox, HELLO_LIMIT_MS)
    try {
      await client?.call('hello', { version: VERSION }, HELLO_LIMIT_MS)
      return performance.now() - began
    } catch {
      return this.#daemon?.exit === null ? Number.POSITIVE_INFINITY : 0
    } finally {
      client?.close()
    }
  }

  /** Stops it as a user does. */
  async stop(): Promise<void> {
    const daemon = this.#daemon
    if (daemon === null) return
    this.#stopping = true
    daemon.child.kill('SIGTERM')
    const ended = await until(() => daemon.exit !== null, STOP_LIMIT_MS)
    if (!ended) this.problems.push('the daemon did not end after SIGTERM')
    if (!ended) daemon.child.kill('SIGKILL')
    this.#daemon = null
  }

  remove(keep: boolean): void {
    for (const pid of processesIn(this.sandbox)) kill(pid)
    if (!keep) this.sandbox.remove()
  }
}
