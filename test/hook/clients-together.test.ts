/** Several clients in one directory at once, each with the real hook process and no daemon. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { MemoryEvent } from '../../src/domain/event.ts'
import type { HookPayload } from '../../src/hook/clients/adapter.ts'
import { buildHook, Hook } from './hook-process.ts'

let dist: string
beforeAll(async () => {
  dist = await buildHook()
})

const TIME = '2026-11-16T14:59:00.413Z'
const input = { command: 'make' }
/** A tool use as each client reports it. */
const PAYLOADS: Record<string, HookPayload> = {
  'claude-code': {
    hook_event_name: 'PostToolUse',
    tool_use_id: 'a',
    tool_name: 'Bash',
    tool_input: input,
    tool_response: {},
  },
  codex: {
    hook_event_name: 'PostToolUse',
    turn_id: 'm',
    tool_use_id: 'a',
    tool_name: 'Bash',
    tool_input: input,
    tool_response: '',
  },
  gemini: {
    hook_event_name: 'AfterTool',
    timestamp: TIME,
    tool_name: 'run_shell_command',
    tool_input: input,
    tool_response: { llmContent: 'Output: (empty)' },
  },
  opencode: {
    hook_event_name: 'tool.execute.after',
    tool: 'bash',
    call_id: 'a',
    turn_id: 'm',
    args: input,
    result: {},
  },
  copilot: { hook_event_name: 'PostToolUse', timestamp: TIME, tool_name: 'Bash', tool_input: input, tool_result: {} },
  qwen: {
    hook_event_name: 'PostToolUse',
    tool_call_id: 'a',
    tool_name: 'run_shell_command',
    tool_input: input,
    tool_response: {},
  },
  cursor: { hook_event_name: 'afterShellExecution', generation_id: 'g', command: 'make', output: '' },
}

describe('clients that work in one directory', () => {
  it('are told apart, and an event that is sent twice counts once', async () => {
    const hook = new Hook(dist)
    const runs = Object.entries(PAYLOADS).flatMap(([client, payload]) => {
      const sent = { ...payload, session_id: `session-of-${client}`, cwd: hook.cwd }
      // Twice: hooks that are registered for the user and for the project.
      return [1, 2].map(() => hook.run(sent, {}, undefined, ['--client', client]))
    })
    const answers = await Promise.all(runs)
    expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 0))
    const spool = join(hook.dataDir, 'spool')
    const files = readdirSync(spool).filter((name) => name.endsWith('.json'))
    const events = files.map((name): MemoryEvent => JSON.parse(readFileSync(join(spool, name), 'utf8')).event)
    const keys = new Set(events.map(({ client, session, id, cwd }) => JSON.stringify({ client, session, id, cwd })))
    expect(events).toHaveLength(2 * Object.keys(PAYLOADS).length)
    expect([...keys].map((key) => JSON.parse(key).client).sort()).toEqual(Object.keys(PAYLOADS).sort())
  })

  it('get an answer for a payload of no use: empty, cut off, another type, of a version that nobody knows', async () => {
    const hook = new Hook(dist)
    const bad = ['', '{"hook_event_name":"PostTo', '[]', '7', JSON.stringify({ hook_event_name: 'Future', v: 99 })]
    for (const client of Object.keys(PAYLOADS)) {
      const answers = await Promise.all(bad.map((payload) => hook.run(payload, {}, undefined, ['--client', client])))
      for (const { code, stdout, stderr } of answers) {
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
        // Codex takes output for an error on some events, and gets none.
        if (client !== 'codex') expect(() => JSON.parse(stdout)).not.toThrow()
        else expect(stdout).toBe('')
      }
    }
  })
})
