/** What is derived follows what is stored: in pieces, after any interruption, by whatever embedder is in use. */
import { existsSync, rmSync } from 'node:fs'
import BetterSqlite3 from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Embedder } from '../../src/search/embedders/models.ts'
import { staticEmbedder } from '../../src/search/embedders/static.ts'
import { Indexer, type IndexerProgress } from '../../src/search/indexer.ts'
import type { SearchCalls } from '../../src/search/search-thread.ts'
import { HAS_HNSW, learn, type SearchFixture, searchFixture, wordEmbedder } from './search-fixture.ts'

let here: SearchFixture

beforeEach(async () => {
  here = await searchFixture(wordEmbedder())
})
afterEach(() => here.dispose())

const WORDS = ['token', 'login', 'cache', 'pool', 'retry', 'queue', 'schema']
const note = (n: number) => ({
  title: `${WORDS[n % 7]} ${WORDS[(n * 3) % 5]}`,
  narrative: `about ${WORDS[(n * 5) % 7]} number ${n}`,
  facts: [`fact of ${WORDS[n % 4]}`],
})
const many = (count: number) =>
  learn(
    here,
    's1',
    Array.from({ length: count }, (_, n) => note(n)),
  )

function rows<T>(sql: string): T[] {
  const db = new BetterSqlite3(here.database)
  try {
    return db.prepare<[], T>(sql).all()
  } finally {
    db.close()
  }
}
function execute(sql: string): void {
  const db = new BetterSqlite3(here.database)
  db.exec(sql)
  db.close()
}

/** The calls of the engine, with something between them and the indexer. */
function watched(embed: (calls: SearchCalls, texts: readonly string[]) => Promise<(Float32Array | null)[]>) {
  const calls = here.calls()
  return async (): Promise<SearchCalls> => ({ ...calls, embed: (texts) => embed(calls, texts) })
}

describe('the backlog', () => {
  test('of words and vectors after a migration is processed, with progress', async () => {
    await many(260)
    await here.store.rebuildSearch()
    expect(await here.found('token', { mode: 'strict' })).toEqual([])
    const seen: IndexerProgress[] = []
    const indexer = here.indexer({
      search: watched(async (calls, texts) => {
        if (indexer.progress !== null) seen.push(indexer.progress)
        return await calls.embed(texts)
      }),
    })
    expect(indexer.progress).toBeNull()
    indexer.wake()
    await indexer.whenIdle()
    expect(indexer.progress).toBeNull()
    expect(seen[0]?.what).toBe('lexical')
    const vectors = seen.filter(({ what }) => what === 'vectors')
    expect(vectors.map(({ done }) => done)).toEqual([50, 100, 150, 200, 250])
    expect(new Set(vectors.map(({ total, embedder }) => `${total} by ${embedder}`))).toEqual(
      new Set(['260 by words-1']),
    )
    expect((await here.search('token', { mode: 'strict' })).total).toBeGreaterThan(20)
    expect(here.engine().state().fragments).toBe(520)
    expect((await here.store.indexState()).done).toBe((await here.store.indexState()).total)
  })

  test('that was stopped in the middle is continued, and nothing is embedded twice', async () => {
    await many(160)
    const embedded: string[] = []
    const first = here.indexer({
      search: watched(async (calls, texts) => {
        embedded.push(...texts)
        void first.stop()
        return await calls.embed(texts)
      }),
    })
    first.wake()
    await first.whenIdle()
    first.wake()
    expect(embedded).toHaveLength(100)
    const second = here.indexer({
      search: watched(async (calls, texts) => {
        embedded.push(...texts)
        return await calls.embed(texts)
      }),
    })
    second.wake()
    await second.whenIdle()
    expect(embedded).toHaveLength(320)
    expect(here.engine().state().fragments).toBe(320)
  })

  test('continues after the embedder failed, and the problem is reported once', async () => {
    await many(10)
    let works = false
    const indexer = here.indexer({
      search: watched((calls, texts) => (works ? calls.embed(texts) : Promise.reject(new Error('no memory left')))),
    })
    for (let tries = 0; tries < 3; tries++) {
      indexer.wake()
      await indexer.whenIdle()
    }
    expect(here.messages).toEqual([
      'the search index is not up to date, it is tried again after the next change: no memory left',
    ])
    works = true
    indexer.wake()
    await indexer.whenIdle()
    expect(here.engine().state().fragments).toBe(20)
  })

  test('is processed completely if it is restarted from the beginning in between', async () => {
    await many(160)
    let startedOver = false
    const indexer = here.indexer({
      search: watched(async (calls, texts) => {
        const vectors = await calls.embed(texts)
        if (!startedOver && here.engine().state().fragments >= 100) {
          startedOver = true
          while ((await here.store.dropEmbeddings(null)) > 0);
          await calls.reset()
          indexer.startOver()
        }
        return vectors
      }),
    })
    indexer.wake()
    await indexer.whenIdle()
    expect(startedOver).toBe(true)
    expect(here.engine().state().fragments).toBe(320)
    expect(await here.near('token')).toHaveLength((await here.search('', { limit: 200 })).hits.length)
  })

  test('rows that cannot be indexed are reported and not retried forever', async () => {
    await many(2)
    let steps = 0
    const store = {
      putEmbeddings: here.store.putEmbeddings.bind(here.store),
      missingEmbeddings: here.store.missingEmbeddings.bind(here.store),
      link: here.store.link.bind(here.store),
      indexNext: async () => {
        steps += 1
        return { done: 1, total: 2 }
      },
    }
    const stuck = new Indexer({
      store,
      search: async () => here.calls(),
      notice: (text) => here.messages.push(text),
      now: () => 0,
    })
    stuck.wake()
    await stuck.whenIdle()
    expect([steps, here.messages]).toEqual([
      2,
      ['the search index is not up to date, it is tried again after the next change: 1 of 2 cannot be indexed'],
    ])
  })

  test('a text without a vector is not embedded again', async () => {
    await learn(here, 's1', [{ title: '…', narrative: '123' }])
    let asked = 0
    const search = watched((calls, texts) => {
      asked += texts.length
      return calls.embed(texts)
    })
    for (let times = 0; times < 2; times++) {
      const indexer = here.indexer({ search })
      indexer.wake()
      await indexer.whenIdle()
    }
    expect(asked).toBe(1)
    expect(await here.found('123')).toEqual([1])
  })
})

describe('another embedder', () => {
  test('causes everything to be embedded again; vectors of two embedders are never ranked together', async () => {
    const ids = await many(30)
    await here.index()
    const before = await here.search('token login', { mode: 'semantic', limit: 50 })
    const other = wordEmbedder('words-2', 8)
    await here.open({ embedder: other })
    const without = await here.search('token login', { mode: 'semantic', limit: 50 })
    expect(without.hits).toEqual([])
    expect(here.engine().state()).toMatchObject({ embedder: { name: 'words-2', dimensions: 8 }, fragments: 0 })
    await here.index()
    const after = await here.search('token login', { mode: 'semantic', limit: 50 })
    expect(after.embedder).toBe('words-2')
    expect(new Set(await here.near('token login'))).toEqual(new Set(ids))
    // The first one's are still there: going back costs nothing.
    await here.open({ embedder: wordEmbedder() })
    const { tookMs: _a, ...back } = await here.search('token login', { mode: 'semantic', limit: 50 })
    const { tookMs: _b, ...then } = before
    expect(back).toEqual(then)
  })

  test('that is switched to while the indexer runs starts from the beginning', async () => {
    await many(30)
    let embedder: Embedder = wordEmbedder()
    const indexer = here.indexer()
    indexer.wake()
    await indexer.whenIdle()
    embedder = wordEmbedder('words-2', 8)
    await here.open({ embedder })
    indexer.wake()
    await indexer.whenIdle()
    expect(here.engine().state()).toMatchObject({ embedder: { name: 'words-2' }, fragments: 60 })
  })
})

test.skipIf(!HAS_HNSW)('deleted embeddings, vector files and full-text index are restored identically', async () => {
  await many(60)
  await here.open({ hnswThreshold: 20 })
  const ask = async () => {
    const { hits } = await here.search('login token of the pool', { limit: 100 })
    return hits
  }
  await here.index()
  await ask()
  while (here.engine().vectors?.build(1_000));
  expect(existsSync(here.vectors)).toBe(true)
  const before = await ask()
  here.engine().close()
  execute('DELETE FROM embeddings')
  rmSync(here.vectors, { recursive: true })
  await here.open({ hnswThreshold: 20 })
  expect((await here.search('login token of the pool')).hits.length).toBeGreaterThan(0)
  await here.index()
  expect(await ask()).toEqual(before)
  await here.store.rebuildSearch()
  await here.index()
  expect(await ask()).toEqual(before)
})

describe('repetitions', () => {
  const links = () =>
    rows<{ from_id: number; to_id: number; kind: string; made_by: string }>(
      'SELECT from_id, to_id, kind, made_by FROM links ORDER BY from_id',
    )
  const login = {
    title: 'Login fixed',
    narrative:
      'The token had expired because the clock of the server was an hour behind, so every session ended at once.',
  }

  beforeEach(async () => {
    await here.open({ embedder: await staticEmbedder() })
  })

  test.each([
    ['the same words', login],
    ['a word left out', { ...login, narrative: login.narrative.replace('every ', '') }],
    ['small words changed', { ...login, narrative: login.narrative.replace('so every', 'and then every') }],
  ])('%s are linked to the original', async (_, again) => {
    await learn(here, 's1', [login])
    await here.index()
    await learn(here, 's2', [{ title: 'Cache enlarged', narrative: 'It was too small.' }, again])
    await here.index()
    expect(links()).toEqual([{ from_id: 3, to_id: 1, kind: 'repeats', made_by: 'search' }])
    const { hits } = await here.search('login token expired')
    expect(hits.map(({ id, similar }) => [id, ...similar])).toContainEqual(expect.arrayContaining([1, 3]))
  })

  test.each([
    [
      'another subject in the same words',
      { ...login, title: 'Logout fixed', narrative: 'The cookie had expired early.' },
    ],
    ['another number', { ...login, narrative: `${login.narrative} It was 8080.` }],
    ['another type', { ...login, type: 'decision' as const }],
    ['a shared fact', { title: 'Pool enlarged', narrative: 'Too few connections.', facts: ['the clock is behind'] }],
  ])('%s is not a repetition', async (_, other) => {
    await learn(here, 's1', [{ ...login, facts: ['the clock is behind'] }])
    await learn(here, 's2', [{ facts: ['the clock is behind'], ...other }])
    await here.index()
    expect(links()).toEqual([])
  })

  test('are not linked between short notes that differ in one word', async () => {
    await learn(here, 's1', [{ title: 'Fixed the login bug in the auth module' }])
    await learn(here, 's1', [{ title: 'Fixed the logout bug in the auth module' }])
    await here.index()
    expect(links()).toEqual([])
    expect(await here.found('bug in the auth module')).toHaveLength(2)
  })

  test('are all linked to the first one if many are added at once', async () => {
    await learn(
      here,
      's1',
      Array.from({ length: 9 }, () => login),
    )
    await here.index()
    expect(links().map(({ from_id, to_id }) => [from_id, to_id])).toEqual([2, 3, 4, 5, 6, 7, 8, 9].map((id) => [id, 1]))
    const { hits } = await here.search('login token expired')
    expect(hits.map(({ similar }) => similar.length)).toEqual([8])
  })

  test('are not looked for in other projects', async () => {
    await learn(here, 's1', [login])
    await learn(here, 's2', [login], { key: 'other', name: 'other' })
    await here.index()
    expect(links()).toEqual([])
    expect(await here.found('login token expired')).toHaveLength(2)
  })

  test('that are forgotten at the same time cause no error', async () => {
    await learn(here, 's1', [login, login, { title: 'Cache enlarged' }])
    const calls = here.calls()
    const indexer = here.indexer({
      search: async () => ({
        ...calls,
        loadMemories: async (wanted) => {
          const found = await calls.loadMemories(wanted)
          await here.store.forget({ ids: [1], filters: null, dryRun: false, at: 0 })
          return found
        },
      }),
    })
    indexer.wake()
    await indexer.whenIdle()
    expect([links(), here.messages]).toEqual([[], []])
    expect(here.engine().state().fragments).toBe(2)
  })
})
