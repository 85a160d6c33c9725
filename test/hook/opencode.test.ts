/** What our plugin reports from OpenCode, in the shapes that OpenCode 1.18 gives to plugins. */
import { describe, expect, it } from 'vitest'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { EMPTY_OUTCOME, type HookPayload } from '../../src/hook/clients/adapter.ts'
import { adapterFromArgs } from '../../src/hook/clients/index.ts'
import { readPayloadFields } from '../../src/hook/payload.ts'
import { readToolUse } from '../../src/reading/tool-use.ts'
import { loadSettings } from '../../src/settings/settings.ts'

const { values: settings } = loadSettings('', {})
const opencode = adapterFromArgs(['--client', 'opencode'])
const BASE = { session_id: 'ses_1', cwd: '/home/me/shop', turn_id: 'msg_1' }
const DIFF =
  'Index: /home/me/shop/a.ts\n===\n--- /home/me/shop/a.ts\n+++ /home/me/shop/a.ts\n@@ -1,2 +1,2 @@\n const a = 1\n-const limit = 1\n+const limit = 2\n'

function reported(fields: HookPayload): MemoryEvent[] {
  const payload = { ...BASE, ...fields }
  const raw = JSON.stringify(payload)
  return opencode.translate(payload, {}, JSON.stringify(payload)).flatMap((one, index) => {
    const reading = readPayloadFields(one, `${raw}#${index}`, { settings, at: 1, client: 'opencode' })
    return reading.type === 'event' ? [reading.event] : []
  })
}

function tool(name: string, args: object, result: object, more: HookPayload = {}) {
  const events = reported({
    hook_event_name: 'tool.execute.after',
    tool: name,
    call_id: 'call_1',
    args,
    result,
    ...more,
  })
  const actions = events.flatMap((event) =>
    event.kind === 'tool_use' || event.kind === 'tool_failure' ? readToolUse(event) : [],
  )
  return { events, actions }
}

describe('opencode', () => {
  it('reports a prompt with its message as the turn, without the quotes that `opencode run` adds', () => {
    const [event] = reported({ hook_event_name: 'chat.message', prompt: '"raise the \\"limit\\" to 2"' })
    expect(event).toMatchObject({ kind: 'prompt', session: 'ses_1', promptId: 'msg_1', text: 'raise the "limit" to 2' })
    const [typed] = reported({ hook_event_name: 'chat.message', prompt: 'say "hi" or "ho"' })
    expect(typed).toMatchObject({ text: 'say "hi" or "ho"' })
  })

  it('reports a command and a command that failed as the observer knows them', () => {
    const fine = tool('bash', { command: 'npm test' }, { metadata: { output: 'Tests  48 passed (48)\n', exit: 0 } })
    expect(fine.events).toMatchObject([{ kind: 'tool_use', tool: 'Bash', id: 'call_1' }])
    expect(fine.actions).toMatchObject([{ kind: 'command', command: { kind: 'check' }, outcome: 'ok' }])
    const failed = tool('bash', { command: 'npm test' }, { output: 'oops\n', metadata: { output: 'oops\n', exit: 3 } })
    expect(failed.events).toMatchObject([{ kind: 'tool_failure', tool: 'Bash', error: 'Exit code 3\noops\n' }])
    expect(failed.actions).toMatchObject([{ kind: 'command', outcome: 'failed' }])
  })

  it('reports a read, a new file and an edit with its diff', () => {
    const output =
      '<path>/home/me/shop/a.ts</path>\n<type>file</type>\n<content>\n1: const a = 1\n2: 3: x\n\n(End of file - total 2 lines)\n</content>'
    const read = tool('read', { filePath: '/home/me/shop/a.ts' }, { output })
    expect(read.events).toMatchObject([{ tool: 'Read', response: { file: { content: 'const a = 1\n3: x' } } }])
    expect(read.actions).toMatchObject([{ kind: 'look', subject: 'Read a.ts' }])
    const markup =
      '<content>\n1: <entry>\n2: <content>hi</content>\n3: </entry>\n\n(End of file - total 3 lines)\n</content>'
    expect(tool('read', { filePath: '/a.xml' }, { output: markup }).events).toMatchObject([
      { response: { file: { content: '<entry>\n<content>hi</content>\n</entry>' } } },
    ])
    const write = tool(
      'write',
      { filePath: '/home/me/shop/a.ts', content: 'export const limit = 1\n' },
      { output: 'Wrote file successfully.', metadata: { exists: false } },
    )
    expect(write.actions).toMatchObject([{ kind: 'edit', file: { change: 'created', path: 'a.ts' } }])
    const edit = tool(
      'edit',
      { filePath: '/home/me/shop/a.ts', oldString: 'limit = 1', newString: 'limit = 2' },
      { output: 'Edit applied successfully.', metadata: { diff: DIFF } },
    )
    expect(edit.events).toMatchObject([{ tool: 'Edit', input: { old_string: 'limit = 1', new_string: 'limit = 2' } }])
    expect(edit.actions).toMatchObject([{ kind: 'edit', file: { change: 'edited', path: 'a.ts' } }])
  })

  it('reports each file of a patch as an event of its own', () => {
    const patchText =
      '*** Begin Patch\n*** Add File: a.ts\n+one\n*** Update File: b.ts\n@@\n-two\n+three\n*** End Patch'
    const { events } = tool('apply_patch', { patchText }, { output: 'Done' })
    expect(events).toMatchObject([
      { tool: 'Write', id: 'call_1' },
      { tool: 'Edit', id: 'call_1#1' },
    ])
  })

  it('reports a tool that failed, which has no result', () => {
    const failure = {
      tool: 'read',
      call_id: 'call_2',
      args: { filePath: '/home/me/shop/x' },
      error: 'File not found: x',
    }
    const [event] = reported({ hook_event_name: 'tool.error', ...failure })
    expect(event).toMatchObject({ kind: 'tool_failure', id: 'call_2', tool: 'Read', interrupted: false })
    const [aborted] = reported({ hook_event_name: 'tool.error', tool: 'bash', error: 'Tool execution aborted' })
    expect(aborted).toMatchObject({ kind: 'tool_failure', tool: 'Bash', interrupted: true })
  })

  it('reports the tools of a subagent with the agent, and its end with the call that started it', () => {
    const inside = tool(
      'bash',
      { command: 'ls' },
      { metadata: { exit: 0 } },
      { agent_id: 'ses_2', agent_type: 'general' },
    )
    expect(inside.events).toMatchObject([{ session: 'ses_1', agent: { id: 'ses_2', type: 'general' } }])
    const output = '<task id="ses_2" state="completed">\n<task_result>\nLooked around.\n</task_result>\n</task>'
    const { events } = tool(
      'task',
      { description: 'look', prompt: 'look around', subagent_type: 'general' },
      { output, metadata: { sessionId: 'ses_2' } },
    )
    expect(events).toMatchObject([
      { kind: 'subagent_end', lastMessage: 'Looked around.', agent: { id: 'ses_2', type: 'general' } },
      { kind: 'tool_use', tool: 'Task', id: 'call_1', response: 'Looked around.' },
    ])
  })

  it('does not report uses of our own server, and keeps the names of others', () => {
    expect(tool('claude-mem_search_memory', { query: 'x' }, { content: [] }).events).toEqual([])
    const content = [{ type: 'text', text: 'pong' }]
    expect(tool('probe_ping', { note: 'x' }, { content }).events).toMatchObject([
      { tool: 'probe_ping', response: content },
    ])
  })

  it('reports the ends of turns and sessions', () => {
    const ends = [
      { hook_event_name: 'session.idle', last_message: 'Done.' },
      { hook_event_name: 'session.error', error: 'APIError: overloaded', last_message: '' },
      { hook_event_name: 'session.compacting' },
      { hook_event_name: 'session.end', reason: 'exit' },
    ]
    expect(ends.flatMap(reported)).toMatchObject([
      { kind: 'turn_end', lastMessage: 'Done.', error: null },
      { kind: 'turn_end', lastMessage: null, error: 'APIError: overloaded' },
      { kind: 'pre_compact' },
      { kind: 'session_end', reason: 'exit' },
    ])
  })

  it('gives an event that is repeated the same id', () => {
    const prompt = { hook_event_name: 'chat.message', prompt: 'again' }
    expect(reported(prompt)[0]?.id).toBe(reported(prompt)[0]?.id)
  })

  it.each([
    {},
    { hook_event_name: 'session.unknown' },
    { hook_event_name: 'constructor' },
    { hook_event_name: 'tool.execute.after' },
    { hook_event_name: 'tool.execute.after', tool: 'edit', args: null, result: 7 },
    { hook_event_name: 'tool.execute.after', tool: 'multiedit', args: { edits: [null, 3] }, result: [] },
    { hook_event_name: 'tool.error', tool: {}, args: [], error: {} },
    { hook_event_name: 'chat.message', prompt: ['x'] },
  ])('takes any payload without an error: %j', (payload) => {
    expect(() => reported(payload)).not.toThrow()
  })

  it('answers with what the plugin gives to the model', () => {
    expect(opencode.answer({ ...EMPTY_OUTCOME, event: 'SessionStart', context: 'known', message: 'told' })).toEqual({
      context: 'known',
      message: 'told',
    })
  })
})
