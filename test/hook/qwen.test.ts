/** Payloads of Qwen Code 0.24. */
import { describe, expect, it } from 'vitest'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { EMPTY_OUTCOME, type HookPayload } from '../../src/hook/clients/adapter.ts'
import { adapterFromArgs } from '../../src/hook/clients/index.ts'
import { readPayloadFields } from '../../src/hook/payload.ts'
import { readToolUse } from '../../src/reading/tool-use.ts'
import { loadSettings } from '../../src/settings/settings.ts'

const { values: settings } = loadSettings('', {})
const qwen = adapterFromArgs(['--client', 'qwen'])
const BASE = { session_id: 's-1', cwd: '/home/me/shop', permission_mode: 'yolo', prompt_id: 's-1########0' }
const FILE = '/home/me/shop/a.ts'

function reported(fields: HookPayload): MemoryEvent[] {
  const payload = { ...BASE, ...fields }
  return qwen.translate(payload, {}, JSON.stringify(payload)).flatMap((one) => {
    const reading = readPayloadFields(one, JSON.stringify(payload), { settings, at: 1, client: 'qwen' })
    return reading.type === 'event' ? [reading.event] : []
  })
}

function tool(name: string, input: object, response: object, more: HookPayload = {}) {
  const fields = { tool_name: name, tool_input: input, tool_response: response, tool_call_id: 'call_1', ...more }
  const [event] = reported({ hook_event_name: 'PostToolUse', ...fields })
  if (event?.kind !== 'tool_use' && event?.kind !== 'tool_failure') throw new Error('no tool use')
  return { event, action: readToolUse(event) }
}

describe('qwen', () => {
  it('reports a prompt once: after each round of tools it is empty, and a subagent has none', () => {
    const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'raise the limit' }
    expect(reported(prompt)).toMatchObject([{ kind: 'prompt', text: 'raise the limit', promptId: 's-1########0' }])
    expect(reported({ ...prompt, prompt: '' })).toEqual([])
    expect(reported({ ...prompt, agent_id: 'general-purpose-call_1' })).toEqual([])
  })

  it('reports tools as the observer knows them, under the id of the call', () => {
    const shell = {
      llmContent: 'Command: npm test\nOutput: 3 passed\nExit Code: 0\nSignal: (none)',
      returnDisplay: '3 passed',
    }
    expect(tool('run_shell_command', { command: 'npm test' }, shell)).toMatchObject({
      event: { tool: 'Bash', id: 'call_1', response: { stdout: '3 passed' } },
      action: { kind: 'command', outcome: 'ok' },
    })
    expect(tool('read_file', { file_path: FILE }, { llmContent: 'x' }).action).toMatchObject({
      kind: 'look',
      subject: 'Read a.ts',
    })
    const diff = 'Index: a.ts\n--- a.ts\n+++ a.ts\n@@ -1,1 +1,1 @@\n-limit = 1\n+limit = 2\n'
    const edited = { returnDisplay: { fileDiff: diff, originalContent: 'limit = 1\n' } }
    const edit = tool('edit', { file_path: FILE, old_string: 'limit = 1', new_string: 'limit = 2' }, edited)
    expect(edit).toMatchObject({
      event: { tool: 'Edit' },
      action: { kind: 'edit', file: { path: 'a.ts', change: 'edited' } },
    })
    const written = { returnDisplay: { fileDiff: '', originalContent: '' } }
    const write = tool('write_file', { file_path: FILE, content: 'export const a = 1\n' }, written)
    expect(write.action).toMatchObject({ kind: 'edit', file: { change: 'created' } })
  })

  it('reports failures, with the exit code of a command', () => {
    const failure = { hook_event_name: 'PostToolUseFailure', tool_call_id: 'call_2', is_interrupt: false }
    const error = 'Command: make\nDirectory: (root)\nOutput: bad\nError: (none)\nExit Code: 3\nSignal: (none)'
    const shell = { ...failure, tool_name: 'run_shell_command', tool_input: { command: 'make' }, error }
    expect(reported(shell)).toMatchObject([
      { kind: 'tool_failure', tool: 'Bash', error: 'Exit code 3\nbad', id: 'call_2' },
    ])
    const printed = 'FAIL cart.test.ts\n  expected 3 to be 4\nTests: 1 failed'
    const several = error.replace('Output: bad', `Output: ${printed}`)
    expect(reported({ ...shell, error: several })).toMatchObject([{ error: `Exit code 3\n${printed}` }])
    const command = 'echo x\nOutput: y'
    const odd = several.replace('Command: make', `Command: ${command}`)
    expect(reported({ ...shell, tool_input: { command }, error: odd })).toMatchObject([
      { error: `Exit code 3\n${printed}` },
    ])
    const read = { ...failure, tool_name: 'read_file', tool_input: { file_path: '/x' }, error: 'File not found: /x' }
    expect(reported(read)).toMatchObject([{ kind: 'tool_failure', tool: 'Read', error: 'File not found: /x' }])
  })

  it('reports subagents', () => {
    const agent = { agent_id: 'general-purpose-call_1' }
    const shell = tool('run_shell_command', { command: 'ls' }, { llmContent: 'Exit Code: 0' }, agent)
    expect(shell.event).toMatchObject({ agent: { id: 'general-purpose-call_1', type: 'general-purpose' } })
    const stop = {
      hook_event_name: 'SubagentStop',
      ...agent,
      agent_type: 'general-purpose',
      last_assistant_message: 'Done.',
    }
    expect(reported(stop)).toMatchObject([{ kind: 'subagent_end', lastMessage: 'Done.' }])
    const input = { subagent_type: 'general-purpose', prompt: 'look' }
    const launched = tool('agent', input, { llmContent: 'Background agent launched successfully.\ntask_id: x' })
    expect(launched.event).toMatchObject({ tool: 'Task', response: '' })
  })

  it.each([
    {},
    { hook_event_name: 'MessageDisplay' },
    { hook_event_name: 'PostToolUse', tool_name: 'edit', tool_input: 3, tool_response: [] },
    { hook_event_name: 'PostToolUseFailure', tool_name: 'agent', error: {} },
    { hook_event_name: 'StopFailure', error: { message: 'overloaded' } },
  ])('takes any payload without an error: %j', (payload) => {
    expect(() => reported(payload)).not.toThrow()
  })

  it('answers as Claude Code is answered', () => {
    expect(qwen.answer({ ...EMPTY_OUTCOME, event: 'SessionStart', context: 'known' })).toMatchObject({
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 'known' },
    })
  })
})
