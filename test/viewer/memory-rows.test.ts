/** The list of memories with a real search over a real database and real stream messages. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { commitItem, type StreamedChange } from '../../src/daemon/actors/stream.ts'
import type { ObservationDraft } from '../../src/domain/observation.ts'
import { PROTOCOL_VERSION } from '../../src/domain/protocol.ts'
import type { SearchAnswer, SearchFilters, SearchRequest } from '../../src/domain/search-query.ts'
import type { Commit } from '../../src/store/commit.ts'
import type { StreamMessage } from '../../src/transport/messages.ts'
import { EMPTY_MEMORY_QUERY, type MemoryQuery } from '../../src/viewer/views/memory/memory-query.ts'
import { MemoryRows } from '../../src/viewer/views/memory/memory-rows.ts'
import { OTHER_PROJECT, type SearchFixture, searchFixture } from '../search/search-fixture.ts'
import { commitOf, NOW, observationOf, PROJECT, stateOf, summaryOf } from '../store/samples.ts'

let here: SearchFixture
let sessions = 0
let opened: MemoryRows[] = []
beforeEach(async () => {
  here = await searchFixture(null)
})
afterEach(async () => {
  for (const rows of opened) rows.stop()
  opened = []
  await here.dispose()
})

const search = (request: SearchRequest): Promise<SearchAnswer> => here.engine().search(request)

async function openList(query: MemoryQuery = EMPTY_MEMORY_QUERY, send = search): Promise<MemoryRows> {
  const rows = new MemoryRows(send)
  opened.push(rows)
  await rows.search(query)
  rows.show({ from: 0, to: 20 })
  return rows
}

/** Stores the first commit of a new session and returns its stream message. */
async function learn(over: Partial<Commit>): Promise<Extract<StreamMessage, { type: 'commit' }>> {
  sessions += 1
  const commit = commitOf(`session-${sessions}`, 1, over)
  const [result] = await here.store.commit([commit])
  if (result?.ok !== true) throw new Error(JSON.stringify(result))
  return { v: PROTOCOL_VERSION, ...commitItem(commit, result, { pending: 0, failed: 0 }) }
}

function observed(title: string, createdAt: number, over: Partial<ObservationDraft> = {}) {
  return observationOf([], { createdAt, title, ...over })
}

/** `count` observations, a second apart, the last one at NOW. */
const learnMany = (count: number) =>
  learn({ observations: Array.from({ length: count }, (_, i) => observed(`old ${i}`, NOW - (count - 1 - i) * 1_000)) })

function changed(change: StreamedChange): StreamMessage {
  return { v: PROTOCOL_VERSION, type: 'change', seq: 1_000, at: NOW, ...change }
}

async function until(rows: MemoryRows, isDone: () => boolean): Promise<void> {
  if (isDone()) return
  await new Promise<void>((resolve) => {
    const unsubscribe = rows.version.subscribe(() => {
      if (!isDone()) return
      unsubscribe()
      resolve()
    })
  })
}

const titles = (rows: MemoryRows, from = 0, to = rows.count) =>
  Array.from({ length: to - from }, (_, i) => rows.at(from + i)?.title ?? '…')

test('memory rows.loads pages only around the visible rows', async () => {
  await learnMany(400)
  const rows = await openList()
  expect(rows.count).toBe(400)
  rows.show({ from: 350, to: 370 })
  await until(rows, () => rows.at(369) !== undefined)
  expect(titles(rows, 350, 352)).toEqual(['old 49', 'old 48'])
  expect(rows.at(200)).toBeUndefined()
})

test('memory rows.new memories appear at the top, and are only counted while the reader is further down', async () => {
  await learnMany(150)
  const rows = await openList()
  rows.onStreamMessages([await learn({ observations: [observed('first news', NOW + 5_000)] })])
  await until(rows, () => rows.count === 151)
  expect(titles(rows, 0, 2)).toEqual(['first news', 'old 149'])
  const newest = rows.at(0)
  expect(newest !== undefined && rows.isNew(newest)).toBe(true)
  expect([1, 2].map((index) => rows.at(index)).some((row) => row !== undefined && rows.isNew(row))).toBe(false)

  rows.setAtTop(false)
  rows.show({ from: 100, to: 120 })
  await until(rows, () => rows.at(119) !== undefined)
  const news = await learn({ observations: [observed('second news', NOW + 6_000)] })
  rows.onStreamMessages([news])
  rows.onStreamMessages([news])
  await until(rows, () => rows.waiting === 1)
  // The pages still belong to the same snapshot.
  expect([rows.count, titles(rows, 100, 102)]).toEqual([151, ['old 50', 'old 49']])

  rows.setAtTop(true)
  await until(rows, () => rows.waiting === 0)
  expect(rows.count).toBe(152)
  expect(titles(rows, 0, 3)).toEqual(['second news', 'first news', 'old 149'])
})

test('memory rows.forgotten, pinned and superseded memories are updated', async () => {
  const told = await learnMany(120)
  const rows = await openList()
  const [newest = 0, second = 0] = told.observations.map(({ id }) => id).reverse()
  await here.store.pin([second], true, NOW)
  rows.onStreamMessages([changed({ change: 'pinned', ids: [second], on: true })])
  await until(rows, () => rows.at(1)?.pinned === true)
  rows.onStreamMessages([await learn({ observations: [observed('corrected', NOW + 9_000)] })])
  await until(rows, () => rows.at(0)?.title === 'corrected')
  const corrected = rows.at(0)?.id ?? 0
  await here.store.link({ from: corrected, to: newest, kind: 'supersedes', by: 'person', at: NOW })
  rows.onStreamMessages([changed({ change: 'linked', from: corrected, to: newest, on: true })])
  await until(rows, () => rows.at(1)?.supersededBy === corrected)

  const gone = await here.store.forget({ ids: [newest], filters: null, dryRun: false, at: NOW })
  rows.onStreamMessages([changed({ change: 'forgotten', ids: gone.ids, summaries: 0, prompts: 0 })])
  await until(rows, () => rows.count === 120)
  expect(titles(rows, 0, 2)).toEqual(['corrected', 'old 118'])
})

test('memory rows.a forgotten memory disappears from visible pages further down', async () => {
  const told = await learnMany(200)
  const rows = await openList()
  rows.setAtTop(false)
  rows.show({ from: 110, to: 130 })
  await until(rows, () => rows.at(129) !== undefined)
  const [gone] = told.observations.filter(({ title }) => title === 'old 80').map(({ id }) => id)
  await here.store.forget({ ids: [gone ?? 0], filters: null, dryRun: false, at: NOW })
  rows.onStreamMessages([changed({ change: 'forgotten', ids: [gone ?? 0], summaries: 0, prompts: 0 })])
  await until(rows, () => rows.count === 199)
  expect(titles(rows, 118, 121)).toEqual(['old 81', 'old 79', 'old 78'])
})

test('memory rows.a late answer does not replace a newer one', async () => {
  await learn({ observations: [observed('about tokens', NOW), observed('about coupons', NOW + 1)] })
  await here.index()
  const answers: (() => void)[] = []
  const rows = new MemoryRows(async (request) => {
    const answer = await search(request)
    await new Promise<void>((resolve) => answers.push(resolve))
    return answer
  })
  const first = rows.search({ ...EMPTY_MEMORY_QUERY, text: 'tokens' })
  const second = rows.search({ ...EMPTY_MEMORY_QUERY, text: 'coupons' })
  while (answers.length < 2) await new Promise(setImmediate)
  answers[1]?.()
  await second
  expect(rows.at(0)?.title).toBe('about coupons')
  answers[0]?.()
  await first
  expect([rows.at(0)?.title, rows.answered?.query.text]).toEqual(['about coupons', 'coupons'])
})

test('memory rows.a failed request reports its error and keeps the old rows', async () => {
  await learnMany(3)
  let works = true
  const rows = await openList(EMPTY_MEMORY_QUERY, (request) =>
    works ? search(request) : Promise.reject(new Error('connection lost')),
  )
  works = false
  await rows.search({ ...EMPTY_MEMORY_QUERY, filters: { ...EMPTY_MEMORY_QUERY.filters, pinned: true } })
  expect([rows.error, rows.count, rows.loading]).toEqual(['connection lost', 3, false])
})

test('memory rows.ten thousand stream messages cause one request at a time', async () => {
  await learnMany(10)
  let running = 0
  let requests = 0
  const rows = await openList(EMPTY_MEMORY_QUERY, async (request) => {
    requests += 1
    running += 1
    expect(running).toBe(1)
    const answer = await search(request)
    running -= 1
    return answer
  })
  const news = await learn({ observations: [observed('news', NOW + 1)] })
  vi.useFakeTimers()
  try {
    for (let i = 0; i < 10_000; i += 1) rows.onStreamMessages([news])
    expect(requests).toBe(1)
    vi.runOnlyPendingTimers()
  } finally {
    vi.useRealTimers()
  }
  await until(rows, () => rows.count === 11)
  expect(requests).toBe(2)
})

test('memory rows.keeps a bounded number of pages', async () => {
  await learnMany(4_000)
  const rows = await openList()
  for (let from = 0; from < 4_000; from += 60) {
    rows.show({ from, to: from + 20 })
    await until(rows, () => rows.at(from) !== undefined)
  }
  const loaded = Array.from({ length: rows.count }, (_, i) => rows.at(i)).filter((row) => row !== undefined)
  expect(loaded.length).toBeLessThanOrEqual(3_000)
  expect([rows.at(0), rows.at(3_999)?.title]).toEqual([undefined, 'old 0'])
})

test('memory rows.new memories pass the filters of the daemon', async () => {
  const filters = (over: Partial<SearchFilters>) => ({ text: '', filters: { ...EMPTY_MEMORY_QUERY.filters, ...over } })
  const lists = await Promise.all(
    [
      { project: PROJECT.key },
      { kinds: ['summary', 'prompt'] as const },
      { types: ['decision'] as const },
      { concepts: ['how it works'] },
      { files: ['src/auth'] },
      { agent: 'explore' },
      { since: NOW + 1_000, until: NOW + 2_000 },
    ].map((over) => openList(filters(over))),
  )
  const news = [
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
  for (const rows of lists) rows.onStreamMessages(news)
  const expected = [4, 2, 1, 1, 1, 1, 2]
  await Promise.all(lists.map((rows, i) => until(rows, () => rows.count === expected[i])))
  expect(lists.map((rows) => rows.count)).toEqual(expected)
})
