/** Claude Code: its payload format is the one that all others are translated into. */
import { type ClientAdapter, type HookOutcome, STANDARD_TRAITS } from './adapter.ts'

/** Events whose additional context reaches the model. PreToolUse: from 2.1.9 on; older versions ignore it. */
const CONTEXT_EVENTS: ReadonlySet<string> = new Set(['SessionStart', 'UserPromptSubmit', 'PreToolUse'])

export const claudeCodeAdapter: ClientAdapter = {
  name: 'claude-code',
  // It takes 10,000 characters of context, the most that CLAUDE_MEM_CONTEXT_TOKENS allows.
  traits: STANDARD_TRAITS,
  translate: (payload) => [payload],
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
