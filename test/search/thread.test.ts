/** Search in its thread: opened when it is needed, opened again when it died, beside a daemon that writes. */
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { NO_FILTERS, type SearchRequest } from '../../src/domain/search-query.ts'
import { LazySearchThread } from '../../src/search/search-thread.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { type Bundle, bundle } from '../store/bundle.ts'
import { PROJECT } from '../store/samples.ts'
import { HAS_HNSW, learn, type SearchFixture, searchFixture } from './search-fixture.ts'

let worker: Bundle
let here: SearchFixture
let notices: string[]
let gates: LazySearchThread[]

beforeAll(() => {
  worker = bundle('test/search/dying-worker.ts', 'search-worker.js')
})
afterAll(() => worker.dispose())
beforeEach(async () => {
  here = await searchFixture(null)
  notices = []
  gates = []
})
afterEach(async () => {
  for (const gate of gates) await gate.close()
  await here.dispose()
})

function gate(over: { embedder?: string; database?: string } = {}): LazySearchThread {
  const { embedder = 'static', database = here.database } = over
  const made = new LazySearchThread({
    options: () => ({
      database,
      embedder,
      modelsDirectory: join(here.directory, 'models'),
      vectorsDirectory: here.vectors,
      hnswThreshold: 20,
      workerFile: worker.file,
    }),
    notice: (text) => notices.push(text),
    log: (text) => here.messages.push(text),
  })
  gates.push(made)
  return made
}

const requestOf = (query: string, over: Partial<SearchRequest> = {}): SearchRequest => ({
  query,
  mode: 'auto',
  filters: NO_FILTERS,
  limit: 10,
  offset: 0,
  ...over,
})

/** Words and vectors by way of the thread, as the daemon does it. */
async function indexed(opened: LazySearchThread): Promise<void> {
  const indexer = here.indexer({ search: () => opened.open() })
  indexer.wake()
  await indexer.whenIdle()
}

describe('the search thread', () => {
  test('finds nothing in an empty database', async () => {
    const search = await gate().open()
    expect(await search.search(requestOf('anything'))).toMatchObject({ hits: [], total: 0, mode: 'hybrid', notes: [] })
    expect(await search.search(requestOf(''))).toMatchObject({ hits: [], total: 0, mode: 'filter' })
    expect(await search.similarTo(PROJECT.key, 1, 5)).toEqual([])
    expect(await search.state()).toMatchObject({ embedder: { name: 'static-1' }, method: 'exact', fragments: 0 })
  })

  test('finds by meaning what shares no word with the query', async () => {
    await learn(here, 's1', [
      { title: 'Passwords are hashed', narrative: 'Credentials of users are stored with bcrypt.' },
      { title: 'Build sped up', narrative: 'The compiler keeps its results between runs.' },
    ])
    const opened = gate()
    await indexed(opened)
    const { hits, mode, embedder } = await (await opened.open()).search(requestOf('login secrets'))
    expect([hits[0]?.id, mode, embedder]).toEqual([1, 'hybrid', 'static-1'])
  })

  test('an embedder that cannot be loaded is reported, and the built-in one is used instead', async () => {
    await learn(here, 's1', [{ title: 'Login fixed', narrative: 'The token had expired.' }])
    const opened = gate({ embedder: 'nobody/no-such-model' })
    await indexed(opened)
    const { hits, embedder } = await (await opened.open()).search(requestOf('token expired'))
    expect([hits[0]?.id, embedder]).toEqual([1, 'static-1'])
    expect(notices.join()).toContain(
      'the embedder nobody/no-such-model cannot be used, the built-in one is used instead',
    )
  })

  test('reports a crash and starts again for the next search', async () => {
    await learn(here, 's1', [{ title: 'Login fixed', narrative: 'The token had expired.' }])
    const opened = gate()
    const search = await opened.open()
    const waiting = search.search(requestOf('token'))
    await expect(search.search(requestOf('die'))).rejects.toMatchObject({ code: 'storage', retryable: true })
    await waiting.catch(() => undefined)
    await expect(search.search(requestOf('token'))).rejects.toThrow('The search thread exited')
    expect(notices).toEqual([
      expect.stringContaining('the search thread crashed and is started again at the next search'),
    ])
    const again = await opened.open()
    expect((await again.search(requestOf('token'))).hits.map(({ id }) => id)).toEqual([1])
  })

  test('that could not be opened is tried again at the next search', async () => {
    const database = join(here.directory, 'later', 'db.sqlite')
    const opened = gate({ database })
    await expect(opened.open()).rejects.toMatchObject({ code: 'not_found' })
    await (await openLocalStore({ databaseFile: database, backupsDir: here.directory })).close()
    expect((await (await opened.open()).search(requestOf('token'))).hits).toEqual([])
    expect(notices).toEqual([])
  })

  test('is opened once for concurrent calls, and not after it was closed', async () => {
    const opened = gate()
    const [a, b] = await Promise.all([opened.open(), opened.open()])
    expect(a).toBe(b)
    await opened.close()
    await opened.close()
    await expect(opened.open()).rejects.toMatchObject({ code: 'draining' })
    expect(notices).toEqual([])
  })

  test('an invalid request only fails itself', async () => {
    const search = await gate().open()
    const broken: SearchRequest = { ...requestOf('x'), filters: JSON.parse('null') }
    await expect(search.search(broken)).rejects.toMatchObject({ code: 'internal' })
    expect((await search.search(requestOf('x'))).hits).toEqual([])
  })

  test.skipIf(!HAS_HNSW)(
    'an index is built between searches, and forgotten observations are removed from it',
    async () => {
      const learned = Array.from({ length: 30 }, (_, n) => ({
        title: `note ${n}`,
        narrative: `the token of ${'x'.repeat(n)}`,
      }))
      const ids = await learn(here, 's1', learned)
      const opened = gate()
      await indexed(opened)
      const search = await opened.open()
      const before = await search.search(requestOf('token', { limit: 40, mode: 'semantic' }))
      while ((await search.state()).method !== 'hnsw');
      const after = await search.search(requestOf('token', { limit: 40, mode: 'semantic' }))
      expect(after.hits).toEqual(before.hits)
      const [gone = 0] = ids
      await here.store.forget({ ids: [gone], filters: null, dryRun: false, at: 0 })
      await search.forget([gone])
      const left = await search.search(requestOf('token', { limit: 40, mode: 'semantic' }))
      expect(left.hits.flatMap(({ id, similar }) => [id, ...similar])).not.toContain(gone)
    },
  )

  test('every answer is a consistent snapshot while the daemon writes', async () => {
    const opened = gate()
    const search = await opened.open()
    const indexer = here.indexer({ search: () => opened.open() })
    const questions: Promise<number>[] = []
    for (let n = 1; n <= 30; n++) {
      // Two a commit: an answer that holds one of them holds both.
      await learn(here, `s${n % 3}`, [{ title: `token one ${n}` }, { title: `token two ${n}` }])
      indexer.wake()
      questions.push(search.search(requestOf('token', { mode: 'strict', limit: 100 })).then(({ hits }) => hits.length))
    }
    const counts = await Promise.all(questions)
    await indexer.whenIdle()
    expect(counts.filter((count) => count % 2 === 1)).toEqual([])
    expect(counts).toEqual([...counts].sort((a, b) => a - b))
    expect((await search.search(requestOf('token', { mode: 'strict', limit: 100 }))).hits).toHaveLength(60)
    expect(notices).toEqual([])
  })
})
