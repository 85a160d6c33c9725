import { createServer, type Server } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type CallableName, runOperation } from '../../src/api/index.ts'
import { LOCAL_CALLER } from '../../src/api/operation.ts'
import { dataPaths } from '../../src/lib/paths.ts'
import { handleRest } from '../../src/transport/rest.ts'
import { Harness } from '../daemon/actors/harness.ts'
import { callOf, commitOf } from '../store/samples.ts'
import { type TestContext, testContext } from './context.ts'

const NOW = new Date(2026, 10, 16, 15).getTime()
const YESTERDAY = new Date(2026, 10, 15, 15).getTime()

let h: Harness
let context: TestContext
let http: Server
let origin: string

beforeEach(async () => {
  h = await new Harness().start()
  context = testContext(h, dataPaths(h.directory), { now: () => NOW })
  http = createServer(
    (request, response) => void handleRest(request, response, context, { caller: LOCAL_CALLER, maxBytes: 200_000 }),
  )
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const address = http.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  origin = `http://127.0.0.1:${address.port}`
  const calls = [callOf('e1', { at: YESTERDAY }), callOf('e2', { at: NOW, model: 'llama', cost: null })]
  await h.store.commit([commitOf('session-one', 1, { calls }), commitOf('session-two', 1)])
})
afterEach(async () => {
  await new Promise((resolve) => http.close(resolve))
  await h.dispose()
})

async function get(path: string) {
  const response = await fetch(origin + path)
  return { status: response.status, body: JSON.parse(await response.text()) }
}

describe('channel.accounting', () => {
  test('usage is added up over the last days', async () => {
    const { status, body } = await get('/api/usage')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      by: 'day',
      rows: [
        { at: new Date(2026, 10, 15).getTime(), calls: 1, cost: 0.25 },
        { at: new Date(2026, 10, 16).getTime(), calls: 1, cost: 0, unpriced: 1 },
      ],
      total: { calls: 2, cost: 0.25, unpriced: 1 },
      today: { cost: 0, usage: { input: 100, output: 20, cacheRead: 1_000, cacheWrite: 50 } },
      unpriced: ['llama'],
    })
    expect((await get('/api/usage?by=model&days=1')).body).toMatchObject({
      since: new Date(2026, 10, 16).getTime(),
      rows: [{ key: 'llama', calls: 1 }],
      total: { calls: 1 },
    })
    expect((await get('/api/usage?by=session')).body.rows).toMatchObject([{ key: 'session-one', calls: 2 }])
  })

  test("a session's calls are found by the first characters of its id", async () => {
    expect((await get('/api/sessions/session-o/calls')).body).toMatchObject({
      session: 'session-one',
      calls: [{ effectId: 'e1', sent: 'what happened', received: '<skip/>' }, { effectId: 'e2' }],
    })
    expect((await get('/api/sessions/session-one/calls?limit=1')).body.calls).toMatchObject([{ effectId: 'e2' }])
    expect((await get('/api/sessions/session-two/calls')).body).toEqual({ session: 'session-two', calls: [] })
  })

  test.each([
    ['/api/usage?by=week', 422, 'by must be one of day, project, session, model'],
    ['/api/usage?days=0', 422, 'days must be a whole number from 1 to 3650'],
    ['/api/usage?days=3651', 422, 'days must be a whole number from 1 to 3650'],
    ['/api/usage?days=many', 422, 'days must be a whole number'],
    ['/api/sessions/session-one/calls?limit=0', 422, 'limit must be a whole number from 1 to 10000'],
    ['/api/sessions/session/calls', 422, '2 sessions start with'],
    ['/api/sessions/nobody/calls', 404, 'no session starts with'],
  ])('%s is refused with %i', async (path, status, message) => {
    const refused = await get(path)
    expect(refused.body.error.message).toContain(message)
    expect(refused.status).toBe(status)
  })

  test('a client gets the same by message', async () => {
    expect(await runOperation('usage', { by: 'project', days: 30 }, context, LOCAL_CALLER)).toMatchObject({
      usage: (await get('/api/usage?by=project')).body,
    })
    expect(await runOperation('calls', { session: 'session-one', limit: 5 }, context, LOCAL_CALLER)).toMatchObject({
      ...(await get('/api/sessions/session-one/calls')).body,
    })
  })

  test.each<[CallableName, object]>([
    ['usage', { by: 'week', days: 30 }],
    ['usage', { by: 'day', days: 0 }],
    ['usage', { by: 'day', days: 1.5 }],
    ['calls', { session: '', limit: 5 }],
    ['calls', { session: 's', limit: 10_001 }],
  ])('%s with %j is not valid', async (name, input) => {
    await expect(runOperation(name, input, context, LOCAL_CALLER)).rejects.toThrow('not valid')
  })
})
