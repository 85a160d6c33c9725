/**
 * Real daemons and hooks for scripts, in a private data directory under the system's temporary directory.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { DaemonStatus } from '../../src/api/operations/daemon.ts'
import { dataPaths, type Paths } from '../../src/lib/paths.ts'
import { VERSION } from '../../src/lib/version.ts'
import { isSettingName, SETTINGS_FILE } from '../../src/settings/settings.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import type { Payload } from './payloads.ts'

/** Scripts run as bundles in a cache directory, so the root of the project is searched upwards. */
export const ROOT = findRoot(dirname(fileURLToPath(import.meta.url)))
/** The build under test; `scripts/build.mjs` reads the same variable. */
export const DIST = process.env.CLAUDE_MEM_BUILD_DIR ?? join(ROOT, 'dist')
export const HOOK = join(DIST, 'hook.cjs')
const FAST_HOOK = join(DIST, 'fast-hook.sh')
const DAEMON = join(DIST, 'daemon.js')

export type HookKind = 'fast' | 'websocket'

/** The command line that `claude-mem install` registers, as a program and its arguments. */
export function hookCommandLine(kind: HookKind, { paths }: Sandbox): [program: string, ...args: string[]] {
  const named = ['--data-dir', paths.dataDir]
  return kind === 'fast'
    ? ['/bin/sh', FAST_HOOK, process.execPath, findCurl(), ...named]
    : [process.execPath, HOOK, ...named]
}

function findCurl(): string {
  const directories = (process.env.PATH ?? '').split(delimiter)
  const found = directories.map((directory) => join(directory, 'curl')).find((file) => existsSync(file))
  if (found === undefined) throw new Error('the fast hook needs curl; install it')
  return found
}

function findRoot(directory: string): string {
  if (existsSync(join(directory, 'package-lock.json'))) return directory
  const parent = dirname(directory)
  if (parent === directory) throw new Error('run this from within the project')
  return findRoot(parent)
}

/** Polls a condition that no event announces; false after the timeout. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  timeoutMs: number,
  pollMs = 10,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    if (await condition()) return true
    if (performance.now() > deadline) return false
    await sleep(pollMs)
  }
}

export interface Sandbox {
  paths: Paths
  /** The environment of every process that works in this sandbox. */
  env: NodeJS.ProcessEnv
  /** A program and its arguments that runs every daemon and hook, such as a tracer. */
  under?: readonly string[]
  remove(): void
}

function commandIn(sandbox: Sandbox, command: readonly string[]): [program: string, args: string[]] {
  const [program = process.execPath, ...args] = [...(sandbox.under ?? []), ...command]
  return [program, args]
}

export function makeSandbox(name: string, settings: Record<string, string> = {}): Sandbox {
  const dataDir = mkdtempSync(join(tmpdir(), `claude-mem-${name}-`))
  const inherited = Object.entries(process.env).filter(([key]) => !key.startsWith('CLAUDE_MEM_'))
  const all = { CLAUDE_MEM_WORKER_PORT: '0', CLAUDE_MEM_PROVIDER: 'plain', ...settings }
  // In the file too: a daemon that a hook starts takes nothing from its environment.
  const stored = Object.fromEntries(Object.entries(all).filter(([key]) => isSettingName(key)))
  writeFileSync(join(dataDir, SETTINGS_FILE), JSON.stringify(stored), { mode: 0o600 })
  return {
    paths: dataPaths(dataDir),
    env: { ...Object.fromEntries(inherited), CLAUDE_MEM_DATA_DIR: dataDir, ...all },
    remove: () => rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 }),
  }
}

/** All processes with this data directory in their environment, also those that a hook started. Linux only: else none. */
export function processesIn(sandbox: Sandbox): number[] {
  if (process.platform !== 'linux') return []
  const mark = `CLAUDE_MEM_DATA_DIR=${sandbox.paths.dataDir}\0`
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && readEnvironment(pid).includes(mark))
}

/** Empty for a process that has ended, is a zombie, or belongs to another user. */
function readEnvironment(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}

/** Renewal interval of the start lock, short enough that hooks rarely find it missing, in ms. */
const HOLD_EVERY_MS = 10

/** Holds the start lock, as a hook does that starts the daemon, so that hooks do not start one. */
export class StartLock {
  readonly #file: string
  readonly #now: () => number
  readonly #onMissing: () => void
  #keeper: NodeJS.Timeout | null = null

  /** `now`: the clock of the hooks. `onMissing`: a daemon removes the lock when it listens. */
  constructor(file: string, now: () => number = Date.now, onMissing: () => void = () => undefined) {
    this.#file = file
    this.#now = now
    this.#onMissing = onMissing
  }

  hold(): void {
    if (this.#keeper !== null) return
    // That nobody has made it yet does not mean that a daemon listens.
    this.#make()
    this.#keeper = setInterval(() => this.#renew(), HOLD_EVERY_MS)
  }

  release(): void {
    if (this.#keeper !== null) clearInterval(this.#keeper)
    this.#keeper = null
    rmSync(this.#file, { force: true })
  }

  #renew(): void {
    try {
      const now = new Date(this.#now())
      utimesSync(this.#file, now, now)
    } catch {
      this.#onMissing()
      this.#make()
    }
  }

  #make(): void {
    try {
      writeFileSync(this.#file, '{}')
    } catch {
      // The directory is missing, or its disk is full.
    }
  }
}

/** False if there is no such process. */
export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/** Same value as in `src/daemon/`; importing the daemon's main file would start one. */
export const EXIT_ALREADY_RUNNING = 3

interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface DaemonProcess {
  pid: number
  child: ChildProcess
  /** Null while it runs. */
  exit: Exit | null
  exited: Promise<Exit>
}

export function spawnDaemon(sandbox: Sandbox, env: NodeJS.ProcessEnv = {}, program = DAEMON): DaemonProcess {
  const child = spawn(...commandIn(sandbox, [process.execPath, program]), {
    env: { ...sandbox.env, ...env },
    stdio: 'ignore',
    cwd: sandbox.paths.dataDir,
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`${program} could not be started`)
  const exited = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
  const daemon: DaemonProcess = { pid, child, exit: null, exited }
  void exited.then((exit) => {
    daemon.exit = exit
  })
  return daemon
}

/** Null if no daemon accepts a connection before the timeout. */
export async function connect(sandbox: Sandbox, limitMs: number): Promise<DaemonClient | null> {
  const deadline = performance.now() + limitMs
  for (;;) {
    try {
      return await DaemonClient.connect(sandbox.paths)
    } catch {
      if (performance.now() > deadline) return null
      await sleep(5)
    }
  }
}

/** The pid of the daemon that answers; null if none does before the timeout. */
export async function servingPid(sandbox: Sandbox, limitMs: number): Promise<number | null> {
  const client = await connect(sandbox, limitMs)
  if (client === null) return null
  try {
    return (await client.call('hello', { version: VERSION }, limitMs + 1_000)).pid
  } catch {
    return null
  } finally {
    client.close()
  }
}

/** Starts a daemon and waits until it answers. */
export async function startDaemon(sandbox: Sandbox, limitMs = 20_000): Promise<DaemonProcess> {
  const daemon = spawnDaemon(sandbox)
  const client = await connect(sandbox, limitMs)
  if (client === null) {
    daemon.child.kill('SIGKILL')
    throw new Error(`the daemon did not serve within ${limitMs / 1000} s (exit ${JSON.stringify(daemon.exit)})`)
  }
  client.close()
  return daemon
}

export async function daemonStatus(sandbox: Sandbox): Promise<DaemonStatus> {
  const client = await DaemonClient.connect(sandbox.paths)
  try {
    return (await client.call('status', {})).status
  } finally {
    client.close()
  }
}

/** Stops the daemon of the sandbox, also one that a hook started; false if it still runs after the timeout. */
export async function stopServing(sandbox: Sandbox, limitMs = 10_000): Promise<boolean> {
  const pid = await servingPid(sandbox, 0)
  if (pid === null) return true
  process.kill(pid, 'SIGTERM')
  return await until(() => !isAlive(pid), limitMs)
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return !isZombie(pid)
}

/** A daemon that a hook started is a child of init, which may not have collected its exit code yet. */
function isZombie(pid: number): boolean {
  try {
    return /^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

export interface HookRun {
  /** Exit code 0 and a valid answer: the event is durable. */
  reported: boolean
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
}

export interface Interruption {
  signal: 'SIGKILL' | 'SIGTERM'
  afterMs: number
}

export function runHook(
  sandbox: Sandbox,
  payload: Payload,
  interruption: Interruption | null = null,
  kind: HookKind = 'websocket',
): Promise<HookRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(...commandIn(sandbox, hookCommandLine(kind, sandbox)), {
      env: sandbox.env,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk
    })
    const timer =
      interruption === null ? undefined : setTimeout(() => child.kill(interruption.signal), interruption.afterMs)
    child.once('error', reject)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ reported: code === 0 && isAnswer(stdout), code, signal, stdout })
    })
    // A hook that was killed closes its input before it has read the payload.
    child.stdin.on('error', () => undefined)
    child.stdin.end(JSON.stringify(payload))
  })
}

export function isAnswer(stdout: string): boolean {
  try {
    const answer: unknown = JSON.parse(stdout)
    return typeof answer === 'object' && answer !== null && 'continue' in answer && answer.continue === true
  } catch {
    return false
  }
}
