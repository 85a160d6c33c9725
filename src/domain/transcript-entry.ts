/**
 * A line of a transcript of Claude Code as an entry. Fields come and go between client versions (1.0 to 2.1): a missing or
 * malformed field is null, and a line without meaning for memory is no entry.
 */
import { noteEnd } from './client-notes.ts'
import type { Usage } from './observation.ts'

export interface TranscriptEntryHead {
  session: string | null
  uuid: string | null
  parent: string | null
  /** Epoch milliseconds. */
  at: number | null
  cwd: string | null
  promptId: string | null
  sidechain: boolean
  agentId: string | null
}

export interface ToolCall {
  id: string | null
  tool: string
  input: unknown
}

export interface ToolResult {
  id: string
  error: boolean
  /** The client's structured result if there is one, else the content that the model received. */
  response: unknown
  text: string
}

export type TranscriptEntry = TranscriptEntryHead &
  /** `duringTurn`: typed while the agent worked and handed to it without ending the turn. */
  (
    | { kind: 'prompt'; text: string; duringTurn?: true }
    | { kind: 'interrupt' }
    /** The client wrote it as the user: a notice, a message of another agent, output of a command. */
    | { kind: 'client_message' }
    | {
        kind: 'assistant'
        message: string | null
        text: string
        calls: ToolCall[]
        usage: Usage | null
        failed: boolean
      }
    | { kind: 'results'; results: ToolResult[] }
    | { kind: 'compact'; trigger: string | null }
    | { kind: 'compact_summary' }
    /** What the client recorded about the session itself. `remote`: address of its repository's remote, at `commit`. */
    | { kind: 'session_meta'; remote: string | null; subagentOf: string | null }
  )

/** A line about the messages that wait until the agent is ready; `text` null: which one is not recorded. */
export type QueueLine = TranscriptEntryHead & { kind: 'queue'; operation: string | null; text: string | null }

export type AssistantEntry = Extract<TranscriptEntry, { kind: 'assistant' }>

type Fields = Record<string, unknown>

/** Undefined if the line is not JSON; null if it has no meaning for memory. */
export function parseTranscriptLine(line: string): TranscriptEntry | QueueLine | null | undefined {
  let value: unknown
  try {
    value = JSON.parse(line.charCodeAt(0) === 0xfeff ? line.slice(1) : line)
  } catch {
    return undefined
  }
  if (!isFields(value)) return null
  const head = entryHead(value)
  switch (value.type) {
    case 'user':
      return userEntry(head, value)
    case 'assistant':
      return assistantEntry(head, value)
    case 'system':
      return value.subtype === 'compact_boundary'
        ? { ...head, kind: 'compact', trigger: nonEmptyString(fieldsOrEmpty(value.compactMetadata).trigger) }
        : null
    case 'queue-operation':
      return { ...head, kind: 'queue', operation: nonEmptyString(value.operation), text: nonEmptyString(value.content) }
    default:
      return null
  }
}

function entryHead(value: Fields): TranscriptEntryHead {
  const at = Date.parse(nonEmptyString(value.timestamp) ?? '')
  return {
    session: nonEmptyString(value.sessionId),
    uuid: nonEmptyString(value.uuid),
    parent: nonEmptyString(value.parentUuid),
    at: at >= 0 ? at : null,
    cwd: absolutePath(value.cwd),
    promptId: nonEmptyString(value.promptId),
    sidechain: value.isSidechain === true,
    agentId: nonEmptyString(value.agentId),
  }
}

/** Of any system. A relative one would be looked for in the directory of the process that reads it. */
function absolutePath(value: unknown): string | null {
  const path = nonEmptyString(value)
  return path !== null && /^(?:[/\\]|[A-Za-z]:[/\\])/.test(path) ? path : null
}

function userEntry(head: TranscriptEntryHead, value: Fields): TranscriptEntry | null {
  const content = fieldsOrEmpty(value.message).content
  const blocks = Array.isArray(content) ? content.filter(isFields) : []
  const results = blocks.filter((block) => block.type === 'tool_result')
  if (results.length > 0) return resultsEntry(head, results, value.toolUseResult)
  if (value.isCompactSummary === true) return { ...head, kind: 'compact_summary' }
  const origin = nonEmptyString(fieldsOrEmpty(value.origin).kind)
  const isOfClient =
    value.isMeta === true ||
    value.isVisibleInTranscriptOnly === true ||
    value.promptSource === 'system' ||
    (origin !== null && origin !== 'human')
  if (isOfClient) return { ...head, kind: 'client_message' }
  const text = typeof content === 'string' ? content : textOfBlocks(blocks)
  if (text.trim() === '') return null
  if (origin === null && INTERRUPTED.test(text)) return { ...head, kind: 'interrupt' }
  // Clients before about 2.1.200 do not record the origin.
  const typed = origin === 'human' ? withoutInserted(text) : typedText(text)
  return typed === '' ? { ...head, kind: 'client_message' } : { ...head, kind: 'prompt', text: typed }
}

const INTERRUPTED = /^\s*\[Request interrupted by user/
/** Texts that the client itself writes as the user: commands that it ran, notices, messages of other agents. */
const CLIENT_TEXT =
  /^(?:<(?:command-(?:name|message|args)|local-command-\w+|bash-(?:input|stdout|stderr)|task-notification|user-memory-input|user-prompt-submit-hook|agent-message|teammate-message|cross-session-message|channel)[\s>]|[^\n<]{0,100}:\s*<teammate-message\s|Caveat: The messages below were generated by the user|\/[\w:-]+$)/
/** A slash command that the agent carries out. Those that the client carries out begin with the name. */
const AGENT_COMMAND = /^<command-message>[^<]*<\/command-message>\s*<command-name>(\/[^<\s]+)<\/command-name>/
/** What the client adds before the user's text. */
const INSERTED = /^<(system-reminder|ide_\w+)>/

/** What the user typed; empty if all of it is the client's. A slash command is written as hooks report it. */
export function typedText(text: string): string {
  const rest = withoutInserted(text)
  const command = AGENT_COMMAND.exec(rest)
  if (command === null) return CLIENT_TEXT.test(rest) ? '' : rest
  const [, args = ''] = rest.slice(command[0].length).split(/<\/?command-args>/, 2)
  return `${command[1]} ${args}`.trim()
}

function withoutInserted(text: string): string {
  let rest = text.trim()
  for (let tag = INSERTED.exec(rest)?.[1]; tag !== undefined; tag = INSERTED.exec(rest)?.[1]) {
    const end = noteEnd(rest, tag, tag.length)
    rest = end === -1 ? '' : rest.slice(end).trimStart()
  }
  return rest
}

function resultsEntry(head: TranscriptEntryHead, blocks: readonly Fields[], structured: unknown): TranscriptEntry {
  const results = blocks.flatMap((block): ToolResult[] => {
    const id = nonEmptyString(block.tool_use_id)
    if (id === null) return []
    const text = typeof block.content === 'string' ? block.content : textOfBlocks(objectsIn(block.content))
    // The structured result belongs to the line's only block; with several blocks it cannot be assigned.
    const content = blocks.length === 1 && structured !== undefined && structured !== null ? structured : block.content
    return [{ id, error: block.is_error === true, response: content ?? null, text }]
  })
  return { ...head, kind: 'results', results }
}

function assistantEntry(head: TranscriptEntryHead, value: Fields): TranscriptEntry | null {
  const message = fieldsOrEmpty(value.message)
  const failed = value.isApiErrorMessage === true
  // Written by the client itself, for example after a slash command.
  if (message.model === '<synthetic>' && !failed) return null
  const content = message.content
  const blocks = objectsIn(content)
  const calls = blocks.flatMap((block): ToolCall[] => {
    const tool = block.type === 'tool_use' ? nonEmptyString(block.name) : null
    return tool === null ? [] : [{ id: nonEmptyString(block.id), tool, input: block.input ?? null }]
  })
  const text = typeof content === 'string' ? content : textOfBlocks(blocks)
  if (calls.length === 0 && text === '') return null
  return {
    ...head,
    kind: 'assistant',
    message: nonEmptyString(message.id),
    text,
    calls,
    usage: parseUsage(message.usage),
    failed,
  }
}

function parseUsage(value: unknown): Usage | null {
  if (!isFields(value)) return null
  const count = (field: string): number => {
    const tokens = value[field]
    return typeof tokens === 'number' && Number.isFinite(tokens) ? tokens : 0
  }
  return {
    input: count('input_tokens'),
    output: count('output_tokens'),
    cacheRead: count('cache_read_input_tokens'),
    cacheWrite: count('cache_creation_input_tokens'),
  }
}

function textOfBlocks(blocks: readonly Fields[]): string {
  return blocks.flatMap((block) => (block.type === 'text' ? (nonEmptyString(block.text) ?? []) : [])).join('\n')
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
export const fieldsOrEmpty = (value: unknown): Fields => (isFields(value) ? value : {})
const objectsIn = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : [])
export const nonEmptyString = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null
