/** From a tool event to what it did, in words the rules share. */
import type { MessageEvent } from '../../memory/event.ts'
import { readCommand } from './commands/index.ts'
import { commitMessageIn } from './commit-message.ts'
import { type Edited, edited, notebook } from './edits.ts'
import { type Fields, recordOf, textIn } from './fields.ts'
import { clean, oneLine, shortPath } from './text.ts'
import type { CommandResult } from './types.ts'

interface Base {
  /** The event it comes from. */
  id: string
  at: number
  agent: string | null
  /** Characters of the event: what a note about it stands for. */
  size: number
}

export type Action = Base &
  (
    | Edited
    /** `keys`: every command of a chain that succeeded, by its key. */
    | { do: 'command'; result: CommandResult; keys: string[]; said: string | null }
    | { do: 'read'; file: string }
    | { do: 'search'; pattern: string; files: string[]; count: number | null }
    | { do: 'web'; subject: string; found: string }
    | { do: 'agent'; subject: string; found: string }
    | { do: 'tool'; tool: string; subject: string; found: string }
    | { do: 'failed'; tool: string; subject: string; error: string }
    | { do: 'nothing'; reason: string }
  )

type ToolEvent = Exclude<MessageEvent, { kind: 'subagent_end' }>

/** Longest text that is looked at; the rest of a result repeats itself. */
const MAX_FOUND_CHARS = 4_000

export function actionOf(event: MessageEvent, size: number): Action {
  const base = { id: event.id, at: event.at, agent: event.agent?.type ?? null, size }
  if (event.kind === 'subagent_end') {
    return { ...base, do: 'agent', subject: event.agent?.type ?? 'subagent', found: bounded(event.lastMessage) }
  }
  const input = recordOf(event.input)
  const read = READERS[event.tool]
  if (event.tool === 'Bash' || event.tool === 'BashOutput') return { ...base, ...commandOf(event, input) }
  if (event.kind === 'tool_failure') {
    return {
      ...base,
      do: 'failed',
      tool: event.tool,
      subject: subjectOf(event, input),
      error: oneLine(event.error, 300),
    }
  }
  if (read !== undefined) return { ...base, ...read(event, input) }
  return { ...base, do: 'tool', tool: event.tool, subject: subjectOf(event, input), found: textOf(event.response) }
}

type Part = Action extends infer A ? (A extends Action ? Omit<A, keyof Base> : never) : never
type Reader = (event: Extract<ToolEvent, { kind: 'tool_use' }>, input: Fields) => Part

const READERS: Partial<Record<string, Reader>> = {
  Write: edited,
  Edit: edited,
  MultiEdit: edited,
  NotebookEdit: notebook,
  Read: (event, input) => ({ do: 'read', file: pathIn(event, input, 'file_path') }),
  NotebookRead: (event, input) => ({ do: 'read', file: pathIn(event, input, 'notebook_path') }),
  LS: () => ({ do: 'nothing', reason: 'a listing' }),
  Grep: searched,
  Glob: searched,
  WebFetch: (event, input) => ({ do: 'web', subject: textIn(input, 'url'), found: textOf(event.response) }),
  WebSearch: (event, input) => ({
    do: 'web',
    subject: `search "${textIn(input, 'query')}"`,
    found: textOf(event.response),
  }),
  Agent: delegated,
  Task: delegated,
  TodoWrite: () => ({ do: 'nothing', reason: 'a list of things to do' }),
  ExitPlanMode: (_event, input) => ({
    do: 'tool',
    tool: 'plan',
    subject: 'plan',
    found: bounded(textIn(input, 'plan')),
  }),
  ToolSearch: () => ({ do: 'nothing', reason: 'a look for tools' }),
  KillShell: () => ({ do: 'nothing', reason: 'a background command was ended' }),
}

function commandOf(event: ToolEvent, input: Fields): Part {
  const failed = event.kind === 'tool_failure'
  const response = failed ? {} : recordOf(event.response)
  const plain = !failed && typeof event.response === 'string' ? event.response : ''
  const command = textIn(input, 'command')
  const stdout = textIn(response, 'stdout') || plain
  const result = readCommand({
    command,
    description: textIn(input, 'description') || null,
    stdout,
    stderr: textIn(response, 'stderr'),
    failed,
    error: failed ? event.error : null,
  })
  const keys = result.ok ? [result.key, ...chainKeys(command)] : [result.key]
  if (result.kind === 'commit') {
    return { do: 'command', result: { ...result, message: commitMessageIn(command) }, keys, said: null }
  }
  return { do: 'command', result, keys, said: result.ok && SAYS.has(result.kind) ? saidBy(stdout) : null }
}

/** Commands in one line that are looked at one by one. */
const MAX_CHAIN = 6

/** `a && b` that succeeds is a success of both. */
function chainKeys(command: string): string[] {
  const parts = command.split('&&')
  if (parts.length === 1 || parts.length > MAX_CHAIN || command.includes('<<')) return []
  const silent = { description: null, stdout: '', stderr: '', failed: false, error: null }
  return parts.map((part) => readCommand({ command: part.trim(), ...silent }).key)
}

/** Kinds of command whose output is an answer: a query, a measurement, an address. */
const SAYS = new Set<CommandResult['kind']>(['run', 'server', 'migration', 'build'])
const MAX_SAID_CHARS = 130
/** An answer is short; what goes on for longer is a listing. */
const MAX_SAID_LINES = 12

function saidBy(stdout: string): string | null {
  const lines = clean(stdout.slice(0, MAX_FOUND_CHARS))
    .split('\n')
    .map((line) =>
      line
        .replace(/[|+=-]{3,}/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .filter((line) => /\w/.test(line) && !/^\(?\d+ rows?\)?$/.test(line))
  if (lines.length === 0 || lines.length > MAX_SAID_LINES || !lines.some((line) => /\d/.test(line))) return null
  const first = lines.findIndex((line) => /\d/.test(line))
  // A table's heading stands right above its first number.
  return oneLine(lines.slice(Math.max(0, first - 1), first + 2).join('; '), MAX_SAID_CHARS)
}

function searched(event: Extract<ToolEvent, { kind: 'tool_use' }>, input: Fields): Part {
  const response = recordOf(event.response)
  const listed = Array.isArray(response.filenames)
    ? response.filenames.filter((name): name is string => typeof name === 'string')
    : []
  const text = listed.length > 0 ? '' : textOf(event.response)
  const files = listed.length > 0 ? listed : filesNamedIn(text)
  const count = typeof response.numFiles === 'number' ? response.numFiles : files.length
  return {
    do: 'search',
    pattern: oneLine(textIn(input, 'pattern') || textIn(input, 'query'), 80),
    files: files.slice(0, 20).map((file) => shortPath(file, event.cwd)),
    count,
  }
}

function filesNamedIn(text: string): string[] {
  const names = text.split('\n').map((line) => /^([\w@./\\-]+\.\w{1,8})(?::|$)/.exec(line.trim())?.[1])
  return [...new Set(names.filter((name): name is string => name !== undefined))]
}

function delegated(event: Extract<ToolEvent, { kind: 'tool_use' }>, input: Fields): Part {
  return {
    do: 'agent',
    subject: oneLine(textIn(input, 'description') || textIn(input, 'prompt'), 120),
    found: textOf(event.response),
  }
}

function subjectOf(event: ToolEvent, input: Fields): string {
  const file = textIn(input, 'file_path')
  if (file !== '') return shortPath(file, event.cwd)
  const text = Object.values(input).find((value) => typeof value === 'string' && value !== '')
  return oneLine(typeof text === 'string' ? text : '', 80)
}

function pathIn(event: ToolEvent, input: Fields, name: string): string {
  return shortPath(textIn(input, name), event.cwd)
}

/** The words in a response of any shape. */
function textOf(response: unknown): string {
  if (typeof response === 'string') return bounded(response)
  if (Array.isArray(response))
    return bounded(
      response
        .map(textOf)
        .filter((text) => text !== '')
        .join('\n'),
    )
  const fields = recordOf(response)
  for (const name of ['text', 'result', 'content', 'output', 'stdout', 'results', 'message']) {
    if (fields[name] !== undefined && fields[name] !== null) {
      const text = textOf(fields[name])
      if (text !== '') return text
    }
  }
  return ''
}

function bounded(text: string): string {
  return clean(text.slice(0, MAX_FOUND_CHARS))
}
