/** Real daemons in a private data directory. `dispose` stops every one of them, also those that a hook started. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { dataPaths, type Paths } from '../../src/lib/paths.ts'
import { isSettingName, SETTINGS_FILE } from '../../src/settings/settings.ts'
import { openStoreReader } from '../../src/store/sqlite/reader.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import { temporaryDirectory } from './directories.ts'
import { DIST, ROOT } from './paths.ts'
import { exited, type Finished, isAlive, runProgram } from './programs.ts'

/** Builds the program with another version number, inside node_modules so that it resolves its packages. */
export function buildVersion(version: string): string {
  const directory = join(ROOT, 'node_modules', '.cache', 'claude-mem', `build-${version}`)
  const env = { ...process.env, CLAUDE_MEM_BUILD_DIR: directory, CLAUDE_MEM_BUILD_VERSION: version }
  execFileSync(process.execPath, [join(ROOT, 'scripts', 'build.mjs')], { env, stdio: 'inherit' })
  return directory
}

/** A `starting` file older than this belongs to a daemon that failed to start, in ms. */
const START_TIMEOUT_MS = 5_000
const POLL_MS = 20

export class DaemonSandbox {
  readonly directory = temporaryDirectory('daemon')
  readonly dataDir: string
  readonly paths: Paths
  readonly #children: ChildProcess[] = []

  /** `under`: its directory, or an absolute path. */
  constructor(under = 'data') {
    this.dataDir = resolve(this.directory, under)
    this.paths = dataPaths(this.dataDir)
  }

  get env(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      CLAUDE_MEM_DATA_DIR: this.dataDir,
      CLAUDE_MEM_WORKER_PORT: '0',
      CLAUDE_MEM_PROVIDER: 'plain',
    }
  }

  /** Starts a daemon without waiting until it answers. */
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

  /** Waits until this process, and no other daemon, answers on the socket. */
  async answers(child: ChildProcess, timeoutMs = 15_000): Promise<void> {
    const deadline = Date.now() + timeoutMs
    for (;;) {
      const status = await this.status().catch(() => null)
      if (status?.pid === child.pid) return
      if (child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`the daemon does not answer:\n${this.log()}`)
      }
      await sleep(POLL_MS)
    }
  }

  ask<T>(question: (client: DaemonClient) => Promise<T>): Promise<T> {
    return askDaemon(this.paths, question)
  }

  async status() {
    return (await this.ask((client) => client.call('status', {}))).status
  }

  /** A daemon that the hook starts takes nothing from its environment, so its settings are in the file too. */
  hook(
    payload: string | object,
    env: NodeJS.ProcessEnv = {},
    { dist = DIST, args = [] }: { dist?: string; args?: readonly string[] } = {},
  ): Promise<Finished> {
    writeSettingsFile(this.dataDir, { ...this.env, ...env })
    const input = typeof payload === 'string' ? payload : JSON.stringify(payload)
    return runProgram(process.execPath, [join(dist, 'hook.cjs'), '--data-dir', this.dataDir, ...args], {
      env: { ...this.env, ...env },
      input,
    })
  }

  /** Ids of the stored events of a session. */
  async stored(session: string): Promise<string[]> {
    const reader = await openStoreReader(this.paths.database)
    try {
      return (await reader.events(session, 10_000)).map((event) => event.eventId)
    } finally {
      await reader.close()
    }
  }

  /** Waits until the spool is empty. */
  async drained(): Promise<void> {
    await expect.poll(async () => (await this.status()).spooled, { timeout: 10_000 }).toBe(0)
  }

  log(): string {
    const file = join(this.paths.logs, 'daemon.log')
    return existsSync(file) ? readFileSync(file, 'utf8') : '(no log)'
  }

  async dispose(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    }
    await Promise.all(this.#children.map(exited))
    await stopDaemons(this.paths)
  }
}

/** Adds the settings of an environment to the settings file, for daemons that hooks or commands start. */
export function writeSettingsFile(dataDir: string, env: NodeJS.ProcessEnv): void {
  // Some tests put something else there.
  if (statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() === false) return
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, SETTINGS_FILE)
  const stored = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const given = Object.entries(env).filter(([name]) => isSettingName(name) && !Object.hasOwn(stored, name))
  if (given.length === 0) return
  writeFileSync(file, JSON.stringify({ ...stored, ...Object.fromEntries(given) }), { mode: 0o600 })
}

/** Stops whatever daemon works in a data directory. One that a hook started is no child, and another may be starting. */
export async function stopDaemons(paths: Paths): Promise<void> {
  for (;;) {
    const running = await askDaemon(paths, (client) => client.call('status', {})).catch(() => null)
    if (running === null && !isStarting(paths)) return
    if (running !== null) {
      await askDaemon(paths, (client) => client.call('stop', {})).catch(() => undefined)
      while (isAlive(running.status.pid)) await sleep(POLL_MS)
    }
    await sleep(POLL_MS)
  }
}

async function askDaemon<T>(paths: Paths, question: (client: DaemonClient) => Promise<T>): Promise<T> {
  const client = await DaemonClient.connect(paths)
  try {
    return await question(client)
  } finally {
    client.close()
  }
}

function isStarting(paths: Paths): boolean {
  const file = statSync(paths.starting, { throwIfNoEntry: false })
  return file !== undefined && Date.now() - file.mtimeMs < START_TIMEOUT_MS
}
