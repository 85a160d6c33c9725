/**
 * From a payload in Claude Code's format to an event. A payload that is ignored is neither sent nor stored. The event is
 * cleaned here (`src/domain/clean-event.ts`), before anything leaves the process.
 *
 * Claude Code 1.0 sends neither `tool_use_id` nor `prompt_id`, 2.0 sends the first, 2.1 both.
 */
import { statSync } from 'node:fs'
import { isAbsolute, join, resolve, win32 } from 'node:path'
import { type CleaningRules, cleanEvent, cleanIdentifier } from '../domain/clean-event.ts'
import { type Agent, type FileContextQuery, isCountedId, type MemoryEvent } from '../domain/event.ts'
import { withBoundedNames } from '../domain/event-names.ts'
import type { EventOwner } from '../domain/private-turns.ts'
import { isExcluded, projectOfDirectory } from '../domain/project.ts'
import { readFileEnd } from '../lib/files.ts'
import { isNestedTooDeep } from '../lib/json.ts'
import { shortHash } from '../lib/paths.ts'
import type { Settings } from '../settings/settings.ts'
import type { HookPayload } from './clients/adapter.ts'

export type PayloadReading = { type: 'event'; event: MemoryEvent } | { type: 'ignored'; reason: string }

export interface PayloadOptions {
  settings: CleaningRules
  /** Epoch milliseconds. */
  at: number
  client?: string
  /** Unique to this run of the hook: the event's id is derived from it where the client sends none (P1). Default: random. */
  seed?: string
  /** The directory of a payload without one. Default: that of this process. */
  cwd?: () => string
}

export function readPayload(raw: string, options: PayloadOptions): PayloadReading {
  const payload = parseJsonObject(raw)
  return payload === null ? ignored('the payload is not a JSON object') : readPayloadFields(payload, raw, options)
}

/** Null if it is not a JSON object. */
export function parseJsonObject(raw: string): HookPayload | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(raw.charCodeAt(0) === 0xfeff ? raw.slice(1) : raw)
  } catch {
    return null
  }
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? { ...parsed } : null
}

/** `raw` is the payload as sent: its hash is part of the event's id where there is a prompt id but no tool use id (P1). */
export function readPayloadFields(payload: HookPayload, raw: string, options: PayloadOptions): PayloadReading {
  const hook = identifier(payload.hook_event_name)
  const readEvent = Object.hasOwn(EVENT_READERS, hook) ? EVENT_READERS[hook] : undefined
  if (readEvent === undefined) return ignored(`${hook || 'an event without a name'} is not observed`)
  const session = identifier(payload.session_id)
  if (session === '') return ignored('there is no session id')
  if ((hook === 'PostToolUse' || hook === 'PostToolUseFailure') && identifier(payload.tool_name) === '') {
    return ignored('there is no tool name')
  }
  const cwd = workingDirectory(payload, options.cwd)
  const agent = readAgent(payload, hook)
  if (hook === 'SubagentStop' && (agent === null || text(payload.last_assistant_message) === '')) {
    return ignored('a subagent without a type or a last message, as a compaction reports it')
  }
  const base: EventBase = {
    id: eventId(hook, payload, raw, options.seed),
    session,
    at: options.at,
    client: options.client ?? 'claude-code',
    project: projectOfDirectory(cwd),
    cwd,
    transcriptPath: identifier(payload.transcript_path) || null,
    promptId: identifier(payload.prompt_id) || null,
    agent,
  }
  const event = withBoundedNames(readEvent(payload, base))
  const cleaned = cleanEvent(event, options.settings, options.at)
  return cleaned.type === 'event' ? cleaned : ignored(cleaned.reason)
}

type EventBase = Omit<Extract<MemoryEvent, { kind: 'session_end' }>, 'kind' | 'reason'>

/** The observed events, by Claude Code's name: how each payload becomes an event. */
const EVENT_READERS: Record<string, (payload: HookPayload, base: EventBase) => MemoryEvent> = {
  SessionStart: ({ source }, base) => ({ ...base, kind: 'session_start', source: identifier(source) || 'startup' }),
  UserPromptSubmit: ({ prompt }, base) => ({ ...base, kind: 'prompt', text: text(prompt), private: false }),
  // Some clients call the response `tool_output`.
  PostToolUse: ({ tool_name, tool_input, tool_response, tool_output, duration_ms }, base) => ({
    ...base,
    kind: 'tool_use',
    tool: identifier(tool_name),
    input: tool_input ?? null,
    response: tool_response ?? tool_output ?? null,
    durationMs: finiteNumber(duration_ms),
  }),
  PostToolUseFailure: ({ tool_name, tool_input, error, is_interrupt, duration_ms }, base) => ({
    ...base,
    kind: 'tool_failure',
    tool: identifier(tool_name),
    input: tool_input ?? null,
    error: text(error),
    interrupted: is_interrupt === true,
    durationMs: finiteNumber(duration_ms),
  }),
  SubagentStop: ({ last_assistant_message: message }, base) => ({
    ...base,
    kind: 'subagent_end',
    lastMessage: text(message),
  }),
  PreCompact: ({ trigger }, base) => ({ ...base, kind: 'pre_compact', trigger: identifier(trigger) || 'unknown' }),
  SessionEnd: ({ reason }, base) => ({ ...base, kind: 'session_end', reason: identifier(reason) || 'unknown' }),
  Stop: (payload, base) => turnEnd(payload, base, null),
  StopFailure: (payload, base) => turnEnd(payload, base, text(payload.error) || 'unknown'),
}

/** Older clients do not send the last message: it is read from the transcript. */
function turnEnd(payload: HookPayload, base: EventBase, error: string | null): MemoryEvent {
  const { transcriptPath } = base
  const sent = text(payload.last_assistant_message)
  const message = sent === '' && transcriptPath !== null ? lastAssistantMessage(transcriptPath) : sent
  // The words between tool uses are read by the daemon: a hook has no time for it.
  return { ...base, kind: 'turn_end', lastMessage: message === '' ? null : message, error, words: [] }
}

const ignored = (reason: string): PayloadReading => ({ type: 'ignored', reason })
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
/** Ids, names and paths; PATH_MAX on Linux. */
const MAX_IDENTIFIER_CHARS = 4_096
const identifier = (value: unknown): string => cleanIdentifier(text(value).slice(0, MAX_IDENTIFIER_CHARS))
const finiteNumber = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null

/** The turn and the agent that a payload belongs to. */
export function eventOwner(payload: HookPayload): EventOwner {
  return { promptId: identifier(payload.prompt_id) || null, agentId: identifier(payload.agent_id) || null }
}

/** A main session that runs as an agent has a type but no id; a compaction's subagent has an id but no type. */
function readAgent(payload: HookPayload, hook: string): Agent | null {
  const type = identifier(payload.agent_type)
  const id = identifier(payload.agent_id) || (hook === 'SubagentStop' ? type : '')
  return id === '' || type === '' ? null : { id, type }
}

/**
 * Idempotency key: the same payload delivered twice (hooks registered twice, a client that retries) gets the same id if
 * the client sends a tool use id or a prompt id. A second Stop of one turn has another text and another id.
 */
function eventId(hook: string, payload: HookPayload, raw: string, seed: string | undefined): string {
  const toolUse = identifier(payload.tool_use_id)
  if (isCountedId(toolUse)) {
    const { tool_input, agent_id } = payload
    // `JSON.stringify` takes the square of the depth.
    const input = isNestedTooDeep(raw) ? raw : (JSON.stringify(tool_input) ?? '')
    return `${toolUse}:${shortHash(`${identifier(agent_id)}\n${sample(input)}`)}`
  }
  if (toolUse !== '') return toolUse
  const prompt = identifier(payload.prompt_id)
  // `event_key` is set by an adapter where the client's own payload differs although it is the same event.
  if (prompt !== '') return `${hook}:${prompt}:${shortHash(text(payload.event_key) || sample(raw))}`
  return seed === undefined ? randomId() : `random:${seed}-${shortHash(sample(raw))}`
}

/** Hashing is slow in plain JavaScript: of a large payload only both ends and the length are hashed. */
const HASHED_CHARS = 65_536

export const payloadHash = (raw: string): string => shortHash(sample(raw))

function sample(raw: string): string {
  if (raw.length <= 2 * HASHED_CHARS) return raw
  return `${raw.slice(0, HASHED_CHARS)}${raw.length}${raw.slice(-HASHED_CHARS)}`
}

/** Unique within a session. Loading `crypto` for it would cost every hook a millisecond. */
function randomId(): string {
  const parts = [Date.now(), process.pid, process.hrtime()[1], Math.floor(Math.random() * 2 ** 52)]
  return `random:${parts.map((part) => part.toString(36)).join('-')}`
}

export function workingDirectory(payload: HookPayload, ofProcess: () => string = processDirectory): string {
  const given = identifier(payload.cwd)
  // An absolute path of any system.
  return win32.isAbsolute(given) ? given : resolve(ofProcess(), given)
}

function processDirectory(): string {
  try {
    return process.cwd()
  } catch {
    return '/'
  }
}

/** How much of a transcript is read for its last message. */
const TAIL_BYTES = 256 * 1024

export function lastAssistantMessage(transcript: string): string {
  for (const line of transcriptEnd(transcript).split('\n').reverse()) {
    const message = assistantText(line)
    if (message !== '') return message
  }
  return ''
}

/** Empty if it cannot be read: the turn ends without a last message. */
function transcriptEnd(file: string): string {
  try {
    return readFileEnd(file, TAIL_BYTES)
  } catch {
    return ''
  }
}

/** Empty for any other line and for a truncated one. */
function assistantText(line: string): string {
  if (!line.includes('"assistant"')) return ''
  let entry: { type?: unknown; isSidechain?: unknown; message?: { content?: unknown } }
  try {
    entry = JSON.parse(line)
  } catch {
    return ''
  }
  if (entry.type !== 'assistant' || entry.isSidechain === true) return ''
  const content = entry.message?.content
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .filter((block) => block?.type === 'text' && typeof block.text === 'string')
    .map((block) => block.text)
    .join('\n')
    .trim()
}

type FileContextSettings = Pick<Settings, 'CLAUDE_MEM_FILE_CONTEXT' | 'CLAUDE_MEM_EXCLUDED_PROJECTS'>

/** The query for what is known about a file that is about to be read; null if there is nothing to query. */
export function readFileContextQuery(
  payload: HookPayload,
  settings: FileContextSettings,
  ofProcess?: () => string,
): FileContextQuery | null {
  if (!settings.CLAUDE_MEM_FILE_CONTEXT || payload.tool_name !== 'Read') return null
  const session = identifier(payload.session_id)
  const given = identifier(toolInput(payload).file_path)
  if (session === '' || given === '') return null
  const cwd = workingDirectory(payload, ofProcess)
  const file = isAbsolute(given) ? given : join(cwd, given)
  const changedAt = modifiedAt(file)
  if (changedAt === null) return null
  const project = projectOfDirectory(cwd)
  if (isExcluded(cwd, project, settings.CLAUDE_MEM_EXCLUDED_PROJECTS)) return null
  return { session, project, cwd, file, changedAt }
}

function toolInput({ tool_input: input }: HookPayload): HookPayload {
  return typeof input === 'object' && input !== null ? { ...input } : {}
}

/** Epoch ms; null if it is not a file. */
function modifiedAt(file: string): number | null {
  try {
    const stat = statSync(file, { throwIfNoEntry: false })
    return stat?.isFile() === true ? Math.max(0, Math.floor(stat.mtimeMs)) : null
  } catch {
    // A part of the path is not a directory, or access is denied.
    return null
  }
}
