/** A home of its own with the real client in it, the scripted model, and claude-mem as people install it. */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, readdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { putDatabaseDriver } from '../support/database-driver.ts'
import { temporaryDirectory } from '../support/directories.ts'
import type { Finished } from '../support/programs.ts'
import { CLIENT } from './abilities.ts'
import { ended, MemoryPlace } from './memory-place.ts'
import { MessagesApi, type Scripts } from './messages-api.ts'
import { Talk } from './talk.ts'

export type { StoredEvent } from './memory-place.ts'

interface Way {
  /** Runs with a copy of the plugin, from where no package of the project is found. */
  plugin?: boolean
}

export class ClientPlace extends MemoryPlace {
  readonly settings = join(this.home, '.claude', 'settings.json')
  /** What the client keeps for itself. */
  readonly state = join(this.home, '.claude.json')
  readonly #api: MessagesApi
  readonly #args: readonly string[]

  private constructor(api: MessagesApi, { plugin = false }: Way) {
    super()
    this.#api = api
    this.#args = ['--dangerously-skip-permissions', ...(plugin ? ['--plugin-dir', this.copyPlugin()] : [])]
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

  /** The client's own, of the user's sessions. */
  transcripts(): string[] {
    const projects = join(this.home, '.claude', 'projects')
    if (!existsSync(projects)) return []
    const names = readdirSync(projects, { recursive: true, encoding: 'utf8' })
    return names.filter((name) => name.endsWith('.jsonl')).map((name) => join(projects, name))
  }

  override async dispose(): Promise<void> {
    await super.dispose()
    await this.#api.close()
  }
}
