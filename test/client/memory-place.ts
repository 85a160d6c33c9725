/** A home of its own with claude-mem as people install it: what tests of every real client need. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { readRenderedContext } from '../../src/daemon/rendered-context-cache.ts'
import { projectOfDirectory } from '../../src/domain/project.ts'
import { dataPaths, type Paths } from '../../src/lib/paths.ts'
import { openStoreReader } from '../../src/store/sqlite/reader.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { type Finished, finished, isAlive } from '../support/programs.ts'
import { waitUntil } from '../support/waiting.ts'
import { RUN_MS } from './talk.ts'

export interface StoredEvent {
  eventId: string
  kind: string
  tool: string | null
}

export abstract class MemoryPlace {
  readonly home: string
  readonly project: string
  readonly paths: Paths
  readonly #dist = inject('dist')

  constructor(home = temporaryDirectory('client')) {
    this.home = home
    this.project = join(home, 'shop')
    this.paths = dataPaths(join(home, '.claude-mem'))
    mkdirSync(this.project, { recursive: true })
  }

  /** Nothing of the surroundings that could lead the client or claude-mem anywhere else. */
  abstract get env(): NodeJS.ProcessEnv

  /** What the build put beside the program. */
  built(name: string): string {
    return join(this.#dist, name)
  }

  mem(...args: string[]): Promise<Finished> {
    const options = { cwd: this.project, env: this.env }
    return ended(spawn(process.execPath, [join(this.#dist, 'cli.js'), ...args], options), AGENT_RUN_MS)
  }

  async memOk(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.mem(...args)
    if (code !== 0) throw new Error(`claude-mem ${args.join(' ')} ended with ${code}: ${stderr}`)
    return stdout
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
  }
}

/** Some clients take many seconds to start on a busy machine. */
export const AGENT_RUN_MS = 180_000

export async function ended(child: ChildProcess, timeoutMs = RUN_MS): Promise<Finished> {
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  child.stdin?.end()
  return await finished(child).finally(() => clearTimeout(timer))
}
