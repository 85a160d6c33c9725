import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createMachine } from 'xstate'
import { bridgePage, InspectorServer, isAllowedOrigin, LiveActors } from '../../src/cli/stately-inspector.ts'
import type { CommitItem } from '../../src/daemon/actors/stream.ts'
import { machineChart } from '../../src/statechart/chart.ts'
import { CHARTS } from '../../src/statechart/machine-charts.ts'
import type { SessionListItem } from '../../src/store/port.ts'
import { observationOf } from './view-fixtures.ts'

const SECRET = 'SECRET /home/someone/project'

const commit: CommitItem = {
  type: 'commit',
  seq: 7,
  at: 1_000,
  session: 'abcdef01-2345',
  project: SECRET,
  projectName: SECRET,
  client: 'claude-code',
  cwd: SECRET,
  status: 'active',
  state: 'batching.calling',
  prompts: 2,
  pending: 3,
  failed: 0,
  waiting: SECRET,
  wakeAt: null,
  effect: { id: 'e-1', kind: 'observe', prompt: 2, limit: 3, offline: SECRET, timeoutMs: 1, deadline: 2, starts: 0 },
  generation: 1,
  contextTokens: 900,
  usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 },
  transitions: [
    {
      at: 990,
      event: 'OBSERVED',
      eventId: SECRET,
      from: 'batching.calling',
      to: 'observing',
      reason: `3 observed; 1 ${SECRET}`,
      effectId: 'e-0',
    },
    {
      at: 1_000,
      event: 'TURN_END',
      eventId: SECRET,
      from: 'observing',
      to: 'batching.calling',
      reason: `attempt 1 failed: ${SECRET}`,
      effectId: 'e-1',
    },
  ],
  newPrompts: [{ id: 1, number: 2, text: SECRET, private: false, at: 1 }],
  observations: [observationOf({ title: SECRET, narrative: SECRET })],
  summaries: [],
  calls: [],
}

describe('stately.live actors', () => {
  it('send the machine first, then each event with the state that it led to', () => {
    const actors = new LiveActors()
    const [actor, ...steps] = actors.apply(commit)
    expect(actor).toMatchObject({
      type: '@xstate.actor',
      sessionId: commit.session,
      rootId: commit.session,
      name: 'session abcdef01',
      id: null,
      createdAt: '1000',
      snapshot: { status: 'active', value: { batching: 'calling' } },
    })
    const definition = actor?.type === '@xstate.actor' ? actor.definition : ''
    expect(machineChart(createMachine(JSON.parse(definition)))).toEqual({ ...CHARTS.session, id: 'session' })
    expect(steps).toMatchObject([
      { type: '@xstate.event', event: { type: 'OBSERVED', reason: '3 observed' }, id: expect.any(String) },
      { type: '@xstate.snapshot', event: { type: 'OBSERVED' }, snapshot: { value: 'observing' } },
      { type: '@xstate.event', event: { type: 'TURN_END', reason: 'attempt 1 failed' } },
      {
        type: '@xstate.snapshot',
        snapshot: { value: { batching: 'calling' }, context: { pending: 3, effect: 'observe' } },
      },
    ])
    expect(actors.apply(commit).map(({ type }) => type)).not.toContain('@xstate.actor')
  })

  it('contain no texts of the session', () => {
    const item: SessionListItem = {
      session: 'other',
      project: SECRET,
      projectName: SECRET,
      client: 'claude-code',
      status: 'active',
      state: 'observing',
      prompts: 1,
      pending: 0,
      processing: 1,
      failed: 0,
      observations: 4,
      request: SECRET,
      outcome: SECRET,
      given: 0,
      waiting: SECRET,
      quarantine: null,
      wakeAt: null,
      createdAt: 1,
      updatedAt: 2,
    }
    const actors = new LiveActors()
    const told = [...actors.reset([item]), ...actors.apply(commit), ...actors.current]
    expect(told.length).toBeGreaterThan(5)
    expect(JSON.stringify(told)).not.toContain('SECRET')
    expect(JSON.stringify(told)).not.toContain('home')
  })

  it('end when the session is over, erased or quarantined', () => {
    const actors = new LiveActors()
    actors.apply(commit)
    const change = { type: 'change', seq: 8, at: 2_000 } as const
    expect(actors.apply({ ...change, change: 'pinned', ids: [1], on: true })).toEqual([])
    expect(actors.apply({ ...change, change: 'quarantined', session: commit.session, reason: SECRET })).toMatchObject([
      { type: '@xstate.snapshot', snapshot: { status: 'error' } },
    ])
    expect(actors.current).toEqual([])
    actors.apply(commit)
    actors.apply({ ...commit, status: 'completed', state: 'closed' })
    expect(actors.current).toEqual([])
  })
})

describe('stately.server', () => {
  let server: InspectorServer | undefined
  afterEach(async () => {
    await server?.close()
    server = undefined
  })

  const [actor] = new LiveActors().apply(commit)
  const current = actor === undefined ? [] : [actor]
  const client = (headers: Record<string, string>) => new WebSocket(`ws://127.0.0.1:${server?.port}`, { headers })

  it('sends the current actors to a new inspector, and changes to all', async () => {
    server = await InspectorServer.open(0, () => current)
    const inspector = client({ origin: 'https://stately.ai' })
    const messages: string[] = []
    const both = new Promise<void>((resolve) => {
      inspector.on('message', (data) => {
        if (messages.push(String(data)) === 1) server?.send(new LiveActors().apply(commit).slice(1, 2))
        else resolve()
      })
    })
    await both
    expect(messages.map((text) => JSON.parse(text).type)).toEqual(['@xstate.actor', '@xstate.event'])
  })

  it('listens on the loopback interface only', async () => {
    server = await InspectorServer.open(0, () => [])
    const socket = connect({ host: '127.0.0.1', port: server.port })
    await once(socket, 'connect')
    expect(socket.remoteAddress).toBe('127.0.0.1')
    socket.destroy()
    await expect(InspectorServer.open(server.port, () => [])).rejects.toThrow('choose another one with --port')
  })

  it.each([{ origin: 'https://evil.example' }, { origin: 'null' }, { host: 'evil.example:8080' }])(
    'refuses %j',
    async (headers) => {
      server = await InspectorServer.open(0, () => current)
      const refused = client(headers)
      const [response] = await once(refused, 'unexpected-response').then((args) => args.slice(1))
      expect(response.statusCode).toBe(403)
      refused.on('error', () => undefined)
      refused.terminate()
    },
  )

  it('closes only the connection that sends too much', async () => {
    server = await InspectorServer.open(0, () => current)
    const rude = client({})
    const other = client({})
    await Promise.all([once(rude, 'open'), once(other, 'message')])
    rude.send('x'.repeat(1_000_000))
    await once(rude, 'close')
    server.send(current)
    expect(String((await once(other, 'message'))[0])).toContain('@xstate.actor')
  })

  it.each([
    [undefined, true],
    ['https://stately.ai', true],
    ['https://www.stately.ai', true],
    ['http://localhost:3000', true],
    ['http://127.0.0.1:8080', true],
    ['http://stately.ai', false],
    ['https://stately.ai.evil.example', false],
    ['https://evilstately.ai', false],
    ['https://localhost.evil.example', false],
    ['file://', false],
    ['', false],
  ])('checks the origin: %s', (origin, welcome) => {
    expect(isAllowedOrigin(origin)).toBe(welcome)
  })

  it('serves a page whose policy allows only the inspector and the server', async () => {
    server = await InspectorServer.open(0, () => [])
    const response = await fetch(`http://127.0.0.1:${server.port}/`)
    const policy = response.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain(`connect-src ws://127.0.0.1:${server.port};`)
    expect(await response.text()).toContain('src="https://stately.ai/inspect"')
    expect((await fetch(`http://127.0.0.1:${server.port}/else`)).status).toBe(404)
    expect(bridgePage(1, 'n').html).not.toContain("'*'")
  })
})
