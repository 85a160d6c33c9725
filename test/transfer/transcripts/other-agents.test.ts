/** Transcripts of OpenCode (SQLite), Copilot CLI and Qwen Code, in the shapes of versions 1.18.33, 1.0.102 and 0.24.4. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, it } from 'vitest'
import { eventTool, type MemoryEvent } from '../../../src/domain/event.ts'
import { loadSettings } from '../../../src/settings/settings.ts'
import { surveyTranscripts } from '../../../src/transfer/backfill/survey.ts'
import { readTranscriptEvents } from '../../../src/transfer/transcripts/index.ts'
import { findAllTranscripts, namedTranscripts } from '../../../src/transfer/transcripts/readers.ts'
import { temporaryDirectory } from '../../support/directories.ts'

const settings = loadSettings('', {}).values
const AT = 1_794_841_096_000

let home: string
beforeEach(() => {
  home = temporaryDirectory('transcripts')
})
const find = (client: string) => findAllTranscripts({ env: {}, home }, [client])

async function read(file: string, client: string): Promise<MemoryEvent[]> {
  const events: MemoryEvent[] = []
  for await (const event of readTranscriptEvents(file, { settings, client })) events.push(event)
  return events
}

const told = (events: readonly MemoryEvent[]) =>
  events.map((event) => [event.kind, eventTool(event)].filter(Boolean).join(' '))

describe('the database of OpenCode', () => {
  const file = () => join(home, '.local', 'share', 'opencode', 'opencode.db')
  let db: Database.Database
  let rows: number

  beforeEach(() => {
    rows = 0
    mkdirSync(dirname(file()), { recursive: true })
    db = new Database(file())
    db.pragma('journal_mode = WAL')
    db.exec(`
      CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, agent TEXT, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL);
      CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
      CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, data TEXT NOT NULL);
      CREATE TABLE account (id TEXT PRIMARY KEY, access_token TEXT)`)
    return () => db.close()
  })

  const session = (id: string, parent: string | null = null) =>
    db.prepare('INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)').run(id, parent, '/w/shop', 'build', AT, AT + 9_000)
  const message = (id: string, of: string, data: object) =>
    db.prepare('INSERT INTO message VALUES (?, ?, ?, ?)').run(id, of, AT + rows++, JSON.stringify(data))
  const part = (of: string, data: object | string) => {
    const text = typeof data === 'string' ? data : JSON.stringify(data)
    const id = `prt_${String(rows).padStart(4, '0')}`
    db.prepare('INSERT INTO part VALUES (?, ?, ?, ?, ?)').run(id, of, 'any', AT + rows++, text)
  }
  const tool = (name: string, callID: string, state: object) => ({ type: 'tool', tool: name, callID, state })
  const bash = (callID: string, command: string, exit: number) =>
    tool('bash', callID, { status: 'completed', input: { command }, output: 'x', metadata: { output: 'x', exit } })

  function scripted(): void {
    session('ses_1')
    message('msg_1', 'ses_1', { role: 'user' })
    part('msg_1', { type: 'text', text: '"raise the limit"' })
    part('msg_1', { type: 'text', text: 'inserted by a plugin', synthetic: true })
    message('msg_2', 'ses_1', { role: 'assistant', parentID: 'msg_1' })
    part('msg_2', { type: 'step-start' })
    part('msg_2', { type: 'text', text: 'I will look.' })
    part('msg_2', bash('call_1', 'npm test', 0))
    part('msg_2', bash('call_2', 'make', 2))
    part(
      'msg_2',
      tool('read', 'call_3', { status: 'error', input: { filePath: '/w/shop/x' }, error: 'File not found' }),
    )
    part('msg_2', tool('bash', 'call_4', { status: 'running', input: { command: 'sleep 9' } }))
    const output = '<task_result>\nLooked around.\n</task_result>'
    const input = { description: 'look', prompt: 'look around', subagent_type: 'general' }
    part('msg_2', tool('task', 'call_5', { status: 'completed', input, output, metadata: { sessionId: 'ses_2' } }))
    message('msg_3', 'ses_1', { role: 'assistant', parentID: 'msg_1' })
    part('msg_3', { type: 'text', text: 'Raised it.' })
    session('ses_2', 'ses_1')
    message('msg_4', 'ses_2', { role: 'user' })
    part('msg_4', { type: 'text', text: 'look around' })
    message('msg_5', 'ses_2', { role: 'assistant' })
    part('msg_5', bash('call_6', 'ls', 0))
    part('msg_5', { type: 'text', text: 'Looked around.' })
  }

  it('gives the events that the plugin reports', async () => {
    scripted()
    const { files, problems } = find('opencode')
    expect(problems).toEqual([])
    expect(files).toMatchObject([{ client: 'opencode', file: `${file()}#ses_1`, changedAt: AT + 9_000 }])
    const events = await read(`${file()}#ses_1`, 'opencode')
    expect(told(events)).toEqual([
      'session_start',
      'prompt',
      'tool_use Bash',
      'tool_failure Bash',
      'tool_failure Read',
      'tool_use Bash',
      'subagent_end',
      'tool_use Task',
      'turn_end',
      'session_end',
    ])
    expect(new Set(events.map(({ session: id, client }) => `${id} ${client}`))).toEqual(new Set(['ses_1 opencode']))
    expect(events.find(({ kind }) => kind === 'prompt')).toMatchObject({ text: 'raise the limit', promptId: 'msg_1' })
    expect(events.find(({ id }) => id === 'call_6')).toMatchObject({ agent: { id: 'ses_2', type: 'general' } })
    expect(events.find(({ kind }) => kind === 'turn_end')).toMatchObject({
      lastMessage: 'Raised it.',
      words: ['I will look.'],
    })
    expect(told(await read(file(), 'opencode'))).toEqual(told(events))
  })

  it('is surveyed while OpenCode has it open, session by session', async () => {
    scripted()
    const { sessions, problems } = await surveyTranscripts(find('opencode'), { settings, since: null, named: false })
    expect(problems).toEqual([])
    expect(sessions).toMatchObject([{ session: 'ses_1', client: 'opencode', prompts: 1, toolUses: 5, cwd: '/w/shop' }])
  })

  it('is recognised when the user names it', () => {
    scripted()
    expect(namedTranscripts([file()]).files).toMatchObject([{ client: 'opencode', file: file() }])
  })

  it('skips rows that are not JSON, and ends a turn that was aborted or failed', async () => {
    session('ses_1')
    message('msg_1', 'ses_1', { role: 'user' })
    part('msg_1', { type: 'text', text: 'go on' })
    part('msg_1', '{"type":"te')
    message('msg_2', 'ses_1', { role: 'assistant', error: { name: 'MessageAbortedError', data: {} } })
    part('msg_2', { type: 'text', text: 'I was about to' })
    message('msg_3', 'ses_1', { role: 'user' })
    part('msg_3', { type: 'compaction', auto: true })
    part('msg_3', { type: 'text', text: 'again' })
    message('msg_4', 'ses_1', { role: 'assistant', error: { name: 'APIError', data: { message: 'overloaded' } } })
    const skipped: string[] = []
    const events: MemoryEvent[] = []
    const options = { settings, client: 'opencode', skipped: (_: number, reason: string) => skipped.push(reason) }
    for await (const event of readTranscriptEvents(`${file()}#ses_1`, options)) events.push(event)
    expect(skipped).toEqual(['the row is not JSON'])
    expect(told(events)).toEqual(['session_start', 'prompt', 'pre_compact', 'prompt', 'turn_end', 'session_end'])
    expect(events.find(({ kind }) => kind === 'turn_end')).toMatchObject({ error: 'APIError: overloaded' })
  })

  it('of another version is a problem that is named, not an error', () => {
    db.exec('DROP TABLE session')
    expect(find('opencode').problems).toMatchObject([{ file: file(), reason: expect.stringContaining('other tables') }])
    db.close()
    writeFileSync(file(), 'not a database')
    expect(find('opencode')).toMatchObject({
      files: [],
      problems: [{ reason: expect.stringContaining('cannot be read') }],
    })
  })

  it('is nothing where OpenCode was never used', () => {
    home = temporaryDirectory('transcripts')
    expect(find('opencode')).toEqual({ files: [], problems: [] })
  })
})

describe('the events of Copilot CLI', () => {
  const SESSION = '0cb916db-26aa-40f2-86b5-1ba81b225fd2'
  const CHILD = 'cd28e3cb-aaa5-44d0-aad3-ca48904d70e5'
  const file = () => join(home, '.copilot', 'session-state', SESSION, 'events.jsonl')
  let lines: string[]

  function event(type: string, data: object, more: object = {}): void {
    const timestamp = new Date(AT + lines.length).toISOString()
    lines.push(JSON.stringify({ type, data, id: `e${lines.length}`, timestamp, ...more }))
  }
  const tool = (toolCallId: string, toolName: string, args: object, end: object, more: object = {}) => {
    event('tool.execution_start', { toolCallId, toolName, arguments: args }, more)
    event('tool.execution_complete', { toolCallId, success: true, ...end }, more)
  }
  const write = () => {
    mkdirSync(dirname(file()), { recursive: true })
    writeFileSync(file(), `${lines.join('\n')}\n`)
  }

  beforeEach(() => {
    lines = []
    event('session.start', { sessionId: SESSION, producer: 'copilot-agent', context: { cwd: '/w/shop' } })
    event('user.message', { content: 'raise the limit', transformedContent: '<now/>raise the limit' })
    event('assistant.message', { content: 'I will look.', toolRequests: [{ name: 'bash' }] })
    tool('call_1', 'bash', { command: 'make' }, { shellExecution: { exitCode: 2 }, result: { content: 'oops' } })
    const diff = '\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,1 +1,1 @@\n-limit = 1\n+limit = 2\n'
    const edit = { path: '/w/shop/a.ts', old_str: 'limit = 1', new_str: 'limit = 2' }
    tool('call_2', 'edit', edit, { result: { content: 'updated', detailedContent: diff } })
    tool('call_3', 'view', { path: '/w/x' }, { success: false, error: { message: 'Path does not exist' } })
    const task = { description: 'look', prompt: 'look around', agent_type: 'general-purpose' }
    event('tool.execution_start', { toolCallId: 'call_4', toolName: 'task', arguments: task })
    event('user.message', { content: 'look around', source: `agent-${SESSION}` }, { agentId: CHILD })
    tool('call_5', 'bash', { command: 'ls' }, { result: { content: 'a.ts' } }, { agentId: CHILD })
    event('assistant.message', { content: 'Looked around.', toolRequests: [] }, { agentId: CHILD })
    event('tool.execution_complete', { toolCallId: 'call_4', success: true, result: { content: 'Looked around.' } })
    event('assistant.message', { content: 'Raised it.', toolRequests: [] })
  })

  it('give the events that its hooks report', async () => {
    write()
    expect(find('copilot')).toMatchObject({ files: [{ client: 'copilot', file: file() }], problems: [] })
    const events = await read(file(), 'copilot')
    expect(told(events)).toEqual([
      'session_start',
      'prompt',
      'tool_failure Bash',
      'tool_use Edit',
      'tool_failure Read',
      'tool_use Bash',
      'subagent_end',
      'tool_use Task',
      'turn_end',
      'session_end',
    ])
    expect(events.find(({ kind }) => kind === 'prompt')).toMatchObject({ session: SESSION, text: 'raise the limit' })
    expect(events.find(({ id }) => id === 'call_1')).toMatchObject({ error: 'Exit code 2\noops' })
    expect(events.find(({ id }) => id === 'call_2')).toMatchObject({
      response: { structuredPatch: [{ lines: ['-limit = 1', '+limit = 2'] }] },
    })
    expect(events.find(({ id }) => id === 'call_5')).toMatchObject({ agent: { id: CHILD } })
    expect(events.find(({ kind }) => kind === 'turn_end')).toMatchObject({ lastMessage: 'Raised it.', cwd: '/w/shop' })
  })

  it('are recognised by their first line, and bad lines are skipped', async () => {
    lines.splice(2, 0, '{"type":"assist', '7', '')
    write()
    expect(namedTranscripts([file()]).files).toMatchObject([{ client: 'copilot' }])
    expect(told(await read(file(), 'copilot'))).toHaveLength(10)
  })
})

describe('the chats of Qwen Code', () => {
  const SESSION = '0cb916db-26aa-40f2-86b5-1ba81b225fd2'
  const file = () => join(home, '.qwen', 'projects', '-w-shop', 'chats', `${SESSION}.jsonl`)
  const line = (n: number, type: string, provenance: string, parts: object[], more: object = {}) =>
    JSON.stringify({
      uuid: `u${n}`,
      sessionId: SESSION,
      timestamp: new Date(AT + n).toISOString(),
      type,
      provenance,
      cwd: '/w/shop',
      message: { parts },
      ...more,
    })
  const call = (id: string, name: string, args: object) => ({ functionCall: { id, name, args } })
  const result = (n: number, callId: string, status: string, output: string, resultDisplay: unknown = '') =>
    line(n, 'tool_result', 'tool_result', [{ functionResponse: { id: callId, response: { output } } }], {
      toolCallResult: { callId, status, resultDisplay },
    })

  it('give the events that its hooks report', async () => {
    mkdirSync(dirname(file()), { recursive: true })
    const inserted = { text: '<qwen:user-prompt-submit-context>\nknown\n</qwen:user-prompt-submit-context>' }
    const lines = [
      line(1, 'user', 'real_user', [{ text: 'raise the limit' }, inserted]),
      line(2, 'assistant', 'assistant_output', [
        { text: 'I will look.' },
        call('call_1', 'run_shell_command', { command: 'make' }),
      ]),
      result(3, 'call_1', 'error', 'Command: make\nOutput: bad\nExit Code: 3'),
      '{"uuid":"cut',
      line(4, 'assistant', 'assistant_output', [call('call_2', 'read_file', { file_path: '/w/shop/a.ts' })]),
      result(5, 'call_2', 'success', 'const a = 1'),
      line(6, 'assistant', 'assistant_output', [{ text: 'thinking', thought: true }, { text: 'Raised it.' }]),
    ]
    writeFileSync(file(), `${lines.join('\n')}\n`)
    expect(find('qwen')).toMatchObject({ files: [{ client: 'qwen', file: file() }], problems: [] })
    expect(namedTranscripts([file()]).files).toMatchObject([{ client: 'qwen' }])
    const events = await read(file(), 'qwen')
    expect(told(events)).toEqual([
      'session_start',
      'prompt',
      'tool_failure Bash',
      'tool_use Read',
      'turn_end',
      'session_end',
    ])
    expect(events.find(({ kind }) => kind === 'prompt')).toMatchObject({ text: 'raise the limit', session: SESSION })
    expect(events.find(({ id }) => id === 'call_1')).toMatchObject({ error: 'Exit code 3\nbad' })
    expect(events.find(({ kind }) => kind === 'turn_end')).toMatchObject({ lastMessage: 'Raised it.' })
  })
})
