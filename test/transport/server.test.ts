import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openSocketAt } from '../../scripts/lib/load.ts'
import { PROTOCOL_VERSION } from '../../src/domain/protocol.ts'
import { NO_FILTERS } from '../../src/domain/search-query.ts'
import { postPayload } from '../../src/hook/post.ts'
import { dataPaths, type Paths } from '../../src/lib/paths.ts'
import { readOrMakeToken } from '../../src/transport/access.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import type { StreamMessage } from '../../src/transport/messages.ts'
import { DaemonServer } from '../../src/transport/server.ts'
import { events, Harness } from '../daemon/actors/harness.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { type TestContext, testContext } from './context.ts'

let h: Harness
let dir: string
let paths: Paths
let server: DaemonServer
let token: string
let context: TestContext
const stops: string[] = []

async function listen(port = 0, dataDir = dir, localNeedsToken = false): Promise<void> {
  paths = dataPaths(dataDir)
  token = readOrMakeToken(join(dir, 'token'))
  context = testContext(h, paths, { process: { port: () => server.port, stop: (reason) => stops.push(reason) } })
  server = new DaemonServer({
    paths: { ...paths, port: join(dir, 'port.json') },
    token,
    context,
    port,
    localNeedsToken,
    maxMessageBytes: 200_000,
    seq: await h.store.lastSeq(),
    log: () => undefined,
  })
  await server.listen()
}

beforeEach(async () => {
  h = await new Harness().start()
  dir = temporaryDirectory('channel')
  stops.length = 0
})
afterEach(async () => {
  await server.close()
  await context.close()
  await h.dispose()
})

interface Reply {
  status: number
  allow: string | undefined
  body: Record<string, unknown>
}

function rest(
  method: string,
  path: string,
  options: { headers?: Record<string, string>; body?: string; socket?: boolean } = {},
): Promise<Reply> {
  const headers = { authorization: `Bearer ${token}`, ...options.headers }
  const where = options.socket === true ? { socketPath: paths.socket } : { host: '127.0.0.1', port: server.port }
  return new Promise((resolve, reject) => {
    const request = httpRequest({ ...where, method, path, headers }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response
        resolve({ status, allow: headers.allow, body: text === '' ? {} : JSON.parse(text) })
      })
    })
    request.on('error', reject)
    request.end(options.body)
  })
}

/** What an arbitrary text frame is answered with. */
async function say(text: string): Promise<Record<string, unknown>> {
  const socket = openSocketAt(paths.socket)
  await new Promise((resolve) => socket.once('open', resolve))
  const answer = new Promise<string>((resolve, reject) => {
    socket.once('message', (data) => resolve(String(data)))
    socket.once('close', (code) => reject(new Error(`closed with ${code}`)))
  })
  socket.send(text)
  try {
    return JSON.parse(await answer)
  } finally {
    socket.close()
  }
}

describe('channel.socket', () => {
  test('is readable by its owner alone', async () => {
    await listen()
    expect(statSync(paths.socket).mode & 0o777).toBe(0o600)
    expect(statSync(join(dir, 'token')).mode & 0o777).toBe(0o600)
  })

  test('acknowledges an event once it is on disk, and says when it has it already', async () => {
    await listen()
    const client = await DaemonClient.connect(paths)
    const event = events.prompt('s', 'p')
    expect(await client.call('event', { event, version: '1' })).toMatchObject({ duplicate: false })
    expect(await h.store.events('s', 1)).toMatchObject([{ eventId: 'p' }])
    expect(await client.call('event', { event, version: '1' })).toMatchObject({ duplicate: true })
    client.close()
  })

  test('a data directory too deep for a socket gets a short private one', async () => {
    await listen(0, join(dir, 'deep'.repeat(40)))
    expect(Buffer.byteLength(paths.socket)).toBeLessThan(104)
    const client = await DaemonClient.connect(paths)
    expect(await client.call('hello', { version: '1' })).toMatchObject({ pid: process.pid })
    client.close()
  })

  test('as a named pipe, which any user may open, answers nothing before the token', async () => {
    await listen(0, dir, true)
    const message = (fields: object) => say(JSON.stringify({ v: PROTOCOL_VERSION, id: '7', ...fields }))
    const event = { type: 'event', event: events.prompt('s', 'p'), version: '1' }
    for (const given of [{}, { token: '' }, { token: 'x'.repeat(token.length) }]) {
      expect(await message({ ...event, ...given })).toMatchObject({ type: 'error', code: 'unauthorized' })
      expect(await message({ type: 'hello', version: '1', ...given })).toMatchObject({
        type: 'error',
        code: 'unauthorized',
      })
    }
    expect(await message({ type: 'status' })).toMatchObject({ type: 'error', code: 'unauthorized' })
    expect(await h.store.events('s', 1)).toEqual([])
    expect((await rest('GET', '/api/health', { socket: true, headers: { authorization: '' } })).status).toBe(401)
    expect((await rest('GET', '/api/health', { socket: true })).status).toBe(200)
    expect(await message({ ...event, token })).toMatchObject({ type: 'ack' })
    expect(await message({ type: 'hello', version: '1', token })).toMatchObject({ pid: process.pid })
  })

  test.each(['a:b', 'a#b', 'a%20b', 'a?b', 'a b', 'ü日本', "it's", 'a\\b', '$HOME', '[::1]'])(
    'works in a data directory called %s',
    async (name) => {
      const dataDir = join(dir, name)
      mkdirSync(dataDir, { mode: 0o700 })
      await listen(0, dataDir)
      expect(paths.socket).toBe(join(dataDir, 'daemon.sock'))
      const client = await DaemonClient.connect(paths)
      expect(await client.call('hello', { version: '1' })).toMatchObject({ dataDir })
      client.close()
      // Nothing serves payloads here: the door's thread is a file of the built program.
      const post = { client: 'claude-code', seed: '1', colors: false, cwd: dataDir, event: '', variables: {} }
      expect(await postPayload(Buffer.from('{}'), paths, post)).toEqual({ failure: 'refused' })
    },
  )

  const envelope = { v: PROTOCOL_VERSION, id: '7' }
  test.each([
    ['not JSON', '{"half', 'malformed', ''],
    [
      'a type that is nested thousands of levels deep',
      `{"v":${PROTOCOL_VERSION},"id":"7","type":${'['.repeat(9_000)}${']'.repeat(9_000)}}`,
      'malformed',
      '',
    ],
    [
      'a tool input that is nested thousands of levels deep',
      JSON.stringify({
        ...envelope,
        type: 'event',
        version: '1',
        event: { ...events.tool('s', 'a'), input: '?' },
      }).replace('"?"', `${'['.repeat(9_000)}${']'.repeat(9_000)}`),
      'malformed',
      '',
    ],
    ['an unknown request', JSON.stringify({ ...envelope, type: 'dance' }), 'bad_request', '7'],
    [
      'an event without an id',
      JSON.stringify({ ...envelope, type: 'event', version: '1', event: { ...events.tool('s', 'a'), id: '' } }),
      'bad_request',
      '7',
    ],
    ['a newer protocol', JSON.stringify({ ...envelope, v: 99, type: 'status' }), 'unsupported_version', '7'],
    [
      'a session nobody knows',
      JSON.stringify({ ...envelope, type: 'session', session: 'nope', trace: 1 }),
      'not_found',
      '7',
    ],
    [
      'an older program that wants to take over',
      JSON.stringify({ ...envelope, type: 'handover', version: '0.0.0-a' }),
      'already_running',
      '7',
    ],
  ])('%s gets a clear error', async (_name, text, code, id) => {
    await listen()
    expect(await say(text)).toMatchObject({ type: 'error', code, id })
  })

  test('another version of the protocol is refused with the version that is spoken', async () => {
    await listen()
    for (const v of [0, 2, 99]) {
      const refusal = await say(JSON.stringify({ ...envelope, v, type: 'status' }))
      expect(refusal).toMatchObject({ type: 'error', id: '7', code: 'unsupported_version', retryable: true })
      expect(refusal.message).toContain('version 1 of the protocol')
    }
  })

  const filters = { ...NO_FILTERS, project: 'shop' }
  test.each([
    [
      'search',
      { request: { query: '', mode: 'auto', filters, limit: 5, offset: 0 } },
      'found',
      { answer: { total: 1 } },
    ],
    ['sessions', { filter: { project: 'shop', limit: 3 } }, 'sessions', { sessions: [{ session: 's' }] }],
    ['queue', { filter: { session: 's', status: 'pending' } }, 'queue', { messages: [{ eventId: 'b' }] }],
    ['forget', { ids: [], filters, confirm: false }, 'forgotten', { report: { dryRun: true, observations: 1 } }],
  ])('a client before 0.2 that nests fields gets an answer to %s', async (type, nested, answer, output) => {
    await listen()
    await h.supervisor.accept(events.prompt('s', 'p'))
    await h.supervisor.accept(events.tool('s', 'a'))
    await h.supervisor.flush(null)
    await h.settle()
    await h.supervisor.accept(events.tool('s', 'b'))
    expect(await say(JSON.stringify({ ...envelope, v: 1, type, ...nested }))).toMatchObject({
      v: 1,
      id: '7',
      type: answer,
      ...output,
    })
  })

  test('a message that is too large closes its own connection only', async () => {
    await listen()
    const client = await DaemonClient.connect(paths)
    await expect(say(JSON.stringify({ ...envelope, type: 'status', filler: 'x'.repeat(300_000) }))).rejects.toThrow(
      '1009',
    )
    expect(await client.call('status')).toMatchObject({ status: { state: 'serving' } })
    client.close()
  })

  test('half a frame and a dropped connection disturb nobody', async () => {
    await listen()
    await new Promise<void>((resolve) => {
      const raw = connect(paths.socket, () => {
        raw.write(
          'GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
        )
        raw.write(Buffer.from([0x81, 0xfe, 0x10, 0x00, 1, 2, 3, 4, 5]))
        raw.once('data', () => raw.destroy())
        raw.once('close', () => resolve())
      })
    })
    const client = await DaemonClient.connect(paths)
    expect(await client.call('status')).toMatchObject({ status: { state: 'serving' } })
    client.close()
  })

  test('stop and a newer program end the daemon, after the answer', async () => {
    await listen()
    const client = await DaemonClient.connect(paths)
    await client.call('stop')
    await client.call('handover', { version: '99.0.0' })
    expect(stops).toEqual(['stop was requested', 'claude-mem 99.0.0 takes over'])
    client.close()
  })

  test('sessions are found by the first characters of their id', async () => {
    await listen()
    await h.supervisor.accept(events.prompt('abc-1', 'p'))
    await h.supervisor.accept(events.prompt('abd-1', 'p'))
    const client = await DaemonClient.connect(paths)
    expect(await client.call('session', { session: 'abc', trace: 5 })).toMatchObject({
      view: { row: { session: 'abc-1' } },
    })
    await expect(client.call('session', { session: 'ab', trace: 5 })).rejects.toThrow('2 sessions start with "ab"')
    client.close()
  })

  test('queue, flush, close, backup answer with what they did', async () => {
    await listen()
    await h.supervisor.accept(events.prompt('s', 'p'))
    await h.supervisor.accept(events.tool('s', 'a'))
    const client = await DaemonClient.connect(paths)
    expect(await client.call('queue')).toMatchObject({
      messages: [{ eventId: 'a' }],
      stats: { pending: 1 },
    })
    expect(await client.call('flush', { session: null, wait: true })).toMatchObject({ affected: 1 })
    expect(await h.store.observations({ session: 's' })).toHaveLength(1)
    expect(await client.call('queue_retry', { session: null })).toMatchObject({ affected: 0 })
    expect(await client.call('queue_clear', { session: 's', pending: true })).toMatchObject({
      affected: 0,
    })
    expect(await client.call('close_session', { session: 's' })).toMatchObject({
      view: { row: { state: 'closed', status: 'completed' } },
    })
    expect((await client.call('backup')).backups).toMatchObject([{ reason: 'manual' }])
    expect((await client.call('backups')).backups).toHaveLength(1)
    client.close()
  })
})

describe('channel.stream', () => {
  test('followers see every commit; one who comes back misses none', async () => {
    await listen()
    const seen: StreamMessage[] = []
    const first = await DaemonClient.connect(paths)
    first.onStream = (message) => seen.push(message)
    const { seq } = await first.call('subscribe', { since: null })
    await h.supervisor.accept(events.prompt('s', 'p'))
    await expect.poll(() => seen.length).toBe(1)
    first.close()
    await h.supervisor.accept(events.tool('s', 'a'))
    await h.supervisor.accept(events.tool('s', 'b'))
    const again = await DaemonClient.connect(paths)
    again.onStream = (message) => seen.push(message)
    await again.call('subscribe', { since: seen.at(-1)?.seq ?? null })
    await expect.poll(() => seen.map((message) => message.seq)).toEqual([seq + 1, seq + 2, seq + 3])
    again.close()
  })

  test('one who was away too long is told to load again', async () => {
    await h.supervisor.accept(events.prompt('s', 'p'))
    await h.supervisor.accept(events.tool('s', 'a'))
    await listen()
    const client = await DaemonClient.connect(paths)
    expect(await client.call('subscribe', { since: 0 })).toMatchObject({
      seq: 2,
      resumed: false,
    })
    expect(await client.call('subscribe', { since: 2 })).toMatchObject({ seq: 2, resumed: true })
    client.close()
  })
})

describe('channel.tcp', () => {
  test('the port is recorded; a busy one is replaced by another, and status says so', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const busy = (other.address() as { port: number }).port
    await listen(busy)
    expect(server.port).not.toBe(busy)
    expect(JSON.parse(readFileSync(join(dir, 'port.json'), 'utf8'))).toMatchObject({ port: server.port })
    expect(h.supervisor.notices.list.at(-1)?.text).toContain(`port ${busy} is in use`)
    await new Promise((resolve) => other.close(resolve))
  })

  test('listens on 127.0.0.1 alone', async () => {
    await listen()
    const port = server.port ?? 0
    const other = connect({ host: '127.0.0.2', port })
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => other.once('error', resolve))
    expect(error.code).toMatch(/ECONNREFUSED|EADDRNOTAVAIL|ENETUNREACH/)
  })

  test.each([
    ['without a token', { authorization: '' }, 401],
    ['with a wrong token', { authorization: 'Bearer nope' }, 401],
    ['with a foreign Host', { host: 'evil.example:80' }, 403],
    ['with the right Host but another port', { host: '127.0.0.1:1' }, 403],
    ['from a foreign page', { origin: 'http://evil.example' }, 403],
    ['from a sandboxed page', { origin: 'null' }, 403],
  ])('%s nothing is answered', async (_name, headers, status) => {
    await listen()
    const reply = await rest('GET', '/api/health', { headers })
    expect(reply.status).toBe(status)
    expect(Object.keys(reply.body)).toEqual(['error'])
    const url = `ws://127.0.0.1:${server.port}/`
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}`, ...headers } })
    const failed = await new Promise<Error>((resolve) => socket.once('error', resolve))
    expect(failed.message).toContain(String(status))
  })

  test('our own pages and tools get in', async () => {
    await listen()
    const origin = `http://127.0.0.1:${server.port}`
    expect(await rest('GET', '/api/health', { headers: { origin } })).toMatchObject({
      status: 200,
      body: { status: 'ok', state: 'serving', queueDepth: 0, provider: 'plain', waiting: null },
    })
    const socket = new WebSocket(`ws://localhost:${server.port}/`, { headers: { authorization: `Bearer ${token}` } })
    await new Promise((resolve) => socket.once('open', resolve))
    socket.close()
  })
})

describe('channel.rest', () => {
  const event = (kind: string, more: object) =>
    JSON.stringify({ session: 's', project: { key: 'dir:/w', name: 'w' }, cwd: '/w', kind, ...more })

  test('a session from its start to its summary', async () => {
    await listen()
    const post = (path: string, body: string) => rest('POST', `/api/sessions/${path}`, { body })
    expect(await post('init', event('prompt', { id: 'p', text: 'go', private: false }))).toMatchObject({
      status: 200,
      body: { accepted: true, duplicate: false },
    })
    expect(
      await post(
        'observations',
        event('tool_use', { id: 'a', tool: 'Edit', input: {}, response: 1, durationMs: null }),
      ),
    ).toMatchObject({ status: 200 })
    expect(
      await post(
        'observations',
        event('tool_use', { id: 'a', tool: 'Edit', input: {}, response: 1, durationMs: null }),
      ),
    ).toMatchObject({ body: { duplicate: true } })
    expect(await post('summarize', event('turn_end', { id: 'z', lastMessage: 'done', error: null }))).toMatchObject({
      status: 200,
    })
    await h.settle()
    expect((await rest('GET', '/api/search?session=s&kind=observation')).body).toMatchObject({
      hits: [{ title: 'Edit w' }],
    })
    expect(await rest('GET', '/api/observations/1')).toMatchObject({ body: { id: 1, sources: ['a'] } })
    expect(await rest('GET', '/api/sessions/s')).toMatchObject({ body: { row: { state: 'observing' }, summaries: 1 } })
    expect(await rest('GET', '/api/queue/stats')).toMatchObject({ body: { pending: 0 } })
    expect(await rest('DELETE', '/api/sessions/s')).toMatchObject({ body: { row: { state: 'closed' } } })
    expect(await rest('GET', '/api/sessions', { socket: true })).toMatchObject({ status: 200 })
  })

  test.each([
    ['GET', '/api/nothing', undefined, 404],
    ['POST', '/api/health', undefined, 405],
    ['GET', '/api/sessions/%E0%A4%A', undefined, 400],
    ['GET', '/api/observations/999', undefined, 404],
    ['GET', '/api/sessions?limit=0', undefined, 422],
    ['POST', '/api/sessions/init', '{"half', 400],
    ['POST', '/api/sessions/init', 'null', 422],
    ['POST', '/api/sessions/init', event('turn_end', { lastMessage: null, error: null }), 422],
    ['POST', '/api/sessions/init', { filler: 300_000 }, 413],
  ])('%s %s with %j is %i', async (method, path, given, status) => {
    await listen()
    const body = typeof given === 'object' ? JSON.stringify({ filler: 'x'.repeat(given.filler) }) : given
    const reply = await rest(method, path, body === undefined ? {} : { body })
    expect(reply).toMatchObject({ status, body: { error: { message: expect.any(String) } } })
  })

  test.each([
    ['POST', '/api/health', 'GET'],
    ['PATCH', '/api/observations/1', 'GET, DELETE'],
    ['GET', '/api/observations/1/pin', 'PUT, DELETE'],
    ['POST', '/api/openapi.json', 'GET'],
    ['GET', '/api/viewer/open', 'POST'],
  ])('%s %s is 405 and says what is allowed', async (method, path, allow) => {
    await listen()
    const reply = await rest(method, path)
    expect(reply).toMatchObject({ status: 405, allow, body: { error: { code: 'method_not_allowed' } } })
  })

  test('a quarantined session cannot be closed or reopened: 409', async () => {
    await listen()
    await h.supervisor.accept(events.prompt('s', 'p'))
    await h.store.close()
    const db = new Database(join(h.directory, 'db.sqlite'))
    db.prepare("UPDATE sdk_sessions SET snapshot = '{\"half'").run()
    db.close()
    await h.start()
    await server.close()
    await context.close()
    await listen()
    for (const [method, path] of [
      ['DELETE', '/api/sessions/s'],
      ['POST', '/api/sessions/s/reopen'],
    ] as const) {
      expect(await rest(method, path)).toMatchObject({ status: 409, body: { error: { code: 'quarantined' } } })
    }
  })

  test('a daemon that stops accepts no event: 503', async () => {
    await listen()
    await h.supervisor.drain('a test')
    const body = event('prompt', { id: 'p', text: 'go', private: false })
    const refused = { status: 503, body: { error: { code: 'draining' } } }
    expect(await rest('POST', '/api/sessions/init', { body })).toMatchObject(refused)
  })
})
