/** The loop as processes: what one session learned, the next one starts with. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DaemonSandbox } from '../support/daemon.ts'
import { exited } from '../support/programs.ts'

let place: DaemonSandbox
beforeEach(() => {
  place = new DaemonSandbox()
})
afterEach(() => place.dispose())

const CWD = '/nowhere/shop'
const base = (session: string) => ({ session_id: session, cwd: CWD, transcript_path: '/nowhere/t.jsonl' })
const startOf = (session: string) => ({ ...base(session), hook_event_name: 'SessionStart', source: 'startup' })

async function firstSession(): Promise<void> {
  const turn = { ...base('first'), prompt_id: 'p1' }
  const payloads = [
    startOf('first'),
    { ...turn, hook_event_name: 'UserPromptSubmit', prompt: 'why does checkout fail?' },
    {
      ...turn,
      hook_event_name: 'PostToolUse',
      tool_name: 'Write',
      tool_input: { file_path: `${CWD}/src/total.ts`, content: 'export function cents() {\n  return 100\n}\n' },
      tool_response: { type: 'create', filePath: `${CWD}/src/total.ts`, structuredPatch: [], originalFile: null },
      tool_use_id: 't1',
    },
    { ...turn, hook_event_name: 'Stop', last_assistant_message: 'Money is integer cents now.' },
  ]
  for (const payload of payloads) expect(await contextFrom(payload)).toBeNull()
  await expect
    .poll(async () => (await place.ask((client) => client.call('session', { session: 'first', trace: 0 }))).view)
    .toMatchObject({ summaries: 1, messages: [] })
}

async function contextFrom(payload: object): Promise<string | null> {
  const { code, stdout } = await place.hook(payload)
  expect(code).toBe(0)
  const answer = JSON.parse(stdout)
  expect(answer).toMatchObject({ continue: true, suppressOutput: true })
  if (answer.hookSpecificOutput !== undefined) expect(answer.hookSpecificOutput.hookEventName).toBe('SessionStart')
  return answer.hookSpecificOutput?.additionalContext ?? null
}

const files = () =>
  existsSync(place.paths.context) ? readdirSync(place.paths.context).filter((name) => name.endsWith('.json')) : []
/** Whatever observer writes it, the turn's own words come back. */
const memory = () =>
  expect.stringMatching(/^<claude-mem-context>\n# `shop`: [\s\S]*integer cents[\s\S]*<\/claude-mem-context>$/)

describe('the second session', () => {
  test('session.daemonUp: gets the memory of the first with its acknowledgement', async () => {
    await place.start()
    await firstSession()
    for (const source of ['startup', 'resume', 'clear', 'compact']) {
      expect(await contextFrom({ ...startOf(source), source })).toEqual(memory())
    }
    expect(await contextFrom({ ...startOf('other'), cwd: '/nowhere/other' })).toBeNull()
  })

  test('session.daemonStopped: gets it from the rendered file', async () => {
    const daemon = await place.start()
    await firstSession()
    daemon.kill('SIGTERM')
    await exited(daemon)
    expect(await contextFrom(startOf('second'))).toEqual(memory())
  })

  test('session.daemonKilled: gets it after it was rendered', async () => {
    const daemon = await place.start()
    await firstSession()
    await expect.poll(files).toHaveLength(1)
    await expect
      .poll(() => JSON.parse(readFileSync(join(place.paths.context, files()[0] ?? ''), 'utf8')).context)
      .toEqual(memory())
    daemon.kill('SIGKILL')
    await exited(daemon)
    expect(await contextFrom(startOf('second'))).toEqual(memory())
  })

  test('session.filesLost: a new daemon writes them again', async () => {
    const daemon = await place.start()
    await firstSession()
    daemon.kill('SIGTERM')
    await exited(daemon)
    rmSync(place.paths.context, { recursive: true })
    await place.start()
    await expect.poll(files).toHaveLength(1)
  })

  test('session.noBudget: nothing is injected', async () => {
    await place.start({ CLAUDE_MEM_CONTEXT_TOKENS: '0' })
    await firstSession()
    expect(await contextFrom(startOf('second'))).toBeNull()
  })

  test('rest.context: returns what a session would get', async () => {
    await place.start()
    await firstSession()
    const { port } = await place.status()
    const authorization = `Bearer ${readFileSync(place.paths.token, 'utf8').trim()}`
    const get = async (query: string) => {
      const response = await fetch(`http://127.0.0.1:${port}/api/context${query}`, { headers: { authorization } })
      return { status: response.status, body: JSON.parse(await response.text()) }
    }
    const key = 'dir:/nowhere/shop'
    const given = { project: { key, name: 'shop' }, context: await contextFrom(startOf('second')) }
    expect(await get('?project=shop')).toMatchObject({ status: 200, body: given })
    expect(await get(`?project=${encodeURIComponent(key)}`)).toMatchObject({ status: 200, body: given })
    expect(await get('?project=dir:/unknown')).toMatchObject({ status: 200, body: { context: '', tokens: 0 } })
    expect(await get('?project=unknown')).toMatchObject({ status: 404 })
    expect(await get('')).toMatchObject({ status: 422 })
  })
})
