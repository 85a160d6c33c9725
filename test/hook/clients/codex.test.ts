/** Payloads as Codex 0.166 sends them. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { MemoryEvent } from '../../../src/domain/event.ts'
import { EMPTY_OUTCOME, type HookPayload } from '../../../src/hook/clients/adapter.ts'
import { codexAdapter } from '../../../src/hook/clients/codex.ts'
import { readPayloadFields } from '../../../src/hook/payload.ts'
import { readToolUse } from '../../../src/reading/tool-use.ts'
import { loadSettings } from '../../../src/settings/settings.ts'
import { temporaryDirectory } from '../../support/directories.ts'

const { values: settings } = loadSettings('', {})
const BASE = {
  session_id: '01a1e4d5-c254-7581-84a7-00979d4dfe26',
  turn_id: '01a1e4d5-c2aa-7d63-be95-8c8e51e9f111',
  transcript_path: '/home/me/.codex/sessions/2026/11/16/rollout-x.jsonl',
  cwd: '/home/me/shop',
  model: 'gpt-5.5',
  permission_mode: 'default',
}
const SUBAGENT = { agent_id: '01a1e4d5-d6d6-7433-b992-0b11b3fcdc81', agent_type: 'default' }

function reported(fields: HookPayload): (MemoryEvent | string)[] {
  const payload = { ...BASE, ...fields }
  return codexAdapter.translate(payload, {}, JSON.stringify(payload)).map((translated) => {
    const reading = readPayloadFields(translated, JSON.stringify(payload), { settings, at: 1, client: 'codex' })
    return reading.type === 'event' ? reading.event : reading.reason
  })
}

function used(tool: string, input: unknown, response: unknown, more: HookPayload = {}) {
  const fields = { tool_name: tool, tool_input: input, tool_response: response, tool_use_id: 'call_1', ...more }
  return reported({ hook_event_name: 'PostToolUse', ...fields }).map((event) => {
    if (typeof event === 'string' || (event.kind !== 'tool_use' && event.kind !== 'tool_failure')) {
      throw new Error(`no tool event: ${JSON.stringify(event)}`)
    }
    return { event, action: readToolUse(event) }
  })
}

describe('codex', () => {
  it('reports prompts with their turn; the task of a subagent is none', () => {
    expect(reported({ hook_event_name: 'UserPromptSubmit', prompt: 'Raise it' })).toMatchObject([
      { kind: 'prompt', text: 'Raise it', client: 'codex', promptId: BASE.turn_id, session: BASE.session_id },
    ])
    expect(reported({ hook_event_name: 'UserPromptSubmit', prompt: 'look around', ...SUBAGENT })).toEqual([])
  })

  it('reports a command with its output', () => {
    const [use] = used('Bash', { command: 'npm test' }, 'Tests  48 passed (48)\n')
    expect(use?.event).toMatchObject({ id: 'call_1', tool: 'Bash', kind: 'tool_use', input: { command: 'npm test' } })
    expect(use?.action).toMatchObject({
      kind: 'command',
      command: { kind: 'check' },
      outcome: null,
      totals: { outcome: 'ok' },
    })
  })

  it('finds the exit code of a command in the transcript', () => {
    const file = join(temporaryDirectory('codex'), 'rollout.jsonl')
    const item = { type: 'CommandExecution', id: 'call_1', aggregated_output: 'oops\n', exit_code: 3 }
    const other = { ...item, id: 'call_0', exit_code: 0 }
    const line = (one: object) => JSON.stringify({ type: 'event_msg', payload: { type: 'item_completed', item: one } })
    writeFileSync(file, `${line(item)}\n${line(other)}\n{"type":"resp`)
    const [use] = used('Bash', { command: 'make' }, 'oops\n', { transcript_path: file })
    expect(use?.event).toMatchObject({ kind: 'tool_failure', error: 'Exit code 3\noops\n' })
    expect(use?.action).toMatchObject({ kind: 'command', outcome: 'failed' })
    const [unknown] = used('Bash', { command: 'make' }, 'oops\n', { transcript_path: file, tool_use_id: 'call_9' })
    expect(unknown?.event.kind).toBe('tool_use')
  })

  it('reports each file of a patch as the observer knows edits, with ids of their own', () => {
    const patch = [
      '*** Begin Patch',
      '*** Update File: src/limit.ts',
      '@@ function limit',
      ' const a = 1',
      '-const limit = 10',
      '+const limit = 20',
      '@@',
      '-old()',
      '+young()',
      '*** Add File: new.txt',
      '+hello',
      '+new',
      '*** Delete File: /tmp/gone.txt',
      '*** Update File: a.ts',
      '*** Move to: b.ts',
      '@@',
      '-x',
      '+y',
      '*** End Patch',
    ].join('\n')
    const uses = used('apply_patch', { command: patch }, 'Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n')
    expect(uses.map(({ event }) => [event.id, event.tool])).toEqual([
      ['call_1', 'MultiEdit'],
      ['call_1:2', 'Write'],
      ['call_1:3', 'Delete'],
      ['call_1:4', 'Edit'],
    ])
    expect(uses[0]?.action).toMatchObject({ kind: 'edit', file: { path: 'src/limit.ts' } })
    expect(uses[0]?.event.input).toMatchObject({
      file_path: '/home/me/shop/src/limit.ts',
      edits: [{ old_string: 'const a = 1\nconst limit = 10', new_string: 'const a = 1\nconst limit = 20' }, {}],
    })
    expect(uses[1]?.event).toMatchObject({ input: { file_path: '/home/me/shop/new.txt', content: 'hello\nnew\n' } })
    expect(uses[3]?.event.input).toMatchObject({ file_path: '/home/me/shop/b.ts' })
  })

  it('reports a patch that was not applied as a failure', () => {
    const [use, ...more] = used(
      'apply_patch',
      { command: '*** Begin Patch\n*** Update File: a.ts\n@@\n-x\n+y\n' },
      'Exit code: 1\nOutput:\nno match',
    )
    expect(use?.event).toMatchObject({ kind: 'tool_failure', tool: 'Edit' })
    expect(more).toEqual([])
    expect(used('apply_patch', { command: 'nonsense' }, '')).toMatchObject([{ event: { kind: 'tool_failure' } }])
  })

  it('reports MCP tools by server and name, their errors as failures, and ours not at all', () => {
    const content = [{ type: 'text', text: 'pong' }]
    expect(used('mcp__crm__ping', { text: 'x' }, { content })).toMatchObject([{ event: { tool: 'mcp__crm__ping' } }])
    expect(used('mcp__crm__ping', {}, { content, isError: true })).toMatchObject([
      { event: { kind: 'tool_failure', error: 'pong' } },
    ])
    for (const name of ['mcp__claude-mem__search_memory', 'mcp__claude_mem__search_memory']) {
      const fields = { tool_name: name, tool_input: {}, tool_response: {}, tool_use_id: 'call_1' }
      expect(reported({ hook_event_name: 'PostToolUse', ...fields })).toEqual([
        "claude-mem's own tools are not observed",
      ])
    }
  })

  it('reports subagents: who was started, what it did and what it found', () => {
    const [started] = used('spawn_agent', { message: 'look around', task_name: 'x' }, '{"agent_id":"1"}')
    expect(started?.action).toMatchObject({ kind: 'report', texts: [''] })
    const waited = { tool_name: 'multi_agent_v1wait_agent', tool_input: {}, tool_response: '{}', tool_use_id: 'c' }
    expect(reported({ hook_event_name: 'PostToolUse', ...waited })).toEqual([])
    const [inner] = used('Bash', { command: 'ls' }, 'a\n', SUBAGENT)
    expect(inner?.event.agent).toEqual({ id: SUBAGENT.agent_id, type: 'default' })
    const stop = { hook_event_name: 'SubagentStop', last_assistant_message: 'Found it.', ...SUBAGENT }
    expect(reported(stop)).toMatchObject([{ kind: 'subagent_end', lastMessage: 'Found it.' }])
  })

  it('reports how turns and sessions begin and end', () => {
    const kinds = (fields: HookPayload) =>
      reported(fields).map((event) => (typeof event === 'string' ? event : event.kind))
    expect(kinds({ hook_event_name: 'SessionStart', source: 'compact' })).toEqual(['session_start'])
    expect(reported({ hook_event_name: 'Stop', last_assistant_message: 'Done.' })).toMatchObject([
      { kind: 'turn_end', lastMessage: 'Done.', error: null },
    ])
    expect(reported({ hook_event_name: 'Interrupt' })).toMatchObject([{ kind: 'turn_end', error: 'interrupted' }])
    expect(kinds({ hook_event_name: 'PreCompact', trigger: 'auto' })).toEqual(['pre_compact'])
    expect(kinds({ hook_event_name: 'SessionEnd', reason: 'other' })).toEqual(['session_end'])
    for (const event of ['PermissionRequest', 'PostCompact', 'SubagentStart', 'constructor', '', 7, undefined]) {
      expect(kinds({ hook_event_name: event })).toEqual([])
    }
  })

  it('gets exactly the fields that it accepts, and nothing where output is an error', () => {
    expect(codexAdapter.answer(EMPTY_OUTCOME)).toBeNull()
    expect(codexAdapter.answer({ event: 'Stop', context: 'known', message: 'wait' })).toBeNull()
    expect(codexAdapter.answer({ event: 'SessionStart', context: '', message: '' })).toBeNull()
    expect(codexAdapter.answer({ event: 'SessionStart', context: 'known', message: 'two wait' })).toEqual({
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 'known' },
      systemMessage: 'two wait',
    })
  })

  it('accepts fields of any type', () => {
    const wrong = { tool_name: 7, tool_input: [null], tool_response: { content: 'x', isError: true }, cwd: {} }
    expect(reported({ hook_event_name: 'PostToolUse', ...wrong })).toEqual(['there is no tool name'])
    expect(used('Bash', null, null)).toMatchObject([{ event: { tool: 'Bash' } }])
    expect(used('apply_patch', { command: 7 }, 7)).toMatchObject([{ event: { kind: 'tool_failure' } }])
    expect(reported({ hook_event_name: 'Stop', session_id: 7 })).toEqual(['there is no session id'])
  })
})
