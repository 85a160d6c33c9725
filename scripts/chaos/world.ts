/**
 * The world of one chaos scenario: a data directory, daemons and hooks that work in it, the log of what was reported, and
 * marker words that may appear nowhere. `finish` lets a clean daemon end all work and counts what went wrong.
 */
import { spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MEMORY_KINDS } from '../../src/domain/search-query.ts'
import { isSettingName, type SettingName } from '../../src/settings/settings.ts'
import { writeSetting } from '../../src/settings/settings-file.ts'
import type { DaemonClient } from '../../src/transport/client.ts'
import type { Payload } from '../lib/payloads.ts'
import type { Random } from '../lib/random.ts'
import {
  connect,
  type DaemonProcess,
  DIST,
  daemonStatus,
  EXIT_ALREADY_RUNNING,
  type HookRun,
  kill,
  makeSandbox,
  processesIn,
  ROOT,
  runHook,
  type Sandbox,
  StartLock,
  spawnDaemon,
  until,
} from '../lib/sandbox.ts'
import { type ChaosModel, type LogEntry, logEntry } from './clients.ts'
import { judge, type Verdict } from './verdict.ts'

/** A hook or a stop that takes longer counts as hung, in ms. */
const HUNG_MS = 20_000
const SERVE_LIMIT_MS = 60_000
const FINISH_LIMIT_MS = 90_000
/** Share of commits that a sabotaged daemon drops but reports as done. */
const LOSE = 0.4

/** Lets every process of a sandbox lack what the mutant in chaos/mutants.cjs takes away. */
export function mutantEnvironment(mutant: string): NodeJS.ProcessEnv {
  const preloads = ['clock.cjs', 'mutants.cjs'].map((name) => `--require=${join(ROOT, 'scripts', 'chaos', name)}`)
  return { CHAOS_MUTANT: mutant, NODE_OPTIONS: preloads.join(' ') }
}

/** All must be 0. */
export interface Counts {
  lost: number
  altered: number
  duplicated: number
  stuck: number
  orphans: number
  leaked: number
  damage: number
}

export class World {
  readonly sandbox: Sandbox
  readonly random: Random
  readonly sabotage: boolean
  /** How many times the power is cut. */
  readonly cuts: number
  /** Holds the directories in which the clients of the scenario work. */
  readonly work = mkdtempSync(join(tmpdir(), 'claude-mem-chaos-work-'))
  readonly log: LogEntry[] = []
  /** What went wrong, in words; each counts as a failure of the scenario. */
  readonly failures: string[] = []
  /** Further figures of the scenario. */
  readonly figures: Record<string, number> = {}
  readonly #markers: string[] = []
  readonly #leaks: string[] = []
  readonly #found: Verdict[] = []
  readonly #ignored = new Set<string>()
  #counts: Counts | null = null
  readonly #clock: string
  readonly #lock: StartLock
  #turns = 0
  #offsetMs = 0

  /** Whether sabotaged daemons drop commits. */
  readonly #losesCommits: boolean

  constructor(
    name: string,
    random: Random,
    { sabotage, cuts, sabotagesItself = false }: { sabotage: boolean; cuts: number; sabotagesItself?: boolean },
  ) {
    this.sandbox = makeSandbox(`chaos-${name}`)
    this.#losesCommits = sabotage && !sabotagesItself
    this.random = random
    this.#lock = new StartLock(this.paths.starting, () => Date.now() + this.#offsetMs)
    this.sabotage = sabotage
    this.cuts = cuts
    this.#clock = join(this.work, 'clock')
    this.sandbox.env.CHAOS_CLOCK = this.#clock
    this.sandbox.env.NODE_OPTIONS = `--require=${join(ROOT, 'scripts', 'chaos', 'clock.cjs')}`
  }

  get paths(): Sandbox['paths'] {
    return this.sandbox.paths
  }

  /** Settings in the file of the data directory, which daemons that a hook starts read too. */
  configure(settings: Partial<Record<SettingName, string>>): void {
    for (const [name, value] of Object.entries(settings)) writeSetting(this.paths.dataDir, name as SettingName, value)
  }

  /** Makes the data directory with the settings of this world, after it was removed or hidden by a mount. */
  restoreDirectory(): void {
    mkdirSync(this.paths.dataDir, { recursive: true, mode: 0o700 })
    const names = Object.keys(this.sandbox.env).filter(isSettingName)
    this.configure(Object.fromEntries(names.map((name) => [name, this.sandbox.env[name] ?? ''])))
  }

  /** Sets the clock of every process of this world forward. */
  advanceClock(ms: number): void {
    this.setClock(this.#offsetMs + ms)
  }

  /** Sets the clock of every process of this world, in ms relative to the real one. */
  setClock(offsetMs: number): void {
    this.#offsetMs = offsetMs
    writeFileSync(this.#clock, String(offsetMs))
  }

  /** A directory in which a client works. */
  directory(name: string): string {
    const directory = join(this.work, name)
    mkdirSync(directory, { recursive: true })
    return directory
  }

  /** A word that must not be found anywhere at the end. */
  marker(what: string): string {
    const letters = Array.from({ length: 12 }, () => 'bcdfghjklmnpqrstvwxz'[this.random.between(0, 19)]).join('')
    const word = `${what}${letters}`
    this.#markers.push(word)
    return word
  }

  /** A new turn of a session in a directory. */
  turn(session: string, cwd: string): { session: string; prompt: string; cwd: string } {
    this.#turns += 1
    return { session, prompt: `${session}-p${this.#turns}`, cwd }
  }

  /** Keeps hooks from starting a daemon, as a hook does that is starting one. */
  holdStart(): void {
    this.#lock.hold()
  }

  releaseStart(): void {
    this.#lock.release()
  }

  /** Starts a daemon and waits until it serves. A sabotaged one drops commits. */
  async start(env: NodeJS.ProcessEnv = {}): Promise<DaemonProcess> {
    const daemon = spawnDaemon(
      this.sandbox,
      this.#losesCommits ? { ...env, CLAUDE_MEM_FAULT: `commit.lose:${LOSE}` } : env,
    )
    const client = await connect(this.sandbox, SERVE_LIMIT_MS)
    client?.close()
    if (client === null) this.failures.push(`a daemon did not serve within ${SERVE_LIMIT_MS / 1000} s`)
    if (daemon.exit !== null && daemon.exit.code !== EXIT_ALREADY_RUNNING) {
      this.failures.push(`a daemon ended at its start: ${JSON.stringify(daemon.exit)}`)
    }
    return daemon
  }

  async kill(daemon: DaemonProcess): Promise<void> {
    kill(daemon.pid)
    await daemon.exited
  }

  /** As a user stops it. A daemon that hangs is a failure, and is killed. */
  async stop(daemon: DaemonProcess): Promise<void> {
    daemon.child.kill('SIGTERM')
    if ((await Promise.race([daemon.exited, sleep(HUNG_MS, null, { ref: false })])) !== null) return
    this.failures.push(`a daemon did not stop within ${HUNG_MS / 1000} s`)
    await this.kill(daemon)
  }

  /** Runs the hook. `keep: false`: nothing may be kept of it; `'maybe'`: it may be kept or not, but not twice. */
  async report(payload: Payload, keep: boolean | 'maybe' = true): Promise<HookRun> {
    const run = await runHook(this.sandbox, payload, { signal: 'SIGKILL', afterMs: HUNG_MS })
    if (!run.reported)
      this.failures.push(`the hook of ${logEntry(payload, false).key} failed or hung: ${JSON.stringify(run)}`)
    if (keep !== false) this.expect(payload, keep === true)
    return run
  }

  /** Adds an event to the log. Of one that was reported on another way than by a hook only the id is known. */
  expect(payload: Payload, kept = true, byHook = true): void {
    const entry = logEntry(payload, kept)
    this.log.push(byHook ? entry : { ...entry, content: null })
  }

  async client(): Promise<DaemonClient> {
    const client = await connect(this.sandbox, SERVE_LIMIT_MS)
    if (client === null) throw new Error('no daemon answers')
    return client
  }

  /** Observes with a model, one observation per message. */
  useModel(model: ChaosModel, settings: Record<string, string> = {}): void {
    Object.assign(this.sandbox.env, model.settings, settings)
  }

  /** A leak that is not a marker word. */
  leak(what: string): void {
    this.#leaks.push(what)
  }

  /** What a comparison of its own found. */
  found(verdict: Verdict): void {
    this.#found.push(verdict)
  }

  /** What is left of a session that was erased is not compared. */
  ignore(session: string): void {
    this.#ignored.add(session)
  }

  /** Runs `claude-mem` with arguments; its output. */
  cli(...args: string[]): { code: number | null; stdout: string; stderr: string } {
    const run = spawnSync(process.execPath, [join(DIST, 'cli.js'), ...args], {
      env: this.sandbox.env,
      encoding: 'utf8',
      timeout: HUNG_MS,
    })
    return { code: run.status, stdout: run.stdout, stderr: run.stderr }
  }

  /** Waits until no message is pending and no file is in the spool; false after the limit. */
  async workOff(limitMs = FINISH_LIMIT_MS): Promise<boolean> {
    return await workOff(this.sandbox, limitMs)
  }

  /**
   * Lets a clean daemon end all work, stops it, and compares the log with what is stored. A scenario calls it itself where
   * its disk or its model must still be there.
   */
  async finish(): Promise<Counts> {
    this.#counts ??= await this.#finish()
    return this.#counts
  }

  async #finish(): Promise<Counts> {
    this.holdStart()
    for (const pid of processesIn(this.sandbox)) kill(pid, 'SIGTERM')
    await until(() => processesIn(this.sandbox).length === 0, HUNG_MS, 50)
    const hung = processesIn(this.sandbox)
    for (const pid of hung) kill(pid)
    if (hung.length > 0) this.failures.push(`${hung.length} processes did not stop within ${HUNG_MS / 1000} s`)
    const daemon = spawnDaemon(this.sandbox)
    ;(await this.client()).close()
    if (!(await this.workOff())) {
      this.failures.push(`work is left: ${JSON.stringify((await daemonStatus(this.sandbox)).queue)}`)
    }
    const answered = await this.#leakedInAnswers()
    await this.stop(daemon)
    this.releaseStart()
    await until(() => processesIn(this.sandbox).length === 0, 2_000, 50)
    const verdict = together([judge(this.paths.database, this.log, this.#ignored), ...this.#found])
    const leaked = [...this.#leaks, ...answered, ...this.#leakedInFiles()]
    for (const [what, list] of Object.entries({ ...verdict, leaked })) {
      if (list.length > 0) this.failures.push(`${what}: ${list.slice(0, 10).join(', ')}`)
    }
    return {
      lost: verdict.lost.length,
      altered: verdict.altered.length,
      duplicated: verdict.duplicated.length,
      stuck: verdict.stuck.length,
      orphans: processesIn(this.sandbox).length,
      leaked: leaked.length,
      damage: verdict.damage.length,
    }
  }

  /** Ends every process and removes all files. */
  remove(keep: boolean): void {
    this.releaseStart()
    for (const pid of processesIn(this.sandbox)) kill(pid)
    if (keep) return
    this.sandbox.remove()
    rmSync(this.work, { recursive: true, force: true })
  }

  /** What a daemon answers about its sessions, projects and memories. */
  async #leakedInAnswers(): Promise<string[]> {
    if (this.#markers.length === 0) return []
    const client = await this.client()
    try {
      const { sessions } = await client.call('sessions', { limit: 100 })
      const { projects } = await client.call('projects', {})
      const answers: unknown[] = [sessions, projects, await client.call('status', {})]
      for (const { session } of sessions) answers.push(await client.call('story', { session }))
      for (const { key } of projects) answers.push(await client.call('context', { project: key }))
      for (const query of this.#markers) {
        const { answer } = await client.call('search', { query, mode: 'strict', kinds: MEMORY_KINDS })
        answers.push(answer.hits)
      }
      const text = JSON.stringify(answers)
      return this.#markers.filter((marker) => text.includes(marker)).map((marker) => `${marker} in an answer`)
    } finally {
      client.close()
    }
  }

  /** The marker words in the bytes of every file of the data directory: database, logs, backups, spool, contexts. */
  #leakedInFiles(): string[] {
    return regularFiles(this.paths.dataDir).flatMap((file) => {
      const bytes = readFileSync(file)
      return this.#markers
        .filter((marker) => bytes.includes(marker) || bytes.includes(Buffer.from(marker, 'utf16le')))
        .map((marker) => `${marker} in ${file}`)
    })
  }
}

function together(verdicts: readonly Verdict[]): Verdict {
  const all = (key: keyof Verdict) => verdicts.flatMap((verdict) => verdict[key])
  return {
    lost: all('lost'),
    altered: all('altered'),
    duplicated: all('duplicated'),
    stuck: all('stuck'),
    damage: all('damage'),
  }
}

/** Lets a daemon observe everything that waits; false if that is not done after the limit. */
export async function workOff(sandbox: Sandbox, limitMs: number): Promise<boolean> {
  return await until(
    async () => {
      const { queue, spooled } = await daemonStatus(sandbox)
      if (queue.pending > 0) {
        const client = await connect(sandbox, SERVE_LIMIT_MS)
        await client?.call('flush', { session: null, wait: true }).catch(() => undefined)
        client?.close()
      }
      return queue.pending + queue.processing + spooled === 0
    },
    limitMs,
    200,
  )
}

function regularFiles(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    const stat = lstatSync(path)
    if (stat.isDirectory()) return regularFiles(path)
    return stat.isFile() ? [path] : []
  })
}
