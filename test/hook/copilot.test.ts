/** Payloads of Copilot CLI 1.0.102, registered with Claude Code's names of events. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { MemoryEvent } from '../../src/domain/event.ts'
import { EMPTY_OUTCOME, type HookPayload } from '../../src/hook/clients/adapter.ts'
import { adapterFromArgs, adapterOfPayload } from '../../src/hook/clients/index.ts'
import { readPayloadFields } from '../../src/hook/payload.ts'
import { readToolUse } from '../../src/reading/tool-use.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import { temporaryDirectory } from '../support/directories.ts'

const { values: settings } = loadSettings('', {})
const copilot = adapterFromArgs(['--client', 'copilot'])
const SESSION = '0cb916db-26aa-40f2-86b5-1ba81b225fd2'
const BASE = { session_id: SESSION, timestamp: '2026-11-16T14:59:00.413Z', cwd: '/home/me/shop' }
const CHILD = 'cd28e3cb-aaa5-44d0-aad3-ca48904d70e5'
const GRANDCHILD = 'bee3cedd-b382-49d9-a6bf-9f9423403de3'

let home: string
let env: NodeJS.ProcessEnv
let transcript: string
beforeEach(() => {
  home = temporaryDirectory('copilot')
  env = { COPILOT_HOME: join(home, '.copilot'), CLAUDE_MEM_DATA_DIR: join(home, 'data'), COPILOT_CLI: '1' }
  transcript = join(home, '.copilot', 'session-state', SESSION, 'events.jsonl')
  mkdirSync(dirname(transcript), { recursive: true })
})

function reported(fields: HookPayload): MemoryEvent[] {
  const payload = { ...BASE, ...fields }
  return copilot.translate(payload, env, JSON.stringify(payload)).flatMap((one) => {
    const reading = readPayloadFields(one, JSON.stringify(payload), { settings, at: 1, client: 'copilot' })
    return reading.type === 'event' ? [reading.event] : []
  })
}

function tool(name: string, input: object, text: string, more: HookPayload = {}) {
  const result = { result_type: 'success', text_result_for_llm: text }
  const fields = { hook_event_name: 'PostToolUse', tool_name: name, tool_input: input, tool_result: result, ...more }
  const [event, ...others] = reported(fields)
  if (event === undefined || others.length > 0) throw new Error('not one event')
  if (event.kind !== 'tool_use' && event.kind !== 'tool_failure') throw new Error(`${event.kind} is no tool`)
  return { event, action: readToolUse(event) }
}

const line = (type: string, data: object, more: object = {}) => `${JSON.stringify({ type, data, ...more })}\n`

describe('copilot', () => {
  it('reports commands as the observer knows them, with the exit code of their last line', () => {
    const fine = tool('Bash', { command: 'npm test' }, 'Tests  48 passed (48)\n<shellId: 0 completed with exit code 0>')
    expect(fine.event).toMatchObject({ tool: 'Bash', response: { stdout: 'Tests  48 passed (48)' } })
    expect(fine.action).toMatchObject({ kind: 'command', command: { kind: 'check' }, outcome: 'ok' })
    const failed = tool('Bash', { command: 'make' }, 'bad\n<shellId: 1 completed with exit code 3>')
    expect(failed.event).toMatchObject({ kind: 'tool_failure', error: 'Exit code 3\nbad' })
    expect(failed.action).toMatchObject({ kind: 'command', outcome: 'failed' })
  })

  it('reports a read, a new file, an edit and a failure', () => {
    expect(tool('Read', { path: '/home/me/shop/a.ts' }, 'const a = 1\n').action).toMatchObject({
      kind: 'look',
      subject: 'Read a.ts',
    })
    const created = tool('Write', { path: '/home/me/shop/a.ts', file_text: 'export const limit = 1\n' }, 'Created file')
    expect(created.action).toMatchObject({ kind: 'edit', file: { change: 'created' } })
    const edited = tool('Edit', { path: '/home/me/shop/a.ts', old_str: 'limit = 1', new_str: 'limit = 2' }, 'updated')
    expect(edited.action).toMatchObject({
      kind: 'edit',
      file: { path: 'a.ts', hunks: [{ lines: ['-limit = 1', '+limit = 2'] }] },
    })
    const failure = {
      hook_event_name: 'PostToolUseFailure',
      tool_name: 'Read',
      tool_input: { path: '/x' },
      error: 'Path does not exist',
    }
    expect(reported(failure)).toMatchObject([{ kind: 'tool_failure', tool: 'Read', error: 'Path does not exist' }])
  })

  it('knows a payload that it gets twice, and tells two uses of a tool apart', () => {
    const first = tool('Bash', { command: 'date' }, 'x').event.id
    expect(tool('Bash', { command: 'date' }, 'x').event.id).toBe(first)
    expect(tool('Bash', { command: 'date' }, 'x', { timestamp: '2026-11-16T14:59:00.414Z' }).event.id).not.toBe(first)
    const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'go on' }
    expect(reported(prompt)[0]?.id).toBe(reported(prompt)[0]?.id)
  })

  it('reports the tools of subagents, and of their subagents, in the session of the user', () => {
    const child = { session_id: CHILD, agent_id: CHILD, agent_type: 'general-purpose', parent_agent_id: SESSION }
    const grandchild = { session_id: GRANDCHILD, agent_id: GRANDCHILD, agent_type: 'explore', parent_agent_id: CHILD }
    const task = { hook_event_name: 'UserPromptSubmit', prompt: 'look around' }
    expect(reported({ ...task, ...child })).toEqual([])
    expect(reported({ ...task, ...grandchild })).toEqual([])
    for (const agent of [child, grandchild]) {
      const { event } = tool('Bash', { command: 'ls' }, 'a.ts', agent)
      expect(event).toMatchObject({ session: SESSION, agent: { id: agent.agent_id, type: agent.agent_type } })
      expect(reported({ ...agent, hook_event_name: 'Stop', transcript_path: transcript })).toEqual([])
    }
    // The session id of this one occurs nowhere else.
    const end = { ...grandchild, session_id: 'other', hook_event_name: 'SubagentStop', transcript_path: transcript }
    expect(reported({ ...end, last_assistant_message: 'Looked.' })).toMatchObject([
      { kind: 'subagent_end', session: SESSION, lastMessage: 'Looked.', agent: { id: GRANDCHILD } },
    ])
  })

  it('reads the last answer of the main agent from its events', () => {
    writeFileSync(transcript, line('user.message', { content: 'go on' }))
    appendFileSync(transcript, line('assistant.message', { content: '', toolRequests: [{ name: 'task' }] }))
    appendFileSync(transcript, line('tool.execution_complete', { success: true }))
    appendFileSync(transcript, line('assistant.message', { content: 'Raised it.', toolRequests: [] }))
    appendFileSync(transcript, line('assistant.message', { content: 'Looked.', toolRequests: [] }, { agentId: CHILD }))
    appendFileSync(transcript, '{"type":"session.usage')
    const [event] = reported({ hook_event_name: 'Stop', transcript_path: transcript })
    expect(event).toMatchObject({ kind: 'turn_end', lastMessage: 'Raised it.' })
  })

  it('ends a turn without an answer if it does not appear in time', () => {
    writeFileSync(transcript, line('assistant.message', { content: 'Before.', toolRequests: [] }))
    appendFileSync(transcript, line('user.message', { content: 'go on' }))
    const [event] = reported({ hook_event_name: 'Stop', transcript_path: transcript })
    expect(event).toMatchObject({ kind: 'turn_end', lastMessage: null })
    expect(reported({ hook_event_name: 'Stop' })).toMatchObject([{ kind: 'turn_end', lastMessage: null }])
  })

  it('reports the start and the end of a session', () => {
    expect(reported({ hook_event_name: 'SessionStart', source: 'new' })).toMatchObject([{ source: 'startup' }])
    expect(reported({ hook_event_name: 'SessionStart', source: 'resume' })).toMatchObject([{ source: 'resume' }])
    expect(reported({ hook_event_name: 'SessionEnd', reason: 'user_exit' })).toMatchObject([{ reason: 'user_exit' }])
  })

  it('does not report uses of our own server, nor events that it does not know', () => {
    const own = {
      hook_event_name: 'PostToolUse',
      tool_name: 'claude-mem-search_memory',
      tool_input: {},
      tool_result: {},
    }
    expect(reported(own)).toEqual([])
    expect(reported({ hook_event_name: 'ErrorOccurred' })).toEqual([])
    expect(reported({ hook_event_name: 'toString' })).toEqual([])
    const odd = { hook_event_name: 'PostToolUse', tool_name: 'Edit', tool_input: [], tool_result: null }
    expect(reported(odd)).toMatchObject([{ tool: 'Edit' }])
  })

  it('answers with a flat context, and with nothing that decides anything', () => {
    const answered = (event: string) => copilot.answer({ ...EMPTY_OUTCOME, event, context: 'known', message: 'told' })
    expect(answered('SessionStart')).toEqual({ additionalContext: 'known' })
    expect(answered('UserPromptSubmit')).toEqual({ additionalContext: 'known' })
    expect(answered('Stop')).toEqual({})
  })
})

describe("hooks of Claude Code's settings that Copilot runs", () => {
  const claude = adapterFromArgs([])

  it('are taken as those of Copilot, unless its own are installed', () => {
    expect(adapterOfPayload(claude, BASE, env)?.name).toBe('copilot')
    const hooks = join(home, '.copilot', 'hooks', 'claude-mem.json')
    mkdirSync(dirname(hooks), { recursive: true })
    writeFileSync(hooks, '{}')
    expect(adapterOfPayload(claude, BASE, env)).toBeNull()
    expect(adapterOfPayload(copilot, BASE, env)).toBe(copilot)
  })

  it('are those of Claude Code where Claude Code runs inside of Copilot', () => {
    const payload = { session_id: SESSION, cwd: '/home/me/shop', permission_mode: 'default' }
    expect(adapterOfPayload(claude, payload, env)?.name).toBe('claude-code')
    expect(adapterOfPayload(claude, BASE, { ...env, COPILOT_CLI: undefined })?.name).toBe('claude-code')
  })
})
