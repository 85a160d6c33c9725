/**
 * GitHub Copilot CLI, registered with Claude Code's names of events (seen with 1.0.102): then its payloads have them, too,
 * but inputs and results of tools are its own. It sends ids neither of calls nor of turns: an event's id is a hash of its
 * payload, which has a time in milliseconds. The last answer of a turn is not in the payload; it is read from the
 * session's `events.jsonl`, which has it some ten milliseconds later.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { OWN_MCP_SERVER, OWN_MCP_TOOLS } from '../../domain/event.ts'
import { readFileEnd, readTextFile } from '../../lib/files.ts'
import { dataDirectory, dataPaths, shortHash } from '../../lib/paths.ts'
import { pause } from '../../lib/timeout.ts'
import {
  type ClientAdapter,
  fieldsOf,
  type HookOutcome,
  type HookPayload,
  STANDARD_TRAITS,
  stringOrEmpty,
} from './adapter.ts'
import {
  editUse,
  mcpToolName,
  otherToolName,
  patchUses,
  readUse,
  shellUse,
  subagentUse,
  toolFailure,
  toolUse,
  unifiedDiffHunks,
  writeUse,
} from './tool-shapes.ts'

export const copilotAdapter: ClientAdapter = {
  name: 'copilot',
  traits: STANDARD_TRAITS,
  translate: (payload, env, raw) => {
    const event = stringOrEmpty(payload.hook_event_name)
    const events = Object.hasOwn(TRANSLATORS, event) ? (TRANSLATORS[event]?.(payload) ?? []) : []
    if (events.length === 0 && event !== 'UserPromptSubmit') return []
    const common = commonFields(payload, env)
    const key = `${event}:${shortHash(`${raw.length}:${ends(raw)}`)}`
    return events.map((fields, index) => ({ ...common, ...fields, tool_use_id: `${key}:${index}` }))
  },
  // Only a flat `additionalContext` reaches the model.
  answer: ({ event, context }: HookOutcome) =>
    context !== '' && (event === 'SessionStart' || event === 'UserPromptSubmit') ? { additionalContext: context } : {},
}

const isSubagent = ({ agent_id }: HookPayload): boolean => stringOrEmpty(agent_id) !== ''

const TRANSLATORS: Record<string, (payload: HookPayload) => HookPayload[]> = {
  SessionStart: ({ source }) => [{ hook_event_name: 'SessionStart', source: source === 'new' ? 'startup' : source }],
  // A subagent's task is not a prompt of the user.
  UserPromptSubmit: (payload) =>
    isSubagent(payload) ? [] : [{ hook_event_name: 'UserPromptSubmit', prompt: payload.prompt }],
  PostToolUse: ({ tool_name, tool_input, tool_result, cwd }) => {
    const { text_result_for_llm, result_type } = fieldsOf(tool_result)
    const text = stringOrEmpty(text_result_for_llm)
    const [tool, input] = [stringOrEmpty(tool_name), fieldsOf(tool_input)]
    if (result_type === 'failure' || result_type === 'rejected' || result_type === 'denied') {
      return [copilotToolFailure(tool, input, text || String(result_type))]
    }
    return copilotToolUses(tool, input, { text }, stringOrEmpty(cwd))
  },
  PostToolUseFailure: ({ tool_name, tool_input, error }) => {
    const reason = stringOrEmpty(error) || stringOrEmpty(fieldsOf(error).message) || 'failed'
    return [copilotToolFailure(stringOrEmpty(tool_name), fieldsOf(tool_input), reason)]
  },
  SubagentStop: ({ last_assistant_message }) => [{ hook_event_name: 'SubagentStop', last_assistant_message }],
  // SubagentStop follows for a subagent.
  Stop: (payload) => {
    if (isSubagent(payload)) return []
    const transcript = stringOrEmpty(payload.transcript_path)
    return [{ hook_event_name: 'Stop', last_assistant_message: waitForAnswer(transcript) }]
  },
  PreCompact: ({ trigger }) => [{ hook_event_name: 'PreCompact', trigger }],
  SessionEnd: ({ reason }) => [{ hook_event_name: 'SessionEnd', reason }],
}

function commonFields(payload: HookPayload, env: NodeJS.ProcessEnv): HookPayload {
  const { cwd, transcript_path, agent_id, agent_type } = payload
  const common = { cwd, transcript_path }
  if (!isSubagent(payload)) return { ...common, session_id: payload.session_id }
  return { ...common, session_id: rootSession(payload, env), agent_id, agent_type }
}

/** Hashing in plain JavaScript is slow; time, tool and input are at the beginning. */
const HASHED_CHARS = 8_192

/** What is hashed of a payload: the same payload twice (hooks that are registered twice) is one event. */
function ends(raw: string): string {
  return raw.length <= 2 * HASHED_CHARS ? raw : raw.slice(0, HASHED_CHARS) + raw.slice(-HASHED_CHARS)
}

/**
 * The session of the user that a subagent belongs to. Its own `session_id` is that of the subagent or one that occurs
 * nowhere else. Subagents of subagents name only their parent: each leaves a file for its own subagents, with the task that
 * is its first event, and it is removed with its last one.
 */
function rootSession(payload: HookPayload, env: NodeJS.ProcessEnv): string {
  const agent = stringOrEmpty(payload.agent_id)
  const parent = stringOrEmpty(payload.parent_agent_id) || stringOrEmpty(payload.session_id)
  const [, fromPath] =
    /[/\\]session-state[/\\]([^/\\]+)[/\\]events\.jsonl$/.exec(stringOrEmpty(payload.transcript_path)) ?? []
  const { clientSessions } = dataPaths(dataDirectory(env))
  const fileOf = (id: string) => join(clientSessions, `${shortHash(id)}.root`)
  const root = fromPath ?? readTextFile(fileOf(agent))?.trim() ?? readTextFile(fileOf(parent))?.trim() ?? parent
  try {
    if (payload.hook_event_name === 'SubagentStop') rmSync(fileOf(agent), { force: true })
    else if (payload.hook_event_name === 'UserPromptSubmit') {
      mkdirSync(clientSessions, { recursive: true, mode: 0o700 })
      writeFileSync(fileOf(agent), root, { mode: 0o600 })
    }
  } catch {
    // Then the events of its subagents are stored under its own id.
  }
  return root
}

export function copilotHome(env: NodeJS.ProcessEnv, home: string): string {
  const configured = env.COPILOT_HOME
  return configured !== undefined && configured !== '' ? configured : join(home, '.copilot')
}

/** The file that install writes. */
export const COPILOT_HOOKS_FILE = join('hooks', 'claude-mem.json')

/**
 * Copilot runs the hooks of a trusted project's `.claude/settings.json`, too. Its payloads have a time, which Claude Code's
 * have not: a Claude Code that runs inside of Copilot inherits the variable.
 */
export function isCopilotPayload(payload: HookPayload, env: NodeJS.ProcessEnv): boolean {
  return env.COPILOT_CLI === '1' && payload.timestamp !== undefined && payload.permission_mode === undefined
}

/** Then the hooks of Claude Code's settings have nothing to report. */
export function hasCopilotHooks(env: NodeJS.ProcessEnv): boolean {
  const { COPILOT_PROJECT_DIR: project = '' } = env
  const ofProject = project === '' ? [] : [join(project, '.github', COPILOT_HOOKS_FILE)]
  return [join(copilotHome(env, homedir()), COPILOT_HOOKS_FILE), ...ofProject].some((file) => existsSync(file))
}

/** How long the hook waits for the answer: it was there after 2 to 50 ms, and Copilot waits for the hook. */
const ANSWER_WAIT_MS = 600
const ANSWER_POLL_MS = 15
const TAIL_BYTES = 256 * 1024

function waitForAnswer(transcript: string): string {
  if (transcript === '') return ''
  for (let waited = 0; ; waited += ANSWER_POLL_MS) {
    const answer = lastAnswer(transcript)
    if (answer !== '' || waited >= ANSWER_WAIT_MS) return answer
    pause(ANSWER_POLL_MS)
  }
}

/** The text of the main agent after its last tool use; empty while it is not there. */
function lastAnswer(transcript: string): string {
  let lines: string[]
  try {
    lines = readFileEnd(transcript, TAIL_BYTES).split('\n')
  } catch {
    return ''
  }
  for (const line of lines.reverse()) {
    const { type, data, agentId } = parseLine(line)
    if (agentId !== undefined) continue
    const { content, toolRequests } = fieldsOf(data)
    if (type === 'user.message' || type === 'tool.execution_complete') return ''
    if (type !== 'assistant.message') continue
    return Array.isArray(toolRequests) && toolRequests.length > 0 ? '' : stringOrEmpty(content)
  }
  return ''
}

function parseLine(line: string): HookPayload {
  try {
    return fieldsOf(JSON.parse(line))
  } catch {
    return {}
  }
}

/** What a tool returned: the text for the model, and in a transcript more. */
export interface CopilotToolResult {
  text: string
  /** A unified diff. */
  diff?: string
  exitCode?: number
}

type ToolReader = (input: HookPayload, result: CopilotToolResult, cwd: string) => HookPayload[]

const SHELL_END = /\n?<(?:shellId: \S+ )?(?:completed|exited) with exit code (-?\d{1,9})>\s*$/

const shell: ToolReader = ({ command }, { text, exitCode }) => {
  const printed = SHELL_END.exec(text)?.[1]
  const code = exitCode ?? (printed === undefined ? null : Number(printed))
  return [shellUse({ command: stringOrEmpty(command), stdout: text.replace(SHELL_END, ''), exitCode: code })]
}

const create: ToolReader = ({ path, file_text }) => [
  writeUse({ filePath: stringOrEmpty(path), content: stringOrEmpty(file_text), originalFile: null }),
]

const view: ToolReader = ({ path }, { text }) => [readUse(stringOrEmpty(path), text)]

const edit: ToolReader = ({ path, old_str, new_str }, { diff = '' }) => [
  editUse({
    filePath: stringOrEmpty(path),
    edits: [{ old_string: stringOrEmpty(old_str), new_string: stringOrEmpty(new_str) }],
    hunks: unifiedDiffHunks(diff),
  }),
]

const agent: ToolReader = ({ agent_type, prompt }, { text }) => [
  subagentUse(stringOrEmpty(agent_type), stringOrEmpty(prompt), text),
]

/** By Copilot's own names, which transcripts have, and by those that it sends to hooks with Claude Code's events. */
const TOOLS: Record<string, ToolReader> = {
  bash: shell,
  Bash: shell,
  powershell: shell,
  create,
  Write: create,
  view,
  Read: view,
  edit,
  Edit: edit,
  str_replace: edit,
  task: agent,
  Agent: agent,
  apply_patch: ({ input, patch }, _, cwd) => patchUses(stringOrEmpty(input) || stringOrEmpty(patch), cwd),
  grep: (input, { text }) => [toolUse('Grep', input, text)],
  Grep: (input, { text }) => [toolUse('Grep', input, text)],
  glob: (input, { text }) => [toolUse('Glob', input, text)],
  Glob: (input, { text }) => [toolUse('Glob', input, text)],
  web_fetch: (input, { text }) => [toolUse('WebFetch', input, text)],
  update_todo: (input, { text }) => [toolUse('TodoWrite', input, text)],
}

/** A call of a tool as events in Claude Code's format. The transcript reader uses it, too. */
export function copilotToolUses(
  tool: string,
  input: HookPayload,
  result: CopilotToolResult,
  cwd: string,
): HookPayload[] {
  const uses = Object.hasOwn(TOOLS, tool) ? (TOOLS[tool]?.(input, result, cwd) ?? []) : []
  return uses.length > 0 ? uses : [toolUse(otherToolName(toolName(tool)), input, result.text)]
}

export function copilotToolFailure(tool: string, input: HookPayload, error: string): HookPayload {
  const [use] = copilotToolUses(tool, input, { text: '' }, '/')
  return toolFailure(stringOrEmpty(use?.tool_name) || tool, use?.tool_input ?? input, error)
}

/** An MCP tool is `server-tool`; only of our own server the two parts are known. */
function toolName(tool: string): string {
  const own = tool.startsWith(`${OWN_MCP_SERVER}-`) ? tool.slice(OWN_MCP_SERVER.length + 1) : ''
  return OWN_MCP_TOOLS.includes(own) ? mcpToolName(OWN_MCP_SERVER, own) : tool
}
