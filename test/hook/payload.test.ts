import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventSchema } from '../../src/api/schemas.ts'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { type PayloadReading, readPayload } from '../../src/hook/payload.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { git, repository } from '../support/repository.ts'

const cwd = temporaryDirectory('payload')
const session = 'e19a5068-3e5e-4b39-bcb9-27039fbe91af'
const settings = {
  CLAUDE_MEM_SKIP_TOOLS: ['TodoWrite'],
  CLAUDE_MEM_EXCLUDED_PROJECTS: [],
  CLAUDE_MEM_MAX_FIELD_KB: 64,
  CLAUDE_MEM_MAX_MESSAGE_KB: 5_120,
}

type Fields = Record<string, unknown>

/** What each client sends with every event. */
const CLIENTS = {
  '1.0': { base: {}, tool: {} },
  '2.0': { base: {}, tool: { tool_use_id: 'toolu_1' } },
  '2.1': { base: { prompt_id: 'p-1', effort: { level: 'medium' } }, tool: { tool_use_id: 'toolu_1', duration_ms: 34 } },
} satisfies Record<string, { base: Fields; tool: Fields }>

function read(fields: Fields, options: Partial<Parameters<typeof readPayload>[1]> = {}): PayloadReading {
  const payload = { session_id: session, transcript_path: '/t.jsonl', cwd, permission_mode: 'default', ...fields }
  return readPayload(JSON.stringify(payload), { settings, at: 1_000, ...options })
}
function eventOf(fields: Fields): MemoryEvent {
  const reading = read(fields)
  if (reading.type === 'ignored') throw new Error(reading.reason)
  return reading.event
}

const base = {
  session,
  at: 1_000,
  client: 'claude-code',
  project: { key: `dir:${cwd}` },
  cwd,
  transcriptPath: '/t.jsonl',
}
const bash = { hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: { command: 'echo hi' } }

describe.each(Object.entries(CLIENTS))('client %s', (version, client) => {
  const promptId = version === '2.1' ? 'p-1' : null

  it('reports a tool use', () => {
    const response = { stdout: 'hi', stderr: '', interrupted: false }
    expect(eventOf({ ...client.base, ...bash, tool_response: response, ...client.tool })).toMatchObject({
      ...base,
      id: version === '1.0' ? expect.stringMatching(/^random:/) : 'toolu_1',
      kind: 'tool_use',
      tool: 'Bash',
      input: { command: 'echo hi' },
      response,
      durationMs: version === '2.1' ? 34 : null,
      promptId,
      agent: null,
    })
  })

  it('passes a failure that is only in the response', () => {
    const response = { stdout: '', stderr: 'oops', interrupted: true }
    expect(eventOf({ ...client.base, ...bash, tool_response: response })).toMatchObject({ kind: 'tool_use', response })
    expect(eventOf({ ...client.base, ...bash, tool_output: response })).toMatchObject({ kind: 'tool_use', response })
  })

  it('reports prompt, stop and the ends of a session', () => {
    const report = (fields: Fields): MemoryEvent => eventOf({ ...client.base, ...fields })
    expect(report({ hook_event_name: 'UserPromptSubmit', prompt: 'do it' })).toMatchObject({
      kind: 'prompt',
      text: 'do it',
      private: false,
    })
    expect(report({ hook_event_name: 'Stop', stop_hook_active: false })).toMatchObject({
      kind: 'turn_end',
      lastMessage: null,
      error: null,
    })
    expect(report({ hook_event_name: 'SessionStart', source: 'resume' })).toMatchObject({
      kind: 'session_start',
      source: 'resume',
    })
    expect(report({ hook_event_name: 'SessionEnd', reason: 'other' })).toMatchObject({
      kind: 'session_end',
      reason: 'other',
    })
    expect(report({ hook_event_name: 'PreCompact', trigger: 'manual', custom_instructions: '' })).toMatchObject({
      kind: 'pre_compact',
      trigger: 'manual',
    })
  })
})

describe('client 2.1', () => {
  it('reports a failed tool', () => {
    const failure = {
      ...bash,
      hook_event_name: 'PostToolUseFailure',
      error: 'Exit code 3\noops',
      is_interrupt: false,
      tool_use_id: 'toolu_9',
    }
    expect(eventOf(failure)).toMatchObject({
      id: 'toolu_9',
      kind: 'tool_failure',
      error: 'Exit code 3\noops',
      interrupted: false,
    })
  })

  it('reports how a turn ended', () => {
    expect(eventOf({ hook_event_name: 'Stop', last_assistant_message: 'done' })).toMatchObject({
      lastMessage: 'done',
      error: null,
    })
    const failure = { hook_event_name: 'StopFailure', error: 'unknown', last_assistant_message: 'API Error: 400' }
    expect(eventOf(failure)).toMatchObject({ kind: 'turn_end', lastMessage: 'API Error: 400', error: 'unknown' })
  })

  it('says which agent used a tool', () => {
    const agent = { agent_id: 'a5450a6e7db782c74', agent_type: 'general-purpose' }
    expect(eventOf({ ...bash, ...agent }).agent).toEqual({ id: 'a5450a6e7db782c74', type: 'general-purpose' })
    const end = { hook_event_name: 'SubagentStop', ...agent, last_assistant_message: 'found it' }
    expect(eventOf(end)).toMatchObject({
      kind: 'subagent_end',
      lastMessage: 'found it',
      agent: { type: 'general-purpose' },
    })
  })
})

describe('ids', () => {
  const stop = { hook_event_name: 'Stop', prompt_id: 'p-1', last_assistant_message: 'a' }

  it('are the same for the same payload', () => expect(eventOf(stop).id).toBe(eventOf({ ...stop }).id))
  it('name event and turn', () => expect(eventOf(stop).id).toMatch(/^Stop:p-1:[0-9a-f]{16}$/))
  it('tell two stops of one turn apart', () =>
    expect(eventOf(stop).id).not.toBe(eventOf({ ...stop, last_assistant_message: 'b' }).id))
  it('are random if the client sends no id', () => {
    const ids = Array.from({ length: 1_000 }, () => eventOf({ hook_event_name: 'Stop' }).id)
    expect(new Set(ids).size).toBe(1_000)
  })
  it('tell two huge payloads apart', () => {
    const huge = { hook_event_name: 'UserPromptSubmit', prompt_id: 'p-1', prompt: 'x'.repeat(300_000) }
    expect(eventOf(huge).id).not.toBe(eventOf({ ...huge, prompt: `${huge.prompt}x` }).id)
  })
})

describe('ignored', () => {
  const IGNORED: [what: string, fields: Fields][] = [
    ...[
      'PreToolUse',
      'Notification',
      'PermissionRequest',
      'SubagentStart',
      'PostToolBatch',
      'PostCompact',
      'MessageDisplay',
      'InstructionsLoaded',
      'SomethingNew',
      '',
    ].map((name): [string, Fields] => [name || 'no event name', { hook_event_name: name, tool_name: 'Bash' }]),
    ['no session id', { ...bash, session_id: '' }],
    ['a session id that is no text', { ...bash, session_id: 7 }],
    ['no tool name', { hook_event_name: 'PostToolUse' }],
    ['a skipped tool', { ...bash, tool_name: 'TodoWrite' }],
    ['our own tool', { ...bash, tool_name: 'mcp__claude-mem__search_memory' }],
    ["our plugin's tool", { ...bash, tool_name: 'mcp__plugin_claude-mem_memory__timeline' }],
    [
      "a compaction's subagent",
      { hook_event_name: 'SubagentStop', agent_id: 'a1', agent_type: '', last_assistant_message: 'x' },
    ],
    ['a subagent of 2.0', { hook_event_name: 'SubagentStop', agent_id: 'a67fc8c' }],
    ['a subagent of 1.0', { hook_event_name: 'SubagentStop', stop_hook_active: false }],
    [
      'a subagent without a word',
      { hook_event_name: 'SubagentStop', agent_id: 'a1', agent_type: 'x', last_assistant_message: '' },
    ],
  ]
  it.each(IGNORED)('%s', (_what, fields) => expect(read(fields)).toMatchObject({ type: 'ignored' }))

  it.each(['', '{', 'null', '[]', '"x"', '{}', '\ufeff'])('%j', (raw) =>
    expect(readPayload(raw, { settings, at: 0 })).toMatchObject({ type: 'ignored' }),
  )

  it('not: a byte order mark', () => {
    const raw = `\ufeff${JSON.stringify({ ...bash, session_id: session, cwd })}`
    expect(readPayload(raw, { settings, at: 0 }).type).toBe('event')
  })
})

describe('excluded projects', () => {
  const excluding = (...list: string[]): Parameters<typeof read>[1] => ({
    settings: { ...settings, CLAUDE_MEM_EXCLUDED_PROJECTS: list },
  })

  it('leave no trace, with everything below them', () => {
    mkdirSync(join(cwd, 'inner'), { recursive: true })
    expect(read(bash, excluding(cwd))).toMatchObject({ type: 'ignored', reason: 'the project is excluded' })
    expect(read({ ...bash, cwd: join(cwd, 'inner') }, excluding(`${cwd}/`))).toMatchObject({ type: 'ignored' })
    expect(read(bash, excluding(join(cwd, 'inner'), `${cwd}-other`)).type).toBe('event')
  })

  it('are found through links and from worktrees', () => {
    const outside = temporaryDirectory('payload')
    symlinkSync(cwd, join(outside, 'link'))
    expect(read({ ...bash, cwd: join(outside, 'link') }, excluding(cwd)).type).toBe('ignored')
    git(repository(join(cwd, 'shop')), 'worktree', 'add', '--quiet', join(outside, 'tree'))
    expect(read({ ...bash, cwd: join(outside, 'tree') }, excluding(cwd)).type).toBe('ignored')
    rmSync(outside, { recursive: true })
  })
})

describe('before anything leaves the process', () => {
  it('private parts and secrets go', () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const fields = {
      ...bash,
      tool_input: { command: `echo <private>s1</private> ${secret}` },
      tool_response: { stdout: '<private>s1' },
    }
    expect(eventOf(fields)).toMatchObject({
      input: { command: 'echo [private] [secret:github-token]' },
      response: { stdout: '[private]' },
    })
    expect(eventOf({ hook_event_name: 'Stop', last_assistant_message: secret })).toMatchObject({
      lastMessage: '[secret:github-token]',
    })
  })

  it('a wholly private prompt has no text', () =>
    expect(eventOf({ hook_event_name: 'UserPromptSubmit', prompt: ' <private>s</private>\n' })).toMatchObject({
      text: '',
      private: true,
    }))

  it('an event fits into the smallest message that the daemon may be set to', () => {
    const small = { settings: { ...settings, CLAUDE_MEM_MAX_FIELD_KB: 1_024, CLAUDE_MEM_MAX_MESSAGE_KB: 64 } }
    for (const fields of [
      { ...bash, tool_response: Array(50).fill('漢'.repeat(90_000)) },
      { hook_event_name: 'UserPromptSubmit', prompt: '漢'.repeat(90_000) },
    ]) {
      expect(Buffer.byteLength(JSON.stringify(read(fields, small)))).toBeLessThan(64 * 1_024)
    }
  })

  it('long fields are cut to the setting', () => {
    const event = eventOf({ ...bash, tool_response: { stdout: 'x'.repeat(1_000_000) } })
    expect(JSON.stringify(event).length).toBeLessThan(70_000)
  })

  it('ids that a model counts differ with the input and the agent, and are the same for the same payload', () => {
    const call = (command: string, more: object = {}) =>
      eventOf({ ...bash, tool_use_id: 'functions.bash:0', tool_input: { command }, ...more }).id
    expect(call('ls')).toBe(call('ls'))
    const agent = { agent_id: 'a1', agent_type: 'explore' }
    expect(new Set([call('ls'), call('pwd'), call('ls', agent)]).size).toBe(3)
  })

  it('ids and names that are too long for the daemon are shortened, and stay different', () => {
    const long = 'x'.repeat(5_000)
    const fields = {
      ...bash,
      session_id: long,
      prompt_id: long,
      tool_use_id: long,
      tool_name: long,
      agent_id: long,
      agent_type: long,
      cwd: `/${long}`,
    }
    const event = eventOf(fields)
    expect(eventSchema.safeParse(event).error?.issues).toBeUndefined()
    expect(eventOf({ ...fields, tool_use_id: `${long.slice(0, 300)}y` }).id).not.toBe(event.id)
    expect(eventOf(fields).id).toBe(event.id)
  })
})
