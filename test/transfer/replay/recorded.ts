/** A session that the real actors observed and stored, in a data directory that a replay reads. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openReadOnlyMemory } from '../../../src/api/read-only.ts'
import { sessionPolicy } from '../../../src/daemon/actors/supervisor.ts'
import type { MemoryEvent } from '../../../src/domain/event.ts'
import { dataPaths } from '../../../src/lib/paths.ts'
import { offlineObserver } from '../../../src/observer/offline/index.ts'
import { loadSettings } from '../../../src/settings/settings.ts'
import { type PreparedReplay, prepareReplay, type ReplayView, runReplay } from '../../../src/transfer/replay/index.ts'
import type { ReplayRequest } from '../../../src/transfer/replay/observer.ts'
import { Harness } from '../../daemon/actors/harness.ts'
import { temporaryDirectory } from '../../support/directories.ts'

export const SESSION = 'session-one'
export const DEFAULT_REQUEST: ReplayRequest = { provider: null, model: null, promptDir: null }
const MINUTE_MS = 60_000

export class Recorded {
  readonly harness = new Harness()
  readonly env: NodeJS.ProcessEnv = { CLAUDE_MEM_PROVIDER: 'offline' }
  /** Where a replay may make its own directory. */
  readonly temporary = temporaryDirectory('replaying')
  /** What replays reported as their cost. */
  readonly costs: { project: string; calls: number }[] = []
  /** Two days ago: whatever was idle then is over by now. */
  #at = Date.now() - 2 * 86_400_000
  #count = 0

  static async make(): Promise<Recorded> {
    const recorded = new Recorded()
    recorded.harness.observer = offlineObserver
    recorded.harness.policy = sessionPolicy(loadSettings('', {}), true)
    recorded.harness.now = () => recorded.#at
    await recorded.harness.start()
    return recorded
  }

  /** One event a minute, each settled before the next. */
  async tell(...events: readonly ((base: Base) => MemoryEvent)[]): Promise<void> {
    for (const event of events) {
      this.#at += MINUTE_MS
      await this.harness.supervisor.accept(event(this.#base()))
      await this.harness.settle()
    }
  }

  /** Time passes, and what is due happens. */
  async later(ms: number): Promise<void> {
    this.#at += ms
    await this.harness.supervisor.tick()
    await this.harness.settle()
  }

  #base(): Base {
    return {
      id: `event-${++this.#count}`,
      session: SESSION,
      at: this.#at,
      client: 'claude-code',
      project: { key: 'dir:/w/shop', name: 'shop' },
      cwd: '/w/shop',
      transcriptPath: null,
      promptId: null,
      agent: null,
    }
  }

  /** Removes payloads, oldest first, until so many bytes are left. */
  async keep(payloadBytes: number): Promise<void> {
    const others = {
      payloadDays: 3_650,
      passageDays: 3_650,
      passageBytes: 1e9,
      traceDays: 3_650,
      tracePerSession: 1_000,
      observerTurnDays: 3_650,
    }
    await this.harness.store.applyRetention({ ...others, payloadBytes }, this.#at)
  }

  async prepare(
    request: Partial<ReplayRequest> = {},
    env: NodeJS.ProcessEnv = {},
    session = SESSION,
  ): Promise<PreparedReplay> {
    const paths = dataPaths(this.harness.directory)
    const memory = await openReadOnlyMemory(paths, env)
    try {
      const environment = { paths, env, settings: loadSettings(paths.dataDir, { ...this.env, ...env }) }
      return await prepareReplay(memory.call, session, { ...DEFAULT_REQUEST, ...request }, environment)
    } finally {
      await memory.close()
    }
  }

  async replay(
    request: Partial<ReplayRequest> = {},
    env: NodeJS.ProcessEnv = {},
    signal = new AbortController().signal,
  ): Promise<ReplayView> {
    const prepared = await this.prepare(request, env)
    const before = process.env.TMPDIR
    process.env.TMPDIR = this.temporary
    try {
      const { loaded, choice } = prepared.chosen
      const policy = sessionPolicy(loaded, choice.provider === 'offline')
      return await runReplay(prepared, {
        policy,
        signal,
        onProgress: () => undefined,
        recordCost: async (project, calls) => void this.costs.push({ project: project.key, calls: calls.length }),
        temporary: join(this.temporary, 'tmp'),
      })
    } finally {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    }
  }

  /** Everything in the data directory; SQLite's shared memory belongs to nobody. */
  contents(): Record<string, string> {
    const files = readdirSync(this.harness.directory, { recursive: true, withFileTypes: true })
    return Object.fromEntries(
      files
        .filter((file) => file.isFile() && !file.name.endsWith('-shm'))
        .map((file) => {
          const path = join(file.parentPath, file.name)
          return [path, createHash('sha256').update(readFileSync(path)).digest('hex')]
        }),
    )
  }

  directory(name: string): string {
    const path = join(this.temporary, name)
    mkdirSync(path)
    return path
  }

  async dispose(): Promise<void> {
    await this.harness.dispose()
  }
}

type Base = Pick<
  MemoryEvent,
  'id' | 'session' | 'at' | 'client' | 'project' | 'cwd' | 'transcriptPath' | 'promptId' | 'agent'
>

export const start = (base: Base): MemoryEvent => ({ ...base, kind: 'session_start', source: 'startup' })
export const asks =
  (text: string, isPrivate = false) =>
  (base: Base): MemoryEvent => ({ ...base, kind: 'prompt', text: isPrivate ? '' : text, private: isPrivate })
export const edits =
  (file: string, before: string, after: string) =>
  (base: Base): MemoryEvent => ({
    ...base,
    kind: 'tool_use',
    tool: 'Edit',
    input: { file_path: `/w/shop/${file}`, old_string: before, new_string: after },
    response: 'The file has been updated.',
    durationMs: 3,
  })
export const fails =
  (command: string, error: string) =>
  (base: Base): MemoryEvent => ({
    ...base,
    kind: 'tool_failure',
    tool: 'Bash',
    input: { command },
    error,
    interrupted: false,
    durationMs: 9,
  })
export const says =
  (lastMessage: string) =>
  (base: Base): MemoryEvent => ({ ...base, kind: 'turn_end', lastMessage, error: null, words: [] })
export const end = (base: Base): MemoryEvent => ({ ...base, kind: 'session_end', reason: 'exit' })

/** Two turns of a session as they are: an edit, a test that fails, a fix. */
export const WORK = [
  start,
  asks('Let tokens live for a day'),
  edits('src/token.ts', 'export const LIFETIME = 3600', 'export const LIFETIME = 86400'),
  fails('npm test', 'FAIL test/token.test.ts > expires after an hour\nExpected 3600, received 86400\nExit code 1'),
  says('Tokens live for a day now; one test still expects an hour.'),
  asks('Then fix the test'),
  edits('test/token.test.ts', 'expect(LIFETIME).toBe(3600)', 'expect(LIFETIME).toBe(86400)'),
  edits('src/login.ts', 'return sign(user)', 'return sign(user, { expiresIn: LIFETIME })'),
  says('The test expects a day.'),
  end,
]
