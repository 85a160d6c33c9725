/** Claude Code: its payload format is the one that all others are translated into. */
import {
  type ClientAdapter,
  fieldsOf,
  type HookOutcome,
  type HookPayload,
  STANDARD_TRAITS,
  stringOrEmpty,
} from './adapter.ts'
import { mcpToolName, otherToolName } from './tool-shapes.ts'

/** Events whose additional context reaches the model. PreToolUse: from 2.1.9 on; older versions ignore it. */
const CONTEXT_EVENTS: ReadonlySet<string> = new Set(['SessionStart', 'UserPromptSubmit', 'PreToolUse'])

export const claudeCodeAdapter: ClientAdapter = {
  name: 'claude-code',
  // It takes 10,000 characters of context, the most that CLAUDE_MEM_CONTEXT_TOKENS allows.
  traits: STANDARD_TRAITS,
  translate: (payload) => [withToolOwner(payload)],
  answer: ({ event, context, message }: HookOutcome) => ({
    continue: true,
    suppressOutput: true,
    // No permissionDecision: memory must not decide whether a tool may run.
    ...(context === '' || !CONTEXT_EVENTS.has(event)
      ? {}
      : { hookSpecificOutput: { hookEventName: event, additionalContext: context } }),
    ...(message === '' ? {} : { systemMessage: message }),
  }),
}

/** Their answers are the user's words. */
const ASKING_TOOLS: ReadonlySet<string> = new Set(['AskUserQuestion', 'ExitPlanMode'])

/**
 * An SDK may offer the tools of an MCP server without their prefix, and Cursor runs the hooks of Claude Code's settings for
 * tools of its own: none of them keeps the name of a tool that asks the user.
 */
function withToolOwner(payload: HookPayload): HookPayload {
  const server = stringOrEmpty(fieldsOf(payload.mcp_server).name)
  const tool = stringOrEmpty(payload.tool_name)
  if (server !== '' && !tool.startsWith('mcp__')) return { ...payload, tool_name: mcpToolName(server, tool) }
  const isCursors = payload.cursor_version !== undefined && ASKING_TOOLS.has(tool)
  return isCursors ? { ...payload, tool_name: otherToolName(tool) } : payload
}
