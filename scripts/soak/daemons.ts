/** The daemons of a soak, one life after the other: ended by SIGTERM, by SIGKILL, or by a newer version that takes over. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DaemonProcess, DIST, ROOT, type Sandbox, servingPid, spawnDaemon, until } from '../lib/sandbox.ts'

const SERVE_LIMIT_MS = 60_000
const EXIT_LIMIT_MS = 30_000
const WAYS = ['SIGTERM', 'SIGKILL', 'handover'] as const
/** Newer than any version that is built. */
const NEWER = '9999.0.0'

export class SoakDaemons {
  /** Counts from 1; 0: none was started. */
  life = 0
  readonly ended: Partial<Record<(typeof WAYS)[number], number>> = {}
  readonly crashes: string[] = []
  readonly #sandbox: Sandbox
  readonly #newer: string
  #daemon: DaemonProcess | null = null
  #servedAt = 0

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox
    this.#newer = newerBuild()
  }

  get pid(): number {
    return this.#daemon?.pid ?? 0
  }

  /** Since it serves, in ms. */
  get age(): number {
    return performance.now() - this.#servedAt
  }

  async start(): Promise<void> {
    await this.#serve(spawnDaemon(this.#sandbox))
  }

  /** Every restart in another way than the one before. */
  async restart(): Promise<void> {
    const way = WAYS[(this.life - 1) % WAYS.length] ?? 'SIGTERM'
    this.noticeCrash()
    const daemon = this.#daemon
    if (way === 'handover') {
      await this.#serve(spawnDaemon(this.#sandbox, {}, join(this.#newer, 'daemon.js')))
    } else {
      daemon?.child.kill(way)
      await this.#exited(way)
      await this.start()
    }
    this.ended[way] = (this.ended[way] ?? 0) + 1
  }

  async stop(): Promise<void> {
    this.#daemon?.child.kill('SIGTERM')
    await this.#exited('SIGTERM')
  }

  /** True if the daemon ended by itself, which is always an error. */
  noticeCrash(): boolean {
    if (this.#daemon === null || this.#daemon.exit === null) return false
    this.crashes.push(`the daemon of life ${this.life} ended by itself: ${JSON.stringify(this.#daemon.exit)}`)
    this.#daemon = null
    return true
  }

  remove(): void {
    rmSync(this.#newer, { recursive: true, force: true })
  }

  async #serve(daemon: DaemonProcess): Promise<void> {
    const serves = await until(
      async () => daemon.exit !== null || (await servingPid(this.#sandbox, 0)) === daemon.pid,
      SERVE_LIMIT_MS,
      50,
    )
    if (!serves || daemon.exit !== null) {
      throw new Error(`a daemon did not serve within ${SERVE_LIMIT_MS / 1_000} s (exit ${JSON.stringify(daemon.exit)})`)
    }
    this.#daemon = daemon
    this.#servedAt = performance.now()
    this.life += 1
  }

  async #exited(way: string): Promise<void> {
    const daemon = this.#daemon
    if (daemon === null) return
    const ended = await until(() => daemon.exit !== null, EXIT_LIMIT_MS)
    if (!ended) this.crashes.push(`the daemon of life ${this.life} did not end within 30 s of ${way}`)
    if (!ended) daemon.child.kill('SIGKILL')
    this.#daemon = null
  }
}

/** This build under a newer version number. It is inside of the project, where packages are found. */
function newerBuild(): string {
  const copy = join(ROOT, 'node_modules', '.cache', 'claude-mem', `soak-newer-${process.pid}`)
  cpSync(DIST, copy, { recursive: true, filter: (path) => !path.endsWith('.map') })
  const { version }: { version: string } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const programs = readdirSync(copy, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'))
  let replaced = 0
  for (const name of programs) {
    const text = readFileSync(join(copy, name), 'utf8')
    const newer = text.replaceAll(JSON.stringify(version), JSON.stringify(NEWER))
    if (newer === text) continue
    replaced += 1
    writeFileSync(join(copy, name), newer)
  }
  if (replaced === 0) throw new Error(`no program of ${DIST} contains its version ${version}`)
  return copy
}
