import { afterEach, describe, expect, it } from 'vitest'
import type { ForgetReport, ForgetRequest } from '../../src/daemon/forgetting.ts'
import { TestDesk } from './desk.ts'
import { type Note, observation } from './stand-in-daemon.ts'

let desk: TestDesk
afterEach(() => desk?.close())

describe('remember', () => {
  let kept: Note[]
  const open = async (env: NodeJS.ProcessEnv = {}) => {
    kept = []
    const remember = async (request: Note) => ({ id: kept.push(request) + 76 })
    desk = await TestDesk.open({ memory: { remember } }, env)
  }

  it('keeps a note in the project of its directory', async () => {
    await open()
    const args = { title: 'Amounts are cents', text: 'Floats lost money.', concepts: ['money'], files: ['src/pay.ts'] }
    const { data, text } = await desk.call('remember', args)
    expect(data).toMatchObject({ id: 77, tokens: 9 })
    expect(text).toMatch(/^Remembered as #77 in \S+ \(~9 tokens\)\.$/)
    expect(kept).toMatchObject([
      {
        project: { key: desk.project },
        title: 'Amounts are cents',
        text: 'Floats lost money.',
        kind: 'decision',
        concepts: ['money'],
        files: ['src/pay.ts'],
      },
    ])
  })

  it('sends neither secrets nor private parts to the daemon', async () => {
    await open()
    const secret = `ghp_${'a1B2'.repeat(9)}`
    await desk.call('remember', {
      title: `Token ${secret}`,
      text: `before <private>hunter2</private> after ${secret}`,
      concepts: [secret],
    })
    const sent = JSON.stringify(desk.daemon.asked)
    expect(sent).toContain('before [private] after [secret:github-token]')
    expect(sent).not.toContain('hunter2')
    expect(sent).not.toContain(secret)
  })

  it('keeps nothing where all of it is private', async () => {
    await open()
    const { isError, text } = await desk.call('remember', { title: 'x', text: '<private>all of it</private>' })
    expect({ isError, text }).toEqual({
      isError: true,
      text: expect.stringContaining('all of it is marked as private'),
    })
    expect(desk.daemon.asked).toEqual([])
  })

  it('says that it cannot know whether it was kept, where the daemon went away', async () => {
    await open()
    desk.daemon.fault = ({ type }) => (type === 'remember' ? 'drop' : null)
    expect(await desk.call('remember', { title: 'x', text: 'y' })).toMatchObject({
      isError: true,
      text: 'the daemon went away before it answered, so this may have been done or not; look with search_memory before you try again.',
    })
  })

  it('leaves no trace of an excluded project', async () => {
    await open({ CLAUDE_MEM_EXCLUDED_PROJECTS: '/' })
    const { isError, text } = await desk.call('remember', { title: 'x', text: 'y' })
    expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining('excluded') })
    expect(desk.daemon.asked).toEqual([])
  })

  it.each([
    [{ text: 'no title' }, 'title'],
    [{ title: ' ', text: 'x' }, 'title'],
    [{ title: 'two\nlines', text: '' }, 'text'],
    [{ title: 'x', text: 'y'.repeat(4_001) }, 'text'],
    [{ title: 'x', text: 'y', type: 'note' }, 'type'],
    [{ title: 'x', text: 'y', concepts: Array.from({ length: 21 }, String) }, 'concepts'],
  ])('refuses %o', async (args, message) => {
    await open()
    const { isError, text } = await desk.call('remember', args)
    expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining(message) })
    expect(kept).toEqual([])
  })
})

describe('forget', () => {
  const NOTHING = { observations: [], summaries: [], prompts: [] }
  let asked: ForgetRequest[]
  /** `matching`: what filters find. */
  const open = async (there: readonly number[], report: Partial<ForgetReport> = {}) => {
    asked = []
    const forget = async (request: ForgetRequest): Promise<ForgetReport> => {
      asked.push(request)
      const wanted = request.filters === null ? request.ids : there
      const ids = wanted.filter((id) => there.includes(id))
      const missing = wanted.filter((id) => !there.includes(id))
      const base = { summaries: 0, prompts: 0, messages: 0, passages: 0, related: NOTHING, copies: [], ...report }
      return { ...base, dryRun: !request.confirm, observations: ids.length, ids, missing }
    }
    const observations = async (ids: readonly number[]) => ({
      observations: ids.map((id) => observation({ id, title: `Memory ${id}` })),
      missing: [],
    })
    desk = await TestDesk.open({ memory: { forget, observations } })
  }

  it('first shows what would go, then erases exactly that', async () => {
    await open([5, 3], {
      copies: [{ file: '/b/db-1-daily.sqlite', at: 1, reason: 'daily', deletedAfter: 7 }],
      related: { observations: [9], summaries: [1], prompts: [2] },
    })
    const shown = await desk.call('forget', { ids: [5, 3, 99] })
    expect(shown.data).toMatchObject({
      dry_run: true,
      observations: 2,
      ids: [5, 3],
      missing: [99],
      rows: [{ id: 5, title: 'agent: “Memory 5”' }, { id: 3 }],
      related: { observations: [9], summaries: 1, prompts: 1 },
      copies: 1,
      next: expect.stringContaining('confirm: true'),
    })
    expect(shown.text).toContain('Dry run: 2 observations would be erased.\n#5 ')
    expect(shown.text).toContain('ids: [5, 3]')
    expect(asked.map(({ confirm }) => confirm)).toEqual([false])
    const gone = await desk.call('forget', { ids: [3, 5], confirm: true })
    expect(gone).toMatchObject({ isError: false, data: { dry_run: false, observations: 2 } })
    expect(gone.text).toBe(
      'Forgotten: 2 observations.\n' +
        'What may say the same stays: 1 summary, 1 prompt of the same turn, linked observations #9. related: true erases it too.\n' +
        '1 backup may still contain it; the user can run `claude-mem forget --everywhere`.',
    )
    expect(asked.at(-1)).toEqual({ ids: [3, 5], filters: null, related: false, confirm: true })
    expect((await desk.call('forget', { ids: [3, 5], confirm: true })).isError).toBe(true)
  })

  it.each([[[5]], [[5, 3, 4]], [[4]]])('erases nothing else than what was shown: %j', async (ids) => {
    await open([3, 4, 5])
    await desk.call('forget', { ids: [5, 3] })
    const { isError, text } = await desk.call('forget', { ids, confirm: true })
    expect({ isError, text }).toEqual({
      isError: true,
      text: expect.stringContaining('not exactly the ids of a dry run'),
    })
    expect(asked.filter(({ confirm }) => confirm)).toEqual([])
  })

  it('finds what to forget by filters, within this project', async () => {
    await open([8, 9])
    const { data } = await desk.call('forget', { files: ['.env'], since: '2026-11-01' })
    expect(data.ids).toEqual([8, 9])
    expect(asked[0]).toMatchObject({
      ids: [],
      confirm: false,
      filters: {
        project: desk.project,
        files: ['.env'],
        kinds: ['observation'],
        since: new Date(2026, 10, 1).getTime(),
      },
    })
    expect((await desk.call('forget', { ids: [8, 9], confirm: true })).isError).toBe(false)
  })

  it('offers nothing to confirm where there is too much, or nothing', async () => {
    const many = Array.from({ length: 201 }, (_, i) => i + 1)
    await open(many)
    const { data, text } = await desk.call('forget', { types: ['change'] })
    expect(data).toMatchObject({ observations: 201, next: expect.stringContaining('more than 200 at once') })
    expect(data.ids).toBeUndefined()
    expect(data.rows).toHaveLength(20)
    expect(text).toContain('… 181 more')
    await desk.close()
    await open([])
    expect((await desk.call('forget', { ids: [7] })).data).toMatchObject({ observations: 0, missing: [7] })
    expect((await desk.call('forget', { ids: [7], confirm: true })).isError).toBe(true)
  })

  it.each([
    [{}, 'say what'],
    [{ project: 'all' }, 'say what'],
    [{ types: [] }, 'say what'],
    [{ ids: [1], types: ['change'] }, 'not both'],
    [{ confirm: true }, 'call forget without confirm first'],
    [{ ids: [1], files: ['x'], confirm: true }, 'no filters'],
    [{ ids: [] }, 'ids'],
    [{ since: 'soon' }, 'since must be a date'],
  ])('refuses %j', async (args, message) => {
    await open([1])
    const { isError, text } = await desk.call('forget', args)
    expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining(message) })
    expect(asked).toEqual([])
  })
})
