/** A supervisor on a real SQLite file, with an observer that a test can script and a process that can die. */
import { join } from 'node:path'
import type { Policy } from '../../../machines/session/types.ts'
import type { DailyBudget } from '../../../src/daemon/actors/model-calls.ts'
import { type ProjectKeyResolver, type Spool, Supervisor } from '../../../src/daemon/actors/supervisor.ts'
import type { CleaningRules } from '../../../src/domain/clean-event.ts'
import type { MemoryEvent } from '../../../src/domain/event.ts'
import { offlineObserver } from '../../../src/observer/offline/index.ts'
import { plainObserver } from '../../../src/observer/plain.ts'
import type { Observer } from '../../../src/observer/port.ts'
import { loadSettings } from '../../../src/settings/settings.ts'
import type { Store } from '../../../src/store/port.ts'
import { openLocalStore } from '../../../src/store/sqlite/store.ts'
import { temporaryDirectory } from '../../support/directories.ts'

export const POLICY: Policy = {
  batching: true,
  batchMaxSize: 3,
  idleFlushMs: 600_000,
  effectTimeoutMs: 60_000,
  compactTokens: 24_000,
  maxAttempts: 3,
}

export class Harness {
  readonly directory = temporaryDirectory('actors')
  observer: Observer = plainObserver
  policy: Policy = POLICY
  fallsBackToOffline = false
  cleaningRules: CleaningRules = loadSettings(this.directory, {}).values
  keepsPayloads = true
  keepsPassages = true
  mayBePassage: (event: MemoryEvent) => boolean = () => true
  budget: DailyBudget | null = null
  /** Made for each start. */
  projectKeys: ((store: Store) => Promise<ProjectKeyResolver>) | null = null
  spooled: MemoryEvent[] = []
  /** The spool cannot be listed. */
  spoolError: Error | null = null
  log: { level: string; text: string; details: Record<string, unknown> | undefined }[] = []
  /** Real time plus this: tests move it, the machines see it. */
  clockOffset = 0
  #ids = 0
  #store: Store | null = null
  #supervisor: Supervisor | null = null

  get store(): Store {
    if (this.#store === null) throw new Error('not started')
    return this.#store
  }
  get supervisor(): Supervisor {
    if (this.#supervisor === null) throw new Error('not started')
    return this.#supervisor
  }
  now = (): number => Date.now() + this.clockOffset

  async start(wrap: (store: Store) => Store = (store) => store): Promise<this> {
    const databaseFile = join(this.directory, 'db.sqlite')
    this.#store = wrap(await openLocalStore({ databaseFile, backupsDir: join(this.directory, 'backups') }))
    const spool: Spool = {
      deliver: async (accept) => {
        if (this.spoolError !== null) throw this.spoolError
        const events = this.spooled.splice(0)
        await Promise.all(events.map(accept))
        return events.length
      },
    }
    this.#supervisor = new Supervisor({
      store: this.#store,
      observer: () => this.observer,
      offlineObserver,
      modelDisabledReason: () => this.budget?.reason ?? null,
      fallsBackToOffline: () => this.fallsBackToOffline,
      keepsPayloads: () => this.keepsPayloads,
      keepsPassages: () => this.keepsPassages,
      mayBePassage: (event) => this.mayBePassage(event),
      onModelCallsStored: (calls) => this.budget?.add(calls),
      cleaningRules: () => this.cleaningRules,
      policy: () => this.policy,
      concurrency: () => 2,
      spool,
      ...(this.projectKeys === null ? {} : { projectKeys: await this.projectKeys(this.#store) }),
      log: (level, text, details) => this.log.push({ level, text, details }),
      now: this.now,
      monotonic: () => performance.now(),
      freshId: () => `id-${++this.#ids}-${Math.random().toString(36).slice(2)}`,
    })
    await this.#supervisor.restore()
    return this
  }

  /** The process dies: nothing it still wants to do reaches the file. */
  async crash(wrap?: (store: Store) => Store): Promise<void> {
    await this.store.close()
    await this.start(wrap)
  }

  async dispose(): Promise<void> {
    await this.#store?.close().catch(() => undefined)
  }

  /** Until nothing is in flight in any session. */
  async settle(timeoutMs = 10_000): Promise<void> {
    const deadline = Date.now() + timeoutMs
    while ((await this.store.unfinishedEffects()).length > 0) {
      if (Date.now() > deadline) throw new Error(`still busy: ${JSON.stringify(await this.store.unfinishedEffects())}`)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

const base = (session: string, id: string) => ({
  id,
  session,
  at: Date.now(),
  client: 'claude-code',
  project: { key: 'dir:/w/shop', name: 'shop' },
  cwd: '/w/shop',
  transcriptPath: null,
  promptId: null,
  agent: null,
})

export const events = {
  start: (session: string, id: string): MemoryEvent => ({
    ...base(session, id),
    kind: 'session_start',
    source: 'startup',
  }),
  prompt: (session: string, id: string, text = 'do it'): MemoryEvent => ({
    ...base(session, id),
    kind: 'prompt',
    text,
    private: false,
  }),
  tool: (session: string, id: string): MemoryEvent => ({
    ...base(session, id),
    kind: 'tool_use',
    tool: 'Edit',
    input: { file_path: `/w/shop/${id}.ts` },
    response: 'ok',
    durationMs: 1,
  }),
  failure: (session: string, id: string): MemoryEvent => ({
    ...base(session, id),
    kind: 'tool_failure',
    tool: 'Bash',
    input: { command: 'false' },
    error: 'Exit code 1',
    interrupted: false,
    durationMs: 1,
  }),
  turnEnd: (session: string, id: string): MemoryEvent => ({
    ...base(session, id),
    kind: 'turn_end',
    lastMessage: 'done',
    error: null,
    words: [],
  }),
  end: (session: string, id: string): MemoryEvent => ({ ...base(session, id), kind: 'session_end', reason: 'exit' }),
}
