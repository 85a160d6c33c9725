/**
 * An event is one thing that a hook reported. The hook assigns its id, and it has the same shape in the hook, on the
 * wire, in the spool and in the session actor.
 */
import { MemError } from '../lib/errors.ts'
import { boundedName } from './event-names.ts'
import type { Project } from './project.ts'

export const EVENT_KINDS = [
  'session_start',
  'prompt',
  'tool_use',
  'tool_failure',
  'subagent_end',
  'pre_compact',
  'turn_end',
  'session_end',
] as const
export type EventKind = (typeof EVENT_KINDS)[number]

/** The subagent that caused an event. Events of the main agent have null instead. */
export interface Agent {
  id: string
  type: string
}

interface EventBase {
  /** Unique within its session. Accepting an event is idempotent: a second one with this id is a duplicate. */
  id: string
  /** content_session_id: the session of the user's client. */
  session: string
  /** Epoch milliseconds at which the hook ran. */
  at: number
  /** `claude-code`, `cursor`, … */
  client: string
  project: Project
  cwd: string
  transcriptPath: string | null
  /** The client's id of the turn; null before Claude Code 2.1. */
  promptId: string | null
  agent: Agent | null
}

interface SessionStartEvent extends EventBase {
  kind: 'session_start'
  source: string
}
export interface PromptEvent extends EventBase {
  kind: 'prompt'
  text: string
  /** The prompt consists of private parts only: nothing of its turn is observed. */
  private: boolean
}
export interface ToolUseEvent extends EventBase {
  kind: 'tool_use'
  tool: string
  input: unknown
  response: unknown
  durationMs: number | null
}
export interface ToolFailureEvent extends EventBase {
  kind: 'tool_failure'
  tool: string
  input: unknown
  error: string
  interrupted: boolean
  durationMs: number | null
}
export interface SubagentEndEvent extends EventBase {
  kind: 'subagent_end'
  lastMessage: string
}
interface PreCompactEvent extends EventBase {
  kind: 'pre_compact'
  trigger: string
}
export interface TurnEndEvent extends EventBase {
  kind: 'turn_end'
  /** Null if the client is too old to send it. */
  lastMessage: string | null
  /** The client's error if the turn ended with StopFailure. */
  error: string | null
  /** What the agent wrote between tool uses, oldest first, without the last message. Empty where it is not known. */
  words: string[]
}
interface SessionEndEvent extends EventBase {
  kind: 'session_end'
  reason: string
}

export type MemoryEvent =
  | SessionStartEvent
  | PromptEvent
  | ToolUseEvent
  | ToolFailureEvent
  | SubagentEndEvent
  | PreCompactEvent
  | TurnEndEvent
  | SessionEndEvent

/** An event as an earlier version stored it: fields that were added since are missing. */
export function withAddedFields(stored: MemoryEvent): MemoryEvent {
  if (stored.kind !== 'turn_end' || Array.isArray(stored.words)) return stored
  return { ...stored, words: [] }
}

/** Events that are queued in a session's inbox for the observer. */
export type InboxEvent = ToolUseEvent | ToolFailureEvent | SubagentEndEvent

export function isInboxEvent(event: MemoryEvent): event is InboxEvent {
  return event.kind === 'tool_use' || event.kind === 'tool_failure' || event.kind === 'subagent_end'
}

/** Null for events that are not about a tool. */
export function eventTool(event: MemoryEvent): string | null {
  return event.kind === 'tool_use' || event.kind === 'tool_failure' ? event.tool : null
}

/**
 * Our MCP server and its tools. Their uses are not observed; some clients report a tool without the name of its server.
 */
export const OWN_MCP_SERVER = 'claude-mem'
export const OWN_MCP_TOOLS: readonly string[] = [
  'search_memory',
  'timeline',
  'get_observations',
  'get_session_summary',
  'get_project_context',
  'remember',
  'forget',
]

/** Request for what is known about a file, sent before the agent reads it. */
export interface FileContextQuery {
  /** content_session_id: the session of the user's client. */
  session: string
  project: Project
  cwd: string
  /** Absolute path. */
  file: string
  /** Modification time, epoch ms. Older observations may be outdated and are not shown. */
  changedAt: number
}

/**
 * Ids of events that were read from a transcript. Tool uses keep the client's id, as in a hook. All other events get
 * ids with this prefix, which no hook uses and which are the same every time the file is read.
 */
const TRANSCRIPT_ID_PREFIX = 'transcript:'

export const transcriptId = (what: string, of: string | number): string =>
  boundedName(`${TRANSCRIPT_ID_PREFIX}${what}:${of}`)

export function isTranscriptId(id: string): boolean {
  return id.startsWith(TRANSCRIPT_ID_PREFIX)
}

/** A model that counts its calls (Kimi K2); some servers begin anew with every request. Such an id is not unique in a session. */
export function isCountedId(id: string): boolean {
  return /^functions\.[\w.-]{1,200}:\d{1,6}$/.test(id)
}

/**
 * Prefix of the event ids of imported prompts, passages and sources: what a file says is not what a client reported here. An
 * export leaves it out.
 */
const IMPORTED_ID_PREFIX = 'import:'

export const importedId = (id: string): string => (isImportedId(id) ? id : `${IMPORTED_ID_PREFIX}${id}`)
export const isImportedId = (id: string): boolean => id.startsWith(IMPORTED_ID_PREFIX)
export const exportedId = (id: string): string => (isImportedId(id) ? id.slice(IMPORTED_ID_PREFIX.length) : id)

export const transcriptStartId = (session: string): string => transcriptId('start', session)

/**
 * A session that continued after its transcript was read gets a second end; the last line makes their ids different.
 */
export const transcriptEndId = (session: string, lastLine: string | number): string =>
  transcriptId('end', `${session}:${lastLine}`)

/** Where a transcript ends, to ask whether its session is stored up to there. */
export interface TranscriptEnd {
  session: string
  /** Id of the last event of the transcript. */
  end: string
}

/** What is already stored of a session whose transcript is to be read. */
export interface TranscriptImportState {
  session: string
  /** It has events from another source than its transcript: hooks or an import. */
  hooks: boolean
  /** Its transcript was read, at least in part. */
  transcript: boolean
  /** Its transcript was read up to the given end. */
  finished: boolean
  /** The user erased it: its transcript is not accepted. */
  forgotten: boolean
}

/** `id`: of a session, or the first characters of it. */
export function sessionNotFound(id: string): MemError {
  return new MemError('not_found', `no session starts with "${id}"; claude-mem inspect lists them`)
}
