/** One machine of a team in a chaos run: a data directory, its daemon, a clock of its own, and its way to the server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemError } from '../../src/lib/errors.ts'
import type { DaemonClient } from '../../src/transport/client.ts'
import {
  connect,
  type DaemonProcess,
  kill,
  makeSandbox,
  processesIn,
  ROOT,
  type Sandbox,
  spawnDaemon,
} from '../lib/sandbox.ts'
import { TcpProxy } from '../lib/tcp-proxy.ts'

const SERVE_LIMIT_MS = 30_000
const CALL_LIMIT_MS = 20_000

/** What a call may not know: whether the daemon did it before it died. */
export type Done<T> = { is: 'done'; answer: T } | { is: 'unknown' } | { is: 'refused'; why: string }

export class TeamMachine {
  readonly name: string
  readonly sandbox: Sandbox
  readonly proxy: TcpProxy
  readonly #work: string
  #daemon: DaemonProcess | null = null

  private constructor(name: string, proxy: TcpProxy, clockOffsetMs: number) {
    this.name = name
    this.proxy = proxy
    this.#work = mkdtempSync(join(tmpdir(), 'claude-mem-chaos-team-'))
    this.sandbox = makeSandbox(`chaos-team-${name}`, { CLAUDE_MEM_TEAM_MACHINE: name })
    const clock = join(this.#work, 'clock')
    writeFileSync(clock, String(clockOffsetMs))
    this.sandbox.env.CHAOS_CLOCK = clock
    this.sandbox.env.NODE_OPTIONS = `--require=${join(ROOT, 'scripts', 'chaos', 'clock.cjs')}`
  }

  static async make(name: string, serverPort: number, clockOffsetMs: number): Promise<TeamMachine> {
    return new TeamMachine(name, await TcpProxy.listen(serverPort), clockOffsetMs)
  }

  get isRunning(): boolean {
    return this.#daemon !== null && this.#daemon.exit === null
  }

  /** Nothing if it runs. */
  async start(): Promise<void> {
    if (this.isRunning) return
    this.#daemon = spawnDaemon(this.sandbox)
    const client = await connect(this.sandbox, SERVE_LIMIT_MS)
    if (client === null && this.isRunning) throw new Error(`the daemon of ${this.name} does not serve`)
    client?.close()
  }

  async kill(): Promise<void> {
    const daemon = this.#daemon
    if (daemon === null) return
    daemon.child.kill('SIGKILL')
    await daemon.exited
    this.#daemon = null
  }

  /** `unknown` where the daemon was not there, or went away before it answered. */
  async call<T>(ask: (client: DaemonClient, limitMs: number) => Promise<T>): Promise<Done<T>> {
    let client: DaemonClient | null = null
    try {
      client = await connect(this.sandbox, 0)
      if (client === null) return { is: 'unknown' }
      return { is: 'done', answer: await ask(client, CALL_LIMIT_MS) }
    } catch (error) {
      const isAnswer = error instanceof MemError && ['not_found', 'bad_request', 'conflict'].includes(error.code)
      return isAnswer ? { is: 'refused', why: error.message } : { is: 'unknown' }
    } finally {
      client?.close()
    }
  }

  async remove(): Promise<void> {
    await this.kill()
    for (const pid of processesIn(this.sandbox)) kill(pid)
    await this.proxy.close()
    this.sandbox.remove()
    rmSync(this.#work, { recursive: true, force: true })
  }
}
