/** What a hit is: the best pieces of a turn; and which hit comes first. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { PassageDraft } from '../../src/domain/passage.ts'
import { staticEmbedder } from '../../src/search/embedders/static.ts'
import { namesOfQuery } from '../../src/search/query.ts'
import { NOW, observationOf } from '../store/samples.ts'
import { type SearchFixture, searchFixture } from './search-fixture.ts'

let here: SearchFixture
let position = 0
beforeEach(async () => {
  const wordVectors = await staticEmbedder()
  here = await searchFixture(wordVectors)
  await here.open({ wordVectors })
})
afterEach(() => here.dispose())

function said(text: string, promptNumber: number, over: Partial<PassageDraft> = {}): PassageDraft {
  const place = { eventId: `e${position++}`, position: 0, promptNumber, at: NOW + promptNumber }
  return { kind: 'closing', subject: null, outcome: null, text, ...place, ...over }
}

async function keep(passages: PassageDraft[]): Promise<void> {
  await here.commit('s1', { passages })
  await here.index()
}

const snippets = async (query: string) =>
  (await here.search(query)).hits.map((hit) => [hit.snippet, ...hit.further.map(({ snippet }) => snippet)])

describe('a turn', () => {
  test('shows its three best pieces, and comes again with the next ones', async () => {
    const texts = ['red', 'green', 'blue', 'yellow'].map((colour) => `The cache of the ${colour} page is invalidated.`)
    await keep(texts.map((text) => said(text, 1)))
    const found = await snippets('why is the cache of a page invalidated')
    expect(found.map((pieces) => pieces.length)).toEqual([3, 1])
    expect(found.flat().sort()).toEqual([...texts].sort())
  })

  test('says a thing once, whoever said it', async () => {
    const text = 'The pool has twenty connections because ten were not enough.'
    await here.commit('s1', {
      passages: [said(text, 1), said(`Done. ${text}`, 1, { kind: 'words' })],
      observations: [observationOf([], { title: 'Pool size', narrative: text, facts: [], promptNumber: 1 })],
    })
    await here.index()
    const shown = (await snippets('how many connections has the pool')).flat()
    expect(shown.filter((one) => one.includes('twenty connections'))).toHaveLength(1)
  })

  test('with words that only announce something has no hit', async () => {
    await keep([said('Now let me check the cache:', 1), said('The cache was full.', 2)])
    expect(await snippets('cache')).toEqual([['The cache was full.']])
  })
})

describe('the order', () => {
  test('prefers the newer of two turns that say different things about the same', async () => {
    await keep([said('The schema version is 19 now.', 1), said('The schema version is 21 now.', 2)])
    expect((await snippets('which schema version is it')).flat()[0]).toContain('21')
  })

  test('stops where relevance drops', async () => {
    await keep([
      said('The replay buffer overflowed because its size was counted in characters.', 1),
      said('A buffer of coffee.', 2, { kind: 'result' }),
    ])
    expect(await here.search('why did the replay buffer overflow')).toMatchObject({ total: 1, hits: [{ id: 1 }] })
  })
})

describe('names', () => {
  test.each([
    ['max_retry_count'],
    ['where is max_retry_count used in the retry of the count'],
    ['what did src/queue/limits.ts set'],
    ['how is "the upper limit" counted in a retry'],
  ])('%s: what has it as a whole is first, and the excerpt shows it', async (query) => {
    const noise = Array.from({ length: 20 }, (_, i) =>
      said(
        `The retry of job ${i} has a max: its count is used in the queue, and the limit is set up upper case.`,
        i + 2,
      ),
    )
    const long = 'Something else was said about the weather at length. '.repeat(8)
    await keep([
      said(`${long}In src/queue/limits.ts max_retry_count is the upper limit. ${long}`, 1, { kind: 'result' }),
      ...noise,
    ])
    const [first] = (await here.search(query)).hits
    expect(first?.snippet).toContain('max_retry_count')
    expect(first?.explanation.names).toBeGreaterThan(0)
  })

  test.each<[string, string[]]>([
    ['why does getUserById fail?', ['getUserById']],
    ['(see src/auth/jwt.ts:12)', ['src/auth/jwt.ts:12']],
    ['the "connection pool" of `pg`', ['connection pool', 'pg']],
    ['what is up-to-date, e. g. now', []],
    ['std::mutex, v1.2.3 and __init__', ['std::mutex', 'v1.2.3', '__init__']],
  ])('of %s', (query, names) => expect(namesOfQuery(query).map(({ text }) => text)).toEqual(names))
})

describe('words alone, without word vectors', () => {
  test.each([
    ['令牌为什么过期', '用户登录时令牌已过期，因为时钟不准。', '数据库的连接池太小。'],
    ['有効期限', 'セッションの有効期限が切れた。', 'データベース接続が閉じられた。'],
    ['사용자 인증', '사용자인증이 실패했다.', '데이터베이스연결이 닫혔다.'],
  ])('%s finds a passage in its language', async (query, right, wrong) => {
    await here.open({ embedder: null, wordVectors: null })
    await keep([said(wrong, 2), said(right, 1), said('Nothing of that kind.', 3)])
    expect((await snippets(query))[0]).toEqual([right])
    const { hits } = await here.search(query, { mode: 'strict' })
    expect(hits.every(({ snippet }) => snippet === right)).toBe(true)
  })
})
