/** What one tool event did: an edit, a command, a read, a search, … */
import type { InboxEvent } from '../../domain/event.ts'
import { isAmendment, isCommitCommand, readCommitMessage, stagedPaths } from './commands/git.ts'
import { readCommand } from './commands/index.ts'
import { mainRun, readShellLine } from './commands/shell-line.ts'
import { type EditAction, readFileEdit, readNotebookEdit } from './file-edit.ts'
import { asFields, type JsonFields, stringField } from './json-fields.ts'
import { shortPath, singleLine, stripControlCharacters } from './text.ts'
import type { CommandKind, CommandResult } from './types.ts'

interface ActionSource {
  /** The id of the event. */
  id: string
  at: number
  agent: string | null
  /** Characters of the event. */
  size: number
}

type ActionDetail =
  | EditAction
  /** `keys`: those of all commands of a chain that succeeded. `answer`: the output of a query or a measurement. */
  | { kind: 'command'; result: CommandResult; keys: string[]; answer: string | null }
  | { kind: 'read'; file: string }
  | { kind: 'search'; pattern: string; files: string[]; count: number | null }
  | { kind: 'web'; subject: string; found: string }
  | { kind: 'agent'; subject: string; found: string }
  | { kind: 'tool'; tool: string; subject: string; found: string }
  | { kind: 'failed'; tool: string; subject: string; error: string }
  /** Questions that the agent asked with a tool, and the user's answers. */
  | { kind: 'answers'; answers: AnsweredQuestion[] }
  /** The user refused a tool use; `reason` is what he said. */
  | { kind: 'refused'; tool: string; subject: string; reason: string }
  | { kind: 'nothing'; reason: string }

export type ToolAction = ActionSource & ActionDetail
export type ActionOf<K extends ToolAction['kind']> = Extract<ToolAction, { kind: K }>

export interface AnsweredQuestion {
  question: string
  answer: string
  /** The options that were offered and not chosen. */
  others: string[]
}

type ToolEvent = Exclude<InboxEvent, { kind: 'subagent_end' }>
type ActionReader = (event: Extract<ToolEvent, { kind: 'tool_use' }>, input: JsonFields) => ActionDetail

/** Longest result that is read. */
const MAX_FOUND_CHARS = 4_000
/** A report of a subagent is written for a reader. */
const MAX_REPORT_CHARS = 12_000

export function readToolAction(event: InboxEvent, size: number): ToolAction {
  return { id: event.id, at: event.at, agent: event.agent?.type ?? null, size, ...readDetail(event) }
}

function readDetail(event: InboxEvent): ActionDetail {
  if (event.kind === 'subagent_end')
    return {
      kind: 'agent',
      subject: event.agent?.type ?? 'subagent',
      found: boundedText(event.lastMessage, MAX_REPORT_CHARS),
    }
  const input = asFields(event.input)
  const { tool } = event
  const isShell = tool === 'Bash' || tool === 'BashOutput'
  if (isShell && (event.kind !== 'tool_failure' || refusalReason(event.error) === null)) return readBash(event, input)
  const subject = toolSubject(event, input)
  const refusal = event.kind === 'tool_failure' ? refusalReason(event.error) : null
  if (refusal !== null) return { kind: 'refused', tool, subject, reason: refusal }
  if (event.kind === 'tool_failure') return { kind: 'failed', tool, subject, error: singleLine(event.error, 300) }
  return READERS.get(tool)?.(event, input) ?? { kind: 'tool', tool, subject, found: responseText(event.response) }
}

const READERS = new Map<string, ActionReader>(
  Object.entries({
    Write: readFileEdit,
    Edit: readFileEdit,
    MultiEdit: readFileEdit,
    NotebookEdit: readNotebookEdit,
    Read: readRead('file_path'),
    NotebookRead: readRead('notebook_path'),
    Grep: readSearch,
    Glob: readSearch,
    WebFetch: readWeb((input) => stringField(input, 'url')),
    WebSearch: readWeb((input) => `search "${stringField(input, 'query')}"`),
    Agent: readAgent,
    Task: readAgent,
    ExitPlanMode: (_, input) => {
      const found = boundedText(stringField(input, 'plan'))
      return { kind: 'tool', tool: 'plan', subject: 'plan', found }
    },
    AskUserQuestion: readAnswers,
    LS: readNothing('a listing'),
    TodoWrite: readNothing('a list of things to do'),
    ToolSearch: readNothing('a look for tools'),
    KillShell: readNothing('a background command was ended'),
  } satisfies Record<string, ActionReader>),
)

function readBash(event: ToolEvent, input: JsonFields): ActionDetail {
  const failed = event.kind === 'tool_failure'
  const response = failed ? {} : asFields(event.response)
  const plain = !failed && typeof event.response === 'string' ? event.response : ''
  const command = stringField(input, 'command')
  const stdout = stringField(response, 'stdout') || plain
  const result = readCommand({
    command,
    stdout,
    stderr: stringField(response, 'stderr'),
    failed,
    error: failed ? event.error : null,
  })
  const keys = result.ok ? [result.key, ...chainKeys(command)] : [result.key]
  if (isCommitCommand(command)) {
    const commit = { message: readCommitMessage(command), amends: isAmendment(command), staged: stagedPaths(command) }
    return { kind: 'command', result: { ...result, ...commit }, keys, answer: null }
  }
  const answer = result.ok && ANSWERING_KINDS.has(result.kind) ? readAnswer(stdout) : null
  return { kind: 'command', result, keys, answer }
}

/** Commands of one line that are read separately. */
const MAX_CHAIN = 6

/** `a && b` that succeeds is a success of both. */
function chainKeys(command: string): string[] {
  const parts = command.split('&&')
  if (parts.length === 1 || parts.length > MAX_CHAIN || command.includes('<<')) return []
  return parts.map((part) => mainRun(readShellLine(part.trim()).runs).key)
}

/** Kinds of command whose output may be an answer: a query, a measurement, an address. */
const ANSWERING_KINDS = new Set<CommandKind>(['run', 'server', 'migration', 'build'])
const MAX_ANSWER_CHARS = 130
/** A longer output is a listing. */
const MAX_ANSWER_LINES = 12

function readAnswer(stdout: string): string | null {
  const lines = boundedText(stdout)
    .split('\n')
    .map((line) =>
      line
        .replace(/[|+=-]{3,}/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .filter((line) => /\w/.test(line) && !/^\(?\d+ rows?\)?$/.test(line))
  const first = lines.findIndex((line) => /\d/.test(line))
  if (first === -1 || lines.length > MAX_ANSWER_LINES) return null
  // The heading of a table is right above its first number.
  return singleLine(lines.slice(Math.max(0, first - 1), first + 2).join('; '), MAX_ANSWER_CHARS)
}

function readRead(field: string): ActionReader {
  return (event, input) => ({ kind: 'read', file: shortPath(stringField(input, field), event.cwd) })
}

function readWeb(subject: (input: JsonFields) => string): ActionReader {
  return (event, input) => ({ kind: 'web', subject: subject(input), found: responseText(event.response) })
}

function readNothing(reason: string): ActionReader {
  return () => ({ kind: 'nothing', reason })
}

function readSearch(event: Parameters<ActionReader>[0], input: JsonFields): ActionDetail {
  const response = asFields(event.response)
  const names = Array.isArray(response.filenames)
    ? response.filenames.filter((name): name is string => typeof name === 'string')
    : []
  const files = names.length > 0 ? names : filesInText(responseText(event.response))
  return {
    kind: 'search',
    pattern: singleLine(stringField(input, 'pattern') || stringField(input, 'query'), 80),
    files: files.slice(0, 20).map((file) => shortPath(file, event.cwd)),
    count: typeof response.numFiles === 'number' ? response.numFiles : files.length,
  }
}

function filesInText(text: string): string[] {
  return [...new Set(text.split('\n').flatMap((line) => /^([\w@./\\-]+\.\w{1,8})(?::|$)/.exec(line.trim())?.[1] ?? []))]
}

function readAgent(event: Parameters<ActionReader>[0], input: JsonFields): ActionDetail {
  return {
    kind: 'agent',
    subject: singleLine(stringField(input, 'description') || stringField(input, 'prompt'), 120),
    found: responseText(event.response, MAX_REPORT_CHARS),
  }
}

const REFUSED = /^(?:Error: )?The user (?:doesn't|does not) want to (?:proceed with|take) this/
const REFUSAL_REASON = /\bthe user said:\s*/i
const MAX_REASON_CHARS = 600

/** What the user said when he refused a tool use, empty if he said nothing; null if the error is no refusal. */
function refusalReason(error: string): string | null {
  if (!REFUSED.test(error.slice(0, 200))) return null
  const [, reason = ''] = error.slice(0, MAX_FOUND_CHARS).split(REFUSAL_REASON)
  return singleLine(reason.split(/\n\s*\n(?:Note|STOP)\b/)[0] ?? '', MAX_REASON_CHARS)
}

const MAX_ANSWERS = 4
const ANSWER_PAIR = /"([^"\n]{1,400})"="([^"\n]{1,400})"/g

/** The answers are an object by question, or in a sentence: `"Which one?"="The first"`. */
function readAnswers(event: Parameters<ActionReader>[0], input: JsonFields): ActionDetail {
  const given = asFields(asFields(event.response).answers)
  const pairs = Object.entries(given).flatMap(([question, answer]): [string, string][] =>
    typeof answer === 'string' ? [[question, answer]] : [],
  )
  if (pairs.length === 0) {
    for (const [, question = '', answer = ''] of responseText(event.response).matchAll(ANSWER_PAIR))
      pairs.push([question, answer])
  }
  const questions = Array.isArray(input.questions) ? input.questions.map(asFields) : []
  const answers = pairs.slice(0, MAX_ANSWERS).map(([question, answer]) => {
    const asked = questions.find((one) => one.question === question)
    const options = Array.isArray(asked?.options) ? asked.options.map((one) => stringField(asFields(one), 'label')) : []
    const others = options.filter((option) => option !== '' && !answer.includes(option))
    return { question: singleLine(question, 300), answer: singleLine(answer, 300), others }
  })
  return answers.length === 0
    ? { kind: 'nothing', reason: 'a question without an answer' }
    : { kind: 'answers', answers }
}

function toolSubject(event: ToolEvent, input: JsonFields): string {
  const file = stringField(input, 'file_path')
  if (file !== '') return shortPath(file, event.cwd)
  const text = Object.values(input).find((value) => typeof value === 'string' && value !== '')
  return singleLine(typeof text === 'string' ? text : '', 80)
}

const TEXT_FIELDS = ['text', 'result', 'content', 'output', 'stdout', 'results', 'message']

/** The text in a response of any shape. */
function responseText(response: unknown, maxChars = MAX_FOUND_CHARS): string {
  if (typeof response === 'string') return boundedText(response, maxChars)
  if (Array.isArray(response)) {
    const texts = response.map((part) => responseText(part, maxChars)).filter((text) => text !== '')
    return boundedText(texts.join('\n'), maxChars)
  }
  const fields = asFields(response)
  for (const name of TEXT_FIELDS) {
    const text = fields[name] === undefined || fields[name] === null ? '' : responseText(fields[name], maxChars)
    if (text !== '') return text
  }
  return ''
}

function boundedText(text: string, maxChars = MAX_FOUND_CHARS): string {
  return stripControlCharacters(text.slice(0, maxChars))
}
