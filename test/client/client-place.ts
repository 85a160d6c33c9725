/** A home of its own with the real client in it, the scripted model, and claude-mem as people install it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { ChannelClient } from '../../src/channel/client.ts'
import { type Paths, pathsOf } from '../../src/paths.ts'
import { SqliteReader } from '../../src/store/sqlite/reader.ts'
import { type Finished, finished, isAlive } from '../daemon-process.ts'
import { MessagesApi, type Scripts } from './messages-api.ts'

/** Set by scripts/test-client.mjs. */
export const CLIENT = process.env.CLAUDE_MEM_TEST_CLIENT ?? ''
const ROOT = join(import.meta.dirname, '..', '..')
/** A run takes some seconds; a client that waits for somebody is ended. */
const RUN_MS = 60_000
const WAIT_MS = 20_000

export interface StoredEvent {
  eventId: string
  kind: string
}

export class ClientPlace {
  readonly home = mkdtempSync(join(tmpdir(), 'claude-mem-client-'))
  readonly project = join(this.home, 'shop')
  readonly settings = join(this.home, '.claude', 'settings.json')
  readonly paths: Paths = pathsOf(join(this.home, '.claude-mem'))
  /** A build of its own, which no other run replaces meanwhile; inside node_modules, where it finds its packages. */
  readonly #dist = mkdtempSync(join(ROOT, 'node_modules', '.cache', 'claude-mem-client-'))
  readonly #api: MessagesApi

  private constructor(api: MessagesApi) {
    this.#api = api
    mkdirSync(this.project)
    const env = { ...process.env, CLAUDE_MEM_BUILD_DIR: this.#dist }
    execFileSync(process.execPath, [join(ROOT, 'scripts', 'build.mjs')], { env, stdio: 'inherit' })
  }

  static async make(scripts: (project: string) => Scripts): Promise<ClientPlace> {
    if (CLIENT === '') throw new Error('these tests need the real client: npm run test:client')
    // The scripts name files of a project that exists only with the place.
    const played: Record<string, Scripts[string]> = {}
    const place = new ClientPlace(await MessagesApi.listen(played))
    Object.assign(played, scripts(place.project))
    return place
  }

  get api(): MessagesApi {
    return this.#api
  }

  /** What the build put beside the program. */
  built(name: string): string {
    return join(this.#dist, name)
  }

  /** Nothing of the surroundings that could lead the client or claude-mem anywhere else. */
  get env(): NodeJS.ProcessEnv {
    const foreign = /^(?:CLAUDE|ANTHROPIC|AWS_|VERTEX|GOOGLE_)|_proxy$|^XDG_/i
    const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name))
    return {
      ...Object.fromEntries(kept),
      HOME: this.home,
      USERPROFILE: this.home,
      PATH: `${dirname(CLIENT)}${delimiter}${process.env.PATH ?? ''}`,
      ANTHROPIC_BASE_URL: this.#api.url,
      ANTHROPIC_API_KEY: 'sk-test',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_MEM_WORKER_PORT: '0',
      // The client refuses to skip permissions for root anywhere else.
      ...(process.getuid?.() === 0 ? { IS_SANDBOX: '1' } : {}),
    }
  }

  mem(...args: string[]): Promise<Finished> {
    return ended(spawn(process.execPath, [join(this.#dist, 'cli.js'), ...args], { cwd: this.project, env: this.env }))
  }

  async memOk(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.mem(...args)
    if (code !== 0) throw new Error(`claude-mem ${args.join(' ')} ended with ${code}: ${stderr}`)
    return stdout
  }

  /** One `claude -p`; the id of its session. */
  async claude(prompt: string): Promise<string> {
    this.#api.clear()
    const args = ['-p', prompt, '--output-format', 'json', '--dangerously-skip-permissions']
    const { code, stdout, stderr } = await ended(
      spawn(CLIENT, args, { cwd: this.project, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] }),
    )
    if (code !== 0) throw new Error(`claude ended with ${code}: ${stdout} ${stderr}`)
    const result: { session_id: string; is_error: boolean } = JSON.parse(stdout)
    if (result.is_error) throw new Error(`claude failed: ${stdout}`)
    return result.session_id
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

  /** Until everything that hooks reported is stored and observed. */
  async settled(): Promise<void> {
    await until('everything is observed', async () => {
      const status = await this.status().catch(() => null)
      return status !== null && status.spooled === 0 && status.queue.pending + status.queue.processing === 0
    })
  }

  async events(session: string): Promise<StoredEvent[]> {
    const reader = await SqliteReader.open(this.paths.database)
    try {
      return (await reader.events(session, 1_000)).map(({ eventId, kind }) => ({ eventId, kind }))
    } finally {
      await reader.close()
    }
  }

  /** As `kill -9` does. */
  async killDaemon(): Promise<void> {
    const { pid } = await this.status()
    process.kill(pid, 'SIGKILL')
    await until('the daemon is gone', async () => !isAlive(pid))
  }

  async dispose(): Promise<void> {
    // A hook may have started another one just now.
    await until('no daemon is left', async () => {
      await this.mem('stop')
      return !existsSync(this.paths.starting) && (await this.status().catch(() => null)) === null
    })
    await this.#api.close()
    rmSync(this.#dist, { recursive: true, force: true })
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 })
  }
}

export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + WAIT_MS
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited ${WAIT_MS / 1000} s until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function ended(child: ChildProcess): Promise<Finished> {
  const timer = setTimeout(() => child.kill('SIGKILL'), RUN_MS)
  child.stdin?.end()
  return await finished(child).finally(() => clearTimeout(timer))
}
