import { afterEach, describe, expect, it } from 'vitest'
import type { TimelineItem } from '../../src/api/operations/memory.ts'
import type { Summary } from '../../src/domain/observation.ts'
import { TestDesk } from './desk.ts'
import { AT, SESSION } from './stand-in-daemon.ts'

let desk: TestDesk
afterEach(() => desk?.close())

describe('timeline', () => {
  const item = (fields: Partial<TimelineItem> = {}): TimelineItem => ({
    kind: 'observation',
    id: 123,
    session: SESSION,
    project: 'git:/home/me/shop/.git',
    projectName: 'shop',
    type: 'bugfix',
    title: 'Fix JWT expiry',
    createdAt: AT,
    promptNumber: 2,
    tokens: 45,
    ...fields,
  })
  const withItems = async (items: TimelineItem[], anchor: number | null) => {
    desk = await TestDesk.open({ memory: { timeline: async () => ({ anchor, items }) } })
  }

  it('shows what happened around a memory, and which one it was', async () => {
    await withItems(
      [item({ kind: 'prompt', id: 123, type: null, title: 'Why are people logged out?', tokens: 7 }), item()],
      123,
    )
    const { data, text } = await desk.call('timeline', { anchor: 123, before: 1 })
    expect(data).toMatchObject({ anchor: 123, tokens: 52, items: [{ kind: 'prompt' }, { id: 123, type: 'bugfix' }] })
    expect(text.split('\n').slice(0, 2)).toEqual([
      '2026-11-16 14:30 prompt of session 5f1c0a1e ~7 [`shop`] prompt: “Why are people logged out?”',
      '→ #123 2026-11-16 14:30 bugfix ~45 [`shop`] agent: “Fix JWT expiry”',
    ])
    // An anchor says its project itself.
    expect(desk.daemon.asked.at(-1)).toMatchObject({ anchor: 123, query: null, project: null, before: 1, after: 5 })
  })

  it('takes a query instead, or nothing for the newest, of this project', async () => {
    await withItems([], null)
    expect((await desk.call('timeline', { query: 'jwt' })).text).toContain('try other words')
    expect(desk.daemon.asked.at(-1)).toMatchObject({ anchor: null, query: 'jwt', project: desk.project })
    expect((await desk.call('timeline')).text).toContain('Nothing is remembered here yet')
    expect(desk.daemon.asked.at(-1)).toMatchObject({ anchor: null, query: null, project: desk.project })
  })

  it('says the session of each row where there are several', async () => {
    await withItems([item({ session: 'other' }), item()], 123)
    const { data } = await desk.call('timeline', { anchor: 123 })
    expect(data.items).toMatchObject([{ session: 'other' }, { session: '5f1c0a1e' }])
  })

  it.each([
    [{ anchor: 1, query: 'x' }, 'give an anchor or a query, not both'],
    [{ anchor: 0 }, 'anchor'],
    [{ before: 26 }, 'before'],
    [{ query: '  ' }, 'query'],
  ])('refuses %j', async (args, message) => {
    await withItems([], null)
    expect(await desk.call('timeline', args)).toMatchObject({ isError: true, text: expect.stringContaining(message) })
  })
})

describe('get_session_summary', () => {
  const summary = (fields: Partial<Summary> = {}): Summary => ({
    id: 1,
    session: SESSION,
    project: 'git:/home/me/shop/.git',
    promptNumber: 2,
    request: 'Fix the login',
    investigated: null,
    learned: 'exp is in seconds',
    completed: 'Fixed it',
    nextSteps: null,
    notes: null,
    filesRead: [],
    filesEdited: ['src/auth/jwt.ts'],
    model: null,
    createdAt: AT,
    ...fields,
  })
  const withSummaries = async (summaries: Summary[]) => {
    desk = await TestDesk.open({ memory: { summaries: async () => summaries }, sessions: [SESSION] })
  }

  it('tells what turns of a session came to', async () => {
    await withSummaries([summary()])
    const { data, text } = await desk.call('get_session_summary', { session: '5f1c' })
    expect(data.summaries).toEqual([
      {
        session: '5f1c0a1e',
        prompt: 2,
        at: '2026-11-16 14:30',
        request: 'prompt: “Fix the login”',
        learned: 'agent: “exp is in seconds”',
        completed: 'agent: “Fixed it”',
        files_edited: ['`src/auth/jwt.ts`'],
      },
    ])
    expect(text).toContain(
      'Session 5f1c0a1e, prompt 2, 2026-11-16 14:30\nRequest: prompt: “Fix the login”\nLearned: agent: “exp is in seconds”',
    )
    expect(desk.daemon.asked.at(-1)).toMatchObject({ session: '5f1c', project: null, limit: 3 })
  })

  it('takes the newest of this project where no session is named', async () => {
    await withSummaries([])
    expect((await desk.call('get_session_summary')).text).toContain('No summary yet')
    expect(desk.daemon.asked.at(-1)).toMatchObject({ session: null, project: desk.project })
  })

  it('has a bound, and says what did not fit', async () => {
    const long = 'some words that go on. '.repeat(1_000)
    await withSummaries(Array.from({ length: 10 }, () => summary({ request: long, learned: long, notes: long })))
    const { data, text } = await desk.call('get_session_summary', { limit: 10 })
    expect(data.tokens).toBeLessThanOrEqual(4_000)
    expect(data.next).toContain('older ones did not fit')
    expect(text.length).toBeLessThan(20_000)
  })

  it('names a session that is not there', async () => {
    await withSummaries([])
    const { isError, text } = await desk.call('get_session_summary', { session: 'ffff' })
    expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining('no session starts with "ffff"') })
  })
})

describe('get_project_context', () => {
  const PROJECT = { key: 'git:/home/me/shop/.git', name: 'shop', observations: 9, since: 1, updatedAt: 1 }

  it('gives what a session starts with', async () => {
    desk = await TestDesk.open({ memory: {}, projects: [PROJECT], context: '# shop\n| #123 |' })
    const { data, text } = await desk.call('get_project_context', { project: 'shop' })
    expect(data).toEqual({ project: '`shop`', context: '# shop\n| #123 |', tokens: 4 })
    expect(text).toBe('# shop\n| #123 |\n~4 tokens')
  })

  it('says so where nothing is known, and is about one project', async () => {
    desk = await TestDesk.open({ memory: {} })
    expect((await desk.call('get_project_context')).text).toContain('Nothing is remembered of ')
    expect(await desk.call('get_project_context', { project: 'all' })).toMatchObject({
      isError: true,
      text: 'this is about one project; search_memory can look through all.',
    })
  })
})
