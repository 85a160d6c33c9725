/** Transcripts of every client are read in linear time: long hostile texts, and many lines of one kind. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadSettings } from '../../../src/settings/settings.ts'
import { surveyTranscripts } from '../../../src/transfer/backfill/survey.ts'
import { readTranscriptEvents } from '../../../src/transfer/transcripts/index.ts'
import { namedTranscripts } from '../../../src/transfer/transcripts/readers.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { repeated } from '../../support/hostile-text.ts'
import { expectLinearTimeWaiting } from '../../support/linear-time.ts'

const settings = loadSettings('', {}).values
const ID = '0cb916db-26aa-40f2-86b5-1ba81b225fd2'
const CWD = '/w/shop'
const time = (n: number) => new Date(1_794_841_096_000 + n).toISOString()

/** The first lines of a transcript, and the lines of one step: what the user said, a tool use, what the agent said. */
interface Shape {
  client: string
  file: string
  head: object[]
  step: (n: number, text: string) => object[]
}

const claude: Shape = {
  client: 'claude-code',
  file: join('.claude', 'projects', '-w-shop', `${ID}.jsonl`),
  head: [],
  step: (n, text) => {
    const line = (type: string, content: unknown, more: object = {}) => ({
      ...{ type, sessionId: ID, cwd: CWD, version: '2.1.197', uuid: `u${n}-${type}`, timestamp: time(n) },
      ...{ message: { role: type, content }, ...more },
    })
    const id = `toolu_${n}`
    return [
      line('user', text),
      line('assistant', [
        { type: 'text', text },
        { type: 'tool_use', id, name: 'Bash', input: { command: text } },
      ]),
      line('user', [{ type: 'tool_result', tool_use_id: id, content: text }], { toolUseResult: { stdout: text } }),
    ]
  },
}

const codexLine = (n: number, type: string, payload: object) => ({ timestamp: time(n), type, payload })
const codex: Shape = {
  client: 'codex',
  file: join('.codex', 'sessions', '2026', '11', '16', `rollout-x-${ID}.jsonl`),
  head: [codexLine(0, 'session_meta', { id: ID, session_id: ID, cwd: CWD, thread_source: 'user' })],
  step: (n, text) => {
    const item = (fields: object) =>
      codexLine(n, 'event_msg', { type: 'item_completed', turn_id: `t${n}`, item: fields })
    const call_id = `c${n}`
    return [
      item({ type: 'UserMessage', id: `u${n}`, content: [{ type: 'text', text }] }),
      codexLine(n, 'response_item', {
        type: 'function_call',
        name: 'exec_command',
        arguments: `{"cmd":"make"}`,
        call_id,
      }),
      codexLine(n, 'response_item', {
        type: 'function_call_output',
        call_id,
        output: `Process exited with code 2\n${text}`,
      }),
      item({
        type: 'CommandExecution',
        id: call_id,
        command: ['/bin/bash', '-lc', text],
        aggregated_output: text,
        exit_code: 0,
      }),
      item({
        ...{ type: 'FileChange', id: `f${n}`, status: 'completed' },
        changes: { [`${CWD}/a.ts`]: { type: 'update', unified_diff: text, move_path: null } },
      }),
      item({ type: 'AgentMessage', id: `m${n}`, content: [{ type: 'Text', text }] }),
    ]
  },
}

const gemini: Shape = {
  client: 'gemini',
  file: join('.gemini', 'tmp', 'shop', 'chats', 'session-x.jsonl'),
  head: [{ sessionId: ID, projectHash: 'x', startTime: time(0), kind: 'main' }],
  step: (n, text) => {
    const id = `c${n}`
    const [name, response] = ['run_shell_command', { output: `<untrusted_context>\nOutput: ${text}\nExit Code: 3` }]
    return [
      { id: `a${n}`, timestamp: time(n), type: 'user', content: [{ text: `<hook_context>${text}` }] },
      {
        ...{ id: `b${n}`, timestamp: time(n), type: 'gemini', content: text },
        toolCalls: [
          {
            ...{ id, name, args: { command: text }, status: 'success', resultDisplay: text },
            result: [{ functionResponse: { id, name, response } }],
          },
        ],
      },
    ]
  },
}

const copilot: Shape = {
  client: 'copilot',
  file: join('.copilot', 'session-state', ID, 'events.jsonl'),
  head: [
    {
      ...{ type: 'session.start', id: 'e0', timestamp: time(0) },
      data: { sessionId: ID, producer: 'copilot-agent', context: { cwd: CWD } },
    },
  ],
  step: (n, text) => {
    const event = (type: string, data: object) => ({ type, data, id: `${type}${n}`, timestamp: time(n) })
    const toolCallId = `c${n}`
    const edit = { path: `${CWD}/a.ts`, old_str: text, new_str: text }
    return [
      event('user.message', { content: text, transformedContent: text }),
      event('tool.execution_start', { toolCallId, toolName: 'edit', arguments: edit }),
      event('tool.execution_complete', { toolCallId, success: true, result: { content: text, detailedContent: text } }),
      event('assistant.message', { content: text, toolRequests: [] }),
    ]
  },
}

const qwen: Shape = {
  client: 'qwen',
  file: join('.qwen', 'projects', '-w-shop', 'chats', `${ID}.jsonl`),
  head: [],
  step: (n, text) => {
    const line = (kind: string, provenance: string, parts: object[], more: object = {}) => ({
      ...{ uuid: `${kind}${n}`, sessionId: ID, timestamp: time(n), type: kind, provenance, cwd: CWD },
      ...{ message: { parts }, ...more },
    })
    const id = `c${n}`
    const output = `Command: make\nOutput: ${text}\nExit Code: 3`
    return [
      line('user', 'real_user', [{ text }]),
      line('assistant', 'assistant_output', [
        { text },
        { functionCall: { id, name: 'run_shell_command', args: { command: text } } },
      ]),
      line('tool_result', 'tool_result', [{ functionResponse: { id, response: { output } } }], {
        toolCallResult: { callId: id, status: 'error', resultDisplay: text },
      }),
    ]
  },
}

const PIECES = [
  ' ',
  '\n',
  '<a',
  '"',
  '*** Add File: a\n',
  '@@ -1 +1 @@\n+',
  '<hook_context>',
  '\nOutput: ',
  '```\n',
  '> ',
]

const home = temporaryDirectory('growth')

async function read({ client, file }: Shape, lines: readonly object[]): Promise<number> {
  const path = join(home, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  let events = 0
  for await (const _ of readTranscriptEvents(path, { settings, client })) events += 1
  await surveyTranscripts(namedTranscripts([path]), { settings, since: null, named: true })
  return events
}

describe.each([claude, codex, gemini, copilot, qwen])('$client', (shape) => {
  const { head, step } = shape

  it('gives events of each step', async () => {
    const one = await read(shape, [...head, ...step(1, 'some words')])
    expect(await read(shape, [...head, ...step(1, 'some words'), ...step(2, 'other words')])).toBeGreaterThan(one)
  })

  it.each(PIECES)('reads a long text of %j in linear time', async (piece) => {
    const lines = (chars: number) => [...head, ...step(1, repeated(piece, chars))]
    await expectLinearTimeWaiting((chars) => read(shape, lines(chars)), 16_384, piece)
  })

  it('reads many lines in linear time, together and of each kind alone', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => step(n, 'some words'))
    await expectLinearTimeWaiting((count) => read(shape, [...head, ...many(count).flat()]), 200)
    for (const [kind] of step(0, '').entries()) {
      const alone = (count: number) => many(count).flatMap((lines) => lines.slice(kind, kind + 1))
      await expectLinearTimeWaiting((count) => read(shape, [...head, ...alone(count)]), 500, `${kind}`)
    }
  })
})
