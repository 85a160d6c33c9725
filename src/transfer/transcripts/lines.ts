/**
 * Reads a transcript of any size line by line and parses each line into an entry. A line that is too long is skipped
 * without being held in memory. Fields come and go between client versions (1.0 to 2.1): a missing or malformed field is
 * null, and a line without meaning for memory is no entry.
 */
import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Usage } from '../../domain/observation.ts'
import { readFileChunks } from '../../lib/files.ts'

/** The client inlines images. The same limit as for a hook's payload. */
const MAX_LINE_CHARS = 64 * 1024 * 1024

export interface NumberedLine {
  /** Starts at 1. */
  number: number
  /** Null if it was too long. */
  text: string | null
}

export async function* readLines(
  chunks: AsyncIterable<string>,
  maxChars = MAX_LINE_CHARS,
): AsyncGenerator<NumberedLine> {
  let parts: string[] = []
  let length = 0
  let number = 0
  const add = (part: string) => {
    length += part.length
    if (length > maxChars) parts = []
    else if (part !== '') parts.push(part)
  }
  const takeLine = (): NumberedLine => {
    const text = length > maxChars ? null : parts.join('')
    parts = []
    length = 0
    number += 1
    return { number, text }
  }
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
      add(chunk.slice(from, end))
      yield takeLine()
      from = end + 1
    }
    add(chunk.slice(from))
  }
  if (length > 0) yield takeLine()
}

/** Called for each line; `problem` says why it is skipped. */
export type OnLine = (line: NumberedLine, problem: string | null) => void

/**
 * The entries of a transcript: of a file, or of text in chunks. Newer clients write each subagent's lines to a separate
 * file, named in the subagent's result; these entries come before the result.
 */
export async function* readEntries(
  source: string | AsyncIterable<string>,
  onLine: OnLine,
): AsyncGenerator<TranscriptEntry> {
  if (typeof source !== 'string') return yield* parseLines(source, onLine)
  for await (const entry of parseLines(readFileChunks(source), onLine)) {
    for (const agentFile of findAgentFiles(source, entry)) {
      for await (const inner of parseLines(readFileChunks(agentFile), onLine)) {
        yield { ...inner, session: entry.session ?? inner.session, sidechain: true }
      }
    }
    yield entry
  }
}

async function* parseLines(chunks: AsyncIterable<string>, onLine: OnLine): AsyncGenerator<TranscriptEntry> {
  for await (const line of readLines(chunks)) {
    const { text } = line
    const entry = text === null || text.trim() === '' ? null : parseEntry(text)
    if (text === null) onLine(line, 'the line is too long')
    else onLine(line, entry === undefined ? 'the line is not JSON or is truncated' : null)
    if (entry !== null && entry !== undefined) yield entry
  }
}

function findAgentFiles(file: string, entry: TranscriptEntry): string[] {
  if (entry.kind !== 'results' || entry.sidechain) return []
  const directory = dirname(file)
  return entry.results.flatMap((result) => {
    const id = nonEmptyString(fieldsOrEmpty(result.response).agentId)
    if (id === null || !/^[\w-]{1,64}$/.test(id)) return []
    const name = `agent-${id}.jsonl`
    const candidates = [join(directory, basename(file, '.jsonl'), 'subagents', name), join(directory, name)]
    return candidates.filter((path) => path !== file && isRegularFile(path)).slice(0, 1)
  })
}

function isRegularFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

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
  (
    | { kind: 'prompt'; text: string }
    | { kind: 'interrupt' }
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
  )

type Fields = Record<string, unknown>

/** Undefined if the line is not JSON; null if it has no meaning for memory. */
function parseEntry(line: string): TranscriptEntry | null | undefined {
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
    cwd: nonEmptyString(value.cwd),
    promptId: nonEmptyString(value.promptId),
    sidechain: value.isSidechain === true,
    agentId: nonEmptyString(value.agentId),
  }
}

function userEntry(head: TranscriptEntryHead, value: Fields): TranscriptEntry | null {
  const content = fieldsOrEmpty(value.message).content
  const blocks = Array.isArray(content) ? content.filter(isFields) : []
  const results = blocks.filter((block) => block.type === 'tool_result')
  if (results.length > 0) return resultsEntry(head, results, value.toolUseResult)
  if (value.isCompactSummary === true) return { ...head, kind: 'compact_summary' }
  if (value.isMeta === true || value.isVisibleInTranscriptOnly === true) return null
  const text = typeof content === 'string' ? content : textOfBlocks(blocks)
  if (text.trim() === '') return null
  if (INTERRUPTED.test(text)) return { ...head, kind: 'interrupt' }
  return CLIENT_TEXT.test(text) ? null : { ...head, kind: 'prompt', text }
}

const INTERRUPTED = /^\s*\[Request interrupted by user/
/** Texts that the client itself inserts as prompts: slash commands, `!` commands, notices, warnings. */
const CLIENT_TEXT =
  /^\s*(?:<(?:command-(?:name|message|args)|local-command-\w+|bash-(?:input|stdout|stderr)|system-reminder|task-notification|user-memory-input|user-prompt-submit-hook)>|Caveat: The messages below were generated by the user)/

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
