/** REST bodies in our shape, in that of hook payloads, and in that of the original claude-mem; addresses without a body. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { projectOfDirectory } from '../../src/domain/project.ts'
import { PROTOCOL_VERSION } from '../../src/domain/protocol.ts'
import { TranscriptLines } from '../support/transcript-lines.ts'
import { type Served, served } from './served.ts'

let s: Served
beforeEach(async () => {
  s = await served()
})
afterEach(() => s.close())

async function send(
  method: string,
  path: string,
  body: string | undefined,
): Promise<{ status: number; body: unknown }> {
  const headers = { authorization: `Bearer ${s.token}` }
  const answer = await fetch(`http://127.0.0.1:${s.port}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  })
  return { status: answer.status, body: await answer.json() }
}
const post = (path: string, body: object) => send('POST', path, JSON.stringify(body))
const waiting = async (session: string) => {
  const [message] = await s.h.store.queue({ session })
  const { event } = (await s.h.store.eventView(message?.eventId ?? '', session)) ?? {}
  return event?.payload
}

describe('the token of REST does not make the daemon read a transcript', () => {
  const turnEnd = () => {
    const file = join(s.directory, 'transcript.jsonl')
    const lines = new TranscriptLines({ session: 'theirs' }).prompt('Why?').says('Only the client knows this.')
    writeFileSync(file, lines.tool('Bash', { command: 'ls' }, 'a.ts').says('Done.').text)
    return { session: 'theirs', cwd: s.directory, transcript_path: file, lastMessage: 'Done.' }
  }
  const stored = async (id: string) => (await s.h.store.eventView(id, 'theirs'))?.event

  test('in a body', async () => {
    const { body } = await post('/api/sessions/summarize', { ...turnEnd(), id: 'end' })
    expect(body).toMatchObject({ accepted: true, duplicate: false })
    expect((await stored('end'))?.payload).toMatchObject({ kind: 'turn_end', words: [], lastMessage: 'Done.' })
    expect((await s.h.store.session('theirs'))?.transcriptPath).toBeNull()
  })

  test('over a WebSocket on the port', async () => {
    const { transcript_path: transcriptPath, ...end } = turnEnd()
    const own = {
      id: 'end',
      at: Date.now(),
      client: 'x',
      kind: 'turn_end',
      promptId: null,
      agent: null,
      error: null,
      words: [],
    }
    const event = { ...own, ...end, transcriptPath, project: projectOfDirectory(s.directory) }
    const socket = new WebSocket(`ws://127.0.0.1:${s.port}/`, { headers: { authorization: `Bearer ${s.token}` } })
    await once(socket, 'open')
    const answer = once(socket, 'message')
    socket.send(JSON.stringify({ v: PROTOCOL_VERSION, id: '1', type: 'event', event, token: s.token }))
    expect(JSON.parse(String((await answer)[0]))).toMatchObject({ type: 'ack', duplicate: false })
    socket.close()
    expect((await stored('end'))?.payload).toMatchObject({ kind: 'turn_end', words: [] })
  })
})

describe('event bodies', () => {
  test('the shapes of the original: a prompt, a tool use, the end of a turn', async () => {
    const original = { content_session_id: 'one', cwd: s.directory }
    const accepted = { status: 200, body: { accepted: true, duplicate: false } }
    expect(await post('/api/sessions/init', { ...original, project: 'shop', prompt: 'Fix it' })).toMatchObject(accepted)
    const use = { tool_name: 'Bash', tool_input: '{"command":"ls"}', tool_response: '{"stdout":"a.ts"}' }
    const { status, body } = await post('/api/sessions/observations', { ...original, ...use })
    expect({ status, body }).toMatchObject({ status: 200, body: { accepted: true, queue: 1 } })
    expect(await waiting('one')).toMatchObject({
      kind: 'tool_use',
      tool: 'Bash',
      input: { command: 'ls' },
      response: { stdout: 'a.ts' },
      durationMs: null,
    })
    const end = { ...original, last_assistant_message: 'Done: it is fixed.' }
    expect(await post('/api/sessions/summarize', end)).toMatchObject(accepted)
    await s.h.settle()
    const story = await s.h.store.sessionHistory('one', { trace: 0, rows: 9 })
    expect(story).toMatchObject({
      row: { prompts: 1, project: { key: projectOfDirectory(s.directory).key } },
      prompts: [{ text: 'Fix it' }],
      summaryRows: [{ request: 'Fix it', completed: 'Done: it is fixed.' }],
    })
  })

  test('the project comes from cwd, keeps a given name, and without cwd is known by its name', async () => {
    const keyOf = async (session: string) => (await s.h.store.session(session))?.project
    const directory = projectOfDirectory(s.directory)
    await post('/api/sessions/init', { session_id: 'a', cwd: s.directory, prompt: 'x' })
    expect(await keyOf('a')).toEqual(directory)
    await post('/api/sessions/init', { session_id: 'b', cwd: s.directory, project: 'shop', prompt: 'x' })
    expect(await keyOf('b')).toMatchObject({ key: directory.key })
    await post('/api/sessions/init', { session_id: 'c', project: 'shop', prompt: 'x' })
    expect(await keyOf('c')).toEqual({ key: 'import:shop', name: 'shop' })
    const nothing = await post('/api/sessions/init', { session_id: 'd', prompt: 'x' })
    expect(nothing).toMatchObject({ status: 422, body: { error: { message: expect.stringContaining('project') } } })
  })

  test('tool_output is the response, tool_use_id the id, and an error without a response is a failure', async () => {
    const base = { session_id: 'one', cwd: s.directory, tool_name: 'Bash', tool_input: { command: 'npm test' } }
    const use = { ...base, tool_use_id: 'toolu_1', tool_output: '48 passed' }
    expect(await post('/api/sessions/observations', use)).toMatchObject({ body: { id: 'toolu_1', duplicate: false } })
    expect(await post('/api/sessions/observations', use)).toMatchObject({ body: { id: 'toolu_1', duplicate: true } })
    expect(await waiting('one')).toMatchObject({ response: '48 passed' })
    await post('/api/sessions/observations', { ...base, session_id: 'two', error: 'Exit code 1' })
    expect(await waiting('two')).toMatchObject({ kind: 'tool_failure', error: 'Exit code 1', interrupted: false })
  })

  test('the examples in docs/protocol.md are accepted', async () => {
    const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8')
    const examples = [...page.matchAll(/^(POST) (\/api\/\S+)\n(\{.*\})$/gm)]
    expect(examples.length).toBeGreaterThanOrEqual(4)
    for (const [, method = '', path = '', body = ''] of examples) {
      expect(await send(method, path, body)).toMatchObject({ status: 200 })
      await s.h.settle()
    }
  })
})

describe('addresses without a body', () => {
  test.each([undefined, '', 'not JSON', '[1]', '{"half'])('POST with the body %j is accepted', async (body) => {
    await post('/api/sessions/init', { session_id: 'one', cwd: s.directory, prompt: 'x' })
    await s.client.call('close_session', { session: 'one' })
    expect(await send('POST', '/api/sessions/one/reopen', body)).toMatchObject({ status: 200 })
  })

  test('an address that needs a body still refuses one that is not JSON', async () => {
    expect(await send('POST', '/api/sessions/init', 'not JSON')).toMatchObject({ status: 400 })
  })
})

test('several files in one parameter are several, as on the command line', async () => {
  const asked = '/api/search?file=a.ts,b.ts&file=c.ts'
  await post('/api/sessions/init', { session_id: 'one', cwd: s.directory, prompt: 'x' })
  for (const [n, name] of ['a.ts', 'b.ts', 'c.ts', 'd.ts'].entries()) {
    const tool_input = { file_path: `/w/${name}` }
    await post('/api/sessions/observations', {
      session_id: 'one',
      cwd: s.directory,
      id: `t${n}`,
      tool_name: 'Edit',
      tool_input,
    })
  }
  await s.client.call('flush', { session: null, wait: true })
  const { total } = (await s.rest(asked)) as { total: number }
  expect(total).toBe(3)
})
