/**
 * The words of the channel: versioned JSON messages over WebSocket. Types and constants only, for both ends;
 * the daemon checks what it gets with `schema.ts`. docs/hook-protocol.md has the rules in prose.
 */
import type { BudgetView } from '../actors/budget.ts'
import type { Notice } from '../actors/notices.ts'
import type { StreamItem } from '../actors/stream.ts'
import type { ContextPreview } from '../context/load.ts'
import type { ContextPart } from '../memory/context-parts.ts'
import type { MemoryEvent } from '../memory/event.ts'
import type { FileQuestion } from '../memory/file-question.ts'
import type { ObservationType, Summary } from '../memory/observation.ts'
import type { Project } from '../memory/project.ts'
import type { AskedSession, ReportedSession } from '../memory/reported.ts'
import type { SearchAnswer, SearchFilters, SearchRequest } from '../search/query.ts'
import type { Rule, SettingValue } from '../setting-rules.ts'
import type { SettingProblem } from '../settings.ts'
import type { CallRow, UsageKey } from '../store/accounting.ts'
import type { ImportBatch, ImportOutcome } from '../store/import-port.ts'
import type { Activity, EventView, KeptEvent, Origin, SessionStory } from '../store/origin-port.ts'
import type {
  BackupInfo,
  Message,
  QueueFilter,
  QueueStats,
  SessionFilter,
  SessionListItem,
  SessionView,
} from '../store/port.ts'
import type { UsageView } from '../store/usage-view.ts'
import type { FilesReport, FilesRequest } from './files.ts'
import type {
  CorrectRequest,
  ForgetReport,
  IndexProgress,
  MemoryStats,
  ObservationView,
  ReindexPart,
  TimelineItem,
} from './memory.ts'
import type { ProjectView } from './project-list.ts'
import type { MergeReport } from './projects.ts'

/** Raised when a message of an older program could be misunderstood. */
export const PROTOCOL_VERSION = 1

/** A request names what it wants; the answer carries the same `id`. */
export type Request = { v: number; id: string } & (
  | { type: 'hello'; version: string; token?: string }
  /** What a hook reports. Answered once it is durable. */
  | { type: 'event'; event: MemoryEvent; version: string; token?: string }
  /** What is known about a file that is about to be read. Nothing of it is kept but what the session was given. */
  | ({ type: 'file_context'; token?: string } & FileQuestion)
  | { type: 'status' }
  | { type: 'sessions'; filter: SessionFilter }
  | { type: 'session'; session: string; trace: number }
  /** What a session of this project (its key or name) would get, or would get with other settings. */
  | ({ type: 'context'; project: string } & ContextWish)
  | { type: 'queue'; filter: QueueFilter }
  /** What models cost in the last `days` days. */
  | { type: 'usage'; by: UsageKey; days: number }
  /** The newest calls of a session to a model, with their words. */
  | { type: 'calls'; session: string; limit: number }
  | { type: 'queue_retry'; session: string | null }
  | { type: 'queue_clear'; session: string | null; pending: boolean }
  | { type: 'flush'; session: string | null; wait: boolean }
  | { type: 'close_session'; session: string }
  /** A closed session goes on as if its user had come back. */
  | { type: 'reopen_session'; session: string }
  /** Which of these sessions are in the memory already; asked before their transcripts are read. */
  | { type: 'reported'; sessions: readonly AskedSession[] }
  /** Memories of another store. Answered once they are durable, with what became of each. */
  | { type: 'import'; batch: ImportBatch }
  | { type: 'backup' }
  | { type: 'backups' }
  /** Finish, let go of everything, and exit. */
  | { type: 'stop' }
  /** A newer program asks for the data directory. */
  | { type: 'handover'; version: string }
  /** The stream from the commit after `since` on, as far as it is remembered; null: from now on. */
  | { type: 'subscribe'; since: number | null }
  | MemoryRequest
  | ProjectRequest
  | FilesRequest
  | LookRequest
  | SettingsRequest
)

/** About the memory itself. A project is a key or a name, null means all; a session the first characters of its id. */
export type MemoryRequest =
  | { type: 'search'; request: SearchRequest }
  | { type: 'observations'; ids: readonly number[] }
  /** Around an observation, or around the best hit of a query; with neither, the newest. */
  | {
      type: 'timeline'
      anchor: number | null
      query: string | null
      project: string | null
      before: number
      after: number
    }
  | { type: 'summaries'; session: string | null; project: string | null; limit: number }
  /** Without a title, the first words of the text. */
  | {
      type: 'remember'
      project: Project
      cwd: string
      title: string | null
      text: string
      kind: ObservationType
      concepts: readonly string[]
      files: readonly string[]
    }
  /**
   * What an observation should have said, in whole: a new one, written by hand, that supersedes it. A field that is
   * not given stays as it was.
   */
  | ({ type: 'correct' } & CorrectRequest)
  /** By ids or by filters. Without `confirm` nothing goes: the report says what would. */
  | { type: 'forget'; ids: readonly number[]; filters?: SearchFilters; confirm: boolean }
  | { type: 'pin'; ids: readonly number[]; on: boolean }
  /** `from`, the newer one, replaces `to`; `on: false` takes that back. */
  | { type: 'link'; from: number; to: number; kind: 'supersedes'; on: boolean }
  | { type: 'memory_stats'; project: string | null }
  /** Answered once it has begun. */
  | { type: 'reindex'; what: ReindexPart }
  /** How far indexing is. */
  | { type: 'indexing' }

/** What `claude-mem inspect` and the viewer look into. */
export type LookRequest =
  /** Where an observation comes from. */
  | { type: 'origin'; observation: number }
  /** What became of an event; without a session, of whichever has one with this id. */
  | { type: 'event_view'; event: string; session: string | null }
  /** One session whole: `rows` of each kind at most. */
  | { type: 'story'; session: string; trace: number; rows: number }
  /** How much was learned in the last `days` days, and how long the queue was. */
  | { type: 'activity'; days: number }
  /** The session's events after this one (0: from the first), with what is kept of each; as many as fit. */
  | { type: 'payloads'; session: string; after: number; limit: number }
  /** An address of the viewer that opens it once. Answered on the local door only. */
  | { type: 'viewer_link' }

export type SettingsRequest =
  | { type: 'settings' }
  /** As people write it; null takes it out of the file again. */
  | { type: 'setting_set'; name: string; value: string | readonly string[] | null }

/** What a preview of the context may change for a moment. */
export interface ContextWish {
  tokens?: number
  observations?: number
  summaries?: number
  parts?: readonly ContextPart[]
  types?: readonly ObservationType[]
}

/** A project is a key or a name. */
export type ProjectRequest =
  | { type: 'projects' }
  /** Null: back to what its sessions say. */
  | { type: 'project_rename'; project: string; name: string | null }
  /** Everything of one goes to the other, now and later. Without `confirm` the report says what would. */
  | { type: 'project_merge'; from: string; into: string; confirm: boolean }

export interface Status {
  version: string
  pid: number
  dataDir: string
  socket: string
  port: number | null
  startedAt: number
  /** `serving`, `draining`, … */
  state: string
  provider: string
  /** Null: no model is asked. */
  model: string | null
  /** What the model may spend today; null where none is asked. */
  budget: BudgetView | null
  /** Since when and why the observer is not answering; null when it is. */
  waiting: { since: number; reason: string; offline: boolean } | null
  queue: QueueStats
  observationsToday: number
  observations: number
  sessions: number
  awake: number
  databaseBytes: number
  spooled: number
  /** What search still has to take in; null when it has everything. */
  indexing: IndexProgress | null
  /** What people should know: recovered database, bad setting, spool file set aside, … newest last. */
  notices: Notice[]
}

export type Answer = { v: number; id: string } & (
  | { type: 'hello'; version: string; pid: number; dataDir: string }
  /** `context`: what a session that starts, or a prompt, should know; `message`: what its person should, with colours. */
  | { type: 'ack'; duplicate: boolean; version: string; context?: string; message?: string }
  /** Empty where there is nothing to say. */
  | { type: 'recalled'; context: string }
  | { type: 'status'; status: Status }
  | { type: 'sessions'; sessions: SessionListItem[] }
  | { type: 'session'; view: SessionView }
  | ({ type: 'context' } & ContextPreview)
  | { type: 'queue'; messages: Message[]; stats: QueueStats }
  | { type: 'usage'; usage: UsageView }
  | { type: 'calls'; session: string; calls: CallRow[] }
  /** Those that are known. */
  | { type: 'reported'; sessions: ReportedSession[] }
  /** In the order of the records. */
  | { type: 'imported'; outcomes: ImportOutcome[] }
  | { type: 'done'; affected: number }
  | { type: 'backups'; backups: BackupInfo[] }
  /**
   * `seq`: the newest there is. `resumed: false`: what lies between `since` and now is no longer remembered; whoever
   * follows loads again what it shows, and is told everything from `seq` on.
   */
  | { type: 'subscribed'; seq: number; resumed: boolean }
  | MemoryAnswer
  | ProjectAnswer
  | LookAnswer
  | { type: 'settings'; settings: SettingInfo[]; problems: SettingProblem[] }
  | { type: 'files'; report: FilesReport }
  | { type: 'error'; code: string; message: string; retryable: boolean }
)

export type LookAnswer =
  | { type: 'origin'; observation: ObservationView; origin: Origin }
  | { type: 'event_view'; view: EventView }
  | { type: 'story'; story: SessionStory }
  | { type: 'activity'; activity: Activity }
  /** Empty: there are no more. */
  | { type: 'payloads'; session: string; events: KeptEvent[] }
  | { type: 'viewer_link'; url: string; expiresAt: number }

export interface SettingInfo {
  name: string
  /** Of a secret, what may be shown of it. */
  value: SettingValue
  default: SettingValue
  source: 'default' | 'file' | 'environment'
  about: string
  kind: Rule['kind']
  secret: boolean
  min: number | null
  max: number | null
  choices: readonly string[] | null
  /** When a new value holds: at once, or at the daemon's next start. */
  holds: 'now' | 'restart'
  /** Why it cannot be changed here; null: it can. */
  locked: string | null
}

export type ProjectAnswer =
  /** The one that was last heard of first. */
  | { type: 'projects'; projects: ProjectView[] }
  | { type: 'project'; project: Project }
  | { type: 'project_merged'; report: MergeReport }

export type MemoryAnswer =
  | { type: 'found'; answer: SearchAnswer }
  | { type: 'observations'; observations: ObservationView[]; missing: number[] }
  | { type: 'timeline'; anchor: number | null; items: TimelineItem[] }
  | { type: 'summaries'; summaries: Summary[] }
  /** The new observation; `id` is the message's own. */
  | { type: 'remembered'; observation: number }
  | { type: 'forgotten'; report: ForgetReport }
  | { type: 'pinned'; changed: number; missing: number[] }
  | { type: 'linked' }
  | { type: 'memory_stats'; stats: MemoryStats }
  /** Null: nothing has to be indexed. */
  | { type: 'indexing'; progress: IndexProgress | null }

/** What subscribers get after each change. */
export type StreamMessage = { v: number } & StreamItem

/** How long the hook waits (ms) before it spools: DESIGN gives a hook 200 ms to connect and a second for its ack. */
export const CONNECT_TIMEOUT_MS = 200
export const ACK_TIMEOUT_MS = 1_000
export const SESSION_START_TIMEOUT_MS = 2_000
/** A tool call waits for it: what is known about a file is not worth more. */
export const FILE_CONTEXT_TIMEOUT_MS = 400

/** The file format of a spooled event. */
export interface SpoolEnvelope {
  v: number
  event: MemoryEvent
}
