/** Passages of tool uses: commands with the telling lines of their output, edits, answers of the user, results. */
import type { ToolFailureEvent, ToolUseEvent } from '../../domain/event.ts'
import { asFields, type JsonFields, stringField } from '../tool-events/json-fields.ts'
import { shortPath, singleLine } from '../tool-events/text.ts'
import { answerPassages, refusalReason } from './answers.ts'
import { commandPassages } from './commands.ts'
import { editPassages } from './edits.ts'
import { cutProse, isReadable, type PassageContent } from './pieces.ts'

type ToolEvent = ToolUseEvent | ToolFailureEvent

/** Of a page, an answer of a search engine or of a tool of an MCP server. */
const MAX_RESULT_PASSAGES = 8
/** Of a subagent's report or a plan. */
const MAX_REPORT_PASSAGES = 24

/** They show what the repository or the client has anyway, or only begin something. */
const WITHOUT_PASSAGES = new Set(
  'Read NotebookRead Grep Glob LS TodoWrite TodoRead TaskCreate TaskUpdate TaskList TaskGet TaskStop ToolSearch KillShell KillBash Skill SlashCommand EnterPlanMode ListMcpResourcesTool'.split(
    ' ',
  ),
)
const EDIT_TOOLS = new Set(['Write', 'Edit', 'MultiEdit', 'NotebookEdit'])
const AGENT_TOOLS = new Set(['Agent', 'Task'])
const SHELL_TOOLS = new Set(['Bash', 'BashOutput', 'PowerShell', 'Shell'])

export function toolPassages(event: ToolEvent): PassageContent[] {
  const input = asFields(event.input)
  const { tool } = event
  const refused = event.kind === 'tool_failure' ? refusalReason(event.error) : null
  if (refused !== null) return refused === '' ? [] : answer(`${tool} ${shownInput(event, input)}`.trim(), refused)
  if (SHELL_TOOLS.has(tool)) return commandPassages(event, input)
  if (tool === 'AskUserQuestion') return event.kind === 'tool_use' ? answerPassages(event, input) : []
  if (WITHOUT_PASSAGES.has(tool)) return []
  if (EDIT_TOOLS.has(tool)) return event.kind === 'tool_use' ? editPassages(event, input) : []
  if (tool === 'ExitPlanMode') return planPassages(event, input)
  if (AGENT_TOOLS.has(tool)) return event.kind === 'tool_use' ? reportPassages(event) : []
  return resultPassages(event, input)
}

/** The reason with which the user refused a tool use is an answer too. */
function answer(subject: string, reason: string): PassageContent[] {
  return cutProse(`Refused: ${reason}`, MAX_RESULT_PASSAGES).map((text) => ({
    kind: 'answer',
    subject: singleLine(subject, MAX_SUBJECT_CHARS),
    outcome: null,
    text,
  }))
}

/** A plan is what the agent wrote for the user to read. */
function planPassages(event: ToolEvent, input: JsonFields): PassageContent[] {
  const outcome = event.kind === 'tool_use' ? 'ok' : 'failed'
  const pieces = cutProse(stringField(input, 'plan'), MAX_REPORT_PASSAGES)
  return pieces.map((text) => ({ kind: 'words', subject: 'plan', outcome, text }))
}

/** Equal to the passages of the subagent's own end, so that a report is kept once. */
function reportPassages(event: ToolUseEvent): PassageContent[] {
  const response = asFields(event.response)
  if (response.status === 'async_launched') return []
  const pieces = cutProse(responseText(event.response), MAX_REPORT_PASSAGES)
  return pieces.map((text) => ({ kind: 'report', subject: null, outcome: null, text }))
}

/** Characters of a text in an input from which on it is a statement of the agent: a note, the body of an issue. */
const MIN_STATEMENT_CHARS = 80
/** An address, a query, a path. */
const MAX_SUBJECT_CHARS = 200

function resultPassages(event: ToolEvent, input: JsonFields): PassageContent[] {
  const subject = singleLine(`${toolName(event.tool)} ${shownInput(event, input)}`, MAX_SUBJECT_CHARS)
  const outcome = event.kind === 'tool_use' ? 'ok' : 'failed'
  const asked = WEB_TOOLS.has(event.tool) ? [] : statements(input)
  const found = event.kind === 'tool_use' ? responseText(event.response) : event.error
  const texts = [...asked, isReadable(found) ? found : '']
  const pieces = texts.flatMap((text) => cutProse(text, MAX_RESULT_PASSAGES)).slice(0, MAX_RESULT_PASSAGES * 2)
  return pieces.map((text) => ({ kind: 'result', subject, outcome, text }))
}

const WEB_TOOLS = new Set(['WebFetch', 'WebSearch'])
const toolName = (tool: string): string => tool.replace(/^mcp__/, '').replace('__', ' ')

function statements(input: JsonFields): string[] {
  return Object.values(input).filter(
    (value): value is string => typeof value === 'string' && value.length >= MIN_STATEMENT_CHARS && isReadable(value),
  )
}

function shownInput(event: ToolEvent, input: JsonFields): string {
  const file = stringField(input, 'file_path')
  if (file !== '') return shortPath(file, event.cwd)
  const short = Object.values(input).find((value) => typeof value === 'string' && value !== '' && value.length < 400)
  return typeof short === 'string' ? short : ''
}

const TEXT_FIELDS = ['text', 'result', 'content', 'output', 'stdout', 'results', 'message']
const MAX_RESPONSE_CHARS = 60_000
const MAX_RESPONSE_DEPTH = 6

/** The text in a response of any shape; empty if it has none. */
export function responseText(response: unknown, depth = 0): string {
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
