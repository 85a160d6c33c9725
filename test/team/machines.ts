/** Machines of a team: real daemons, each with its own data directory and its own clone of a repository. */
import { join } from 'node:path'
import type { InputOf, OperationName, OutputOf } from '../../src/api/index.ts'
import { projectOfDirectory } from '../../src/domain/project.ts'
import { DaemonSandbox } from '../support/daemon.ts'
import { git, repository } from '../support/repository.ts'
import { waitUntil } from '../support/waiting.ts'

export const REMOTE = 'https://github.com/acme/shop.git'
export const SHOP_KEY = 'repo:github.com/acme/shop'

export class Machine {
  readonly sandbox = new DaemonSandbox()
  readonly #dist: string | undefined

  constructor(dist?: string) {
    this.#dist = dist
  }

  get repository(): string {
    return join(this.sandbox.directory, 'shop')
  }

  /** A first repository, or a clone of another machine's. */
  prepare(of: Machine | null = null): this {
    if (of === null) repository(this.repository)
    else git(this.sandbox.directory, 'clone', '--quiet', of.repository, this.repository)
    if (of === null) git(this.repository, 'remote', 'add', 'origin', REMOTE)
    else git(this.repository, 'remote', 'set-url', 'origin', REMOTE)
    return this
  }

  async start(env: NodeJS.ProcessEnv = {}): Promise<void> {
    await this.sandbox.start(env, this.#dist)
  }

  call<N extends OperationName>(name: N, input: InputOf<N>): Promise<OutputOf<N>> {
    return this.sandbox.ask((client) => client.call(name, input as never, 60_000)) as Promise<OutputOf<N>>
  }

  async connect(url: string, options: { init?: boolean; share?: boolean } = {}): Promise<void> {
    const { init = false, share = true } = options
    await this.call('team_connect', { url, insecure: false, init })
    if (share) await this.share()
  }

  async share(project = projectOfDirectory(this.repository).key): Promise<OutputOf<'team_share'>> {
    return await this.call('team_share', { project })
  }

  /** In the clone, or in another directory. */
  async remember(text: string, directory = this.repository, by: 'agent' | 'person' = 'agent'): Promise<number> {
    const project = projectOfDirectory(directory)
    const { observation } = await this.call('remember', { text, project, cwd: directory, by, kind: 'decision' })
    return observation
  }

  /** Titles of the memories of the repository that a search finds. */
  async found(query: string): Promise<string[]> {
    const { answer } = await this.call('search', { query, project: SHOP_KEY })
    return answer.hits.map(({ title }) => title ?? '')
  }

  /** What a session in the clone would start with. */
  async context(): Promise<string> {
    return (await this.call('context', { project: SHOP_KEY })).context
  }

  async pushed(): Promise<void> {
    const { done, line } = await this.call('team_flush', { timeoutMs: 30_000 })
    if (!done) throw new Error(`not everything was sent: ${line?.text}`)
  }

  async hears(query: string, title: string): Promise<void> {
    await waitUntil(`a search for ${query} finds ${title}`, async () => (await this.found(query)).includes(title))
  }

  async status() {
    return (await this.call('team_status', {})).team
  }

  hook(payload: object) {
    return this.sandbox.hook({ session_id: 'session-1', cwd: this.repository, ...payload })
  }

  dispose(): Promise<void> {
    return this.sandbox.dispose()
  }
}
