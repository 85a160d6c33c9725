/** One search over observations, summaries and passages. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PassageDraft } from '../../src/domain/passage.ts'
import { staticEmbedder } from '../../src/search/embedders/static.ts'
import { NOW, observationOf, record, settle, summaryOf, toolUse } from '../store/samples.ts'
import { type SearchFixture, searchFixture } from './search-fixture.ts'

let here: SearchFixture
let position = 0
beforeEach(async () => {
  const wordVectors = await staticEmbedder()
  here = await searchFixture(wordVectors)
  await here.open({ wordVectors })
})
afterEach(() => here.dispose())

function draft(text: string, over: Partial<PassageDraft> = {}): PassageDraft {
  const place = { eventId: 'e1', position: position++, promptNumber: 1, at: NOW }
  return { kind: 'closing', subject: null, outcome: null, text, ...place, ...over }
}

describe('search with passages', () => {
  test('finds a passage without an observation as a hit of its own', async () => {
    await here.commit('s1', {
      passages: [
        draft('The build failed because the lock file was stale.', {
          kind: 'command',
          subject: 'make',
          outcome: 'failed',
        }),
        draft('Nothing about that here.', { eventId: 'e2' }),
      ],
    })
    await here.index()
    const { hits, total } = await here.search('why did the build fail')
    expect(total).toBe(1)
    expect(hits).toMatchObject([
      {
        kind: 'passage',
        id: 1,
        title: 'make',
        snippet: 'The build failed because the lock file was stale.',
        passage: { id: 1, kind: 'command', subject: 'make', outcome: 'failed' },
      },
    ])
  })

  test('the pieces of a turn are one hit', async () => {
    await here.commit('s1', {
      events: [record(toolUse('s1', 'e1'))],
      passages: [draft('The tokens expired early because the clock was read in local time.')],
    })
    const [id] = await here.commit('s1', {
      observations: [
        observationOf(['e1'], {
          title: 'Repair early expiry',
          narrative: 'Why tokens expire: uses UTC now',
          facts: [],
        }),
      ],
      inbox: [settle('x', [{ eventId: 'e1', kind: 'observed', reason: null }])],
    })
    await here.index()
    const { hits } = await here.search('why did tokens expire early')
    expect(hits).toHaveLength(1)
    const pieces = hits.flatMap((hit) => [hit, ...hit.further])
    expect(pieces.find(({ kind }) => kind === 'observation')).toMatchObject({ id, title: 'Repair early expiry' })
    expect(pieces.find(({ kind }) => kind === 'passage')).toMatchObject({
      snippet: expect.stringContaining('read in local time'),
      passage: { id: 1, kind: 'closing' },
    })
  })

  test('shows a statement once, and names the observation that says the same', async () => {
    const text = 'Parser keeps trailing commas because the old files have them'
    await here.commit('s1', {
      passages: [draft(text), draft(`${text}.`, { kind: 'words' })],
      observations: [observationOf([], { title: text, narrative: null, facts: [] })],
    })
    await here.index()
    const { hits, total } = await here.search('why does the parser keep trailing commas')
    expect(hits).toMatchObject([{ kind: 'passage', similar: [expect.any(Number)], further: [] }])
    expect(total).toBe(1)
    expect(await here.search('why does the parser keep trailing commas', { offset: 1 })).toMatchObject({
      hits: [],
      total: 1,
    })
  })

  test('searches summaries and passages by default, prompts only where they are asked for', async () => {
    await here.commit('s1', {
      prompts: [{ eventId: 'p', number: 1, text: 'rename the widget', private: false, at: NOW }],
      passages: [draft('The widget is a gadget now.')],
      summaries: [summaryOf({ learned: 'A widget may be shared between pages' })],
    })
    await here.index()
    const kinds = async (over = {}) =>
      (await here.search('widget', over)).hits
        .flatMap((hit) => [hit.kind, ...hit.further.map(({ kind }) => kind)])
        .sort()
    expect(await kinds()).toEqual(['passage', 'summary'])
    expect(await kinds({ kinds: ['passage'] })).toEqual(['passage'])
    expect(await kinds({ kinds: ['prompt'] })).toEqual(['prompt'])
    expect(await kinds({ mode: 'strict' })).toEqual(['passage', 'summary'])
  })

  test('lists passages without a query only where nothing else is asked for', async () => {
    await here.commit('s1', { passages: [draft('one', { at: NOW }), draft('two', { at: NOW + 1 })] })
    await here.index()
    expect((await here.search('')).hits).toEqual([])
    expect((await here.search('', { kinds: ['passage'] })).hits.map(({ snippet }) => snippet)).toEqual(['two', 'one'])
  })

  test('a page of a list knows how many passages there are in all, and statistics their size', async () => {
    await here.commit('s1', { passages: Array.from({ length: 5 }, (_, i) => draft(`number ${i}`)) })
    const { hits, total } = await here.search('', { kinds: ['passage'], limit: 2, offset: 2 })
    expect([hits.length, total]).toEqual([2, 5])
    expect((await here.search('', { kinds: ['passage'], pinned: true })).total).toBe(0)
    const { passages } = here.engine().counts(null)
    expect(passages.count).toBe(5)
    expect(passages.bytes).toBeGreaterThan(5 * 'number 0'.length)
    expect(here.engine().counts(hits[0]?.project ?? '').passages).toEqual(passages)
    expect(here.engine().counts('git:/elsewhere').passages).toEqual({ count: 0, bytes: 0 })
  })

  test('a word that only passages have is not taken for a spelling mistake', async () => {
    await here.commit('s1', {
      observations: [observationOf([], { title: 'Timeline', narrative: 'about timelines', facts: [] })],
      passages: [draft('The timelime is a fruit.')],
    })
    await here.index()
    const { hits, notes } = await here.search('timelime')
    expect(notes).toEqual([])
    expect(hits[0]).toMatchObject({ kind: 'passage' })
  })

  test('pages follow each other without gaps', async () => {
    const passages = Array.from({ length: 30 }, (_, i) =>
      draft(`alpha number ${i} is about subject${i} and more`, { promptNumber: i + 1 }),
    )
    await here.commit('s1', { passages })
    await here.index()
    const all = (await here.search('alpha', { limit: 30 })).hits.map(({ id }) => id)
    const pages: number[] = []
    for (let offset = 0; offset < 30; offset += 7) {
      pages.push(...(await here.search('alpha', { limit: 7, offset })).hits.map(({ id }) => id))
    }
    expect(pages).toEqual(all)
    expect(new Set(all).size).toBe(30)
  })

  test('without word vectors passages are ranked by words', async () => {
    await here.open({ embedder: null })
    await here.commit('s1', {
      passages: [draft('beta gamma'), draft('beta delta epsilon gamma', { eventId: 'e2', promptNumber: 2 })],
    })
    await here.index()
    expect((await here.search('beta gamma')).hits.map(({ snippet }) => snippet)).toEqual([
      'beta gamma',
      'beta delta epsilon gamma',
    ])
  })
})
