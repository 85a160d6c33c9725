/** The list of memories against a real search over a real database, fed with the real stream's items. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commitNews, type MemoryChange } from '../../src/actors/stream.ts'
import { PROTOCOL_VERSION, type StreamMessage } from '../../src/channel/protocol.ts'
import type { ObservationDraft } from '../../src/memory/observation.ts'
import { MEMORY_KINDS, type SearchAnswer, type SearchFilters, type SearchRequest } from '../../src/search/query.ts'
import type { Commit } from '../../src/store/commit.ts'
import { ASKED_FOR_ALL } from '../../src/viewer/views/memory/asked.ts'
import { arrivalsOf, passes, rowKey } from '../../src/viewer/views/memory/news.ts'
import { MemoryRows } from '../../src/viewer/views/memory/rows.ts'
import { OTHER_PROJECT, type Place, place } from '../search/place.ts'
import { commitOf, NOW, observationOf, PROJECT, stateOf, summaryOf } from '../store/samples.ts'

let here: Place
let sessions = 0
beforeEach(async () => {
  here = await place(null)
})
afterEach(() => here.dispose())

const search = (request: SearchRequest): Promise<SearchAnswer> => here.engine().search(request)

/** A session's first commit: stored, and told. */
async function learn(over: Partial<Commit>): Promise<Extract<StreamMessage, { type: 'commit' }>> {
  sessions += 1
  const commit = commitOf(`session-${sessions}`, 1, over)
  const [result] = await here.store.commit([commit])
  if (result?.ok !== true) throw new Error(JSON.stringify(result))
  return { v: PROTOCOL_VERSION, ...commitNews(commit, result, { pending: 0, failed: 0 }) }
}

function observed(title: string, createdAt: number, over: Partial<ObservationDraft> = {}) {
  const { draft, ...rest } = observationOf([], { createdAt })
  return { ...rest, draft: { ...draft, title, ...over } }
}

/** `count` of them, a second apart, the last one at NOW. */
const learnMany = (count: number) =>
  learn({ observations: Array.from({ length: count }, (_, i) => observed(`old ${i}`, NOW - (count - 1 - i) * 1_000)) })

function changed(change: MemoryChange): StreamMessage {
  return { v: PROTOCOL_VERSION, type: 'change', seq: 1_000, at: NOW, ...change }
}

async function settled(rows: MemoryRows, isDone: () => boolean): Promise<void> {
  if (isDone()) return
  await new Promise<void>((resolve) => {
    const stop = rows.version.subscribe(() => {
      if (!isDone()) return
      stop()
      resolve()
    })
  })
}

const titles = (rows: MemoryRows, from = 0, to = rows.kept.count) =>
  Array.from({ length: to - from }, (_, i) => rows.kept.at(from + i)?.title ?? '…')

test('pages are loaded where the reader is, and nowhere else', async () => {
  await learnMany(400)
  const rows = new MemoryRows(search)
  await rows.look(ASKED_FOR_ALL)
  expect(rows.kept.count).toBe(400)
  rows.show({ from: 350, to: 370 })
  await settled(rows, () => rows.kept.at(369) !== undefined)
  expect(titles(rows, 350, 352)).toEqual(['old 49', 'old 48'])
  expect(rows.kept.at(200)).toBeUndefined()
})

test('what is new comes in at the top, and waits while the reader is further down', async () => {
  await learnMany(150)
  const rows = new MemoryRows(search)
  await rows.look(ASKED_FOR_ALL)
  rows.hear([await learn({ observations: [observed('first news', NOW + 5_000)] })])
  expect(titles(rows, 0, 2)).toEqual(['first news', 'old 149'])
  const newest = rows.kept.at(0)
  expect(newest !== undefined && rows.isNew(newest)).toBe(true)

  rows.atTop = false
  const news = await learn({ observations: [observed('second news', NOW + 6_000)] })
  rows.hear([news])
  rows.hear([news])
  expect([rows.kept.waiting, titles(rows, 0, 2)]).toEqual([1, ['first news', 'old 149']])
  // Pages are still those of the first moment, whatever the daemon has by now.
  rows.show({ from: 100, to: 120 })
  await settled(rows, () => rows.kept.at(119) !== undefined)
  expect(titles(rows, 100, 102)).toEqual(['old 50', 'old 49'])

  rows.letIn()
  expect([rows.kept.waiting, rows.kept.count]).toEqual([0, 152])
  expect(titles(rows, 0, 3)).toEqual(['second news', 'first news', 'old 149'])
})

test('what is forgotten, pinned or superseded shows at once, wherever it stands', async () => {
  const told = await learnMany(120)
  const rows = new MemoryRows(search)
  await rows.look(ASKED_FOR_ALL)
  const [newest = 0, second = 0] = told.observations.map(({ id }) => id).reverse()
  rows.hear([changed({ change: 'pinned', ids: [second], on: true })])
  expect(rows.kept.at(1)?.pinned).toBe(true)
  rows.hear([changed({ change: 'linked', from: newest, to: second, on: true })])
  expect(rows.kept.at(1)?.supersededBy).toBe(newest)
  const correction = observed('corrected', NOW + 9_000, { supersedes: [newest] })
  rows.hear([await learn({ observations: [correction] })])
  expect([rows.kept.at(0)?.title, rows.kept.at(1)?.supersededBy]).toEqual(['corrected', rows.kept.at(0)?.id])

  const gone = await here.store.forget({ ids: [newest], filters: null, dryRun: false, at: NOW })
  rows.hear([changed({ change: 'forgotten', ids: gone.ids, summaries: 0, prompts: 0 })])
  expect(titles(rows, 0, 2)).toEqual(['corrected', 'old 118'])
  expect(rows.kept.count).toBe(120)
})

test('an answer that comes late does not take the place of a newer one', async () => {
  await learn({ observations: [observed('about tokens', NOW), observed('about coupons', NOW + 1)] })
  await here.index()
  const answers: (() => void)[] = []
  const rows = new MemoryRows(async (request) => {
    const answer = await search(request)
    await new Promise<void>((resolve) => answers.push(resolve))
    return answer
  })
  const first = rows.look({ ...ASKED_FOR_ALL, text: 'tokens' })
  const second = rows.look({ ...ASKED_FOR_ALL, text: 'coupons' })
  while (answers.length < 2) await new Promise(setImmediate)
  answers[1]?.()
  await second
  expect(rows.kept.at(0)?.title).toBe('about coupons')
  answers[0]?.()
  await first
  expect([rows.kept.at(0)?.title, rows.answered?.asked.text]).toEqual(['about coupons', 'coupons'])
})

test('a question that fails says so and leaves what was shown', async () => {
  await learnMany(3)
  let works = true
  const rows = new MemoryRows((request) => (works ? search(request) : Promise.reject(new Error('it went away'))))
  await rows.look(ASKED_FOR_ALL)
  works = false
  await rows.look({ ...ASKED_FOR_ALL, pinned: true })
  expect([rows.error, rows.kept.count, rows.loading]).toEqual(['it went away', 3, false])
})

test('ten thousand arrivals in a row are bounded and in order', async () => {
  await learnMany(10)
  const rows = new MemoryRows(search)
  await rows.look(ASKED_FOR_ALL)
  const one = await learn({ observations: [observed('news', NOW + 1)] })
  for (let i = 0; i < 10_000; i += 1) {
    const observations = one.observations.map((old) => ({ ...old, id: 10_000 + i, createdAt: NOW + 1 + i }))
    rows.hear([{ ...one, observations }])
  }
  expect(rows.kept.count).toBe(10_010)
  expect([rows.kept.at(0)?.id, rows.kept.at(1)?.id]).toEqual([19_999, 19_998])
  const known = Array.from({ length: rows.kept.count }, (_, i) => rows.kept.at(i)).filter((row) => row !== undefined)
  expect(known.length).toBeLessThanOrEqual(3_500)
})

test('new ones pass the filters here exactly where the daemon lets them pass', async () => {
  const told = [
    await learn({
      observations: [
        observed('a', NOW, { type: 'decision', concepts: ['How It  Works'], filesModified: ['src\\Auth\\jwt.ts'] }),
        observed('b', NOW + 1_000, { agent: 'explore', concepts: [], filesRead: [] }),
      ],
      summaries: [summaryOf({ createdAt: NOW + 2_000 })],
      prompts: [
        { eventId: 'p1', number: 1, text: 'fix it', private: false, at: NOW - 1_000 },
        { eventId: 'p2', number: 2, text: '', private: true, at: NOW - 500 },
      ],
    }),
    await learn({ state: stateOf({ project: OTHER_PROJECT }), observations: [observed('c', NOW + 3_000)] }),
  ]
  const arrivals = told.flatMap(arrivalsOf)
  const any: SearchFilters = {
    project: null,
    kinds: MEMORY_KINDS,
    types: [],
    concepts: [],
    files: [],
    since: null,
    until: null,
    agent: null,
    session: null,
    pinned: false,
  }
  const cases: Partial<SearchFilters>[] = [
    {},
    { project: PROJECT.key },
    { kinds: ['summary', 'prompt'] },
    { types: ['decision'] },
    { types: ['bugfix'], kinds: ['observation'] },
    { concepts: ['how it works'] },
    { concepts: ['it works'] },
    { concepts: ['auth', 'none'] },
    { files: ['src/auth'] },
    { files: ['A.TS'] },
    { since: NOW + 1_000, until: NOW + 2_000 },
    { until: NOW - 700 },
    { agent: 'explore' },
    { session: told[1]?.session ?? '' },
    { pinned: true },
  ]
  for (const some of cases) {
    const filters = { ...any, ...some }
    const { hits } = await search({ query: '', mode: 'auto', filters, limit: 100, offset: 0 })
    const passing = arrivals.filter((one) => passes(one, filters)).map(({ row }) => rowKey(row))
    expect(new Set(passing), JSON.stringify(some)).toEqual(new Set(hits.map(rowKey)))
  }
})
