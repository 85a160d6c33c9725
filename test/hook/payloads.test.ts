/** What real clients send, event by event and version by version, through the real hook into a real daemon. */
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DaemonSandbox } from '../support/daemon.ts'

type Payload = Record<string, unknown>

interface Client {
  /** With every event. */
  base: Payload
  /** With the events of a turn. */
  turn: Payload
  tool: (id: string) => Payload
  stop: Payload
  subagentTool: string
}

const CLIENTS: Record<string, Client> = {
  '1.0': {
    base: {},
    turn: { permission_mode: 'default' },
    tool: () => ({}),
    stop: { stop_hook_active: false },
    subagentTool: 'Task',
  },
  '2.0': {
    base: {},
    turn: { permission_mode: 'default' },
    tool: (id) => ({ tool_use_id: id }),
    stop: { stop_hook_active: false },
    subagentTool: 'Task',
  },
  '2.1': {
    base: { prompt_id: 'c0ffee00-0000-4000-8000-000000000001' },
    turn: { permission_mode: 'default', effort: { level: 'medium' } },
    tool: (id) => ({ tool_use_id: id, duration_ms: 7 }),
    stop: { stop_hook_active: false, last_assistant_message: 'All steps are done.', background_tasks: [] },
    subagentTool: 'Agent',
  },
}

const FILE = '/home/dev/shop/hello.txt'
const patch = [{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, lines: [' alpha', '-beta', '+gamma'] }]

/** Event name, payload, and the kind it is stored as; null: it leaves no trace. */
function reported(
  version: string,
  { base, turn, tool, stop, subagentTool }: Client,
): [string, Payload, string | null][] {
  const used = (name: string, input: Payload, response: unknown, more: Payload = {}): [string, Payload, string] => [
    'PostToolUse',
    {
      ...base,
      ...turn,
      ...tool(`toolu_${name}_${version}`),
      tool_name: name,
      tool_input: input,
      tool_response: response,
      ...more,
    },
    'tool_use',
  ]
  const events: [string, Payload, string | null][] = [
    ['SessionStart', { source: 'startup' }, 'session_start'],
    ['UserPromptSubmit', { ...base, ...turn, prompt: 'write, read, edit and run' }, 'prompt'],
    ['PreToolUse', { ...base, ...turn, tool_name: 'Bash', tool_input: { command: 'echo hi' } }, null],
    used(
      'Write',
      { file_path: FILE, content: 'alpha\nbeta\n' },
      { type: 'create', filePath: FILE, content: 'alpha\nbeta\n', structuredPatch: [] },
    ),
    used(
      'Read',
      { file_path: FILE },
      { type: 'text', file: { filePath: FILE, content: 'alpha\n', numLines: 2, startLine: 1, totalLines: 2 } },
    ),
    used(
      'Edit',
      { file_path: FILE, old_string: 'beta', new_string: 'gamma' },
      { filePath: FILE, oldString: 'beta', newString: 'gamma', originalFile: 'alpha\nbeta\n', structuredPatch: patch },
    ),
    used(
      'Bash',
      { command: 'echo hi', description: 'say hi' },
      { stdout: 'hi', stderr: '', interrupted: false, isImage: false },
    ),
    used('mcp__probe__ping', { text: 'x' }, [{ type: 'text', text: 'pong' }]),
    used(
      subagentTool,
      { description: 'sub task', prompt: 'do it', subagent_type: 'general-purpose' },
      { content: [{ type: 'text', text: 'done' }], totalTokens: 120 },
    ),
    [
      'PostToolUse',
      {
        ...base,
        ...turn,
        ...tool(`toolu_todo_${version}`),
        tool_name: 'TodoWrite',
        tool_input: { todos: [] },
        tool_response: {},
      },
      null,
    ],
    ['PreCompact', { ...base, trigger: 'manual', custom_instructions: '' }, 'pre_compact'],
    ['SubagentStop', { ...base, ...turn, stop_hook_active: false, agent_id: 'a1', agent_type: '' }, null],
    ['Stop', { ...base, ...turn, ...stop }, 'turn_end'],
    ['SessionEnd', { ...base, reason: 'other' }, 'session_end'],
  ]
  if (version !== '2.1') return events
  return [
    ...events.slice(0, -2),
    used(
      'BashInside',
      { command: 'echo sub' },
      { stdout: 'sub' },
      { tool_name: 'Bash', agent_id: 'a1', agent_type: 'general-purpose' },
    ),
    [
      'PostToolUseFailure',
      {
        ...base,
        ...turn,
        ...tool('toolu_failed'),
        tool_name: 'Bash',
        tool_input: { command: 'exit 3' },
        error: 'Exit code 3\noops',
        is_interrupt: false,
      },
      'tool_failure',
    ],
    [
      'SubagentStop',
      { ...base, ...turn, agent_id: 'a1', agent_type: 'general-purpose', last_assistant_message: 'Looked around.' },
      'subagent_end',
    ],
    [
      'Notification',
      { ...base, message: 'Claude needs your permission', notification_type: 'permission_prompt' },
      null,
    ],
    ['PostToolBatch', { ...base, tool_calls: [] }, null],
    ...events.slice(-2, -1),
    ['StopFailure', { ...base, error: 'unknown', last_assistant_message: 'API Error: 400' }, 'turn_end'],
    ...events.slice(-1),
  ]
}

let place: DaemonSandbox
beforeAll(async () => {
  place = new DaemonSandbox()
  await place.start()
})
afterAll(() => place.dispose())

describe.each(Object.entries(CLIENTS))('payloads.client %s', (version, client) => {
  test('every event is taken, stored as what it is, and answered', async () => {
    const session = `session-of-${version}`
    const all = reported(version, client)
    const common = { session_id: session, transcript_path: '/nowhere/t.jsonl', cwd: '/nowhere/shop' }
    for (const [name, payload] of all) {
      const { code, stdout } = await place.hook({ ...common, hook_event_name: name, ...payload })
      expect([code, JSON.parse(stdout)]).toMatchObject([0, { continue: true, suppressOutput: true }])
    }
    const db = new Database(place.paths.database, { readonly: true })
    const kinds = db.prepare('SELECT kind FROM events WHERE content_session_id = ? ORDER BY id').pluck().all(session)
    db.close()
    expect(kinds).toEqual(all.map(([, , kind]) => kind).filter((kind) => kind !== null))
  })
})
