/** Transcripts of Codex and Gemini CLI, as those clients write them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { MemoryEvent } from '../../../src/domain/event.ts'
import { loadSettings } from '../../../src/settings/settings.ts'
import { surveyTranscripts } from '../../../src/transfer/backfill/survey.ts'
import { readTranscriptEvents } from '../../../src/transfer/transcripts/index.ts'
import { findAllTranscripts, namedTranscripts } from '../../../src/transfer/transcripts/readers.ts'
import { temporaryDirectory } from '../../support/directories.ts'

const settings = loadSettings('', {}).values
const CWD = '/home/me/shop'
const SESSION = '01a1e4d5-c254-7581-84a7-00979d4dfe26'
let second = 0
const now = () => new Date(Date.UTC(2026, 10, 16, 14, 0, ++second)).toISOString()

function write(file: string, lines: readonly unknown[]): string {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))
  return file
}

async function events(file: string, client: string) {
  const found: MemoryEvent[] = []
  const skipped: string[] = []
  const options = { settings, client, skipped: (_: number, reason: string) => skipped.push(reason) }
  for await (const event of readTranscriptEvents(file, options)) found.push(event)
  return { found, skipped }
}

const shown = (found: readonly MemoryEvent[]) =>
  found.map((event) => {
    if (event.kind === 'prompt') return `prompt ${event.text}`
    if (event.kind === 'turn_end') return `end ${event.lastMessage}`
    return event.kind.startsWith('tool') && 'tool' in event ? `${event.kind} ${event.tool} ${event.id}` : event.kind
  })

const line = (type: string, payload: object) => ({ timestamp: now(), type, payload })
const item = (fields: object) => line('event_msg', { type: 'item_completed', turn_id: 't1', item: fields })
const meta = (more: object = {}) =>
  line('session_meta', { id: SESSION, session_id: SESSION, cwd: CWD, thread_source: 'user', ...more })

describe('Codex', () => {
  const rollout = (home: string) => join(home, '.codex', 'sessions', '2026', '11', '16', `rollout-x-${SESSION}.jsonl`)
  const LINES = [
    meta(),
    line('response_item', { type: 'message', role: 'user', content: [{ text: '<environment_context>x' }] }),
    line('response_item', { type: 'message', role: 'developer', content: [{ text: 'INJECTED' }] }),
    item({ type: 'UserMessage', id: 'u1', content: [{ type: 'text', text: 'Raise it' }] }),
    line('response_item', { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"make"}', call_id: 'c1' }),
    item({
      type: 'CommandExecution',
      id: 'c1',
      command: ['/bin/bash', '-lc', 'make'],
      aggregated_output: 'oops',
      exit_code: 2,
    }),
    line('response_item', {
      type: 'function_call_output',
      call_id: 'c1',
      output: 'Process exited with code 2\nOutput:\noops',
    }),
    item({
      type: 'FileChange',
      id: 'c2',
      status: 'completed',
      changes: {
        [`${CWD}/a.ts`]: { type: 'update', unified_diff: '@@ -1,2 +1,2 @@\n-alpha\n+beta\n gamma\n', move_path: null },
        [`${CWD}/b.ts`]: { type: 'add', content: 'hello\n' },
      },
    }),
    item({
      type: 'McpToolCall',
      id: 'c3',
      server: 'crm',
      tool: 'ping',
      arguments: {},
      status: 'completed',
      result: {},
    }),
    '{"timestamp":"2026',
    item({ type: 'AgentMessage', id: 'm1', content: [{ type: 'Text', text: 'Raised.' }] }),
    line('response_item', { type: 'message', role: 'assistant', id: 'm1', content: [{ text: 'Raised.' }] }),
  ]

  it('has the same events as hooks report', async () => {
    const file = write(rollout(temporaryDirectory('codex')), LINES)
    const { found, skipped } = await events(file, 'codex')
    expect(shown(found)).toEqual([
      'session_start',
      'prompt Raise it',
      'tool_failure Bash c1',
      'tool_use Edit c2',
      'tool_use Write c2:2',
      'tool_use mcp__crm__ping c3',
      'end Raised.',
      'session_end',
    ])
    expect(found[1]).toMatchObject({ client: 'codex', session: SESSION, cwd: CWD, promptId: 't1' })
    expect(found[2]).toMatchObject({ input: { command: 'make' }, error: 'Exit code 2\noops' })
    expect(found[3]).toMatchObject({ response: { structuredPatch: [{ lines: ['-alpha', '+beta', ' gamma'] }] } })
    expect(skipped).toEqual(['the line is not JSON or is truncated'])
  })

  it('of versions without completed items has messages and calls', async () => {
    const file = write(join(temporaryDirectory('codex'), 'x.jsonl'), [
      line('session_meta', { id: SESSION, cwd: CWD }),
      line('event_msg', { type: 'user_message', message: 'Look' }),
      line('response_item', {
        type: 'function_call',
        name: 'shell',
        arguments: '{"command":["ls","-l"]}',
        call_id: 'c1',
      }),
      line('response_item', {
        type: 'function_call_output',
        call_id: 'c1',
        output: '{"output":"a","metadata":{"exit_code":0}}',
      }),
      line('response_item', {
        type: 'custom_tool_call',
        name: 'apply_patch',
        input: '*** Begin Patch\n*** Add File: n.txt\n+x\n',
        call_id: 'c2',
      }),
      line('response_item', {
        type: 'custom_tool_call_output',
        call_id: 'c2',
        output: '{"output":"Success.","metadata":{"exit_code":0}}',
      }),
      line('event_msg', { type: 'agent_message', message: 'Done.' }),
    ])
    const { found } = await events(file, 'codex')
    expect(shown(found)).toEqual([
      'session_start',
      'prompt Look',
      'tool_use Bash c1',
      'tool_use Write c2',
      'end Done.',
      'session_end',
    ])
    expect(found[2]).toMatchObject({ input: { command: 'ls -l' }, response: { stdout: 'a' } })
  })

  it('has the results of subagents, and calls whose ids were used before', async () => {
    const call = (name: string, input: object, output: unknown, id: string) => [
      line('response_item', { type: 'function_call', name, arguments: JSON.stringify(input), call_id: id }),
      line('response_item', { type: 'function_call_output', call_id: id, output }),
    ]
    const file = write(join(temporaryDirectory('codex'), 'x.jsonl'), [
      meta(),
      item({ type: 'UserMessage', id: 'u', content: [{ text: 'look' }] }),
      ...call('spawn_agent', { message: 'find it' }, '{"agent_id":"a1"}', 'c1'),
      ...call('spawn_agent', { message: 'and that' }, '{"agent_id":"a2"}', 'c2'),
      ...call('spawn_agent', { message: 'review it' }, '{"task_name":"/root/review"}', 'c4'),
      ...['MESSAGE\nPayload:\nstill reading', 'FINAL_ANSWER\nSender: /root/review\nPayload:\nFine.\nShip it.'].map(
        (text) =>
          line('response_item', {
            type: 'agent_message',
            author: '/root/review',
            content: [{ type: 'input_text', text: `Message Type: ${text}` }],
          }),
      ),
      ...call('wait_agent', { ids: ['a1'] }, '{"status":{"a1":{"completed":"It is in cart.ts."}}}', 'c3'),
      ...call('exec_command', { cmd: 'ls' }, 'a', 'functions.exec_command:0'),
      ...call('exec_command', { cmd: 'pwd' }, '/x', 'functions.exec_command:0'),
    ])
    const { found } = await events(file, 'codex')
    const tasks = found.filter((event) => event.kind === 'tool_use' && event.tool === 'Task')
    expect(tasks).toMatchObject([
      { id: 'c4', input: { prompt: 'review it' }, response: 'Fine.\nShip it.' },
      { id: 'c1', input: { prompt: 'find it' }, response: 'It is in cart.ts.' },
      { id: 'c2', input: { prompt: 'and that' }, response: '' },
    ])
    expect(found.filter(({ kind }) => kind === 'subagent_end')).toMatchObject([
      { lastMessage: 'Fine.\nShip it.' },
      { lastMessage: 'It is in cart.ts.' },
    ])
    expect(found.flatMap((event) => (event.kind === 'tool_use' && event.tool === 'Bash' ? [event.input] : []))).toEqual(
      [{ command: 'ls' }, { command: 'pwd' }],
    )
  })

  it("leaves a subagent's file alone", async () => {
    const file = write(join(temporaryDirectory('codex'), 'x.jsonl'), [
      meta({ id: 'other', thread_source: 'subagent' }),
      item({ type: 'UserMessage', id: 'u', content: [{ text: 'look' }] }),
    ])
    expect((await events(file, 'codex')).found).toEqual([])
  })

  it('is found, and recognised when it is named', async () => {
    const home = temporaryDirectory('codex')
    const file = write(rollout(home), LINES)
    expect(findAllTranscripts({ env: {}, home }, ['codex']).files).toMatchObject([{ client: 'codex', file }])
    expect(findAllTranscripts({ env: {}, home }, ['gemini']).files).toEqual([])
    const { sessions } = await surveyTranscripts(namedTranscripts([file]), { settings, since: null, named: true })
    expect(sessions).toMatchObject([{ session: SESSION, client: 'codex', cwd: CWD, prompts: 1, toolUses: 4 }])
  })
})

describe('Gemini CLI', () => {
  const ID = '9875eb0c-5446-4f0b-bf28-f44005f4a14e'
  const call = (
    id: string,
    name: string,
    args: object,
    response: object,
    status = 'success',
    resultDisplay: unknown = '',
  ) => ({
    id,
    name,
    args,
    status,
    resultDisplay,
    result: [{ functionResponse: { id, name, response } }],
  })

  function transcript(): string {
    const home = temporaryDirectory('gemini')
    const project = join(home, '.gemini', 'tmp', 'shop')
    mkdirSync(project, { recursive: true })
    writeFileSync(join(project, '.project_root'), CWD)
    const answer = { id: 'm2', timestamp: now(), type: 'gemini', content: '' }
    return write(join(project, 'chats', 'session-x.jsonl'), [
      { sessionId: ID, projectHash: 'x', startTime: now(), kind: 'main' },
      {
        $set: { messages: [{ id: 'm0', timestamp: now(), type: 'user', content: [{ text: '<session_context>\nx' }] }] },
      },
      { id: 'm1', timestamp: now(), type: 'user', content: [{ text: '<hook_context>old</hook_context>\n\nRaise it' }] },
      { $set: { lastUpdated: now() } },
      answer,
      {
        ...answer,
        toolCalls: [
          call(
            'c1',
            'run_shell_command',
            { command: 'make' },
            { output: '<untrusted_context>\nOutput: oops\nExit Code: 3\n</untrusted_context>' },
            'success',
            'oops',
          ),
          call('c2', 'read_file', { file_path: '/x' }, { error: 'File not found: /x' }, 'error'),
          call('c3', 'mcp_claude-mem_search_memory', {}, { output: 'x' }),
          call('c4', 'read_file', { file_path: `${CWD}/a.ts` }, { output: 'alpha\n\n<hook_context>x</hook_context>' }),
        ],
      },
      { id: 'm3', timestamp: now(), type: 'user', content: [{ functionResponse: { id: 'c1' } }] },
      { id: 'm4', timestamp: now(), type: 'gemini', content: 'Raised.' },
    ])
  }

  it('has the same events as hooks report, each message once', async () => {
    const { found } = await events(transcript(), 'gemini')
    expect(shown(found)).toEqual([
      'session_start',
      'prompt Raise it',
      'tool_failure Bash c1',
      'tool_failure Read c2',
      'tool_use Read c4',
      'end Raised.',
      'session_end',
    ])
    expect(found[1]).toMatchObject({ client: 'gemini', session: ID, cwd: CWD })
    expect(found[4]).toMatchObject({ response: { file: { content: 'alpha' } } })
  })

  it('is recognised when it is named', () => {
    const file = transcript()
    expect(namedTranscripts([file]).files).toMatchObject([{ client: 'gemini', file }])
  })
})
