/** What the handlers of operations work with: a reader when there is only the database file, more in a daemon. */

import type { ContextPreview } from '../context/build.ts'
import type { FileSections } from '../context/files/file-sections.ts'
import type { ContextSettings } from '../context/options.ts'
import type { BudgetView } from '../daemon/actors/model-calls.ts'
import type { Supervisor } from '../daemon/actors/supervisor.ts'
import type { EventIntake } from '../daemon/event-intake.ts'
import type { Forgetting } from '../daemon/forgetting.ts'
import type { ForgottenCopies } from '../daemon/forgotten-copies.ts'
import type { LiveSettings } from '../daemon/live-settings.ts'
import type { MemoryChanges } from '../daemon/memory-changes.ts'
import type { Projects } from '../daemon/projects.ts'
import type { QueueAlert, QueueTrend } from '../daemon/queue-watch.ts'
import type { Project } from '../domain/project.ts'
import type { SearchCalls } from '../search/search-thread.ts'
import type { Store, StoreReader } from '../store/port.ts'
import type { Team } from '../team/team.ts'

export type SearchReader = Pick<
  SearchCalls,
  | 'search'
  | 'observations'
  | 'loadMemories'
  | 'around'
  | 'listFiltered'
  | 'evidence'
  | 'passagesAround'
  | 'state'
  | 'counts'
>

export interface ReadContext {
  reader: StoreReader
  search(): Promise<SearchReader>
  /** What a session of this project would get at its start; `overrides` replace settings. */
  previewContext(project: Project, overrides: Partial<ContextSettings>): Promise<ContextPreview>
  now(): number
  /** The name of this machine's user in a team; null: there is none. What has it as its author is the user's own. */
  me(): string | null
}

export interface DaemonContext extends ReadContext {
  store: Store
  supervisor: Supervisor
  events: EventIntake
  memory: MemoryChanges
  forgetting: Forgetting
  forgottenCopies: ForgottenCopies
  projects: Projects
  /** Null where no files are written. */
  files: FileSections | null
  /** Null where settings can be neither read nor changed. */
  settings: LiveSettings | null
  /** Null where there is none, as in a daemon of a test. */
  team: Team | null
  process: DaemonProcess
}

/** The daemon's own process and configuration. */
export interface DaemonProcess {
  dataDir: string
  socket: string
  /** Null where no TCP port could be opened. */
  port(): number | null
  /** `model` is null where no model is used. */
  provider(): { name: string; model: string | null }
  /** Null where no model is used. */
  budget(): BudgetView | null
  /** Files in the spool. */
  spooled(): number
  queueTrend(): QueueTrend
  /** Null while the queue is as it should be. */
  queueAlert(): QueueAlert | null
  keepBackups(): number
  /** How long closing, flushing or summarising a session waits for its effect, in ms. */
  settleTimeoutMs(): number
  /** Whether agents see only the project they work in. */
  limitsAgents(): boolean
  /** Drains, releases the data directory and exits. */
  stop(reason: string): void
}
