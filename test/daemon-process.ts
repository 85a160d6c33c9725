/** Real daemons in data directories of their own, ended by their id whatever a test does. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChannelClient } from '../src/channel/client.ts'
import { type Paths, pathsOf } from '../src/paths.ts'

const ROOT = join(import.meta.dirname, '..')
/** The build that is tested; the variable is the one that `scripts/build.mjs` reads. */
export const DIST = process.env.CLAUDE_MEM_BUILD_DIR ?? join(ROOT, 'dist')

/** The program as another version. It lies inside node_modules so that it finds its packages. */
export function buildVersion(version: string): string {
  const directory = join(ROOT, 'node_modules', '.cache', 'claude-mem', `build-${version}`)
  const env = { ...process.env, CLAUDE_MEM_BUILD_DIR: directory, CLAUDE_MEM_BUILD_VERSION: version }
  execFileSync(process.execPath, [join(ROOT, 'scripts', 'build.mjs')], { env, stdio: 'inherit' })
  return directory
}

/** Longer than any daemon takes to answer, in ms. */
const STARTS_WITHIN_MS = 5_000

export interface Finished {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export class Place {
  readonly directory = mkdtempSync(join(tmpdir(), 'claude-mem-daemon-'))
  readonly dataDir: string
  readonly paths: Paths
  readonly #children: ChildProcess[] = []

  constructor(under = 'data') {
    this.dataDir = join(this.directory, under)
    this.paths = pathsOf(this.dataDir)
  }

  get env(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      CLAUDE_MEM_DATA_DIR: this.dataDir,
      CLAUDE_MEM_WORKER_PORT: '0',
      CLAUDE_MEM_PROVIDER: 'plain',
    }
  }

  /** Starts without waiting. */
  spawn(env: NodeJS.ProcessEnv = {}, dist = DIST): ChildProcess {
    const child = spawn(process.execPath, [join(dist, 'daemon.js')], { env: { ...this.env, ...env }, stdio: 'ignore' })
    this.#children.push(child)
    return child
  }

  async start(env: NodeJS.ProcessEnv = {}, dist = DIST): Promise<ChildProcess> {
    const child = this.spawn(env, dist)
    await this.answers(child)
    return child
  }

  /** Until this very process answers on the socket. */
  async answers(child: ChildProcess, timeoutMs = 15_000): Promise<void> {
    const deadline = Date.now() + timeoutMs
    for (;;) {
      const pid = await this.ask((client) => client.request('hello', { type: 'hello', version: 'test' })).then(
        (hello) => hello.pid,
        () => null,
      )
      if (pid === child.pid) return
      if (child.exitCode !== null || Date.now() > deadline)
        throw new Error(`the daemon does not answer:\n${this.log()}`)
      await pause()
    }
  }

  async ask<T>(question: (client: ChannelClient) => Promise<T>): Promise<T> {
    const client = await ChannelClient.connect(this.paths)
    try {
      return await question(client)
    } finally {
      client.close()
    }
  }

  async status() {
    return (await this.ask((client) => client.request('status', { type: 'status' }))).status
  }

  hook(payload: string | object, env: NodeJS.ProcessEnv = {}, dist = DIST): Promise<Finished> {
    const child = spawn(process.execPath, [join(dist, 'hook.cjs')], { env: { ...this.env, ...env } })
    child.stdin.on('error', () => undefined)
    child.stdin.end(typeof payload === 'string' ? payload : JSON.stringify(payload))
    return finished(child)
  }

  /** A daemon that could not start leaves its mark behind. */
  #starts(): boolean {
    const mark = statSync(this.paths.starting, { throwIfNoEntry: false })
    return mark !== undefined && Date.now() - mark.mtimeMs < STARTS_WITHIN_MS
  }

  log(): string {
    const file = join(this.paths.logs, 'daemon.log')
    return existsSync(file) ? readFileSync(file, 'utf8') : '(no log)'
  }

  /** A daemon that a hook started is not our child, and another may still be starting: each is asked to stop. */
  async dispose(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    }
    await Promise.all(this.#children.map(exited))
    for (;;) {
      const other = await this.status().catch(() => null)
      if (other === null && !this.#starts()) break
      if (other !== null) {
        await this.ask((client) => client.request('done', { type: 'stop' })).catch(() => undefined)
        while (isAlive(other.pid)) await pause()
      }
      await pause()
    }
    rmSync(this.directory, { recursive: true, force: true })
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20))
}

export function finished(child: ChildProcess): Promise<Finished> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
  })
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
}

export function exited(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode)
  return new Promise((resolve) => {
    child.once('exit', (code) => resolve(code))
  })
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
