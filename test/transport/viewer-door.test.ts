import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { PROTOCOL_VERSION } from '../../src/domain/protocol.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import { DaemonServer } from '../../src/transport/server.ts'
import { ViewerLinks } from '../../src/transport/viewer-access.ts'
import { computeProof, deriveProofKey, makeNonce, parseViewerToken } from '../../src/transport/viewer-proof.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { type Served, served } from './served.ts'

const NOW = 1_800_000_000_000
const MAX_MESSAGE_BYTES = 10_000

let directory: string
let viewerDir: string
let now: number
let s: Served

beforeAll(() => {
  directory = temporaryDirectory('viewer')
  viewerDir = join(directory, 'viewer')
  mkdirSync(join(viewerDir, 'inner'), { recursive: true })
  writeFileSync(join(viewerDir, 'index.html'), '<!doctype html><title>claude-mem</title>')
  writeFileSync(join(viewerDir, 'app.js'), 'void 0')
  writeFileSync(join(viewerDir, 'inner', 'deep.js'), 'void 0')
  writeFileSync(join(directory, 'secret'), 'not for browsers')
})
beforeEach(async () => {
  now = NOW
  s = await served({ viewerDir, now: () => now, maxMessageBytes: MAX_MESSAGE_BYTES })
})
afterEach(() => s.close())

interface Reply {
  status: number
  headers: Record<string, unknown>
  text: string
}

/** Sent as it stands: `fetch` would tidy the path up. */
function ask(method: string, path: string, headers: Record<string, string> = {}, body = ''): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port: s.port, method, path, headers }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    request.on('error', reject)
    request.end(body)
  })
}

const ours = () => `http://127.0.0.1:${s.port}`
const open = (code: string, headers: Record<string, string> = { origin: ours() }) =>
  ask('POST', '/api/viewer/open', headers, JSON.stringify({ code }))
const newCode = async () => (await s.client.call('viewer_link')).url.split('#open=')[1] ?? ''
const newToken = async (): Promise<string> => JSON.parse((await open(await newCode())).text).token

describe('the page', () => {
  test('is given without a token, with everything locked down around it', async () => {
    const page = await ask('GET', '/')
    expect(page).toMatchObject({ status: 200, text: '<!doctype html><title>claude-mem</title>' })
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    })
    const policy = String(page.headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).toContain(`connect-src 'self' ws://127.0.0.1:${s.port};`)
    expect(page.headers).not.toHaveProperty('set-cookie')
    expect((await ask('GET', '/index.html?x=1')).text).toBe(page.text)
    expect((await ask('GET', '/app.js')).headers['content-type']).toBe('text/javascript; charset=utf-8')
  })

  test('has a head of its own, and takes nothing', async () => {
    const head = await ask('HEAD', '/app.js')
    expect(head).toMatchObject({ status: 200, text: '' })
    expect(head.headers['content-length']).toBe('6')
    expect((await ask('POST', '/', { origin: ours() }, '{}')).status).toBe(405)
  })

  test.each([
    '/../secret',
    '/%2e%2e/secret',
    '/..%2fsecret',
    '/..\\secret',
    '/inner/deep.js',
    '/inner',
    '//etc/passwd',
    '/no.js',
    '/.',
  ])('has nothing at %s', async (path) => {
    const reply = await ask('GET', path)
    expect(reply.status).toBe(404)
    expect(reply.text).not.toContain('not for browsers')
  })

  test('answers only under a name of this machine, and to no other page', async () => {
    for (const host of ['evil.example', `evil.example:${s.port}`, `127.0.0.1:${s.port + 1}`]) {
      const reply = await ask('GET', '/', { host })
      expect(reply.status).toBeGreaterThanOrEqual(400)
      expect(String(reply.headers['content-security-policy'] ?? '')).not.toContain('evil')
    }
    for (const origin of [
      'https://evil.example',
      'null',
      `https://127.0.0.1:${s.port}`,
      `http://127.0.0.1:${s.port}.evil.example`,
    ]) {
      expect((await ask('GET', '/', { origin })).status).toBe(403)
    }
    expect((await ask('GET', '/', { host: `localhost:${s.port}`, origin: `http://localhost:${s.port}` })).status).toBe(
      200,
    )
  })

  test('says what to do where it was not built', async () => {
    const without = await served({ viewerDir: join(directory, 'gone') })
    try {
      const reply = await fetch(`http://127.0.0.1:${without.port}/`)
      expect(reply.status).toBe(404)
      expect(await reply.text()).toContain('npm run build')
    } finally {
      await without.close()
    }
  })
})

describe('a link', () => {
  test('is worth a token once', async () => {
    const { url, expiresAt } = await s.client.call('viewer_link')
    expect(url).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${s.port}/#open=[\\w-]{43}$`))
    expect(expiresAt).toBe(NOW + 120_000)
    const code = url.split('#open=')[1] ?? ''
    const opened = await open(code)
    expect(opened.status).toBe(200)
    const { token } = JSON.parse(opened.text)
    expect(token).not.toContain(s.token)
    expect((await ask('GET', '/api/health', { authorization: `Bearer ${token}` })).status).toBe(200)
    const again = await open(code)
    expect(again.status).toBe(401)
    expect(again.text).toContain('claude-mem viewer')
  })

  test('is too old after two minutes', async () => {
    const [code, late] = [await newCode(), await newCode()]
    now += 119_999
    expect((await open(code)).status).toBe(200)
    now += 1
    expect((await open(late)).status).toBe(401)
  })

  test('opens nothing for another page, for no page, or in another form', async () => {
    const code = await newCode()
    expect((await open(code, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await open(code, {})).status).toBe(403)
    expect((await open(code, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await open(code, { origin: ours(), host: `evil.example:${s.port}` })).status).toBe(403)
    for (const body of ['', 'code', '[]', '{"code":7}', `{"code":"${'x'.repeat(5_000)}"}`]) {
      expect([400, 413, 422]).toContain((await ask('POST', '/api/viewer/open', { origin: ours() }, body)).status)
    }
    expect((await ask('GET', '/api/viewer/open')).status).toBe(401)
    expect((await open('guessed')).status).toBe(401)
    // None of that used it up.
    expect((await open(code, { 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  })

  test('is made for whoever may use the local door only', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${s.port}/`, { headers: { authorization: `Bearer ${s.token}` } })
    await new Promise((resolve) => socket.once('open', resolve))
    const said = new Promise((resolve) => socket.once('message', (data) => resolve(JSON.parse(String(data)))))
    socket.send(JSON.stringify({ v: PROTOCOL_VERSION, id: '1', type: 'viewer_link' }))
    expect(await said).toMatchObject({ type: 'error', code: 'forbidden' })
    socket.close()
  })

  test('pushes the oldest out where there are too many', () => {
    const links = new ViewerLinks(() => NOW)
    const codes = Array.from({ length: 21 }, () => links.create(1).url.split('#open=')[1] ?? '')
    expect(() => links.redeem(codes[0] ?? '')).toThrow('claude-mem viewer')
    expect(() => links.redeem(codes[1] ?? '')).not.toThrow()
    expect(() => links.redeem(codes[1] ?? '')).toThrow('claude-mem viewer')
  })
})

describe('a token of a viewer', () => {
  const health = async (given: string) => (await ask('GET', '/api/health', { authorization: `Bearer ${given}` })).status

  test('is accepted as it is, and nothing else passes for one', async () => {
    const token = await newToken()
    expect(await health(token)).toBe(200)
    const [version, id, secret = ''] = token.split('.')
    const wrong = [
      `${version}.${id}.`,
      `${version}.${id}x.${secret}`,
      `v1.${id}.${secret}`,
      `${token}x`,
      secret,
      'v2..',
      'x'.repeat(8_000),
    ]
    for (const given of wrong) expect(await health(given)).toBe(401)
    expect((await ask('GET', `/api/health?token=${token}`)).status).toBe(401)
    expect((await ask('GET', '/api/health', { cookie: `token=${token}` })).status).toBe(401)
  })

  test('ends twelve hours after its last use', async () => {
    const [used, unused] = [await newToken(), await newToken()]
    now += 11 * 3_600_000
    expect(await health(used)).toBe(200)
    now += 2 * 3_600_000
    expect(await health(used)).toBe(200)
    expect(await health(unused)).toBe(401)
    now += 12 * 3_600_000 + 1
    expect(await health(used)).toBe(401)
    expect((await s.client.call('viewers')).viewers).toEqual([])
  })

  test('can be revoked, which ends its connections; only so many pages have access', async () => {
    const [first, second] = [await newToken(), await newToken()]
    const socket = await connected(first)
    const closed = new Promise<number>((resolve) => socket.once('close', resolve))
    const { viewers } = await s.client.call('viewers')
    expect(viewers.map(({ connected }) => connected).sort()).toEqual([false, true])
    const viewer = parseViewerToken(first)?.id ?? ''
    expect(await s.client.call('viewer_revoke', { viewer })).toMatchObject({ affected: 1 })
    expect(await closed).toBe(4401)
    expect([await health(first), await health(second)]).toEqual([401, 200])
    expect(await s.client.call('viewer_revoke', { viewer })).toMatchObject({ affected: 0 })
    for (let i = 0; i < 20; i++) {
      now += 1
      await newToken()
    }
    expect(await health(second)).toBe(401)
    expect(await s.client.call('viewer_revoke', { viewer: null })).toMatchObject({ affected: 20 })
  })

  test('is worth nothing to the next daemon: another program may have had the port in between, and the tab', async () => {
    const token = await newToken()
    s.client.close()
    await s.server.close()
    const squatter = createTcpServer().listen(s.port, '127.0.0.1')
    await once(squatter, 'listening')
    squatter.close()
    await once(squatter, 'close')
    const next = new DaemonServer({
      paths: s.paths,
      token: s.token,
      context: s.context,
      port: s.port,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      seq: 0,
      log: () => undefined,
      now: () => now,
    })
    await next.listen()
    const headers = { authorization: `Bearer ${token}` }
    expect((await fetch(`http://127.0.0.1:${s.port}/api/health`, { headers })).status).toBe(401)
    await next.close()
  })

  /** The answer to one request over a connection with this token. */
  async function callWith(token: string, type: string, input: object = {}): Promise<Record<string, unknown>> {
    const socket = await connected(token)
    const answer = once(socket, 'message')
    socket.send(JSON.stringify({ v: PROTOCOL_VERSION, id: '1', type, ...input }))
    const [data] = await answer
    socket.close()
    return JSON.parse(String(data))
  }

  async function connected(token: string): Promise<WebSocket> {
    const socket = new WebSocket(`ws://127.0.0.1:${s.port}/`, { headers: { authorization: `Bearer ${token}` } })
    await once(socket, 'open')
    return socket
  }

  test.each([
    ['files', { action: 'on', project: null, root: '/tmp' }],
    ['import', { batch: {} }],
    ['stop', {}],
    ['handover', { version: '99.0.0' }],
    ['backup', {}],
    ['project_merge', { from: 'a', into: 'b', confirm: true }],
    ['team_connect', { url: 'postgres://ana@127.0.0.1/memory' }],
    ['team_share', { project: null }],
    ['team_share', { project: 'shop', dryRun: true }],
    ['team_unshare', { project: null }],
    ['team_disconnect', {}],
    ['team_grant', { role: 'eve', repository: '*' }],
    ['team_revoke', { role: 'eve', repository: '*' }],
    ['viewer_link', {}],
    ['viewers', {}],
    ['viewer_revoke', { viewer: null }],
  ])('cannot be used for %s, nor can the token of the data directory over TCP', async (type, input) => {
    for (const token of [await newToken(), s.token]) {
      expect(await callWith(token, type, input)).toMatchObject({ type: 'error', code: 'forbidden' })
    }
  })

  test('can count what sharing a project would send by its key alone, not by a directory', async () => {
    for (const project of ['/tmp', 'git:/tmp/shop/.git', 'shop']) {
      expect(await callWith(await newToken(), 'team_plan', { project })).toMatchObject({
        code: 'bad_request',
        message: expect.stringContaining('must be the key of a project with a remote or a name'),
      })
    }
  })

  test('cannot report events', async () => {
    expect(await callWith(await newToken(), 'event', { event: {} })).toMatchObject({ code: 'forbidden' })
    expect(await callWith(s.token, 'event', { event: {} })).toMatchObject({ code: 'bad_request' })
    const headers = { authorization: `Bearer ${await newToken()}` }
    expect((await ask('POST', '/api/sessions/init', headers, '{}')).status).toBe(403)
  })

  /** As a browser connects: no header of its own. What it was answered with, or the protocol that was agreed on. */
  function follow(protocols: string[], headers: Record<string, string>): Promise<number | string> {
    return new Promise((resolve) => {
      const socket = new WebSocket(`ws://127.0.0.1:${s.port}/`, protocols, { headers })
      socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
      socket.once('error', () => undefined)
      socket.once('open', () => {
        resolve(socket.protocol)
        socket.close()
      })
    })
  }

  test('comes as a subprotocol, from our own page alone, and is not repeated', async () => {
    const token = await newToken()
    const both = ['claude-mem.v1', `token.${token}`]
    expect(await follow(both, { origin: ours() })).toBe('claude-mem.v1')
    expect(await follow(both, {})).toBe(403)
    expect(await follow(both, { origin: 'https://evil.example' })).toBe(403)
    expect(await follow(both, { origin: ours(), host: `evil.example:${s.port}` })).toBe(403)
    expect(await follow(['claude-mem.v1', 'token.wrong'], { origin: ours() })).toBe(401)
    expect(await follow(['claude-mem.v1'], { origin: ours() })).toBe(401)
  })
})

describe('the daemon proves to a page that it knows its token', () => {
  const prove = (body: object, headers: Record<string, string> = { origin: ours() }) =>
    ask('POST', '/api/viewer/prove', headers, JSON.stringify(body))

  test('with an answer that only it can give, for this port and this nonce', async () => {
    const { id: viewer, secret } = parseViewerToken(await newToken()) ?? { id: '', secret: '' }
    const nonce = makeNonce()
    const { proof } = JSON.parse((await prove({ viewer, nonce })).text)
    const key = await deriveProofKey(secret)
    expect(proof).toBe(await computeProof(key, s.port, nonce))
    expect(proof).not.toBe(await computeProof(key, s.port + 1, nonce))
    expect(JSON.parse((await prove({ viewer, nonce: makeNonce() })).text).proof).not.toBe(proof)
  })

  test('to our own page alone, and not for a page without access', async () => {
    const { id: viewer } = parseViewerToken(await newToken()) ?? { id: '' }
    const nonce = makeNonce()
    expect((await prove({ viewer, nonce }, {})).status).toBe(403)
    expect((await prove({ viewer, nonce }, { origin: 'https://evil.example' })).status).toBe(403)
    for (const body of [{}, [], { viewer }, { viewer, nonce: 'x' }, { viewer: 7, nonce }]) {
      expect((await prove(body)).status).toBe(422)
    }
    expect(await prove({ viewer: 'unknown', nonce })).toMatchObject({ status: 401 })
    await s.client.call('viewer_revoke', { viewer })
    expect(await prove({ viewer, nonce })).toMatchObject({ status: 401 })
  })
})

test('a service worker that another program left in the browser is replaced by one that removes itself', async () => {
  const script = await ask('GET', '/sw.js', { 'service-worker': 'script' })
  expect(script).toMatchObject({ status: 200, headers: { 'clear-site-data': '"storage"' } })
  expect(script.text).toContain('registration.unregister()')
})

test.skipIf(process.platform === 'win32')('REST works on the local socket without a token', async () => {
  const status = await new Promise((resolve, reject) => {
    const request = httpRequest({ socketPath: s.paths.socket, path: '/api/health' }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    request.on('error', reject)
    request.end()
  })
  expect(status).toBe(200)
})

test('connections beyond the limit are refused with a reason, and hooks still get in', async () => {
  const limited = await served({ viewerDir, maxConnections: { socket: 5, tcp: 2 } })
  const idle = [connect(limited.port, '127.0.0.1'), connect(limited.port, '127.0.0.1')]
  const url = `http://127.0.0.1:${limited.port}/api/health`
  const headers = { authorization: `Bearer ${limited.token}` }
  try {
    await Promise.all(idle.map((socket) => once(socket, 'connect')))
    await expect.poll(async () => (await fetch(url, { headers })).status).toBe(503)
    const refused = await fetch(url, { headers })
    expect(await refused.json()).toMatchObject({
      error: { code: 'busy', message: expect.stringContaining('too many') },
    })
    const socket = new WebSocket(`ws://127.0.0.1:${limited.port}/`, { headers })
    socket.on('error', () => undefined)
    const [, response] = await once(socket, 'unexpected-response')
    expect(response.statusCode).toBe(503)
    const hook = await DaemonClient.connect(limited.paths)
    expect(await hook.call('hello', { version: '1' })).toMatchObject({ pid: process.pid })
    hook.close()
    for (const one of idle) one.destroy()
    await expect.poll(async () => (await fetch(url, { headers })).status).toBe(200)
  } finally {
    await limited.close()
  }
})

describe('a connection that goes wrong ends alone', () => {
  /** Bytes after a proper handshake; the code it is closed with, null where it just ends. */
  function say(...frames: Buffer[]): Promise<number | null> {
    return new Promise((resolve, reject) => {
      const socket = connect(s.port, '127.0.0.1', () => {
        socket.write(
          `GET / HTTP/1.1\r\nhost: 127.0.0.1:${s.port}\r\nauthorization: Bearer ${s.token}\r\nupgrade: websocket\r\n` +
            'connection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n',
        )
        for (const frame of frames) socket.write(frame)
      })
      let got = Buffer.alloc(0)
      const closing = () => {
        const frame = got.subarray(got.indexOf('\r\n\r\n') + 4)
        return frame[0] === 0x88 && frame.length >= 4 ? frame.readUInt16BE(2) : undefined
      }
      socket.on('data', (chunk) => {
        got = Buffer.concat([got, chunk])
        if (closing() !== undefined) socket.end()
      })
      socket.on('error', reject)
      socket.on('close', () => resolve(closing() ?? null))
      socket.on('end', () => socket.end())
    })
  }
  const MASK = Buffer.alloc(4)
  const frameOf = (first: number, payload: Buffer) =>
    Buffer.concat([Buffer.from([first, 0x80 | 126, payload.length >> 8, payload.length & 0xff]), MASK, payload])

  test.each([
    ['a reserved opcode', [frameOf(0x83, Buffer.from('x'))], 1002],
    ['reserved bits', [frameOf(0xf1, Buffer.from('x'))], 1002],
    ['no mask', [Buffer.from([0x81, 0x01, 0x78])], 1002],
    ['a continuation of nothing', [frameOf(0x80, Buffer.from('x'))], 1002],
    ['text that is none', [frameOf(0x81, Buffer.from([0xff, 0xfe]))], 1007],
    ['a binary message', [frameOf(0x82, Buffer.from('{}'))], 1003],
    ['a message that is too large', [frameOf(0x81, Buffer.alloc(MAX_MESSAGE_BYTES + 1, 'x'))], 1009],
    ['a length that no message has', [Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])], 1009],
  ])('with %s', async (_what, frames, code) => {
    const other = await DaemonClient.connect(s.paths)
    expect(await say(...frames)).toBe(code)
    expect(await other.call('hello', { version: '1' })).toMatchObject({ pid: process.pid })
    other.close()
  })

  test('with half a frame', async () => {
    const half = new Promise<void>((resolve) => {
      const socket = connect(s.port, '127.0.0.1', () => {
        socket.write(
          `GET / HTTP/1.1\r\nhost: 127.0.0.1:${s.port}\r\nauthorization: Bearer ${s.token}\r\nupgrade: websocket\r\n` +
            'connection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n',
        )
        socket.write(frameOf(0x81, Buffer.from('{"v":1}')).subarray(0, 6), () => socket.destroy())
      })
      socket.on('close', () => resolve())
    })
    await half
    expect(await s.client.call('hello', { version: '1' })).toMatchObject({ pid: process.pid })
  })
})
