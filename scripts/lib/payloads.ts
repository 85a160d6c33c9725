/** Payloads as Claude Code 2.1 passes them to a hook on stdin, and the events that the hook makes of them. */
import type { MemoryEvent } from '../../src/domain/event.ts'
import { readPayload } from '../../src/hook/payload.ts'
import { loadSettings } from '../../src/settings/settings.ts'

/** Payloads as Claude Code 2.1 gives them to a hook on stdin. */
export interface Payload {
  hook_event_name: string
  session_id: string
  prompt_id: string
  cwd: string
  [field: string]: unknown
}

export interface Turn {
  session: string
  prompt: string
  cwd: string
}

function payload(turn: Turn, name: string, fields: Record<string, unknown>): Payload {
  return {
    session_id: turn.session,
    transcript_path: `${turn.cwd}/${turn.session}.jsonl`,
    cwd: turn.cwd,
    prompt_id: turn.prompt,
    permission_mode: 'default',
    hook_event_name: name,
    ...fields,
  }
}

export const sessionStart = (turn: Turn) => payload(turn, 'SessionStart', { source: 'startup' })
export const userPrompt = (turn: Turn, prompt: string) => payload(turn, 'UserPromptSubmit', { prompt })
export const stop = (turn: Turn, message: string) => payload(turn, 'Stop', { last_assistant_message: message })
export const stopFailure = (turn: Turn, error: string) => payload(turn, 'StopFailure', { error })
export const preCompact = (turn: Turn) => payload(turn, 'PreCompact', { trigger: 'auto' })
export const sessionEnd = (turn: Turn) => payload(turn, 'SessionEnd', { reason: 'prompt_input_exit' })

export function subagentStop(turn: Turn, message: string): Payload {
  return payload(turn, 'SubagentStop', { agent_id: 'agent-1', agent_type: 'Explore', last_assistant_message: message })
}

export function bash(turn: Turn, toolUse: string, command: string, stdout: string): Payload {
  return payload(turn, 'PostToolUse', {
    tool_name: 'Bash',
    tool_input: { command, description: 'Runs a command' },
    tool_response: { stdout, stderr: '', interrupted: false, isImage: false },
    tool_use_id: toolUse,
    duration_ms: 12,
  })
}

export function edit(turn: Turn, toolUse: string, file: string): Payload {
  return payload(turn, 'PostToolUse', {
    tool_name: 'Edit',
    tool_input: { file_path: file, old_string: 'let total = 0', new_string: 'let total = 1' },
    tool_response: { filePath: file, userModified: false },
    tool_use_id: toolUse,
    duration_ms: 3,
  })
}

export function bashFailure(turn: Turn, toolUse: string, error: string): Payload {
  return payload(turn, 'PostToolUseFailure', {
    tool_name: 'Bash',
    tool_input: { command: 'npm test' },
    error,
    is_interrupt: false,
    tool_use_id: toolUse,
    duration_ms: 40,
  })
}

const settings = loadSettings('', {}).values

export function eventOf(payload: Payload, at = Date.now()): MemoryEvent {
  const reading = readPayload(JSON.stringify(payload), { settings, at })
  if (reading.type === 'ignored') throw new Error(`the hook ignores this payload: ${reading.reason}`)
  return reading.event
}
