/** A shell command as each client reports it to its hook, for `npm run bench -- hook`. */

const OUTPUT = 'line of output with some words in it, as tools print them\n'.repeat(15)

type Payload = Record<string, unknown>

/** By client. `n` differs in every run. */
export const CLIENT_PAYLOADS: Record<string, (session: Payload, n: number) => Payload> = {
  'claude-code': (session, n) => ({
    ...session,
    hook_event_name: 'PostToolUse',
    prompt_id: 'turn-1',
    tool_name: 'Bash',
    tool_input: { command: 'npm test' },
    tool_response: { stdout: OUTPUT, stderr: '', interrupted: false },
    tool_use_id: `toolu_${n}`,
  }),
  codex: (session, n) => ({
    ...session,
    hook_event_name: 'PostToolUse',
    turn_id: 'turn-1',
    tool_name: 'Bash',
    tool_input: { command: 'npm test' },
    tool_response: OUTPUT,
    tool_use_id: `call_${n}`,
  }),
  gemini: (session, n) => ({
    ...session,
    hook_event_name: 'AfterTool',
    timestamp: new Date(n).toISOString(),
    tool_name: 'run_shell_command',
    tool_input: { command: 'npm test', description: 'test' },
    tool_response: { llmContent: `Output: ${OUTPUT}`, returnDisplay: OUTPUT },
  }),
  opencode: (session, n) => ({
    ...session,
    hook_event_name: 'tool.execute.after',
    turn_id: 'msg_1',
    tool: 'bash',
    call_id: `call_${n}`,
    args: { command: 'npm test' },
    result: { output: OUTPUT, metadata: { output: OUTPUT, exit: 0 } },
  }),
  copilot: (session, n) => ({
    ...session,
    hook_event_name: 'PostToolUse',
    timestamp: new Date(n).toISOString(),
    tool_name: 'Bash',
    tool_input: { command: 'npm test' },
    tool_result: { result_type: 'success', text_result_for_llm: `${OUTPUT}<shellId: 0 completed with exit code 0>` },
  }),
  qwen: (session, n) => ({
    ...session,
    hook_event_name: 'PostToolUse',
    prompt_id: 'turn-1',
    tool_call_id: `call_${n}`,
    tool_name: 'run_shell_command',
    tool_input: { command: 'npm test' },
    tool_response: { llmContent: `Output: ${OUTPUT}\nExit Code: 0`, returnDisplay: OUTPUT },
  }),
}
