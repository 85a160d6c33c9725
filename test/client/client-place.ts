/** A home of its own with the real client in it, the scripted model, and claude-mem as people install it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { inject } from 'vitest'
import { readRenderedContext } from '../../src/daemon/rendered-context-cache.ts'
import { projectOfDirectory } from '../../src/domain/project.ts'
import { dataPaths, type Paths } from '../../src/lib/paths.ts'
import { openStoreReader } from '../../src/store/sqlite/reader.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import { putDatabaseDriver } from '../support/database-driver.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { type Finished, finished, isAlive } from '../support/programs.ts'
import { waitUntil } from '../support/waiting.ts'
import { CLIENT } from './abilities.ts'
import { MessagesApi, type Scripts } from './messages-api.ts'
import { RUN_MS, Talk } from './talk.ts'

export interface StoredEvent {
  eventId: string
  kind: string
  tool: string | null
}

interface Way {
  /** Runs with a copy of the plugin, from where no package of the project is found. */
  plugin?: boolean
}

export class ClientPlace {
  readonly home = temporaryDirectory('client')
  readonly project = join(this.home, 'shop')
  readonly settings = join(this.home, '.claude', 'settings.json')
  /** What the client keeps for itself. */
  readonly state = join(this.home, '.claude.json')
  readonly paths: Paths = dataPaths(join(this.home, '.claude-mem'))
  readonly #dist = inject('dist')
  readonly #api: MessagesApi
  readonly #args: readonly string[]

  private constructor(api: MessagesApi, { plugin = false }: Way) {
    this.#api = api
    this.#args = ['--dangerously-skip-permissions', ...(plugin ? ['--plugin-dir', this.copyPlugin()] : [])]
    mkdirSync(this.project)
  }

  static async make(scripts: (place: ClientPlace) => Scripts, way: Way = {}): Promise<ClientPlace> {
    if (CLIENT === '') throw new Error('these tests need the real client: npm run test:client')
    // The scripts name files of a project that exists only with the place.
    const played: Record<string, Scripts[string]> = {}
    const place = new ClientPlace(await MessagesApi.listen(played), way)
    Object.assign(played, scripts(place))
    return place
  }

  get api(): MessagesApi {
    return this.#api
  }

  /** What the build put beside the program. */
  built(name: string): string {
    return join(this.#dist, name)
  }

  /** The plugin elsewhere, with the driver that it fetched once in the data directory. */
  copyPlugin(): string {
    const copy = join(temporaryDirectory('plugin'), 'plugin')
    cpSync(this.built('plugin'), copy, { recursive: true })
    putDatabaseDriver(this.paths.packages)
    return copy
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
  async claude(prompt: string, ...more: string[]): Promise<string> {
    this.#api.clear()
    const { code, stdout, stderr } = await this.client('-p', prompt, '--output-format', 'json', ...this.#args, ...more)
    if (code !== 0) throw new Error(`claude ended with ${code}: ${stdout.slice(0, 500)} ${stderr.slice(0, 500)}`)
    const result: { session_id: string; is_error: boolean } = JSON.parse(stdout)
    if (result.is_error) throw new Error(`claude failed: ${stdout.slice(0, 500)}`)
    return result.session_id
  }

  client(...args: string[]): Promise<Finished> {
    return ended(spawn(CLIENT, args, { cwd: this.project, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] }))
  }

  talk(...more: string[]): Talk {
    this.#api.clear()
    return new Talk(CLIENT, [...this.#args, ...more], { cwd: this.project, env: this.env })
  }

  async ask<T>(question: (client: DaemonClient) => Promise<T>): Promise<T> {
    const client = await DaemonClient.connect(this.paths)
    try {
      return await question(client)
    } finally {
      client.close()
    }
  }

  async status() {
    return (await this.ask((client) => client.call('status', {}))).status
  }

  /** The daemon that a hook started, once it answers. */
  async running(): Promise<{ pid: number }> {
    await waitUntil('a daemon answers', async () => (await this.status().catch(() => null)) !== null)
    return await this.status()
  }

  /** Until everything that hooks reported is stored and observed. */
  async settled(): Promise<void> {
    await waitUntil('everything is observed', async () => {
      const status = await this.status().catch(() => null)
      return status !== null && status.spooled === 0 && status.queue.pending + status.queue.processing === 0
    })
  }

  async events(session: string): Promise<StoredEvent[]> {
    const reader = await openStoreReader(this.paths.database)
    try {
      return (await reader.events(session, 1_000)).map(({ eventId, kind, tool }) => ({ eventId, kind, tool }))
    } finally {
      await reader.close()
    }
  }

  /** Until what a session gets while no daemon runs speaks of it. */
  async kept(word: string): Promise<void> {
    const { key } = projectOfDirectory(this.project)
    await waitUntil(`${word} is in the kept context`, async () => {
      const kept = await readRenderedContext(this.paths.context, key)
      return kept?.context.includes(word) === true
    })
  }

  /** The client's own, of the user's sessions. */
  transcripts(): string[] {
    const projects = join(this.home, '.claude', 'projects')
    if (!existsSync(projects)) return []
    const names = readdirSync(projects, { recursive: true, encoding: 'utf8' })
    return names.filter((name) => name.endsWith('.jsonl')).map((name) => join(projects, name))
  }

  /** As `kill -9` does. */
  async killDaemon(): Promise<void> {
    const { pid } = await this.running()
    process.kill(pid, 'SIGKILL')
    await waitUntil('the daemon is gone', async () => !isAlive(pid))
  }

  async dispose(): Promise<void> {
    // A hook may have started another one just now.
    await waitUntil('no daemon is left', async () => {
      await this.mem('stop')
      return !existsSync(this.paths.starting) && (await this.status().catch(() => null)) === null
    })
    await this.#api.close()
  }
}

async function ended(child: ChildProcess): Promise<Finished> {
  const timer = setTimeout(() => child.kill('SIGKILL'), RUN_MS)
  child.stdin?.end()
  return await finished(child).finally(() => clearTimeout(timer))
}
