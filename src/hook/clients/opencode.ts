/**
 * OpenCode: our plugin (`../opencode-plugin.ts`) runs in its process and hands each event to the hook, with the fields of
 * `PluginEvent`. Sessions of subagents come under the id of the session that they belong to, with the agent. A turn is a
 * message of the user. Seen with 1.18.
 */
import { OWN_MCP_SERVER, OWN_MCP_TOOLS } from '../../domain/event.ts'
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

export const openCodeAdapter: ClientAdapter = {
  name: 'opencode',
  traits: STANDARD_TRAITS,
  translate: (payload) => {
    const event = stringOrEmpty(payload.hook_event_name)
    const events = Object.hasOwn(TRANSLATORS, event) ? (TRANSLATORS[event]?.(payload) ?? []) : []
    return events.map((fields) => ({ ...common(payload), ...fields }))
  },
  // Read by our plugin, which gives it to the model.
  answer: ({ context, message }: HookOutcome) => ({ context, message }),
}

const TRANSLATORS: Record<string, (payload: HookPayload) => HookPayload[]> = {
  'session.start': ({ source }) => [{ hook_event_name: 'SessionStart', source }],
  'chat.message': ({ prompt }) => [{ hook_event_name: 'UserPromptSubmit', prompt: unquoted(stringOrEmpty(prompt)) }],
  'tool.execute.after': (payload) => {
    const { tool, args, result } = payload
    const uses = openCodeToolUses(stringOrEmpty(tool), fieldsOf(args), fieldsOf(result), stringOrEmpty(payload.cwd))
    const named = uses.map((use, index) => ({ ...use, tool_use_id: callId(payload, index) }))
    return [...subagentEnd(payload), ...named]
  },
  'tool.error': (payload) => {
    const { tool, args, error } = payload
    const reason = stringOrEmpty(error) || 'failed'
    const failure = openCodeToolFailure(stringOrEmpty(tool), fieldsOf(args), reason)
    return [{ ...failure, tool_use_id: callId(payload, 0) }]
  },
  'session.compacting': () => [{ hook_event_name: 'PreCompact', trigger: 'unknown' }],
  'session.idle': ({ last_message }) => [{ hook_event_name: 'Stop', last_assistant_message: last_message }],
  'session.error': ({ error, last_message }) => [
    { hook_event_name: 'StopFailure', error: stringOrEmpty(error) || 'unknown', last_assistant_message: last_message },
  ],
  'session.end': ({ reason }) => [{ hook_event_name: 'SessionEnd', reason }],
}

function common({ session_id, cwd, turn_id, agent_id, agent_type }: HookPayload): HookPayload {
  return { session_id, cwd, prompt_id: turn_id, agent_id, agent_type }
}

/** A call that changed several files is several events. */
function callId({ call_id }: HookPayload, index: number): string | undefined {
  const id = stringOrEmpty(call_id)
  if (id === '') return undefined
  return index === 0 ? id : `${id}#${index}`
}

/** `opencode run fix this` arrives as `fix this`, `opencode run "fix this"` as `"fix this"`. */
export function unquoted(prompt: string): string {
  const [, text] = /^"((?:[^"\\]|\\[\s\S])*)"$/.exec(prompt) ?? []
  return text === undefined ? prompt : text.replaceAll('\\"', '"')
}

type ToolReader = (args: HookPayload, result: HookPayload, cwd: string) => HookPayload[]

const TOOLS: Record<string, ToolReader> = {
  bash: ({ command }, { output, metadata }) => {
    const { exit, output: printed } = fieldsOf(metadata)
    const exitCode = typeof exit === 'number' ? exit : null
    return [
      shellUse({
        command: stringOrEmpty(command),
        stdout: stringOrEmpty(printed) || stringOrEmpty(output),
        exitCode,
      }),
    ]
  },
  read: ({ filePath }, { output }) => [readUse(stringOrEmpty(filePath), fileContent(stringOrEmpty(output)))],
  write: ({ filePath, content }, { metadata }) => {
    const isNew = fieldsOf(metadata).exists === false
    const file = { filePath: stringOrEmpty(filePath), content: stringOrEmpty(content) }
    return [writeUse(isNew ? { ...file, originalFile: null } : file)]
  },
  edit: ({ filePath, oldString, newString, replaceAll }, { metadata }) => [
    editUse({
      filePath: stringOrEmpty(filePath),
      edits: [replacement({ oldString, newString, replaceAll })],
      hunks: unifiedDiffHunks(stringOrEmpty(fieldsOf(metadata).diff)),
    }),
  ],
  multiedit: ({ filePath, edits }) => [
    editUse({
      filePath: stringOrEmpty(filePath),
      edits: (Array.isArray(edits) ? edits : []).map((edit) => replacement(fieldsOf(edit))),
    }),
  ],
  apply_patch: ({ patchText }, _, cwd) => patchUses(stringOrEmpty(patchText), cwd),
  patch: ({ patchText }, _, cwd) => patchUses(stringOrEmpty(patchText), cwd),
  glob: (args, result) => [toolUse('Glob', args, resultText(result))],
  grep: (args, result) => [toolUse('Grep', args, resultText(result))],
  list: (args, result) => [toolUse('LS', args, resultText(result))],
  webfetch: (args, result) => [toolUse('WebFetch', args, resultText(result))],
  websearch: (args, result) => [toolUse('WebSearch', args, resultText(result))],
  todowrite: (args, result) => [toolUse('TodoWrite', args, resultText(result))],
  todoread: (args, result) => [toolUse('TodoWrite', args, resultText(result))],
  task: ({ subagent_type, prompt }, result) => [
    subagentUse(stringOrEmpty(subagent_type), stringOrEmpty(prompt), taskReport(result)),
  ],
}

/** A call of a tool as events in Claude Code's format. The transcript reader uses it, too. */
export function openCodeToolUses(tool: string, args: HookPayload, result: HookPayload, cwd: string): HookPayload[] {
  const uses = Object.hasOwn(TOOLS, tool) ? (TOOLS[tool]?.(args, result, cwd) ?? []) : []
  return uses.length > 0 ? uses : [toolUse(otherToolName(toolName(tool)), args, result.content ?? resultText(result))]
}

/** A failed call has no result: only its input is translated. */
export function openCodeToolFailure(tool: string, args: HookPayload, error: string): HookPayload {
  const [use] = openCodeToolUses(tool, args, {}, '/')
  const isInterrupt = INTERRUPTED.test(error)
  return toolFailure(stringOrEmpty(use?.tool_name) || tool, use?.tool_input ?? args, error, isInterrupt)
}

const INTERRUPTED = /^Tool execution aborted/i

/** An MCP tool is `server_tool`; only of our own server the two parts are known. */
function toolName(tool: string): string {
  const own = tool.startsWith(`${OWN_MCP_SERVER}_`) ? tool.slice(OWN_MCP_SERVER.length + 1) : ''
  return OWN_MCP_TOOLS.includes(own) ? mcpToolName(OWN_MCP_SERVER, own) : tool
}

function replacement({ oldString, newString, replaceAll }: HookPayload) {
  return {
    old_string: stringOrEmpty(oldString),
    new_string: stringOrEmpty(newString),
    replace_all: replaceAll === true,
  }
}

function resultText({ output }: HookPayload): string {
  return stringOrEmpty(output)
}

/** `<content>\n1: first line\n…\n(End of file - total 2 lines)\n</content>`; older versions have `<file>` and `00001| `. */
function fileContent(output: string): string {
  const [, tag = ''] = /<(content|file)>\n/.exec(output) ?? []
  const numbered = tag === '' ? null : between(output, `<${tag}>\n`, output.lastIndexOf(`</${tag}>`))
  if (numbered === null) return output
  return numbered
    .split('\n')
    .flatMap((line) => /^\s{0,8}\d{1,9}(?:: |\| )(.*)$/.exec(line)?.[1] ?? [])
    .join('\n')
}

const REPORT = '<task_result>'

function taskReport({ output }: HookPayload): string {
  const text = stringOrEmpty(output)
  return between(text, REPORT, text.indexOf('</task_result>', text.indexOf(REPORT)))?.trim() ?? text
}

/** What follows the first `begin`, up to `end`; null if one of them is missing, or the end comes first. */
function between(text: string, begin: string, end: number): string | null {
  const at = text.indexOf(begin)
  return at === -1 || end < at + begin.length ? null : text.slice(at + begin.length, end)
}

/** The end of a subagent is reported with the call that started it: nothing else tells its last message. */
function subagentEnd({ tool, args, result }: HookPayload): HookPayload[] {
  if (tool !== 'task') return []
  const fields = fieldsOf(result)
  const agent = stringOrEmpty(fieldsOf(fields.metadata).sessionId)
  const report = taskReport(fields)
  if (agent === '' || report === '') return []
  const type = stringOrEmpty(fieldsOf(args).subagent_type) || 'subagent'
  return [{ hook_event_name: 'SubagentStop', agent_id: agent, agent_type: type, last_assistant_message: report }]
}
