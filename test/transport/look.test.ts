import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { OperationName } from '../../src/api/index.ts'
import { events } from '../daemon/actors/harness.ts'
import { type Served, served } from './served.ts'

let s: Served
beforeEach(async () => {
  s = await served()
  const { supervisor } = s.h
  await supervisor.accept(events.prompt('session-one', 'p', 'make it blue'))
  await supervisor.accept(events.tool('session-one', 'toolu_1'))
  await supervisor.accept(events.turnEnd('session-one', 'stop'))
  await supervisor.accept(events.prompt('session-two', 'q'))
  await s.h.settle()
})
afterEach(() => s.close())

const firstObservation = async () => (await s.h.store.observations({}))[0]?.id ?? 0

describe('looking inside', () => {
  test('an observation leads back to its prompt, its events and its effect', async () => {
    const id = await firstObservation()
    const { observation, origin } = await s.client.call('origin', { observation: id })
    expect(observation).toMatchObject({ id, session: 'session-one', pinned: false })
    expect(origin).toMatchObject({ prompt: { text: 'make it blue' }, events: [{ eventId: 'toolu_1' }] })
    expect(origin.effectId).not.toBeNull()
    expect(origin.trace.length).toBeGreaterThan(0)
    expect(await s.rest(`/api/observations/${id}/origin`)).toEqual({ observation, origin })
  })

  test('an event leads to what became of it', async () => {
    const { view } = await s.client.call('event_view', { event: 'toolu_1', session: null })
    expect(view).toMatchObject({
      event: { session: 'session-one', tool: 'Edit' },
      observations: [{ id: await firstObservation() }],
    })
    const there = { event: 'toolu_1', session: 'session-o' }
    expect((await s.client.call('event_view', there)).view).toEqual(view)
    expect(await s.rest('/api/events/toolu_1?session=session-one')).toEqual(view)
  })

  test('a session is told from its first prompt on, as much of it as is asked for', async () => {
    const ask = { session: 'session-on', trace: 100, rows: 10 }
    const { story } = await s.client.call('story', ask)
    expect(story).toMatchObject({ prompts: [{ text: 'make it blue' }], observationRows: [{ session: 'session-one' }] })
    expect(story.trace[0]).toMatchObject({ from: 'init' })
    expect(await s.rest('/api/sessions/session-one/story')).toEqual(story)
    const short = (await s.client.call('story', { ...ask, trace: 1, rows: 0 })).story
    expect(short).toMatchObject({ trace: [{}], prompts: [], observationRows: [] })
  })

  test('a session has its times as ISO texts, and when it was completed', async () => {
    const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
    const open = { created_at: iso, updated_at: iso, completed_at: null }
    expect(await s.rest('/api/sessions/session-one')).toMatchObject({ row: open })
    await s.client.call('close_session', { session: 'session-one' })
    const closed = { ...open, completed_at: iso }
    expect(await s.rest('/api/sessions/session-one')).toMatchObject({ row: closed })
    expect(await s.rest('/api/sessions/session-one/story')).toMatchObject({ row: closed })
    expect(await s.rest('/api/sessions?status=completed')).toMatchObject([{ session: 'session-one', ...closed }])
  })

  test('health has the process, its sessions, its memory and the queue with its trend', async () => {
    await s.h.supervisor.accept(events.tool('session-two', 'toolu_2'))
    const health = (await s.rest('/api/health')) as { memory: { rss: number }; queue: { oldestMs: number } }
    expect(health).toMatchObject({
      status: 'ok',
      alert: null,
      pid: process.pid,
      port: s.port,
      sessions: { active: 2, total: 2 },
      queueDepth: 1,
      queue: { depth: 1, failed: 0, trend: 'steady' },
    })
    expect(health.memory.rss).toBeGreaterThan(1_000_000)
    expect(health.queue.oldestMs).toBeGreaterThanOrEqual(0)
  })

  test('every accepted event is answered with the number of messages that wait', async () => {
    const tool = (session: string, id: string) => s.client.call('event', { event: events.tool(session, id) })
    expect(await tool('session-two', 'toolu_2')).toMatchObject({ duplicate: false, queue: 1 })
    expect(await tool('session-three', 'toolu_3')).toMatchObject({ queue: 2 })
    await s.client.call('flush', { session: null, wait: true })
    await s.h.settle()
    expect(await s.client.call('event', { event: events.prompt('session-two', 'r') })).toMatchObject({ queue: 0 })
  })

  test('a request over REST counts as activity', async () => {
    s.h.clockOffset = 3_600_000
    await s.rest('/api/health')
    expect(s.h.supervisor.idleSince).toBeGreaterThanOrEqual(Date.now() + 3_500_000)
  })

  test('the last days are counted, today last', async () => {
    const { activity } = await s.client.call('activity', { days: 7 })
    expect(activity.dayStarts).toHaveLength(7)
    expect(activity.days.at(-1)).toMatchObject({ observations: 1, prompts: 2 })
    expect(activity.days[0]).toMatchObject({ observations: 0 })
    expect(await s.rest('/api/activity?days=7')).toMatchObject({ dayStarts: activity.dayStarts, days: activity.days })
  })

  test('a closed session is taken up again by hand', async () => {
    await s.client.call('close_session', { session: 'session-one' })
    await expect.poll(async () => (await s.h.store.session('session-one'))?.state).toBe('closed')
    const { view } = await s.client.call('reopen_session', { session: 'session-one' })
    expect(view.row).toMatchObject({ session: 'session-one', state: 'observing', status: 'active' })
  })

  test('a preview of the context may be asked for with other limits, for a moment', async () => {
    const ask = { project: 'shop' }
    const usual = await s.client.call('context', ask)
    expect(usual.context).not.toBe('')
    expect(await s.client.call('context', { ...ask, tokens: 0 })).toMatchObject({ context: '', tokens: 0 })
    const bare = await s.client.call('context', { ...ask, parts: ['more'] })
    expect(bare.tokens).toBeLessThan(usual.tokens)
    expect((await s.client.call('context', ask)).context).toBe(usual.context)
    await expect(s.client.call('context', { ...ask, tokens: 1_000_000 })).rejects.toThrow('tokens')
  })

  test.each([
    ['origin', { observation: 999 }, 'not_found'],
    ['origin', { observation: -1 }, 'bad_request'],
    ['event_view', { event: 'nothing', session: null }, 'not_found'],
    ['event_view', { event: 'toolu_1', session: 'session-two' }, 'not_found'],
    ['event_view', { event: 'toolu_1', session: 'session' }, 'bad_request'],
    ['event_view', { event: 'x'.repeat(5_000), session: null }, 'bad_request'],
    ['story', { session: 'nobody', trace: 1, rows: 1 }, 'not_found'],
    ['story', { session: 'session-one', trace: 1, rows: 1_000_000 }, 'bad_request'],
    ['activity', { days: 0 }, 'bad_request'],
    ['reopen_session', { session: 'nobody' }, 'not_found'],
  ] as const)('%s with %j is refused', async (name, input, code) => {
    const call: (name: OperationName, input: object) => Promise<unknown> = s.client.call.bind(s.client)
    await expect(call(name, input)).rejects.toMatchObject({ code })
  })

  test.each([
    ['/api/observations/999/origin', 'not_found'],
    ['/api/events/%E0%A4%A', 'malformed'],
    ['/api/events/nothing', 'not_found'],
    ['/api/sessions/nobody/story', 'not_found'],
    ['/api/sessions/session-one/story?rows=lots', 'bad_request'],
    ['/api/activity?days=99999', 'bad_request'],
    ['/api/activity?day=3', 'bad_request'],
  ])('%s is refused', async (path, code) => {
    expect(await s.rest(path)).toMatchObject({ error: { code } })
  })
})
