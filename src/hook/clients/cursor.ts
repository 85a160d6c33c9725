/**
 * Cursor: `hooks.json` version 1. A conversation is a session, a generation is a turn. Its tools have other names. Edits
 * and commands have no id: within one generation an event's id is a hash of its content.
 */
import { OWN_MCP_SERVER, OWN_MCP_TOOLS } from '../../domain/event.ts'
import { type ClientAdapter, type HookOutcome, type HookPayload, STANDARD_TRAITS, stringOrEmpty } from './adapter.ts'
import { mcpToolName, toolUse } from './tool-shapes.ts'

export const cursorAdapter: ClientAdapter = {
  name: 'cursor',
  traits: STANDARD_TRAITS,
  translate: (payload) => {
    const event = stringOrEmpty(payload.hook_event_name)
    const fields = Object.hasOwn(TRANSLATORS, event) ? TRANSLATORS[event]?.(payload) : undefined
    return fields === undefined ? [] : [{ ...common(payload), ...fields }]
  },
  // beforeSubmitPrompt needs `continue`; the other events ignore it.
  answer: ({ event, context }: HookOutcome) => ({
    continue: true,
    ...(event === 'SessionStart' && context !== '' ? { additional_context: context } : {}),
  }),
}

const TRANSLATORS: Record<string, (payload: HookPayload) => HookPayload> = {
  sessionStart: () => ({ hook_event_name: 'SessionStart', source: 'startup' }),
  beforeSubmitPrompt: ({ prompt }) => ({ hook_event_name: 'UserPromptSubmit', prompt }),
  afterShellExecution: ({ command, output, duration }) => ({
    ...toolUse('Bash', { command }, { stdout: stringOrEmpty(output) }),
    duration_ms: duration,
  }),
  afterFileEdit: ({ file_path, edits }) => {
    const replaced = Array.isArray(edits) ? edits : []
    const [only] = replaced
    return replaced.length === 1 && typeof only === 'object' && only !== null
      ? toolUse('Edit', { ...only, file_path }, null)
      : toolUse('MultiEdit', { file_path, edits: replaced }, null)
  },
  afterMCPExecution: (payload) => ({
    ...toolUse(toolName(payload), parseIfJson(payload.tool_input), parseIfJson(payload.result_json)),
    duration_ms: payload.duration,
  }),
  stop: ({ status, error_message }) =>
    status === 'aborted' || status === 'error'
      ? { hook_event_name: 'StopFailure', error: stringOrEmpty(error_message) || status }
      : { hook_event_name: 'Stop' },
  sessionEnd: ({ reason }) => ({ hook_event_name: 'SessionEnd', reason }),
}

function common({
  conversation_id,
  session_id,
  generation_id,
  workspace_roots,
  cwd,
  transcript_path,
}: HookPayload): HookPayload {
  const [root] = Array.isArray(workspace_roots) ? workspace_roots : []
  return {
    session_id: stringOrEmpty(conversation_id) || session_id,
    prompt_id: generation_id,
    cwd: localPath(stringOrEmpty(root)) || cwd,
    transcript_path,
  }
}

/** On Windows Cursor sends `/c:/Users/me/shop`. */
function localPath(path: string): string {
  return /^\/[a-z]:[/\\]/i.test(path) ? path.slice(1) : path
}

/** `search_contacts`, `MCP:search_contacts` or `MCP:crm:search_contacts`; newer versions send the server separately. */
function toolName({ tool_name, mcp_server_name }: HookPayload): string {
  const given = stringOrEmpty(tool_name).replace(/^MCP:/, '')
  const split = given.indexOf(':')
  const tool = given.slice(split + 1)
  const server = stringOrEmpty(mcp_server_name) || given.slice(0, Math.max(0, split))
  if (server !== '') return mcpToolName(server, tool)
  if (tool === '') return ''
  // Never the bare name: it may be that of one of Claude Code's own tools.
  return mcpToolName(OWN_MCP_TOOLS.includes(tool) ? OWN_MCP_SERVER : 'unknown', tool)
}

/** Some fields are JSON in a string; other text is returned unchanged. */
function parseIfJson(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
