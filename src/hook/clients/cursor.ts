/**
 * Cursor: `hooks.json` version 1. A conversation is a session, a generation a turn. Its tools come under other names, and
 * edits and commands without an id: what is reported of one generation is told apart by its content.
 */
import { OWN_MCP_SERVER, OWN_MCP_TOOLS } from '../../memory/own-tools.ts'
import { type Client, type Outcome, type Payload, text } from './client.ts'

export const cursor: Client = {
  name: 'cursor',
  translate: (payload) => {
    const event = text(payload.hook_event_name)
    const fields = Object.hasOwn(TRANSLATORS, event) ? TRANSLATORS[event]?.(payload) : undefined
    return fields === undefined ? null : { ...common(payload), ...fields }
  },
  // `continue` is what beforeSubmitPrompt needs; the other events read nothing, or pass it over.
  answer: ({ event, context }: Outcome) => ({
    continue: true,
    ...(event === 'SessionStart' && context !== null ? { additional_context: context } : {}),
  }),
}

const TRANSLATORS: Record<string, (payload: Payload) => Payload> = {
  sessionStart: () => ({ hook_event_name: 'SessionStart', source: 'startup' }),
  beforeSubmitPrompt: ({ prompt }) => ({ hook_event_name: 'UserPromptSubmit', prompt }),
  afterShellExecution: ({ command, output, duration }) => ({
    ...used('Bash', { command }, { stdout: text(output) }),
    duration_ms: duration,
  }),
  afterFileEdit: ({ file_path, edits }) => {
    const replaced = Array.isArray(edits) ? edits : []
    const [only] = replaced
    return replaced.length === 1 && typeof only === 'object' && only !== null
      ? used('Edit', { ...only, file_path }, null)
      : used('MultiEdit', { file_path, edits: replaced }, null)
  },
  afterMCPExecution: (payload) => ({
    ...used(toolName(payload), parsed(payload.tool_input), parsed(payload.result_json)),
    duration_ms: payload.duration,
  }),
  stop: ({ status, error_message }) =>
    status === 'aborted' || status === 'error'
      ? { hook_event_name: 'StopFailure', error: text(error_message) || status }
      : { hook_event_name: 'Stop' },
  sessionEnd: ({ reason }) => ({ hook_event_name: 'SessionEnd', reason }),
}

function used(tool: string, input: unknown, response: unknown): Payload {
  return { hook_event_name: 'PostToolUse', tool_name: tool, tool_input: input, tool_response: response }
}

function common({
  conversation_id,
  session_id,
  generation_id,
  workspace_roots,
  cwd,
  transcript_path,
}: Payload): Payload {
  const [root] = Array.isArray(workspace_roots) ? workspace_roots : []
  return {
    session_id: text(conversation_id) || session_id,
    prompt_id: generation_id,
    cwd: localPath(text(root)) || cwd,
    transcript_path,
  }
}

/** On Windows it says `/c:/Users/me/shop`. */
function localPath(path: string): string {
  return /^\/[a-z]:[/\\]/i.test(path) ? path.slice(1) : path
}

/** `search_contacts`, `MCP:search_contacts` or `MCP:crm:search_contacts`; newer ones name the server beside it. */
function toolName({ tool_name, mcp_server_name }: Payload): string {
  const given = text(tool_name).replace(/^MCP:/, '')
  const split = given.indexOf(':')
  const tool = given.slice(split + 1)
  const server = text(mcp_server_name) || given.slice(0, Math.max(0, split))
  if (server !== '') return `mcp__${server}__${tool}`
  return OWN_MCP_TOOLS.includes(tool) ? `mcp__${OWN_MCP_SERVER}__${tool}` : tool
}

/** JSON within JSON; what is not stays the text that it is. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
