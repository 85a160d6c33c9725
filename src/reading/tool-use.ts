/**
 * Reads one tool use: what kind it was, what it was about, whether it succeeded and what it said. Outcomes come from exit
 * codes and fields of the client, never from what a program prints.
 */
import type { ToolFailureEvent, ToolUseEvent } from '../domain/event.ts'
import { type EditedFile, readEditedFile } from './edits.ts'
import { asFields, type JsonFields, stringField } from './fields.ts'
import { outputLines, type RunTotals, readTotals, tellingLines } from './output.ts'
import { isReadable } from './pieces.ts'
import { readCommandLine, type ShellLine } from './shell.ts'
import { pathInProject, singleLine } from './text.ts'

export type ToolEvent = ToolUseEvent | ToolFailureEvent
export type ToolOutcome = 'ok' | 'failed' | null

interface ReadingBase {
  /** The command, the path, the question, the tool with what it was asked. */
  subject: string
  outcome: ToolOutcome
}
export interface ShellReading extends ReadingBase {
  kind: 'command'
  command: ShellLine
  /** Of the whole line; `outcome` is that of the command that the line was for. */
  exit: ToolOutcome
  /** What the agent said that it is for. */
  about: string
  /** Clean, bounded. */
  output: string[]
  /** Those of the output that say what happened. */
  lines: string[]
  totals: RunTotals
}
export interface EditReading extends ReadingBase {
  kind: 'edit'
  file: EditedFile
}
export interface AnswerReading extends ReadingBase {
  kind: 'answers'
  answers: { question: string; answer: string; others: string[] }[]
}
/** `plan`: what the agent wrote for the user to approve; `report`: of a subagent; `result`: of any other tool. */
export interface TextReading extends ReadingBase {
  kind: 'plan' | 'report' | 'result'
  texts: string[]
}
/** It only showed what the repository or the client has anyway, or only began something. */
export interface LookReading extends ReadingBase {
  kind: 'look'
}
export type ToolReading = ShellReading | EditReading | AnswerReading | TextReading | LookReading

const LOOKING_TOOLS = new Set(
  'Read NotebookRead Grep Glob LS TodoWrite TodoRead TaskCreate TaskUpdate TaskList TaskGet TaskStop ToolSearch KillShell KillBash Skill SlashCommand EnterPlanMode ListMcpResourcesTool'.split(
    ' ',
  ),
)
const EDIT_TOOLS = new Set(['Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Delete'])
const AGENT_TOOLS = new Set(['Agent', 'Task'])
const SHELL_TOOLS = new Set(['Bash', 'BashOutput', 'PowerShell', 'Shell'])
const WEB_TOOLS = new Set(['WebFetch', 'WebSearch'])
const MAX_SUBJECT_CHARS = 200

export function readToolUse(event: ToolEvent): ToolReading {
  const input = asFields(event.input)
  const { tool } = event
  if (SHELL_TOOLS.has(tool)) return readShell(event, input)
  const subject = singleLine(
    `${tool.replace(/^mcp__/, '').replace('__', ' ')} ${shownInput(event, input)}`,
    MAX_SUBJECT_CHARS,
  )
  const outcome = event.kind === 'tool_use' ? 'ok' : event.interrupted ? null : 'failed'
  if (LOOKING_TOOLS.has(tool)) return { kind: 'look', subject, outcome }
  // Only this client's own tools ask the user; elsewhere somebody else's tool may have the name.
  const isOwnTool = event.client === 'claude-code'
  if (tool === 'ExitPlanMode' && isOwnTool) {
    return {
      kind: 'plan',
      subject: 'plan',
      outcome: isAnsweredByUser(event) ? outcome : null,
      texts: [stringField(input, 'plan')],
    }
  }
  const mayAsk = isOwnTool && isAnsweredByUser(event)
  if (event.kind === 'tool_failure') {
    const isKept = !EDIT_TOOLS.has(tool) && !AGENT_TOOLS.has(tool) && !(mayAsk && tool === 'AskUserQuestion')
    return isKept
      ? { kind: 'result', subject, outcome, texts: readable(event.error) }
      : { kind: 'look', subject, outcome }
  }
  if (EDIT_TOOLS.has(tool)) {
    const file = readEditedFile(event)
    return { kind: 'edit', subject: file.path, outcome, file }
  }
  if (tool === 'AskUserQuestion' && mayAsk)
    return { kind: 'answers', subject, outcome, answers: readAnswers(event, input) }
  if (AGENT_TOOLS.has(tool)) {
    // Any other status (`async_launched`, `teammate_spawned`) says that it has only begun.
    const { status = 'completed' } = asFields(event.response)
    return { kind: 'report', subject, outcome, texts: status === 'completed' ? [responseText(event.response)] : [] }
  }
  const asked = WEB_TOOLS.has(tool) ? [] : statements(input)
  return { kind: 'result', subject, outcome, texts: [...asked, ...readable(responseText(event.response))] }
}

/** What a subagent or a member of an agent team asks is answered by the agent that leads it. */
function isAnsweredByUser(event: ToolEvent): boolean {
  const { isAgent, awaitingLeaderApproval } = event.kind === 'tool_use' ? asFields(event.response) : {}
  return event.agent === null && isAgent !== true && awaitingLeaderApproval !== true
}

function readShell(event: ToolEvent, input: JsonFields): ShellReading {
  const response = event.kind === 'tool_use' ? asFields(event.response) : {}
  const error = event.kind === 'tool_failure' ? event.error.replace(/^(?:Error: )?Exit code \d+\n?/, '') : ''
  const stdout = event.kind === 'tool_use' ? stringField(response, 'stdout') || responseText(event.response) : ''
  const output = outputLines([stdout, stringField(response, 'stderr'), error])
  const command = readCommandLine(stringField(input, 'command') || stringField(response, 'command'), event.cwd)
  const exit = exitOf(event, response)
  return {
    kind: 'command',
    command,
    exit,
    subject: command.shown || 'output of a background command',
    about: singleLine(stringField(input, 'description'), MAX_SUBJECT_CHARS),
    outcome: command.kind === 'check' ? checkOutcome(command, exit) : lineOutcome(command, exit),
    output,
    lines: tellingLines(output),
    totals: readTotals(output),
  }
}

/** Of the whole line, as the client reports it. */
function exitOf(event: ToolEvent, response: JsonFields): ToolOutcome {
  if (event.kind === 'tool_failure') return event.interrupted ? null : 'failed'
  if (response.interrupted === true) return null
  if (typeof response.exitCode === 'number') return response.exitCode === 0 ? 'ok' : 'failed'
  // Claude Code reports every other code as a failure, and a command in the background when it begins.
  const isEnded =
    event.client === 'claude-code' && event.tool !== 'BashOutput' && response.backgroundTaskId === undefined
  return response.exitCode === undefined && isEnded ? 'ok' : null
}

function lineOutcome(command: ShellLine, exit: ToolOutcome): ToolOutcome {
  return exit === 'ok' && command.hidesExit ? null : exit
}

/** A pipe, a `;` or an `||` hides the code, and that of a failed `test && push` may be of either. */
function checkOutcome({ all }: ShellLine, exit: ToolOutcome): ToolOutcome {
  const after = all.slice(all.findIndex(({ kind }) => kind === 'check'))
  if (after.some(({ hidesExit }) => hidesExit)) return null
  const isOnlyChecks = all.every(({ kind, program }) => kind === 'check' || program === 'cd' || program === 'set')
  return exit === 'failed' && !isOnlyChecks ? null : exit
}

/** A client asks at most four questions at once. */
const MAX_QUESTIONS = 8
const MAX_OPTIONS = 20

/** Only what the client's own field says that the user chose. */
function readAnswers(event: ToolUseEvent, input: JsonFields): AnswerReading['answers'] {
  const answers = asFields(asFields(event.response).answers)
  const questions = Array.isArray(input.questions) ? input.questions.slice(0, MAX_QUESTIONS).map(asFields) : []
  return questions.flatMap((question) => {
    const asked = stringField(question, 'question')
    const answer = chosenAnswer(answers[asked] ?? answers[stringField(question, 'header')])
    if (asked === '' || answer === '') return []
    const options = Array.isArray(question.options) ? question.options.slice(0, MAX_OPTIONS).map(asFields) : []
    const labels = options.map((option) => stringField(option, 'label'))
    return [{ question: asked, answer, others: labels.filter((label) => label !== '' && !answer.includes(label)) }]
  })
}

function chosenAnswer(value: unknown): string {
  if (typeof value === 'string') return value.trim()
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string').join(', ') : ''
}

const readable = (text: string): string[] => (isReadable(text) ? [text] : [])

/** Characters of a text in an input from which on it is a statement of the agent: a note, the body of an issue. */
const MIN_STATEMENT_CHARS = 80

function statements(input: JsonFields): string[] {
  return Object.values(input).filter(
    (value): value is string => typeof value === 'string' && value.length >= MIN_STATEMENT_CHARS && isReadable(value),
  )
}

function shownInput(event: ToolEvent, input: JsonFields): string {
  const file = stringField(input, 'file_path')
  if (file !== '') return pathInProject(file, event.cwd)
  const short = Object.values(input).find((value) => typeof value === 'string' && value !== '' && value.length < 400)
  return typeof short === 'string' ? short : ''
}

const TEXT_FIELDS = ['text', 'result', 'content', 'output', 'stdout', 'results', 'message']
const MAX_RESPONSE_CHARS = 60_000
const MAX_RESPONSE_DEPTH = 6

/** The text in a response of any shape; empty if it has none. */
function responseText(response: unknown, depth = 0): string {
  if (typeof response === 'string') return response.slice(0, MAX_RESPONSE_CHARS)
  if (depth > MAX_RESPONSE_DEPTH) return ''
  if (Array.isArray(response)) {
    const texts = response.slice(0, 50).map((item) => responseText(item, depth + 1))
    return texts
      .filter((text) => text !== '')
      .join('\n')
      .slice(0, MAX_RESPONSE_CHARS)
  }
  const fields = asFields(response)
  for (const name of TEXT_FIELDS) {
    const text = responseText(fields[name] ?? '', depth + 1)
    if (text !== '') return text
  }
  return ''
}
