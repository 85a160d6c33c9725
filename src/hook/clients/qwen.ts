/**
 * Qwen Code (seen with 0.24): the events of Claude Code, with the tools of Gemini CLI, from which it is made. UserPromptSubmit
 * is reported again after each round of tools, with an empty prompt. Tool uses of subagents have an agent without a type.
 */
import {
  type ClientAdapter,
  fieldsOf,
  type HookOutcome,
  type HookPayload,
  STANDARD_TRAITS,
  stringOrEmpty,
} from './adapter.ts'
import { claudeCodeAdapter } from './claude-code.ts'
import { geminiToolUse } from './gemini.ts'
import { subagentUse, toolFailure } from './tool-shapes.ts'

export const qwenAdapter: ClientAdapter = {
  name: 'qwen',
  traits: STANDARD_TRAITS,
  translate: (payload) => {
    const event = stringOrEmpty(payload.hook_event_name)
    const fields = Object.hasOwn(TRANSLATORS, event) ? TRANSLATORS[event]?.(payload) : null
    if (fields === null || fields === undefined) return []
    const { session_id, transcript_path, cwd, prompt_id, agent_id, duration_ms } = payload
    const agent = stringOrEmpty(agent_id) === '' ? {} : { agent_id, agent_type: agentType(payload) }
    return [{ session_id, transcript_path, cwd, prompt_id, duration_ms, ...agent, ...fields }]
  },
  answer: (outcome: HookOutcome) => claudeCodeAdapter.answer(outcome),
}

const TRANSLATORS: Record<string, (payload: HookPayload) => HookPayload | null> = {
  SessionStart: ({ source }) => ({ hook_event_name: 'SessionStart', source }),
  UserPromptSubmit: ({ prompt, agent_id }) =>
    stringOrEmpty(prompt) === '' || stringOrEmpty(agent_id) !== ''
      ? null
      : { hook_event_name: 'UserPromptSubmit', prompt },
  PostToolUse: (payload) => withCallId(payload, qwenToolUse(payload)),
  PostToolUseFailure: (payload) => withCallId(payload, qwenToolFailure(payload)),
  SubagentStop: ({ last_assistant_message }) => ({ hook_event_name: 'SubagentStop', last_assistant_message }),
  PreCompact: ({ trigger }) => ({ hook_event_name: 'PreCompact', trigger }),
  Stop: ({ last_assistant_message }) => ({ hook_event_name: 'Stop', last_assistant_message }),
  StopFailure: ({ error, last_assistant_message }) => ({
    hook_event_name: 'StopFailure',
    error: stringOrEmpty(error) || stringOrEmpty(fieldsOf(error).message),
    last_assistant_message,
  }),
  SessionEnd: ({ reason }) => ({ hook_event_name: 'SessionEnd', reason }),
}

/** The model's id of the call, which the transcript has, too. */
function withCallId({ tool_call_id, tool_use_id }: HookPayload, use: HookPayload | null): HookPayload | null {
  return use === null ? null : { ...use, tool_use_id: stringOrEmpty(tool_call_id) || tool_use_id }
}

/** `general-purpose-call_1a2b`: the type, and the call that started it. */
function agentType({ agent_type, agent_id }: HookPayload): string {
  return stringOrEmpty(agent_type) || stringOrEmpty(agent_id).replace(/-(?:call|toolu)[_-].*$/, '')
}

/** Of a payload, and of a call in a transcript. */
export function qwenToolUse({ tool_name, tool_input, tool_response }: HookPayload): HookPayload | null {
  const tool = stringOrEmpty(tool_name)
  if (tool === 'agent' || tool === 'task') {
    const { subagent_type, prompt } = fieldsOf(tool_input)
    return subagentUse(stringOrEmpty(subagent_type), stringOrEmpty(prompt), agentReport(fieldsOf(tool_response)))
  }
  const response = fieldsOf(tool_response)
  return geminiToolUse({
    tool_name: geminiName(tool),
    tool_input,
    tool_response: { ...response, returnDisplay: display(tool, response) },
  })
}

/** A new file has an empty text before, and no mark that it is new. */
function display(tool: string, { returnDisplay }: HookPayload): unknown {
  const { originalContent } = fieldsOf(returnDisplay)
  return tool === 'write_file' && originalContent === ''
    ? { ...fieldsOf(returnDisplay), isNewFile: true }
    : returnDisplay
}

const geminiName = (tool: string): string =>
  tool === 'edit' ? 'replace' : tool === 'todo_write' ? 'write_todos' : tool

/** Empty while the subagent works in the background: its end is reported by SubagentStop. */
function agentReport({ llmContent }: HookPayload): string {
  const parts = Array.isArray(llmContent) ? llmContent : [llmContent]
  const text = parts.map((part) => stringOrEmpty(part) || stringOrEmpty(fieldsOf(part).text)).join('\n')
  return /^Background agent launched/.test(text) ? '' : text
}

/** The error of a command is what the model is told about it. */
export function qwenToolFailure({ tool_name, tool_input, error, is_interrupt }: HookPayload): HookPayload {
  const reason = stringOrEmpty(error) || 'failed'
  const use = qwenToolUse({ tool_name, tool_input, tool_response: { llmContent: reason } })
  if (use?.hook_event_name === 'PostToolUseFailure' && is_interrupt !== true) return use
  return toolFailure(String(use?.tool_name ?? tool_name), use?.tool_input ?? tool_input, reason, is_interrupt === true)
}
