import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { events } from '../actors/harness.ts'
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
    const { observation, origin } = await s.client.request('origin', { type: 'origin', observation: id })
    expect(observation).toMatchObject({ id, session: 'session-one', pinned: false })
    expect(origin).toMatchObject({ prompt: { text: 'make it blue' }, events: [{ eventId: 'toolu_1' }] })
    expect(origin.effectId).not.toBeNull()
    expect(origin.trace.length).toBeGreaterThan(0)
    expect(await s.rest(`/api/observations/${id}/origin`)).toEqual({ observation, origin })
  })

  test('an event leads to what became of it', async () => {
    const { view } = await s.client.request('event_view', { type: 'event_view', event: 'toolu_1', session: null })
    expect(view).toMatchObject({
      event: { session: 'session-one', tool: 'Edit' },
      observations: [{ id: await firstObservation() }],
    })
    const there = { type: 'event_view', event: 'toolu_1', session: 'session-o' } as const
    expect((await s.client.request('event_view', there)).view).toEqual(view)
    expect(await s.rest('/api/events/toolu_1?session=session-one')).toEqual(view)
  })

  test('a session is told from its first prompt on, as much of it as is asked for', async () => {
    const ask = { type: 'story', session: 'session-on', trace: 100, rows: 10 } as const
    const { story } = await s.client.request('story', ask)
    expect(story).toMatchObject({ prompts: [{ text: 'make it blue' }], observationRows: [{ session: 'session-one' }] })
    expect(story.trace[0]).toMatchObject({ from: 'init' })
    expect(await s.rest('/api/sessions/session-one/story')).toEqual(story)
    const short = (await s.client.request('story', { ...ask, trace: 1, rows: 0 })).story
    expect(short).toMatchObject({ trace: [{}], prompts: [], observationRows: [] })
  })

  test('the last days are counted, today last', async () => {
    const { activity } = await s.client.request('activity', { type: 'activity', days: 7 })
    expect(activity.dayStarts).toHaveLength(7)
    expect(activity.days.at(-1)).toMatchObject({ observations: 1, prompts: 2 })
    expect(activity.days[0]).toMatchObject({ observations: 0 })
    expect(await s.rest('/api/activity?days=7')).toMatchObject({ dayStarts: activity.dayStarts, days: activity.days })
  })

  test('a closed session is taken up again by hand', async () => {
    await s.client.request('session', { type: 'close_session', session: 'session-one' })
    await expect.poll(async () => (await s.h.store.session('session-one'))?.state).toBe('closed')
    const { view } = await s.client.request('session', { type: 'reopen_session', session: 'session-one' })
    expect(view.row).toMatchObject({ session: 'session-one', state: 'observing', status: 'active' })
  })

  test('a preview of the context may be asked for with other limits, for a moment', async () => {
    const ask = { type: 'context', project: 'shop' } as const
    const usual = await s.client.request('context', ask)
    expect(usual.context).not.toBe('')
    expect(await s.client.request('context', { ...ask, tokens: 0 })).toMatchObject({ context: '', tokens: 0 })
    const bare = await s.client.request('context', {
      ...ask,
      observations: 0,
      summaries: 0,
      parts: ['timeline'],
      types: [],
    })
    expect(bare.tokens).toBeLessThan(usual.tokens)
    expect((await s.client.request('context', ask)).context).toBe(usual.context)
    await expect(s.client.request('context', { ...ask, tokens: 1_000_000 })).rejects.toThrow('tokens')
    await expect(s.client.request('context', { ...ask, observations: -1 })).rejects.toThrow('observations')
  })

  test.each([
    [{ type: 'origin', observation: 999 }, 'not_found'],
    [{ type: 'origin', observation: -1 }, 'bad_request'],
    [{ type: 'event_view', event: 'nothing', session: null }, 'not_found'],
    [{ type: 'event_view', event: 'toolu_1', session: 'session-two' }, 'not_found'],
    [{ type: 'event_view', event: 'toolu_1', session: 'session' }, 'bad_request'],
    [{ type: 'event_view', event: 'x'.repeat(5_000), session: null }, 'bad_request'],
    [{ type: 'story', session: 'nobody', trace: 1, rows: 1 }, 'not_found'],
    [{ type: 'story', session: 'session-one', trace: 1, rows: 1_000_000 }, 'bad_request'],
    [{ type: 'activity', days: 0 }, 'bad_request'],
    [{ type: 'reopen_session', session: 'nobody' }, 'not_found'],
  ] as const)('%j is refused', async (request, code) => {
    await expect(s.client.request('done', request)).rejects.toMatchObject({ code })
  })

  test.each([
    ['/api/observations/999/origin', 'not_found'],
    ['/api/events/%E0%A4%A', 'bad_request'],
    ['/api/events/nothing', 'not_found'],
    ['/api/sessions/nobody/story', 'not_found'],
    ['/api/sessions/session-one/story?rows=lots', 'bad_request'],
    ['/api/activity?days=99999', 'bad_request'],
    ['/api/activity?day=3', 'bad_request'],
  ])('%s is refused', async (path, code) => {
    expect(await s.rest(path)).toMatchObject({ error: { code } })
  })
})
