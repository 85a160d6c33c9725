/** The client whose words the others are translated into. */
import type { Client, Outcome } from './client.ts'

/** Where what a hook says reaches the model. PreToolUse: from 2.1.9 on; older ones pass it over. */
const WITH_CONTEXT: ReadonlySet<string> = new Set(['SessionStart', 'UserPromptSubmit', 'PreToolUse'])

export const claudeCode: Client = {
  name: 'claude-code',
  translate: (payload) => payload,
  answer: ({ event, context, message }: Outcome) => ({
    continue: true,
    suppressOutput: true,
    // No permissionDecision: whether a tool may run is not ours to say.
    ...(context === null || !WITH_CONTEXT.has(event)
      ? {}
      : { hookSpecificOutput: { hookEventName: event, additionalContext: context } }),
    ...(message === null ? {} : { systemMessage: message }),
  }),
}
