import { resolve, sep } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { NO_FILTERS, type SearchAnswer, type SearchHit, type SearchRequest } from '../../src/domain/search-query.ts'
import { TestDesk } from './desk.ts'
import { hit } from './stand-in-daemon.ts'

let desk: TestDesk
afterEach(() => desk?.close())

const PROJECT = { key: 'git:/home/me/shop/.git', name: 'shop', observations: 9, since: 1, updatedAt: 1 }

function answered(hits: SearchHit[], fields: Partial<SearchAnswer> = {}): SearchAnswer {
  return { mode: 'hybrid', notes: [], hits, total: hits.length, tookMs: 1, embedder: 'static-1', ...fields }
}

async function withHits(hits: SearchHit[], fields: Partial<SearchAnswer> = {}): Promise<void> {
  desk = await TestDesk.open({ memory: { search: async () => answered(hits, fields) }, projects: [PROJECT] })
}

/** What the daemon was asked last. */
function asked(): SearchRequest {
  const request = desk.daemon.asked.at(-1)
  if (request?.type !== 'search') throw new Error('search was not called')
  const { type: _type, query, mode, limit, offset, tokens: _tokens, ...filters } = request
  return { query, mode, limit, offset, filters } as unknown as SearchRequest
}

describe('search_memory', () => {
  it('answers with rows: what it is, when it was, and the text to answer from', async () => {
    await withHits([hit()], { total: 42 })
    const { data, text, isError } = await desk.call('search_memory', { query: 'why did tokens expire' })
    expect(isError).toBe(false)
    expect(data).toEqual({
      total: 42,
      mode: 'hybrid',
      results: [
        {
          id: 123,
          type: 'bugfix',
          title: 'agent: “Fix JWT expiry”',
          at: '2026-11-16 14:30',
          tokens: 45,
          about: '`src/auth/jwt.ts`',
          text: 'agent: “tokens expired an hour early because the clock was read in local time”',
        },
      ],
      next: expect.stringContaining('get_observations'),
    })
    expect(text.split('\n')).toEqual([
      '1 of 42 found (hybrid)',
      '#123 2026-11-16 14:30 bugfix agent: “Fix JWT expiry” (`src/auth/jwt.ts`)',
      'agent: “tokens expired an hour early because the clock was read in local time”',
      expect.stringContaining('More: offset 1.'),
    ])
  })

  it('accepts the names of rows and hook payloads for its inputs', async () => {
    await withHits([])
    await desk.call('search_memory', {
      q: 'x',
      type: 'bugfix,decision',
      session_id: '5f1c',
      file: 'a.ts',
      concept: 'auth',
    })
    expect(asked()).toMatchObject({
      query: 'x',
      filters: { types: ['bugfix', 'decision'], session: '5f1c', files: ['a.ts'], concepts: ['auth'] },
    })
    const { isError, text } = await desk.call('search_memory', { query: 'x', type: 'bug' })
    expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining('"bugfix"') })
    const both = await desk.call('search_memory', { query: 'x', q: 'y' })
    expect(both.text).toContain('Unrecognized key: "q"')
  })

  it('looks into the project of its directory unless told otherwise', async () => {
    await withHits([])
    await desk.call('search_memory', { query: 'x' })
    expect(asked()).toMatchObject({ query: 'x', mode: 'auto', limit: 30, offset: 0 })
    expect(asked().filters).toMatchObject({
      project: desk.project,
      kinds: ['observation', 'summary', 'passage'],
      types: [],
      since: null,
    })
    await desk.call('search_memory', { query: 'x', project: 'shop' })
    expect(asked().filters.project).toBe('shop')
    await desk.call('search_memory', { query: 'x', project: 'all' })
    expect(asked().filters.project).toBeNull()
    const elsewhere = resolve('/nowhere/at/all')
    await desk.call('search_memory', { query: 'x', project: elsewhere })
    expect(asked().filters.project).toBe(`dir:${elsewhere}`)
    await desk.call('search_memory', { query: 'x', project: './part' })
    expect(asked().filters.project).toBe(`${desk.project}${sep}part`)
    await desk.call('search_memory', { query: 'x', project: PROJECT.key })
    expect(asked().filters.project).toBe(PROJECT.key)
  })

  it('names the project of each row where there may be several', async () => {
    await withHits([hit()])
    const { data, text } = await desk.call('search_memory', { query: 'x', project: 'all' })
    expect(data.results).toMatchObject([{ project: '`shop`' }])
    expect(text).toContain('[`shop`] agent: “Fix JWT expiry”')
  })

  it('passes filters on, days as whole days', async () => {
    await withHits([])
    await desk.call('search_memory', {
      types: ['bugfix', 'decision'],
      concepts: ['jwt'],
      files: ['src/auth'],
      since: '2026-11-16',
      until: '2026-11-16',
      pinned: true,
      kinds: ['observation', 'summary'],
      mode: 'strict',
      limit: 3,
      offset: 6,
    })
    expect(asked()).toEqual({
      query: '',
      mode: 'strict',
      limit: 3,
      offset: 6,
      filters: {
        ...NO_FILTERS,
        project: desk.project,
        kinds: ['observation', 'summary'],
        types: ['bugfix', 'decision'],
        concepts: ['jwt'],
        files: ['src/auth'],
        since: new Date(2026, 10, 16).getTime(),
        until: new Date(2026, 10, 17).getTime() - 1,
        pinned: true,
      },
    })
  })

  it('says what one should know about a row', async () => {
    await withHits([hit({ pinned: true, supersededBy: 130, similar: [7, 8], files: [] })], {
      notes: ['no model is there: by words alone'],
    })
    const { data, text } = await desk.call('search_memory', { query: 'x' })
    expect(data).toMatchObject({
      notes: ['no model is there: by words alone'],
      results: [{ pinned: true, superseded_by: 130, similar: [7, 8] }],
    })
    expect(text).toContain('(pinned; superseded by #130; like #7, #8)')
    expect(text).toContain('no model is there: by words alone')
  })

  it('leaves out a snippet that only repeats the title', async () => {
    await withHits([hit({ snippet: '… fix JWT expiry' })])
    const { data } = await desk.call('search_memory', { query: 'x' })
    expect(data.results).toEqual([expect.not.objectContaining({ text: expect.anything() })])
  })

  it('gives the session of a summary, which is how to read it', async () => {
    await withHits([hit({ kind: 'summary', id: 9, type: null })])
    const { data, text } = await desk.call('search_memory', { query: 'x', kinds: ['summary'] })
    expect(data).toMatchObject({
      results: [{ kind: 'summary', session: '5f1c0a1e' }],
      next: expect.stringContaining('get_session_summary'),
    })
    // Its number is none that get_observations knows.
    expect(data.results).toEqual([expect.not.objectContaining({ id: expect.anything() })])
    expect(text).toContain('\n2026-11-16 14:30 summary of session 5f1c0a1e')
  })

  it('says what to try where nothing was found', async () => {
    await withHits([])
    expect((await desk.call('search_memory', { query: 'x' })).text).toBe(
      'Nothing found (hybrid).\nTry other words, fewer filters; if the user wants other projects searched, too, project "all".',
    )
    expect((await desk.call('search_memory', { query: 'x', project: 'all' })).text).not.toContain('or project')
    expect((await desk.call('search_memory', { query: 'x', offset: 50 })).text).toContain('smaller offset')
  })

  it('stays small however much there is', async () => {
    const long = 'a word and another '.repeat(200)
    const rows = Array.from({ length: 100 }, (_, i) =>
      hit({
        id: i + 1,
        title: long,
        snippet: long,
        projectName: long,
        files: Array.from({ length: 20 }, () => long),
        similar: Array.from({ length: 500 }, (_, n) => n + 1),
        session: long,
      }),
    )
    await withHits(rows, { notes: Array.from({ length: 100 }, () => long), total: 1_000_000 })
    const { data, text } = await desk.call('search_memory', { query: 'x', project: 'all', limit: 50, tokens: 8_000 })
    expect(JSON.stringify(data).length).toBeLessThan(50_000)
    expect(text.length).toBeLessThan(50_000)
  })

  it('shows a passage by its id, with what it is about, as a quotation', async () => {
    const passage = { id: 12, kind: 'command' as const, subject: 'npm test', outcome: 'failed' as const }
    const text = '3 failed\nError: expected 3'
    await withHits([
      hit({ kind: 'passage', id: 12, type: null, title: 'npm test', saidBy: 'tool', snippet: text, passage }),
    ])
    const shown = await desk.call('search_memory', { query: 'x' })
    expect(shown.data.results).toMatchObject([
      { kind: 'passage', passage: 'p12', label: 'command', about: '“npm test”', outcome: 'failed' },
    ])
    expect(shown.text).toContain(
      'p12 2026-11-16 14:30 command “npm test” failed\ntool:\n> 3 failed\n> Error: expected 3',
    )
    expect(shown.text).toContain('p-ids with what is around them')
  })

  it('shows the next best of the turn below a hit, each with its id and what it is', async () => {
    const passage = { id: 7, kind: 'commit' as const, subject: '1a2b3c4', outcome: 'ok' as const }
    const further = [
      hit({ kind: 'passage', id: 7, type: null, title: '1a2b3c4', snippet: 'Read the clock in UTC', passage }),
      hit({ id: 124, type: 'decision', title: 'UTC everywhere', snippet: 'No local times in the store' }),
    ]
    await withHits([hit({ further, files: [] })])
    const { data, text } = await desk.call('search_memory', { query: 'x' })
    expect(text.split('\n').slice(3, 5)).toEqual([
      'p7 commit `1a2b3c4` agent: “Read the clock in UTC”',
      '#124 decision agent: “UTC everywhere” agent: “No local times in the store”',
    ])
    expect(data.results).toMatchObject([{ further: [{ passage: 'p7', label: 'commit' }, { id: 124 }] }])
  })

  it('fills a number of tokens best first, and cuts the last one at a word', async () => {
    const rows = Array.from({ length: 30 }, (_, i) => hit({ id: i + 1, snippet: 'one word after another '.repeat(20) }))
    await withHits(rows)
    const few = await desk.call('search_memory', { query: 'x', tokens: 500 })
    const more = await desk.call('search_memory', { query: 'x', tokens: 1_200 })
    const shown = (data: Record<string, unknown>) => data.results as { id: number; text: string }[]
    expect(shown(few.data).length).toBeLessThan(shown(more.data).length)
    expect(shown(few.data).map(({ id }) => id)).toEqual(shown(few.data).map((_, i) => i + 1))
    expect(shown(few.data).at(-1)?.text).toMatch(/(?:one|word|after|another)…”$/)
    expect(few.text.length).toBeLessThan(500 * 4 + 300)
    expect(more.text.length).toBeGreaterThan(1_200 * 3)
  })

  it('takes a question of ten thousand characters, and no longer one', async () => {
    await withHits([hit()])
    expect((await desk.call('search_memory', { query: 'x'.repeat(10_000) })).isError).toBe(false)
    const { isError, text } = await desk.call('search_memory', { query: 'x'.repeat(10_001) })
    expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining('<=10000 characters at query') })
  })

  it.each([
    [{ qq: 'x' }, 'Unrecognized key: "qq"'],
    [{ query: 7 }, 'expected string'],
    [{ limit: 0 }, 'limit'],
    [{ limit: 51 }, 'limit'],
    [{ limit: 1.5 }, 'limit'],
    [{ offset: -1 }, 'offset'],
    [{ types: ['bug'] }, '"bugfix"'],
    [{ kinds: [] }, 'kinds'],
    [{ files: [' '] }, 'files[0]'],
    [{ since: 'last week' }, 'since must be a date or time such as 2026-11-01'],
    [{ until: '2026-02-30' }, 'until must be a date'],
    [{ since: '2026-11-17', until: '2026-11-16' }, 'since is later than until'],
    [{ project: 'nosuch' }, 'no project is called "nosuch"'],
    [{ session: 'ffff' }, 'no session starts with "ffff"'],
  ])('refuses %j with a sentence that says why', async (args, message) => {
    await withHits([])
    const { isError, text } = await desk.call('search_memory', args)
    expect(isError).toBe(true)
    expect(text).toContain(message)
  })
})
