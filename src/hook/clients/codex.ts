/**
 * Codex (seen with 0.166): `hooks.json` with Claude Code's event names and nearly its payloads. A turn has a `turn_id`, a
 * tool call an id. What differs:
 *
 * - Its output is strict: an unknown field fails the hook and drops the context, and on most events any output is an error.
 * - A shell command has one text of output and no exit code. An edit is a patch, which may change several files.
 * - A subagent has the session of its parent; its task is reported as a prompt, which is none of the user's.
 */
import { readFileEnd } from '../../lib/files.ts'
import {
  type ClientAdapter,
  fieldsOf,
  type HookOutcome,
  type HookPayload,
  STANDARD_TRAITS,
  stringOrEmpty,
} from './adapter.ts'
import {
  otherToolName,
  patchUses,
  readUse,
  shellUse,
  subagentUse,
  toolFailure,
  toolUse,
  withOwnServerName,
} from './tool-shapes.ts'

export const codexAdapter: ClientAdapter = {
  name: 'codex',
  // It cuts a context of more than about 2,500 tokens, unless the hook's entry says otherwise, as ours does.
  traits: STANDARD_TRAITS,
  translate: (payload) => {
    const event = stringOrEmpty(payload.hook_event_name)
    const events = Object.hasOwn(TRANSLATORS, event) ? TRANSLATORS[event]?.(payload) : undefined
    return (events ?? []).map((fields) => ({ ...common(payload), ...fields }))
  },
  answer: ({ event, context, message }: HookOutcome) => {
    if (event !== 'SessionStart' && event !== 'UserPromptSubmit') return null
    if (context === '' && message === '') return null
    return {
      ...(context === '' ? {} : { hookSpecificOutput: { hookEventName: event, additionalContext: context } }),
      ...(message === '' ? {} : { systemMessage: message }),
    }
  },
}

const TRANSLATORS: Record<string, (payload: HookPayload) => HookPayload[]> = {
  SessionStart: ({ source }) => [{ hook_event_name: 'SessionStart', source }],
  UserPromptSubmit: ({ agent_id, prompt }) =>
    stringOrEmpty(agent_id) === '' ? [{ hook_event_name: 'UserPromptSubmit', prompt }] : [],
  PostToolUse: (payload) => codexToolUses(payload),
  PreCompact: ({ trigger }) => [{ hook_event_name: 'PreCompact', trigger }],
  SubagentStop: ({ last_assistant_message }) => [{ hook_event_name: 'SubagentStop', last_assistant_message }],
  // A subagent's own turn ends with SubagentStop.
  Stop: ({ agent_id, last_assistant_message }) =>
    stringOrEmpty(agent_id) === '' ? [{ hook_event_name: 'Stop', last_assistant_message }] : [],
  Interrupt: ({ agent_id }) =>
    stringOrEmpty(agent_id) === '' ? [{ hook_event_name: 'StopFailure', error: 'interrupted' }] : [],
  SessionEnd: ({ reason }) => [{ hook_event_name: 'SessionEnd', reason }],
}

function common({ session_id, turn_id, transcript_path, cwd, agent_id, agent_type }: HookPayload): HookPayload {
  return {
    session_id,
    prompt_id: turn_id,
    transcript_path,
    cwd,
    ...(stringOrEmpty(agent_id) === '' ? {} : { agent_id, agent_type }),
  }
}

/** `cwd`: relative paths of a patch are below it. Also for calls in a transcript. */
export function codexToolUses(payload: HookPayload): HookPayload[] {
  const { tool_name, tool_input, tool_response, tool_use_id, cwd, transcript_path } = payload
  const id = stringOrEmpty(tool_use_id)
  const call = { cwd: stringOrEmpty(cwd), exitCode: () => exitCodeInTranscript(stringOrEmpty(transcript_path), id) }
  const uses = toolUses(stringOrEmpty(tool_name), fieldsOf(tool_input), tool_response, call)
  return uses.map((use, index) => (id === '' ? use : { ...use, tool_use_id: index === 0 ? id : `${id}:${index + 1}` }))
}

interface CallCircumstances {
  cwd: string
  /** Null: not known. */
  exitCode(): number | null
}

function toolUses(tool: string, input: HookPayload, response: unknown, call: CallCircumstances): HookPayload[] {
  switch (tool) {
    case 'Bash':
    case 'shell':
    case 'exec_command':
      return [codexShellUse(commandText(input), response, call.exitCode())]
    case 'apply_patch':
      return applyPatchUses(stringOrEmpty(input.command) || stringOrEmpty(input.input), response, call.cwd)
    case 'view_image':
      return [readUse(stringOrEmpty(input.path), '')]
    case 'update_plan':
      return [toolUse('TodoWrite', input, null)]
    case 'spawn_agent':
      return [codexSubagentUse(input, '')]
    // What it waited for is reported by SubagentStop.
    case 'wait_agent':
    case 'multi_agent_v1wait_agent':
      return []
    default:
      return [mcpOrOtherUse(otherToolName(withOwnServerName(tool)), input, response)]
  }
}

/** `input`: of `spawn_agent`. `report`: what the subagent said at its end, if it is known. */
export function codexSubagentUse(input: HookPayload, report: string): HookPayload {
  return subagentUse(stringOrEmpty(input.agent_type) || 'default', stringOrEmpty(input.message), report)
}

/** How much of a transcript is read for the end of a command, which it holds before the hook runs. */
const TRANSCRIPT_TAIL_BYTES = 256 * 1024

/** A hook is not told whether a command failed, but the transcript says it. */
function exitCodeInTranscript(transcript: string, id: string): number | null {
  if (transcript === '' || id === '') return null
  try {
    const lines = readFileEnd(transcript, TRANSCRIPT_TAIL_BYTES).split('\n')
    const line = lines.findLast((one) => one.includes('"CommandExecution"') && one.includes(JSON.stringify(id)))
    const { item } = fieldsOf(fieldsOf(JSON.parse(line ?? '{}')).payload)
    const { exit_code } = fieldsOf(item)
    return typeof exit_code === 'number' ? exit_code : null
  } catch {
    // No transcript (--ephemeral), or its line was cut: the command counts by its output.
    return null
  }
}

/** A list of words in older versions. */
function commandText({ command, cmd }: HookPayload): string {
  const given = command ?? cmd
  return Array.isArray(given) ? given.map(String).join(' ') : stringOrEmpty(given)
}

/** Before the output of a command where the client did not take it out: `Exit code: 1`, `Wall time: …`, `Output:`. */
const OUTPUT_HEAD =
  /^(?:Chunk ID: [^\n]*\n)?(?:Exit code: (\d{1,3})\n)?(?:Wall time: [^\n]*\n)?(?:Process exited with code (\d{1,3})\n)?(?:[^\n]{1,60}: [^\n]*\n){0,3}Output:\n/

export function codexShellUse(command: string, response: unknown, exitCode: number | null = null): HookPayload {
  const fields = fieldsOf(response)
  const text = typeof response === 'string' ? response : stringOrEmpty(fields.output) || stringOrEmpty(fields.stdout)
  const head = OUTPUT_HEAD.exec(text.slice(0, 2_000))
  const stated = head?.[1] ?? head?.[2]
  const known = exitCode ?? (stated === undefined ? null : Number(stated))
  return shellUse({
    command,
    stdout: head === null ? text : text.slice(head[0].length),
    stderr: stringOrEmpty(fields.stderr),
    exitCode: known,
  })
}

function applyPatchUses(patch: string, response: unknown, cwd: string): HookPayload[] {
  const text = stringOrEmpty(response)
  const [, code = '0'] = /^Exit code: (\d{1,3})$/m.exec(text.slice(0, 200)) ?? []
  const uses = patchUses(patch, cwd)
  if (code === '0' && uses.length > 0) return uses
  const [first] = uses
  const path = fieldsOf(first?.tool_input).file_path
  return [toolFailure('Edit', { file_path: stringOrEmpty(path), patch }, text || 'the patch could not be applied')]
}

function mcpOrOtherUse(tool: string, input: HookPayload, response: unknown): HookPayload {
  const { isError, content } = fieldsOf(response)
  if (isError !== true) return toolUse(tool, input, response)
  const texts = Array.isArray(content) ? content.map((part) => stringOrEmpty(fieldsOf(part).text)) : []
  return toolFailure(tool, input, texts.join('\n'))
}
