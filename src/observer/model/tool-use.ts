/**
 * What a model reads of a tool use. Common tools have a reader that picks the informative fields; of any other tool all
 * fields are shown, without empty ones, ids, counters and binary data.
 */

import type { InboxEvent, ToolFailureEvent, ToolUseEvent } from '../../domain/event.ts'
import { boundValue } from '../../domain/sanitize.ts'
import { pathBelow } from '../../lib/paths.ts'
import { trimEndMatching } from '../../lib/trim.ts'
import { type EditHunk, readEditedFile } from '../../reading/edits.ts'
import { asFields, type JsonFields, numberField, stringField } from '../../reading/fields.ts'

export interface ToolUsePart {
  /** Null: the text needs no label. */
  label: string | null
  text: string
  /** Share of the limit for one field, from 0 to 1. */
  share: number
}

interface ToolUseText {
  tool: string
  input: ToolUsePart[]
  outcome: ToolUsePart[]
  /** Null: it succeeded. */
  ended: 'failed' | 'interrupted' | null
}

/** Share of what was only looked at: less informative than what was written. */
const LOOKED_AT = 0.35

export function describeToolUse(event: InboxEvent, projectDir: string): ToolUseText {
  if (event.kind === 'subagent_end') {
    return { tool: 'subagent ended', input: [], outcome: part(null, event.lastMessage), ended: null }
  }
  const path: ShortenPath = (given) => projectPath(given, projectDir)
  const reader = (Object.hasOwn(READERS, event.tool) ? READERS[event.tool] : null) ?? {}
  const response = event.kind === 'tool_use' ? asFields(event.response) : {}
  const read = reader.input?.(asFields(event.input), path, event) ?? []
  // The fallback covers clients that name the fields differently.
  const input = read.length > 0 ? read : part(null, toolValueText(event.input))
  if (event.kind === 'tool_failure') {
    const ended = event.interrupted ? 'interrupted' : 'failed'
    const error = event.tool === 'Bash' ? commandOutput(event.error) : maskBlobs(event.error)
    return { tool: event.tool, input, outcome: part(null, error), ended }
  }
  const outcome = reader.outcome?.(response, event, path) ?? part(null, toolValueText(event.response))
  return { tool: event.tool, input, outcome, ended: response.interrupted === true ? 'interrupted' : null }
}

type ShortenPath = (path: string) => string

interface ToolReader {
  input?: (input: JsonFields, path: ShortenPath, event: ToolUseEvent | ToolFailureEvent) => ToolUsePart[]
  /** Null: the response has another shape, and all its fields are shown. */
  outcome?: (response: JsonFields, event: ToolUseEvent, path: ShortenPath) => ToolUsePart[] | null
}

const EDIT: ToolReader = {
  input: (input, path, event) => {
    const change = changeText(event)
    if (change === '') return []
    const edits = [input, ...(Array.isArray(input.edits) ? input.edits.map(asFields) : [])]
    return [
      ...filePart(input, path),
      ...part('replaced', edits.some((edit) => edit.replace_all === true) ? 'everywhere' : ''),
      ...part(null, maskBlobs(change)),
    ]
  },
  outcome: (response) => ('filePath' in response ? [] : null),
}

const SEARCH: ToolReader = {
  input: (input, path) => [
    ...part('pattern', stringField(input, 'pattern')),
    ...part('in', path(stringField(input, 'path'))),
    ...part('files', stringField(input, 'glob') || stringField(input, 'type')),
  ],
  outcome: (response, _event, path) => {
    const content = stringField(response, 'content')
    if (content === '' && !Array.isArray(response.filenames)) return null
    const found = content || stringItems(response.filenames).map(path).join('\n')
    return part(null, found || '(no match)', LOOKED_AT)
  },
}

const AGENT: ToolReader = {
  input: (input) => [
    ...part('agent', stringField(input, 'subagent_type')),
    ...part('task', stringField(input, 'description')),
    ...part('prompt', stringField(input, 'prompt'), LOOKED_AT),
  ],
  outcome: (response) =>
    response.content === undefined
      ? null
      : [...part('status', stringField(response, 'status')), ...part(null, toolValueText(response.content))],
}

const READERS: Partial<Record<string, ToolReader>> = {
  Edit: EDIT,
  MultiEdit: EDIT,
  Write: {
    input: (input, path, event) => {
      const change = overwriteChange(event)
      const [label, text] = change === '' ? ['content', stringField(input, 'content')] : [null, change]
      return [...filePart(input, path), ...part(label, maskBlobs(text))]
    },
    outcome: (response, event) => {
      if (!('filePath' in response)) return null
      const isChange = overwriteChange(event) !== ''
      return part(
        null,
        response.type === 'create' ? 'new file' : isChange ? 'overwritten, with this change' : 'overwritten',
      )
    },
  },
  NotebookEdit: {
    input: (input, path) => {
      const cell = ['edit_mode', 'cell_type', 'cell_id'].map((name) => stringField(input, name))
      return [
        ...part('notebook', path(stringField(input, 'notebook_path'))),
        ...part('cell', cell.filter(Boolean).join(' ')),
        ...part(null, stringField(input, 'new_source')),
      ]
    },
    outcome: (response) => ('new_source' in response ? part('error', stringField(response, 'error')) : null),
  },
  Read: {
    input: (input, path) => [...filePart(input, path), ...part('lines', lineRange(input))],
    outcome: (response) => {
      const read = asFields(response.file)
      if (typeof read.content === 'string') return part(null, maskBlobs(read.content) || '(empty)', LOOKED_AT)
      if (Array.isArray(read.cells)) return part(null, toolValueText(read.cells), LOOKED_AT)
      return response.type === 'image' || response.type === 'pdf' ? part(null, `[${response.type}]`) : null
    },
  },
  Bash: {
    input: (input) => [
      ...part('command', stringField(input, 'command')),
      ...part('why', stringField(input, 'description')),
      ...part('background', input.run_in_background === true ? 'yes' : ''),
    ],
    outcome: (response) => {
      if (typeof response.stdout !== 'string' && typeof response.stderr !== 'string') return null
      const parts = [
        ...part(null, commandOutput(stringField(response, 'stdout'))),
        ...part('stderr', commandOutput(stringField(response, 'stderr'))),
        ...part('exit', stringField(response, 'returnCodeInterpretation') || toolValueText(response.exitCode)),
      ]
      return parts.length > 0 ? parts : part(null, '(no output)')
    },
  },
  Grep: SEARCH,
  Glob: SEARCH,
  Task: AGENT,
  Agent: AGENT,
  WebFetch: {
    input: (input) => [...part('url', stringField(input, 'url')), ...part('asked', stringField(input, 'prompt'))],
    outcome: (response) =>
      typeof response.result === 'string'
        ? [...part('status', httpStatus(response)), ...part(null, maskBlobs(response.result))]
        : null,
  },
}

/** No part for an empty text. */
function part(label: string | null, text: string, share = 1): ToolUsePart[] {
  return text.trim() === '' ? [] : [{ label, text, share }]
}

function filePart(input: JsonFields, path: ShortenPath): ToolUsePart[] {
  return part('file', path(stringField(input, 'file_path')))
}

/** Claude Code adds it to the output of a command that changed the directory. */
const CLIENT_NOTE = /^Shell cwd was reset to .*\n?/gm

const commandOutput = (output: string): string => maskBlobs(output.replace(CLIENT_NOTE, ''))

function stringItems(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function lineRange(input: JsonFields): string {
  const offset = numberField(input, 'offset')
  const limit = numberField(input, 'limit')
  if (limit > 0) return `${Math.max(1, offset)}-${Math.max(1, offset) + limit - 1}`
  return offset > 1 ? `from ${offset}` : ''
}

/** Empty for 200. */
function httpStatus(response: JsonFields): string {
  const code = numberField(response, 'code')
  return code === 0 || code === 200 ? '' : `${code} ${stringField(response, 'codeText')}`.trim()
}

/** Relative to the project for a path inside it. */
export function projectPath(path: string, projectDir: string): string {
  const slashed = path.replaceAll('\\', '/')
  const base = trimEndMatching(projectDir.replaceAll('\\', '/'), /\//)
  if (base === '') return path
  if (trimEndMatching(slashed, /\//) === base) return '.'
  return pathBelow(projectDir, path) ?? path
}

/** The hunks of a change, each with the line and the declaration that it is in. */
function changeText(event: ToolUseEvent | ToolFailureEvent): string {
  const attempt =
    event.kind === 'tool_use' ? event : { ...event, kind: 'tool_use' as const, response: null, durationMs: null }
  return readEditedFile(attempt).hunks.map(hunkText).join('\n')
}

function hunkText({ oldStart, lines, heading }: EditHunk): string {
  return [`@@ line ${oldStart}${heading === null ? '' : ` in ${heading}`}`, ...lines].join('\n')
}

/** A change this short is shown also where the whole content is shorter. */
const SHORT_CHANGE_CHARS = 500

/**
 * What a file that existed before has lost and got. Empty for a new file, for one that has little left of its old
 * content, and where that is not known: the new content is then shown instead.
 */
function overwriteChange(event: ToolUseEvent | ToolFailureEvent): string {
  const change = changeText(event)
  const content = stringField(asFields(event.input), 'content')
  return change.length > Math.max(content.length, SHORT_CHANGE_CHARS) ? '' : change
}

/** Generous: the text is shortened later, to its share. */
const VALUE_BOUNDS = { text: 65_536, total: 262_144, members: 100, depth: 8 }

/** Fields that clients add for themselves: copies of whole files, ids, counters. */
const NOISE_FIELDS = new Set([
  ...['originalFile', 'original_file', 'updated_file', 'userModified', 'isImage', 'noOutputExpected', 'durationMs'],
  ...['durationSeconds', 'duration_ms', 'totalDurationMs', 'usage', 'toolStats', 'tool_use_id', 'toolUseId'],
  ...['session_id', 'signature', 'cache_control'],
])

/** A JSON value as text: one line per field, without empty fields and binary data. */
function toolValueText(value: unknown): string {
  return jsonText(boundValue(value, VALUE_BOUNDS))
}

function jsonText(value: unknown): string {
  if (typeof value === 'string') return maskBlobs(value)
  if (Array.isArray(value)) return joinLines(value.map(jsonText))
  if (typeof value !== 'object' || value === null) return value === null ? '' : String(value)
  const fields = asFields(value)
  return contentBlockText(fields) ?? joinLines(Object.entries(fields).map(([name, member]) => fieldText(name, member)))
}

function joinLines(lines: readonly string[]): string {
  return lines.filter((line) => line !== '').join('\n')
}

function fieldText(name: string, member: unknown): string {
  if (NOISE_FIELDS.has(name)) return ''
  const text = isReadable(member) ? jsonText(member) : JSON.stringify(withoutNoise(member))
  if (text === undefined || text === '') return ''
  return text.includes('\n') ? `${name}:\n${text}` : `${name}: ${text}`
}

/** A scalar, or a list with content blocks, reads better as text than as JSON. */
function isReadable(member: unknown): boolean {
  if (typeof member !== 'object') return true
  return Array.isArray(member) && member.some((item) => contentBlockText(asFields(item)) !== null)
}

/** The content blocks of MCP and of the Messages API: `{ type: 'text', text }`, `{ type: 'image', … }`. */
function contentBlockText(fields: JsonFields): string | null {
  if (fields.type === 'text' && typeof fields.text === 'string') return maskBlobs(fields.text)
  const isMedia = fields.type === 'image' || fields.type === 'audio' || fields.type === 'document'
  const hasData = 'data' in fields || 'source' in fields || 'base64' in asFields(fields.file)
  return isMedia && hasData ? `[${fields.type}]` : null
}

/** Undefined if nothing is left. The depth is already bounded. */
function withoutNoise(value: unknown): unknown {
  if (typeof value === 'string') return value === '' ? undefined : maskBlobs(value)
  if (value === null) return undefined
  if (Array.isArray(value)) {
    const items = value.map(withoutNoise).filter((item) => item !== undefined)
    return items.length === 0 ? undefined : items
  }
  if (typeof value !== 'object') return value
  const entries = Object.entries(value)
    .filter(([name]) => !NOISE_FIELDS.has(name))
    .map(([name, member]): [string, unknown] => [name, withoutNoise(member)])
    .filter(([, member]) => member !== undefined)
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** This many characters of base64 or hex in a row are data; a hash or a token is shorter. */
const BLOB = /(?:data:[\w.+/;=-]{1,80},)?[A-Za-z\d+/_=-]{300,}/g
/** A long word that is not data, such as a path or a line of dashes, has fewer digits. */
const MIN_BLOB_DIGITS = 10

function maskBlobs(text: string): string {
  return text.replace(BLOB, (blob) =>
    (blob.match(/\d/g)?.length ?? 0) < MIN_BLOB_DIGITS
      ? blob
      : `[data, ${blob.length.toLocaleString('en-US')} characters]`,
  )
}
