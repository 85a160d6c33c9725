/**
 * An event is one thing a hook reported. It has its id from the moment the hook starts, and the same
 * shape in the hook, on the wire, in the spool and at the session's actor.
 */
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

/** Which of a session's agents did it: null is the main one. */
export interface Agent {
  id: string
  type: string
}

interface EventBase {
  /** Unique within its session; accepted twice counts once. */
  id: string
  /** content_session_id: the user's own session. */
  session: string
  /** Epoch milliseconds at which the hook ran. */
  at: number
  /** `claude-code`, `cursor`, … */
  client: string
  project: Project
  cwd: string
  transcriptPath: string | null
  /** The client's id of the turn (Claude Code 2.1 on). */
  promptId: string | null
  agent: Agent | null
}

export interface SessionStartEvent extends EventBase {
  kind: 'session_start'
  source: string
}
export interface PromptEvent extends EventBase {
  kind: 'prompt'
  text: string
  /** Nothing but private parts: the whole turn is not observed. */
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
export interface PreCompactEvent extends EventBase {
  kind: 'pre_compact'
  trigger: string
}
export interface TurnEndEvent extends EventBase {
  kind: 'turn_end'
  /** Null where the client is too old to send it. */
  lastMessage: string | null
  /** The client's error when the turn ended with StopFailure. */
  error: string | null
}
export interface SessionEndEvent extends EventBase {
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

/** The events that wait in a session's inbox for the observer. */
export type MessageEvent = ToolUseEvent | ToolFailureEvent | SubagentEndEvent

export function isMessage(event: MemoryEvent): event is MessageEvent {
  return event.kind === 'tool_use' || event.kind === 'tool_failure' || event.kind === 'subagent_end'
}

/** The tool an event is about, for people and filters. */
export function toolOf(event: MemoryEvent): string | null {
  return event.kind === 'tool_use' || event.kind === 'tool_failure' ? event.tool : null
}
