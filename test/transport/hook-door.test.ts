/** `POST /hook`: which requests it takes, on which socket. What is posted there is tested in test/hook/fast-hook.test.ts. */
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { projectOfDirectory } from '../../src/domain/project.ts'
import { DaemonSandbox } from '../support/daemon.ts'

const sandbox = new DaemonSandbox()
beforeAll(() => sandbox.start())
afterAll(() => sandbox.dispose())

const PAYLOAD = JSON.stringify({ session_id: 'door-session-1', cwd: '/', hook_event_name: 'SessionStart' })
const QUERY = { client: 'claude-code', version: '0.0.1', seed: '1-2-3' }
const TOO_LARGE = 17 * 1024 * 1024
const CHUNKED = { 'transfer-encoding': 'chunked' }
const path = (query: Record<string, string>) => `/hook?${new URLSearchParams({ ...QUERY, ...query })}`

async function send(
  options: RequestOptions,
  body: string | Buffer = PAYLOAD,
): Promise<{ status: number; text: string }> {
  const sent = request({ socketPath: sandbox.paths.socket, agent: false, method: 'POST', path: path({}), ...options })
  // The daemon may answer and close before it has read everything.
  sent.on('error', () => undefined)
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode ?? 0, text }
}

const sessions = async () => (await sandbox.ask((client) => client.call('sessions', {}))).sessions

describe('on the local socket', () => {
  it.each([
    ['an unknown client', { path: path({ client: 'nobody' }) }, 422],
    ['no client', { path: '/hook?seed=1&version=0.0.1' }, 422],
    ['no seed', { path: path({ seed: '' }) }, 422],
    ['a seed that is not one', { path: path({ seed: '../../x' }) }, 422],
    ['a hook that is newer', { path: path({ version: '99.0.0' }) }, 409],
    ['another method', { method: 'GET' }, 405],
    ['a body that says it is too large', { headers: { 'content-length': TOO_LARGE } }, 413],
    ['a body that gets too large', { headers: CHUNKED }, 413, Buffer.alloc(TOO_LARGE, ' ')],
    ['no body', {}, 422, ''],
    ['a body of no chunk', { headers: CHUNKED }, 422, ''],
    ['another address', { path: '/hooks' }, 404],
  ])('%s is refused before anything is stored', async (_, options, status, body?: string | Buffer) => {
    expect(await send(options, body)).toMatchObject({ status })
    expect(await sessions()).toEqual([])
  })

  it.each(['null', '[]', '{', PAYLOAD.slice(0, -1)])(
    'the body %s is refused: it may be a part of one',
    async (body) => {
      expect(await send({}, body)).toMatchObject({ status: 422 })
    },
  )

  it('a body that ends in the middle is not taken for a payload', async () => {
    const socket = connect(sandbox.paths.socket)
    socket.on('error', () => undefined)
    const head = `POST ${path({})} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`
    const size = PAYLOAD.length.toString(16)
    // Everything but the chunk that says that it was the last.
    socket.end(`${head}${size}\r\n${PAYLOAD}\r\n`)
    socket.resume()
    await once(socket, 'close')
    expect(await sessions()).toEqual([])
  })

  it('a payload that is ignored gets the answer of an ignored payload, and the seed', async () => {
    const text = '{"continue":true,"suppressOutput":true}\n1-2-3\n'
    expect(await send({}, '{"hook_event_name":"Stop","cwd":"/work"}')).toEqual({ status: 200, text })
    expect(await sessions()).toEqual([])
  })

  it('a payload may arrive in chunks of any size', async () => {
    const sent = request({ socketPath: sandbox.paths.socket, agent: false, method: 'POST', path: path({}) })
    for (const character of PAYLOAD.replace('door-session-1', 'chunks-session')) sent.write(character)
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    expect(response.statusCode).toBe(200)
    expect(await sessions()).toMatchObject([{ session: 'chunks-session' }])
  })
})

it('a session of Codex that ends while the next one works closes itself alone', async () => {
  const codex = { path: path({ client: 'codex' }) }
  const post = (session: string, payload: object) =>
    send(codex, JSON.stringify({ session_id: session, cwd: '/', model: 'm', permission_mode: 'default', ...payload }))
  const begin = async (session: string) => {
    await post(session, { hook_event_name: 'SessionStart', source: 'startup' })
    await post(session, { hook_event_name: 'UserPromptSubmit', turn_id: `turn-${session}`, prompt: 'go on' })
  }
  await begin('codex-first')
  await post('codex-first', { hook_event_name: 'Stop', turn_id: 'turn-codex-first', last_assistant_message: 'Done.' })
  await begin('codex-next')
  expect(await post('codex-first', { hook_event_name: 'SessionEnd', reason: 'exit' })).toMatchObject({ status: 200 })
  const statuses = async () =>
    Object.fromEntries((await sessions()).map(({ session, status }) => [session, status] as const))
  await expect.poll(statuses).toMatchObject({ 'codex-first': 'completed', 'codex-next': 'active' })
})

describe('an answer that gets lost', () => {
  it('the context of a start that did not arrive is given with the next prompt', async () => {
    await sandbox.ask((client) =>
      client.call('remember', { project: projectOfDirectory('/'), cwd: '/', text: 'The port is 4711.', by: 'person' }),
    )
    const session = { session_id: 'gemini-session', cwd: '/', transcript_path: '/none' }
    const gemini = { path: path({ client: 'gemini' }) }
    const post = (payload: object) => send(gemini, JSON.stringify({ ...session, ...payload }))
    await post({ hook_event_name: 'SessionStart', source: 'startup' })
    const prompt = JSON.stringify({ ...session, hook_event_name: 'BeforeAgent', prompt: 'first' })
    const lost = connect(sandbox.paths.socket)
    const head = `POST ${gemini.path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${prompt.length}\r\n\r\n`
    lost.end(head + prompt, () => lost.destroy())
    await once(lost, 'close')
    const isStored = async () => (await sandbox.stored('gemini-session')).some((id) => id.startsWith('UserPrompt'))
    await expect.poll(isStored).toBe(true)
    const deferred = () => readdirSync(sandbox.paths.clientSessions).some((name) => name.endsWith('.context'))
    await expect.poll(deferred).toBe(true)
    const { text } = await post({ hook_event_name: 'BeforeAgent', prompt: 'second' })
    expect(text).toContain('The port is 4711.')
  })
})

it('it is not open on the TCP port, not even with the token', async () => {
  const { port } = JSON.parse(readFileSync(sandbox.paths.port, 'utf8'))
  const token = readFileSync(sandbox.paths.token, 'utf8').trim()
  const tcp = { socketPath: undefined, host: '127.0.0.1', port }
  const refused = [await send({ ...tcp, headers: { authorization: `Bearer ${token}` } }), await send(tcp)]
  expect(refused.map(({ status }) => status)).toEqual([405, 405])
  expect((await sessions()).map(({ session }) => session)).not.toContain('door-session-1')
})

it('a daemon that stops refuses payloads, and stores none after that', async () => {
  const stopping = sandbox.ask((client) => client.call('stop', {}))
  const answers = await Promise.allSettled(Array.from({ length: 20 }, () => send({})))
  await stopping
  for (const answer of answers) {
    if (answer.status === 'fulfilled') expect([200, 503]).toContain(answer.value.status)
  }
})
