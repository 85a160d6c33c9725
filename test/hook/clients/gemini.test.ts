/** Payloads as Gemini CLI 0.61 sends them, and what the hook keeps for a client without ids. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { MemoryEvent } from '../../../src/domain/event.ts'
import { deferStartContext, takeStartContext, withDerivedTurn } from '../../../src/hook/client-session.ts'
import { EMPTY_OUTCOME, fitContext, type HookPayload } from '../../../src/hook/clients/adapter.ts'
import { geminiAdapter } from '../../../src/hook/clients/gemini.ts'
import { readPayloadFields } from '../../../src/hook/payload.ts'
import { readToolUse } from '../../../src/reading/tool-use.ts'
import { loadSettings } from '../../../src/settings/settings.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { buildHook, Door, Hook, tell } from '../hook-process.ts'

const { values: settings } = loadSettings('', {})
const BASE = {
  session_id: '9875eb0c-5446-4f0b-bf28-f44005f4a14e',
  transcript_path: '/home/me/.gemini/tmp/shop/chats/session-x.jsonl',
  cwd: '/home/me/shop',
  timestamp: '2026-11-16T14:47:34.613Z',
}

function reported(fields: HookPayload, directory = temporaryDirectory('gemini')): MemoryEvent | string {
  const payload = { ...BASE, ...fields }
  const raw = JSON.stringify(payload)
  const [translated] = geminiAdapter.translate(payload, {}, JSON.stringify(payload))
  if (translated === undefined) return 'nothing to report'
  const named = withDerivedTurn(translated, raw, geminiAdapter.traits, directory)
  const reading = readPayloadFields(named, raw, { settings, at: 1, client: 'gemini' })
  return reading.type === 'event' ? reading.event : reading.reason
}

function used(tool: string, input: unknown, response: unknown, more: HookPayload = {}) {
  const fields = { tool_name: tool, tool_input: input, tool_response: response, ...more }
  const event = reported({ hook_event_name: 'AfterTool', ...fields })
  if (typeof event === 'string' || (event.kind !== 'tool_use' && event.kind !== 'tool_failure')) {
    throw new Error(`no tool event: ${JSON.stringify(event)}`)
  }
  return { event, action: readToolUse(event) }
}

const shellText = (output: string) => `<untrusted_context>\n${output}\nProcess Group PGID: 4242\n</untrusted_context>`

describe('gemini', () => {
  it('reports a prompt without what hooks put before it', () => {
    const prompt =
      '<hook_context>&lt;old&gt; memory\nof two lines</hook_context>\n\n<hook_context>x</hook_context>Raise it'
    expect(reported({ hook_event_name: 'BeforeAgent', prompt })).toMatchObject({ kind: 'prompt', text: 'Raise it' })
    expect(reported({ hook_event_name: 'BeforeAgent', prompt: 'a <hook_context> in a text' })).toMatchObject({
      text: 'a <hook_context> in a text',
    })
  })

  it('reports commands, with the exit code that is in the text', () => {
    const fine = used(
      'run_shell_command',
      { command: 'npm test', description: 'x' },
      { llmContent: shellText('Output: 48 passed'), returnDisplay: '48 passed' },
    )
    expect(fine.event).toMatchObject({
      tool: 'Bash',
      input: { command: 'npm test' },
      response: { stdout: '48 passed' },
    })
    const failed = used(
      'run_shell_command',
      { command: 'make' },
      { llmContent: shellText('Output: oops\nExit Code: 3'), returnDisplay: 'oops' },
    )
    expect(failed.event).toMatchObject({ kind: 'tool_failure', error: 'Exit code 3\noops' })
    expect(failed.action).toMatchObject({ kind: 'command', outcome: 'failed' })
  })

  const shell = (llmContent: string, returnDisplay = '') =>
    used('run_shell_command', { command: 'make' }, { llmContent, returnDisplay }).event

  it('keeps the whole output of a command, also where lines of it look like what the client says', () => {
    const output = 'Exit Code: 0\nError: no\nlast line'
    expect(shell(shellText(`Output: ${output}\nExit Code: 3`))).toMatchObject({ error: `Exit code 3\n${output}` })
    expect(shell(shellText(`Output: ${output}`))).toMatchObject({ kind: 'tool_use', response: { stdout: output } })
    expect(shell(shellText('Output: Exit Code: 7'))).toMatchObject({
      response: { stdout: 'Exit Code: 7', exitCode: 0 },
    })
    const known = 'a\nExit Code: 7'
    expect(shell(shellText(`Output: ${known}`), known)).toMatchObject({ response: { stdout: known, exitCode: 0 } })
    expect(shell(shellText('Output: (empty)'))).toMatchObject({ response: { stdout: '' } })
  })

  it('a command that was ended by a signal, a timeout or the user has failed', () => {
    expect(shell(shellText('Output: half\nSignal: 9'))).toMatchObject({ error: 'Ended by signal 9\nhalf' })
    const timeout =
      'Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output. Below is the output before it was cancelled:\nhalf'
    expect(shell(timeout, 'half')).toMatchObject({ kind: 'tool_failure', error: timeout, interrupted: false })
    const cancelled =
      'Command was cancelled by user before it could complete. There was no output before it was cancelled.'
    expect(shell(cancelled)).toMatchObject({ kind: 'tool_failure', interrupted: true })
  })

  it('reports reads, edits with their diff, and new files', () => {
    const read = used('read_file', { file_path: '/home/me/shop/a.ts' }, { llmContent: 'alpha\n', returnDisplay: '' })
    expect(read.action).toMatchObject({ kind: 'look', subject: 'Read a.ts' })
    const missing = { llmContent: 'Could not', error: { message: 'File not found: /x', type: 'file_not_found' } }
    expect(used('read_file', { file_path: '/x' }, missing).event).toMatchObject({
      kind: 'tool_failure',
      tool: 'Read',
      error: 'File not found: /x',
    })
    const fileDiff =
      'Index: a.ts\n====\n--- a.ts\tCurrent\n+++ a.ts\tProposed\n@@ -1,2 +1,2 @@\n-const limit = 10\n+const limit = 20\n beta\n'
    const edit = used(
      'replace',
      { file_path: '/home/me/shop/a.ts', old_string: '10', new_string: '20', instruction: 'x' },
      { llmContent: 'done', returnDisplay: { fileDiff, originalContent: 'const limit = 10\nbeta\n' } },
    )
    expect(edit.event).toMatchObject({
      tool: 'Edit',
      response: {
        structuredPatch: [{ oldStart: 1, newStart: 1, lines: ['-const limit = 10', '+const limit = 20', ' beta'] }],
      },
    })
    expect(edit.action).toMatchObject({ kind: 'edit', file: { path: 'a.ts' } })
    const written = used(
      'write_file',
      { file_path: '/home/me/shop/new.ts', content: 'hello\n' },
      { llmContent: 'done', returnDisplay: { fileDiff: '', originalContent: '', isNewFile: true } },
    )
    expect(written.event).toMatchObject({ tool: 'Write', response: { type: 'create', originalFile: null } })
  })

  it('reports MCP tools by server and name, ours not, and a subagent by its result', () => {
    const mcp_context = { server_name: 'crm', tool_name: 'ping' }
    const response = {
      llmContent: [{ text: '<untrusted_context>\npong\n</untrusted_context>' }],
      returnDisplay: 'pong',
    }
    expect(used('mcp_crm_ping', { text: 'x' }, response, { mcp_context }).event).toMatchObject({
      tool: 'mcp__crm__ping',
      response: 'pong',
    })
    const ours = { server_name: 'claude-mem', tool_name: 'search_memory' }
    const fields = {
      tool_name: 'mcp_claude-mem_search_memory',
      tool_input: {},
      tool_response: response,
      mcp_context: ours,
    }
    expect(reported({ hook_event_name: 'AfterTool', ...fields })).toBe("claude-mem's own tools are not observed")
    const agent = used(
      'invoke_agent',
      { agent_name: 'generalist', prompt: 'look' },
      { llmContent: [{ text: 'Found it.' }] },
    )
    expect(agent.action).toMatchObject({ kind: 'report', texts: ['Found it.'] })
    const text = 'Subagent \'generalist\' finished.\nTermination Reason: GOAL\nResult:\n{\n  "response": "Found it."\n}'
    const finished = used('invoke_agent', { agent_name: 'generalist', prompt: 'look' }, { llmContent: [{ text }] })
    expect(finished.event).toMatchObject({ tool: 'Task', response: 'Found it.' })
    const done = { tool_name: 'complete_task', tool_input: {}, tool_response: {} }
    expect(reported({ hook_event_name: 'AfterTool', ...done })).toBe('nothing to report')
  })

  it('accepts any other payload', () => {
    for (const event of ['PreCompress', 'BeforeModel', 'AfterModel', 'Notification', 'constructor', '', 7]) {
      expect(reported({ hook_event_name: event })).toBe('nothing to report')
    }
    expect(reported({ hook_event_name: 'AfterTool' })).toBe('there is no tool name')
    expect(used('replace', 7, { returnDisplay: 'x', llmContent: [7, null] }).event).toMatchObject({ tool: 'Edit' })
    expect(used('a_new_tool', { x: 1 }, 'text').event).toMatchObject({ tool: 'a_new_tool', kind: 'tool_use' })
    expect(reported({ hook_event_name: 'AfterAgent', session_id: null })).toBe('there is no session id')
  })

  it('is given the context at a prompt, without tags that it would escape', () => {
    const context = '<claude-mem-context>\n# shop\nArray<string> grows\n</claude-mem-context>'
    expect(geminiAdapter.answer({ event: 'UserPromptSubmit', context, message: '' })).toEqual({
      hookSpecificOutput: {
        hookEventName: 'BeforeAgent',
        additionalContext: '[claude-mem-context]\n# shop\nArray<string> grows\n[/claude-mem-context]',
      },
    })
    expect(geminiAdapter.answer({ event: 'SessionStart', context, message: 'two wait' })).toEqual({
      systemMessage: 'two wait',
    })
    expect(geminiAdapter.answer(EMPTY_OUTCOME)).toEqual({})
  })
})

describe('a client without ids', () => {
  const idOf = (event: MemoryEvent | string) => (typeof event === 'string' ? event : event.id)
  const shell = (timestamp: string) => ({
    hook_event_name: 'AfterTool',
    tool_name: 'run_shell_command',
    tool_input: { command: 'ls' },
    tool_response: { llmContent: 'Output: a', returnDisplay: 'a' },
    timestamp,
  })

  it('has one event for the same payload twice, and two for the same command run twice', () => {
    const directory = temporaryDirectory('turns')
    reported({ hook_event_name: 'BeforeAgent', prompt: 'go' }, directory)
    const first = idOf(reported(shell('2026-11-16T14:47:35.000Z'), directory))
    expect(idOf(reported(shell('2026-11-16T14:47:35.000Z'), directory))).toBe(first)
    expect(idOf(reported(shell('2026-11-16T14:47:36.000Z'), directory))).not.toBe(first)
  })

  it('names the turn of each event: that of the newest prompt, the same for a prompt that is reported twice', () => {
    const directory = temporaryDirectory('turns')
    const prompt = { hook_event_name: 'BeforeAgent', prompt: 'go' }
    const turnOf = (event: MemoryEvent | string) => (typeof event === 'string' ? event : event.promptId)
    const turn = turnOf(reported(prompt, directory))
    expect(turnOf(reported(prompt, directory))).toBe(turn)
    expect(turnOf(reported(shell('1'), directory))).toBe(turn)
    const next = turnOf(reported({ ...prompt, timestamp: '2026-11-16T15:00:00.000Z' }, directory))
    expect(next).not.toBe(turn)
    expect(turnOf(reported(shell('2'), directory))).toBe(next)
  })

  it('ends a session once, however often it says so, and again after a resume', () => {
    const directory = temporaryDirectory('turns')
    const end = (timestamp: string) =>
      idOf(reported({ hook_event_name: 'SessionEnd', reason: timestamp, timestamp }, directory))
    reported({ hook_event_name: 'SessionStart', source: 'startup' }, directory)
    reported({ hook_event_name: 'BeforeAgent', prompt: 'go' }, directory)
    const first = end('2026-11-16T14:48:18.317Z')
    expect(end('2026-11-16T14:48:18.400Z')).toBe(first)
    reported({ hook_event_name: 'SessionStart', source: 'resume', timestamp: '2026-11-17T10:00:00.000Z' }, directory)
    expect(end('2026-11-17T10:01:00.000Z')).not.toBe(first)
  })

  it('takes the context of a start once', () => {
    const directory = temporaryDirectory('turns')
    expect(takeStartContext('s1', directory)).toBe(false)
    deferStartContext('s1', directory)
    expect(takeStartContext('s2', directory)).toBe(false)
    expect(takeStartContext('s1', directory)).toBe(true)
    expect(takeStartContext('s1', directory)).toBe(false)
  })

  describe('as a process', () => {
    let dist: string
    beforeAll(async () => {
      dist = await buildHook()
    })

    it('gets its context with the first prompt after each start, from the daemon or the file that it left', async () => {
      const hook = new Hook(dist)
      const door = await Door.open(hook.dataDir, (request) =>
        tell(request, request.delivery?.startContext === true ? 'all of it' : ''),
      )
      const run = async (event: string, more: HookPayload = {}) =>
        (await hook.run({ ...BASE, hook_event_name: event, ...more }, {}, () => {}, ['--client', 'gemini'])).stdout
      const given = '{"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"all of it"}}\n'
      try {
        expect(await run('SessionStart', { source: 'startup' })).toBe('{}\n')
        expect(await run('BeforeAgent', { prompt: 'go' })).toBe(given)
        expect(await run('BeforeAgent', { prompt: 'on', timestamp: 'later' })).toBe('{}\n')
        expect(await run('SessionStart', { source: 'resume' })).toBe('{}\n')
        expect(await run('BeforeAgent', { prompt: 'again' })).toBe(given)
      } finally {
        await door.close()
      }
    })
  })
})

describe('a context that is longer than a client takes', () => {
  const context = ['<open>', '# title', 'one', 'two', 'three', '', 'More: the tools', '</open>'].join('\n')

  it('loses whole lines before its last ones', () => {
    expect(fitContext(context, null)).toBe(context)
    expect(fitContext(context, context.length)).toBe(context)
    const fitted = fitContext(context, context.length - 1)
    expect(fitted).toBe(['<open>', '# title', 'one', 'two', '', 'More: the tools', '</open>'].join('\n'))
    for (let max = 0; max < context.length; max++) {
      const shorter = fitContext(context, max)
      expect(shorter.length).toBeLessThanOrEqual(max)
      for (const line of shorter.split('\n')) expect(['', ...context.split('\n')]).toContain(line)
    }
  })
})
