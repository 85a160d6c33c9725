/**
 * What the rest of the program can ask of the store, and the rows it gets.
 *
 * `Store` belongs to the daemon, the only process that writes. `StoreReader` also works on the database file while no
 * daemon runs. Their methods are derived from the operations in `sqlite/reader.ts` and `sqlite/store.ts`; all of them
 * are asynchronous because the store runs on a thread of its own. Times are epoch milliseconds.
 */
import type { EventKind, MemoryEvent } from '../domain/event.ts'
import type { ModelCall } from '../domain/model-call.ts'
import type { Observation, ObservationType, Summary, Usage } from '../domain/observation.ts'
import type { Passage, PassageKind } from '../domain/passage.ts'
import type { Project } from '../domain/project.ts'
import type { Remote } from '../lib/worker-rpc.ts'
import type { SessionState, SessionStatus, TraceEntry } from './commit.ts'
import type { SqliteReader } from './sqlite/reader.ts'
import type { SqliteStore } from './sqlite/store.ts'

export type StoreReader = Remote<SqliteReader>
export type Store = Remote<SqliteStore>

// Sessions

export interface StoredSessionRow extends SessionState {
  session: string
  revision: number
  memorySession: string
  createdAt: number
  /** Why it is quarantined; null when it is not. */
  quarantine: string | null
  /** Sequence number of the commit that wrote it last. */
  seq: number
}

export interface SessionFilter {
  status?: SessionStatus
  project?: string
  client?: string
  limit?: number
}

export interface SessionListItem
  extends Pick<QueueStats, MessageStatus>,
    Pick<
      StoredSessionRow,
      'session' | 'client' | 'status' | 'state' | 'prompts' | 'waiting' | 'quarantine' | 'wakeAt' | 'createdAt'
    > {
  project: string
  projectName: string
  observations: number
  updatedAt: number
  /** The first request, or that of the summary of the whole session; null where none is known. */
  request: string | null
  /** What came of it, of its newest summary or observation. */
  outcome: string | null
  /** Observations that were added to its prompts and reads. */
  given: number
  /** The member of the team whose session it was; null or absent: a session of this machine. */
  author?: string | null
}

export interface TraceRow extends TraceEntry {
  id: number
}

/** Everything `inspect SESSION` prints. */
export interface SessionView {
  row: StoredSessionRow
  messages: InboxMessage[]
  trace: TraceRow[]
  /** Number of trace entries that retention deleted. */
  traceDropped: number
  observations: number
  summaries: number
  /** Null or absent: a session of this machine. */
  received?: ReceivedSession | null
}

/** Whose session it was, of one that came with memories from another machine: nothing of it runs here. */
export interface ReceivedSession {
  /** Null: the reader's own, as operations answer it. */
  author: string | null
  machine: string | null
}

/** A session from its first prompt to its summary. Lists hold the newest rows, oldest first. */
export interface SessionStory extends SessionView {
  prompts: PromptRow[]
  observationRows: (Observation & { effectId: string | null })[]
  summaryRows: (Summary & { effectId: string | null })[]
  calls: CallFigures[]
  /** Observations that were added to its prompts and reads since its conversation was last emptied, oldest first. */
  given: { id: number; type: ObservationType; title: string | null; at: number }[]
  /** Number of events by kind and outcome. */
  outcomes: { kind: string; outcome: string | null; count: number }[]
}

export interface PromptRow {
  number: number
  text: string
  private: boolean
  at: number
}

/** Input of a summary. */
export interface TurnMaterial {
  prompt: PromptRow | null
  observations: Observation[]
}

export interface MemoryFilter {
  session?: string
  project?: string
  /** Without observations that a later one supersedes. */
  current?: boolean
  limit?: number
}

// Inbox and events

export type MessageStatus = 'pending' | 'processing' | 'failed'

export interface InboxMessage {
  id: number
  session: string
  eventId: string
  kind: EventKind
  tool: string | null
  prompt: number
  status: MessageStatus
  claimedAt: number | null
  effectId: string | null
  attempts: number
  error: string | null
  createdAt: number
}

export interface EventOfTurn {
  event: MemoryEvent
  /** The prompt number of its turn. */
  prompt: number
}

export interface QueueFilter {
  session?: string
  status?: MessageStatus
  limit?: number
}

export interface QueueStats {
  pending: number
  processing: number
  failed: number
  sessions: number
  oldestAt: number | null
}

export interface StoreStats extends QueueStats {
  observationsToday: number
  observations: number
  sessionsTotal: number
  /** Sessions that have not ended. */
  sessionsActive: number
  databaseBytes: number
}

/** The queue when a sample of it was taken. */
export interface SampledQueue extends QueueStats {
  /** Oldest message of a session that is with the observer or waits for the provider: not one that only collects. */
  oldestDueAt: number | null
}

export interface QueueSample extends Pick<QueueStats, MessageStatus> {
  at: number
}

export interface EventRow {
  eventId: string
  session: string
  kind: EventKind
  tool: string | null
  at: number
  receivedAt: number
  outcome: string | null
  reason: string | null
  observationIds: number[]
  /** The effect that settled it; null while it is pending, and for events that need no effect. */
  effectId: string | null
  /** Failed attempts before it was settled. */
  attempts: number
}

export interface EventWithPayload extends EventRow {
  /** Masked; null where retention deleted it because of its age or size. */
  payload: MemoryEvent | null
}

/** An event with all that a replay needs. */
export interface RecordedEvent
  extends Pick<EventWithPayload, 'eventId' | 'kind' | 'tool' | 'at' | 'receivedAt' | 'outcome' | 'payload'> {
  /** Increases in the order in which events were accepted. */
  id: number
  /** Only for a prompt that was not forgotten. */
  prompt: PromptRow | null
}

/** What an observation was made from. */
export interface ObservationProvenance {
  /** The client of its session; null where no session is known. */
  client: string | null
  /** The prompt of the turn. */
  prompt: PromptRow | null
  /** In the order in which they were reported. Empty for an observation written by hand or imported. */
  events: EventWithPayload[]
  /** The effect that made it; null where none did, or where the observation is older than this column. */
  effectId: string | null
  calls: CallFigures[]
  /** Transitions of that effect. */
  trace: TraceRow[]
}

/** What became of one event. */
export interface EventView {
  event: EventWithPayload
  /** Its inbox row while it is pending. */
  message: InboxMessage | null
  observations: Observation[]
  calls: CallFigures[]
  /** Where the event was accepted, and the transitions of its batch. */
  trace: TraceRow[]
}

/** Observations per day, and the length of the queue. */
export interface ActivityReport {
  /** Start of each day, oldest first. */
  dayStarts: number[]
  /** One entry a day. */
  days: {
    observations: number
    summaries: number
    prompts: number
    types: Record<ObservationType, number>
    discoveryTokens: number
  }[]
  /** The fifty most active projects with one number a day, most observations first. */
  projects: { key: string; name: string; observations: number; days: number[] }[]
  /** Oldest first, one sample per change. A long period is thinned out: each bucket keeps its peak and its last sample. */
  queue: QueueSample[]
}

// Projects

/** A project with its name: the one given by hand, else the one its newest session reported. */
export interface ProjectRow extends Project {
  observations: number
  /** Time of its oldest observation; null before the first. */
  since: number | null
  /** Time of the newest event of its sessions. */
  updatedAt: number
}

export interface ProjectFilter {
  /** The key of a merged project finds the project it was merged into. */
  key?: string
  name?: string
  limit?: number
}

/** A row of `projects`: the name and the merge that the user chose, and where the repository is. */
export interface ProjectSettings {
  /** As hooks report it. */
  key: string
  /** Given by hand; overrides the name that sessions report. */
  name: string | null
  /** The key under which all its rows are stored. The target itself is not merged into another. */
  mergedInto: string | null
  /** Its working tree. Null before it was seen, and after the repository moved away. */
  root: string | null
  /** Identifies a repository independently of its path; null where it is unknown or not a repository. */
  fingerprint: string | null
  /** Files that are written into the working tree. */
  files: readonly string[]
}

/** Fields that are absent are not changed. */
export type ProjectUpdate = Pick<ProjectSettings, 'key'> & Partial<Omit<ProjectSettings, 'key'>>

/**
 * What is decided about a directory and the repository that it says it is a clone of. `joined`: its memory is the
 * repository's. `unconfirmed`: it only names the repository, and the user is asked. `linked`, `apart`: the user decided.
 */
export type DirectoryState = 'joined' | 'unconfirmed' | 'linked' | 'apart'

/** A directory whose project has, or may get, an identity that is the same on every machine. */
export interface DirectoryRow {
  /** As hooks report it. */
  key: string
  /** Key of the repository that its remote names, as last read; null: it names none. */
  repository: string | null
  state: DirectoryState
  /** A session has shown the question to the user. */
  told: boolean
  /** When its git directory was created, if it joined by itself; null: unknown, or not asked. */
  createdAt: number | null
}

/** `state` null: nothing is decided any more. */
export type DirectoryUpdate = Omit<DirectoryRow, 'state'> & { state: DirectoryState | null }

/** Number of rows stored under a key. */
export type ProjectContents = Record<'sessions' | 'observations' | 'summaries' | 'prompts', number>

export interface ProjectOverview extends Omit<ProjectRow, 'since'> {
  /** The name was given by hand. */
  named: boolean
  sessions: number
  /** Its working trees, the one that was used last first; with those of keys that were merged into it. */
  roots: string[]
  /** Keys that were merged into it. */
  merged: string[]
}

/** A key whose rows are stored under another key. */
export interface ProjectAlias {
  key: string
  /** The repository moved away from this path: a new one in its place is a new project. */
  moved: boolean
}

// Context

export interface ContextQuery {
  project: string
  /** Newest observations. */
  observations: number
  summaries: number
  pinned: number
  /** The newest passages of these kinds, each group up to its limit. */
  passages: readonly { kinds: readonly PassageKind[]; limit: number }[]
  /** Newest prompts. */
  prompts: number
  /** The name of the reader in a team: what has another author is somebody else's. Null or absent: there is no team. */
  me?: string | null
  /** Newest observations of other people, in addition to the reader's own; absent: none. */
  others?: number
}

export interface ProjectTotals {
  observations: number
  /** Tokens that the main agent spent to learn them. */
  discoveryTokens: number
  /** Time of the oldest; null before the first. */
  since: number | null
}

/** A prompt of a session, whole, without private parts. */
export interface SessionPrompt {
  session: string
  promptNumber: number
  text: string
  at: number
  /** From a file: nobody here sent it. */
  imported: boolean
}

/** What the context of a session is made of. Its size does not grow with the size of the project. */
export interface ContextMaterial {
  project: Project
  totals: ProjectTotals
  /** Newest first, without pinned and superseded ones; those of other people are among them. */
  observations: Observation[]
  /** Most recently pinned first, of any type, superseded or not; the reader's own before those of other people. */
  pinned: Observation[]
  /** Newest first; only the reader's own. */
  summaries: Summary[]
  /** Newest first, within an event in their order; only the reader's own. */
  passages: Passage[]
  /** Newest first; only those of this machine. */
  prompts: SessionPrompt[]
  /** The newest sessions in which no tool was used. */
  idle: string[]
  /** Links between the observations above: `from` repeats the earlier `to`. */
  repeats: { from: number; to: number }[]
  /** A statement of the observation `to`, which is one of the above, is replaced by `from`. */
  amends: { from: number; to: number }[]
}

// Model calls

export interface CallRow extends Omit<ModelCall, 'sent' | 'callId'> {
  id: number
  /** Null after the session was erased; its cost still counts. */
  session: string | null
  project: string
  projectName: string
  /** Number of observations it produced. */
  observations: number
  /** Null after the text was deleted, because of its age or with its session. */
  sent: string | null
}

export type CallFigures = Omit<CallRow, 'sent' | 'received'>

export interface CallFilter {
  session?: string
  effectId?: string
  since?: number
  limit?: number
}

export interface UsageSums {
  calls: number
  /** Calls without a usable answer. */
  failed: number
  usage: Usage
  /** US dollars, of the calls whose price is known. */
  cost: number
  /** Calls that used tokens at an unknown price. */
  unpriced: number
  observations: number
}

export const USAGE_KEYS = ['day', 'project', 'session', 'model'] as const
export type UsageKey = (typeof USAGE_KEYS)[number]

/** Days are those of the user's time zone, 23 to 25 hours long. `dayStarts`: oldest first; a day ends where the next starts. */
export type UsageFilter =
  | { by: 'day'; dayStarts: readonly number[] }
  | { by: Exclude<UsageKey, 'day'>; since: number; until?: number }

export interface UsageTotals extends UsageSums {
  /** Start of the day, project key, session id (empty: all erased sessions), or model. */
  key: string
  /** Name of the project, also for a session; provider of a model; null for a day. */
  name: string | null
  /** Start of the day, else time of the newest call. */
  at: number
}

/** Counts against a budget. */
export type SpentAmount = Pick<UsageSums, 'cost' | 'usage'>

/** A cached token costs about a tenth of a fresh one with every provider that caches. */
const CACHED_TOKEN_WEIGHT = 0.1

/** Tokens as a budget counts them. */
export function weightedTokens({ input, output, cacheRead, cacheWrite }: Usage): number {
  return input + output + cacheWrite + cacheRead * CACHED_TOKEN_WEIGHT
}

// Maintenance

/** How long data is kept. */
export interface Retention {
  payloadDays: number
  /** Bound on all payloads together. */
  payloadBytes: number
  /** 0: no passages are kept. */
  passageDays: number
  /** Bound on what all passages take on disk with their index, estimated; 0: none are kept. */
  passageBytes: number
  traceDays: number
  tracePerSession: number
  observerTurnDays: number
}

export interface BackupInfo {
  file: string
  at: number
  bytes: number
  /** `daily`, `migration`, `manual`, `before-restore`. */
  reason: string
}
