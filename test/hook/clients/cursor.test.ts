import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { type MemoryEvent, OWN_MCP_TOOLS } from '../../../src/domain/event.ts'
import { EMPTY_OUTCOME, type HookPayload } from '../../../src/hook/clients/adapter.ts'
import { adapterFromArgs, CLIENT_ADAPTERS } from '../../../src/hook/clients/index.ts'
import { readPayloadFields } from '../../../src/hook/payload.ts'
import { readToolUse } from '../../../src/reading/tool-use.ts'
import { loadSettings } from '../../../src/settings/settings.ts'
import { TestDesk } from '../../mcp/desk.ts'
import { buildHook, Door, Hook, tell } from '../hook-process.ts'

const { values: settings } = loadSettings('', {})
const cursor = adapterFromArgs(['--client', 'cursor'])
const BASE = {
  conversation_id: 'conversation-1',
  generation_id: 'generation-1',
  model: 'some-model',
  cursor_version: '2.1.0',
  workspace_roots: ['/home/me/shop', '/home/me/other'],
  user_email: 'me@example.com',
}

function reported(fields: HookPayload): MemoryEvent | string {
  const payload = { ...BASE, ...fields }
  const [translated] = cursor.translate(payload, {}, JSON.stringify(payload))
  if (translated === undefined) return 'nothing to report'
  const reading = readPayloadFields(translated, JSON.stringify(payload), { settings, at: 1, client: cursor.name })
  return reading.type === 'event' ? reading.event : reading.reason
}

function observed(fields: HookPayload) {
  const event = reported(fields)
  if (typeof event === 'string' || event.kind !== 'tool_use') throw new Error(`no tool use: ${JSON.stringify(event)}`)
  return { event, action: readToolUse(event) }
}

describe('the client', () => {
  it('is named by an argument; the default is Claude Code', () => {
    expect(adapterFromArgs(['--client', 'cursor']).name).toBe('cursor')
    expect(adapterFromArgs(['hook', '--client=cursor', '--verbose']).name).toBe('cursor')
    for (const args of [[], ['--client'], ['--client', 'emacs'], ['--client='], ['--client', 'constructor']]) {
      expect(adapterFromArgs(args).name).toBe('claude-code')
    }
    expect(new Set(CLIENT_ADAPTERS.map(({ name }) => name)).size).toBe(CLIENT_ADAPTERS.length)
  })
})

describe('cursor', () => {
  it('reports a prompt', () => {
    expect(
      reported({ hook_event_name: 'beforeSubmitPrompt', prompt: 'Why <private>x</private>?', attachments: [] }),
    ).toEqual({
      id: expect.stringMatching(/^UserPromptSubmit:generation-1:[0-9a-f]{16}$/),
      kind: 'prompt',
      session: 'conversation-1',
      client: 'cursor',
      promptId: 'generation-1',
      project: { key: 'dir:/home/me/shop', name: 'shop' },
      cwd: '/home/me/shop',
      at: 1,
      agent: null,
      transcriptPath: null,
      text: 'Why [private]?',
      private: false,
    })
  })

  it('reports commands as the observer knows them', () => {
    const { event, action } = observed({
      hook_event_name: 'afterShellExecution',
      command: 'npm test',
      output: 'Tests  48 passed (48)',
      duration: 1_234,
    })
    expect(event).toMatchObject({ tool: 'Bash', durationMs: 1_234, input: { command: 'npm test' } })
    expect(action).toMatchObject({
      kind: 'command',
      command: { kind: 'check' },
      outcome: null,
      totals: { outcome: 'ok' },
    })
  })

  it('reports one edit or several as the observer knows them', () => {
    const edit = { old_string: 'const total = 1', new_string: 'const total = cents(1)' }
    const one = observed({ hook_event_name: 'afterFileEdit', file_path: '/home/me/shop/src/total.ts', edits: [edit] })
    expect(one.event).toMatchObject({ tool: 'Edit', input: { ...edit, file_path: '/home/me/shop/src/total.ts' } })
    expect(one.action).toMatchObject({ kind: 'edit', file: { path: 'src/total.ts' } })
    const edits = [edit, { old_string: '', new_string: 'export function cents() {}' }]
    const two = observed({ hook_event_name: 'afterFileEdit', file_path: '/home/me/shop/src/total.ts', edits })
    expect(two.event).toMatchObject({ tool: 'MultiEdit', input: { edits } })
    expect(two.action).toMatchObject({ kind: 'edit', file: { path: 'src/total.ts' } })
  })

  it('reports MCP tools by their server and name, their JSON unpacked', () => {
    const mcp = {
      hook_event_name: 'afterMCPExecution',
      tool_input: '{"query":"Ada"}',
      result_json: '{"found":1}',
      duration: 5,
    }
    expect(observed({ ...mcp, tool_name: 'search_contacts' }).event).toMatchObject({
      tool: 'mcp__unknown__search_contacts',
      input: { query: 'Ada' },
      response: { found: 1 },
      durationMs: 5,
    })
    expect(observed({ ...mcp, tool_name: 'MCP:crm:search' }).event.tool).toBe('mcp__crm__search')
    expect(observed({ ...mcp, tool_name: 'MCP:search', mcp_server_name: 'crm' }).event.tool).toBe('mcp__crm__search')
    expect(observed({ ...mcp, tool_name: 'x', tool_input: 'not json', result_json: null }).event).toMatchObject({
      input: 'not json',
      response: null,
    })
  })

  it('does not report our own tools, with or without their server', async () => {
    const desk = await TestDesk.open({ memory: {} })
    const { tools } = await desk.client.listTools()
    await desk.close()
    expect(tools.map(({ name }) => name)).toEqual(OWN_MCP_TOOLS)
    for (const tool of OWN_MCP_TOOLS) {
      for (const named of [
        { tool_name: tool },
        { tool_name: `MCP:${tool}` },
        { tool_name: tool, mcp_server_name: 'claude-mem' },
      ]) {
        expect(reported({ hook_event_name: 'afterMCPExecution', ...named, tool_input: '{}', result_json: '{}' })).toBe(
          "claude-mem's own tools are not observed",
        )
      }
    }
  })

  it('reports how a turn ended', () => {
    const stopped = (status: unknown) => reported({ hook_event_name: 'stop', status, loop_count: 0 })
    expect(stopped('completed')).toMatchObject({ kind: 'turn_end', error: null, promptId: 'generation-1' })
    expect(stopped('aborted')).toMatchObject({ kind: 'turn_end', error: 'aborted' })
    expect(stopped('error')).toMatchObject({ kind: 'turn_end', error: 'error' })
    expect(stopped(undefined)).toMatchObject({ kind: 'turn_end', error: null })
  })

  it('has the same id for the same payload, and another for another', () => {
    const run = (output: string) =>
      reported({ hook_event_name: 'afterShellExecution', command: 'npm test', output, duration: 1 })
    expect(run('48 passed')).toEqual(run('48 passed'))
    expect(run('48 passed')).not.toMatchObject({
      id: observed({ hook_event_name: 'afterShellExecution', command: 'npm test' }).event.id,
    })
  })

  it('accepts any other payload', () => {
    for (const event of ['beforeReadFile', 'afterAgentThought', 'constructor', '__proto__', '', 7, undefined]) {
      expect(reported({ hook_event_name: event })).toBe('nothing to report')
    }
    expect(reported({ hook_event_name: 'stop', conversation_id: 7 })).toBe('there is no session id')
    expect(reported({ hook_event_name: 'afterMCPExecution' })).toBe('there is no tool name')
    expect(reported({ hook_event_name: 'afterFileEdit', file_path: 7, edits: 'all of it' })).toMatchObject({
      tool: 'MultiEdit',
    })
    expect(reported({ hook_event_name: 'afterFileEdit', edits: [null] })).toMatchObject({ tool: 'MultiEdit' })
    expect(reported({ hook_event_name: 'stop', workspace_roots: ['/c:/Users/me/shop'] })).toMatchObject({
      cwd: 'c:/Users/me/shop',
    })
    expect(reported({ hook_event_name: 'stop', workspace_roots: [], cwd: '/home/me/late' })).toMatchObject({
      cwd: '/home/me/late',
    })
  })

  it('is answered in its own format', () => {
    expect(cursor.answer(EMPTY_OUTCOME)).toEqual({ continue: true })
    expect(cursor.answer({ event: 'UserPromptSubmit', context: 'known', message: 'wait' })).toEqual({ continue: true })
    expect(cursor.answer({ event: 'SessionStart', context: 'known', message: '' })).toEqual({
      continue: true,
      additional_context: 'known',
    })
  })

  describe('as a process', () => {
    let dist: string
    beforeAll(async () => {
      dist = await buildHook()
    })

    it('always gets a valid answer', async () => {
      const hook = new Hook(dist)
      const door = await Door.open(hook.dataDir, (request) => tell(request))
      const run = (payload: HookPayload | string) => hook.run(payload, {}, () => {}, ['--client', 'cursor'])
      try {
        const prompt = {
          ...BASE,
          workspace_roots: [join(hook.cwd)],
          hook_event_name: 'beforeSubmitPrompt',
          prompt: 'Hi',
        }
        for (const payload of [prompt, 'no json', '', { hook_event_name: 'beforeReadFile' }]) {
          expect(await run(payload)).toEqual({ code: 0, stdout: '{"continue":true}\n', stderr: '' })
        }
        expect(door.events).toMatchObject([
          { kind: 'prompt', client: 'cursor', session: 'conversation-1', cwd: hook.cwd },
        ])
      } finally {
        await door.close()
      }
    })
  })
})
