import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { InputOf } from '../../src/api/index.ts'
import { MAX_QUERY_CHARS, MAX_REMEMBERED_CHARS } from '../../src/api/schemas.ts'
import type { SearchFilters } from '../../src/domain/search-query.ts'
import { dataPaths, type Paths } from '../../src/lib/paths.ts'
import { readOrMakeToken } from '../../src/transport/access.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import { DaemonServer } from '../../src/transport/server.ts'
import { events, Harness } from '../daemon/actors/harness.ts'
import { commitOf, observationOf, PROJECT, stateOf, summaryOf } from '../store/samples.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { type TestContext, testContext } from './context.ts'

const OTHER = { key: 'git:/home/me/blog', name: 'blog' }
const AT = new Date(2026, 10, 10, 12).getTime()

let h: Harness
let dir: string
let paths: Paths
let context: TestContext
let server: DaemonServer
let client: DaemonClient
let token: string

beforeEach(async () => {
  h = await new Harness().start()
  dir = temporaryDirectory('search')
  paths = dataPaths(dir)
  token = readOrMakeToken(join(dir, 'token'))
  context = testContext(h, paths, { process: { port: () => server.port } })
  server = new DaemonServer({
    paths,
    token,
    context,
    port: 0,
    maxMessageBytes: 2_000_000,
    seq: 0,
    log: () => undefined,
  })
  await server.listen()
  client = await DaemonClient.connect(paths)
  await remembered()
})
afterEach(async () => {
  client.close()
  await context.close()
  await server.close()
  await h.dispose()
})

const learned = (title: string, narrative: string, minutes: number, over: object = {}) => {
  return { ...observationOf([], { createdAt: AT + minutes * 60_000 }), title, narrative, facts: [], ...over }
}

/** #1 to #3 in the shop, #4 in the blog, each shop observation an hour apart. */
async function remembered(): Promise<void> {
  const observations = [
    learned('Login fixed', 'The JWT had expired: getUserById ran too late.', 0),
    learned('Pool enlarged', 'Connections ran out under load.', 60, { type: 'change', concepts: ['database'] }),
    learned('SQL by hand', 'An ORM hides the queries.', 120, { type: 'decision', filesModified: ['src/store/db.ts'] }),
  ]
  const summaries = [summaryOf({ createdAt: AT + 130 * 60_000 })]
  await h.store.commit([commitOf('session-shop', 1, { observations, summaries })])
  const posts = [learned('Posts paged', 'A JWT is not needed for posts.', 180)]
  await h.store.commit([commitOf('session-blog', 1, { state: stateOf({ project: OTHER }), observations: posts })])
}

const requestOf = (query: string, filters: Partial<SearchFilters> = {}): InputOf<'search'> => ({
  query,
  // Ranked by words, what stands beside a hit is one too.
  mode: 'strict',
  ...filters,
  limit: 10,
  offset: 0,
})

async function found(query: string, filters: Partial<SearchFilters> = {}): Promise<number[]> {
  const { answer } = await client.call('search', requestOf(query, filters))
  return answer.hits.map(({ id }) => id)
}

async function rest(method: string, path: string, body?: object) {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

describe('search', () => {
  test('finds by words, in a project by its key or its name, or in all', async () => {
    expect(await found('jwt', { project: PROJECT.key })).toEqual([1])
    expect(await found('jwt', { project: 'shop' })).toEqual([1])
    expect((await found('jwt')).sort()).toEqual([1, 4])
    expect(await found('', { project: 'blog' })).toEqual([4])
  })

  test('a session may be named by its first characters', async () => {
    expect(await found('', { session: 'session-b' })).toEqual([4])
    await expect(found('', { session: 'session' })).rejects.toThrow('2 sessions start with "session"')
    await expect(found('', { session: 'nope' })).rejects.toThrow('no session starts with "nope"')
  })

  test('a project that nobody knows is an error, its key is only empty', async () => {
    await expect(found('jwt', { project: 'nope' })).rejects.toThrow('no project is called "nope"')
    expect(await found('jwt', { project: 'git:/nowhere' })).toEqual([])
  })

  test.each([
    [
      'a query that is too long',
      { ...requestOf('x'.repeat(MAX_QUERY_CHARS + 1)) },
      'a query has at most 10000 characters',
    ],
    ['an unknown mode', { ...requestOf('x'), mode: 'magic' }, 'mode must be one of'],
    ['no hits at all', { ...requestOf('x'), limit: 0 }, 'limit must be a whole number from 1 to 500'],
    ['an endless list', { ...requestOf('x'), limit: 1e9 }, 'limit must be a whole number from 1 to 500'],
    ['an unknown type', requestOf('x', { types: ['bug' as 'bugfix'] }), 'types'],
    ['no kind', requestOf('x', { kinds: [] }), 'kinds'],
    ['a date that is none', requestOf('x', { since: 1e300 }), 'since'],
    ['dates the wrong way round', requestOf('x', { since: 2, until: 1 }), 'since is later than until'],
  ])('refuses %s', async (_name, request, message) => {
    const asked = client.call('search', request as InputOf<'search'>)
    await expect(asked).rejects.toMatchObject({ code: 'bad_request', message: expect.stringContaining(message) })
  })

  test.each([
    '"',
    "'; DROP TABLE observations; --",
    'AND OR NOT NEAR(',
    'title:jwt*',
    '*',
    '\0',
    '🐛🐛',
    '登录 修复',
    '   ',
    '-',
    '(((',
    'a'.repeat(9_999),
  ])('%j is a query like any other', async (query) => {
    expect(Array.isArray(await found(query))).toBe(true)
  })
})

describe('observations', () => {
  test('come whole, in the order asked for, each once; those that are not there are named', async () => {
    const { observations, missing } = await client.call('observations', { ids: [3, 99, 1, 3] })
    expect(observations.map(({ id }) => id)).toEqual([3, 1])
    expect(missing).toEqual([99])
    expect(observations[1]).toMatchObject({
      title: 'Login fixed',
      projectName: 'shop',
      pinned: false,
      supersededBy: null,
    })
    expect(observations[1]?.tokens).toBeGreaterThan(5)
  })

  test('say that they are pinned and what replaces them', async () => {
    expect(await client.call('pin', { ids: [1, 1, 77], on: true })).toMatchObject({
      changed: 1,
      missing: [77],
    })
    await client.call('link', { from: 3, to: 1, kind: 'supersedes', on: true })
    const ask = { ids: [1, 3] }
    const { observations } = await client.call('observations', ask)
    expect(observations).toMatchObject([{ pinned: true, supersededBy: 3 }, { supersedes: [1] }])
    await client.call('link', { from: 3, to: 1, kind: 'supersedes', on: false })
    await client.call('pin', { ids: [1], on: false })
    expect((await client.call('observations', ask)).observations[0]).toMatchObject({
      pinned: false,
      supersededBy: null,
    })
  })

  test('do not replace themselves', async () => {
    const asked = client.call('link', { from: 3, to: 3, kind: 'supersedes', on: true })
    await expect(asked).rejects.toMatchObject({ code: 'bad_request' })
  })
})

describe('a timeline', () => {
  const ask = (over: object) =>
    client.call('timeline', { anchor: null, query: null, project: null, before: 1, after: 1, ...over })

  test('shows what stands beside an observation in its project', async () => {
    const { anchor, items } = await ask({ anchor: 2 })
    expect(anchor).toBe(2)
    expect(items.map(({ id, kind }) => [kind, id])).toEqual([
      ['observation', 1],
      ['observation', 2],
      ['observation', 3],
    ])
  })

  test('is found by a query', async () => {
    expect(await ask({ query: 'connections', project: 'shop', before: 0 })).toMatchObject({
      anchor: 2,
      items: [{ id: 2 }, { id: 3 }],
    })
    expect(await ask({ query: 'zebra' })).toMatchObject({ anchor: null, items: [] })
  })

  test('ends with the newest where nothing is asked for', async () => {
    expect((await ask({ project: 'shop', before: 0 })).items.map(({ kind }) => kind)).toEqual([
      'observation',
      'summary',
    ])
  })

  test('of an observation that is not there is an error', async () => {
    await expect(ask({ anchor: 99 })).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('remember', () => {
  const note = {
    project: PROJECT,
    cwd: '/home/me/shop',
    title: null,
    kind: 'decision',
    concepts: [],
    files: [],
  } as const
  const add = async (text: string, over: object = {}) => {
    const { observation } = await client.call('remember', { ...note, text, ...over })
    const { observations } = await client.call('observations', { ids: [observation] })
    return observations[0]
  }

  test('adds an observation that is found like any other', async () => {
    const added = await add('Staging has a database of its own. Port 5433.', { files: ['ops/db.md', 'ops/db.md'] })
    expect(added).toMatchObject({
      type: 'decision',
      title: 'Staging has a database of its own',
      narrative: 'Staging has a database of its own. Port 5433.',
      filesRead: ['ops/db.md'],
      project: PROJECT.key,
    })
    expect(await found('staging', { project: 'shop' })).toEqual([added?.id])
  })

  test('keeps no private part and no secret', async () => {
    const key = `sk-ant-api03-${'x'.repeat(90)}`
    const added = await add(`The key is ${key}, <private>the safe is behind the clock</private> rotate it.`)
    expect(JSON.stringify(added)).not.toMatch(/xxxx|clock/)
    expect(added?.narrative).toContain('rotate it')
  })

  test('cuts a title that is as long as a text', async () => {
    const added = await add('word '.repeat(1_000))
    expect(added?.title?.length).toBeLessThan(100)
  })

  test.each([
    ['nothing', ' \n', 'there is nothing to remember'],
    ['what is private', '<private>all of it</private>', 'the whole text is private'],
    ['a book', 'x'.repeat(MAX_REMEMBERED_CHARS + 1), 'a memory has at most 20000 characters'],
  ])('refuses %s', async (_name, text, message) => {
    await expect(add(text)).rejects.toMatchObject({ code: 'bad_request', message: expect.stringContaining(message) })
  })
})

describe('forget', () => {
  const ask = async (over: object) => (await client.call('forget', { ids: [], confirm: false, ...over })).report

  test('shows what would go before anything goes', async () => {
    expect(await ask({ ids: [1, 99] })).toMatchObject({ dryRun: true, observations: 1, ids: [1], missing: [99] })
    expect(await found('jwt', { project: 'shop' })).toEqual([1])
    expect(await ask({ ids: [1], confirm: true })).toMatchObject({ dryRun: false, observations: 1 })
    expect(await found('jwt', { project: 'shop' })).toEqual([])
    expect(await h.store.observation(1)).toBeNull()
  })

  test('takes what passes filters, of the kinds that were asked for', async () => {
    const filters = { project: 'shop', kinds: ['observation', 'summary'] as const }
    expect(await ask({ ...filters, confirm: true })).toMatchObject({ observations: 3, summaries: 1 })
    expect(await found('')).toEqual([4])
  })

  test('says that passages go with the memories of their turns', async () => {
    await expect(ask({ project: 'shop', kinds: ['passage'] })).rejects.toThrow(/with the memories of their turns/)
  })

  test('names the backup that holds it, and when that is deleted', async () => {
    const { file, at } = await h.store.backup('manual', 3)
    const copies = [{ file, at, reason: 'manual', deletedAfter: 3 }]
    expect(await ask({ ids: [1], confirm: true })).toMatchObject({ copies })
  })

  test.each([
    ['nothing', {}],
    ['everything', { project: null }],
    ['everything of a kind', { kinds: ['summary'] }],
    ['ids and filters at once', { ids: [1], project: 'shop' }],
  ])('refuses %s', async (_name, what) => {
    await expect(ask({ ...what, confirm: true })).rejects.toMatchObject({ code: 'bad_request' })
    expect((await found('')).length).toBe(5)
  })
})

describe('the memory', () => {
  test('counts itself', async () => {
    const { stats } = await client.call('memory_stats', { project: null })
    expect(stats).toMatchObject({
      project: null,
      observations: 4,
      summaries: 1,
      sessions: 2,
      types: { bugfix: 2, change: 1, decision: 1, feature: 0 },
      months: [{ month: '2026-11', observations: 4 }],
      projects: [
        { name: 'shop', observations: 3 },
        { name: 'blog', observations: 1 },
      ],
      index: { lexical: { done: 5, total: 5 }, embedder: null },
    })
    const shop = await client.call('memory_stats', { project: 'shop' })
    expect(shop.stats).toMatchObject({ project: PROJECT, observations: 3, types: { bugfix: 1 } })
  })

  test('gives its summaries', async () => {
    const ask = { session: 'session-s', limit: 5 }
    expect((await client.call('summaries', ask)).summaries).toMatchObject([{ learned: 'tokens live an hour' }])
  })

  test('is indexed again, says how far it is, and finds the same', async () => {
    const before = await found('jwt')
    const { progress } = await client.call('reindex', { what: 'lexical' })
    expect(progress).toMatchObject({ what: 'lexical', total: expect.any(Number) })
    await expect.poll(async () => (await client.call('indexing')).progress).toBeNull()
    expect(await found('jwt')).toEqual(before)
    expect((await client.call('status')).status.indexing).toBeNull()
  })
})

describe('over HTTP', () => {
  test('the memory is searched', async () => {
    expect((await rest('GET', '/api/search?q=jwt&mode=strict&project=shop')).body).toMatchObject({
      total: 1,
      hits: [{ id: 1 }],
    })
    const filtered = '/api/search?type=change,decision&since=2026-11-10&until=2026-11-10&kind=observation&limit=1'
    expect((await rest('GET', filtered)).body).toMatchObject({ mode: 'filter', total: 2, hits: [{ id: 3 }] })
    expect((await rest('GET', `${filtered}&offset=1`)).body.hits).toMatchObject([{ id: 2 }])
    expect((await rest('GET', '/api/search?file=store%2Fdb.ts')).body.hits).toMatchObject([{ id: 3 }])
    expect((await rest('GET', '/api/search?kind=all&project=shop')).body.total).toBe(4)
    expect((await rest('GET', '/api/search?concept=Database')).body.hits).toMatchObject([{ id: 2 }])
  })

  test('an observation is read, pinned, replaced and forgotten', async () => {
    expect(await rest('GET', '/api/observations/1')).toMatchObject({ status: 200, body: { title: 'Login fixed' } })
    expect((await rest('PUT', '/api/observations/1/pin')).body).toEqual({ pinned: true, changed: true })
    expect((await rest('PUT', '/api/observations/1/pin', { ids: [2] })).status).toBe(422)
    expect((await rest('PUT', '/api/observations/3/supersedes/1', { from: 2 })).status).toBe(422)
    expect((await rest('PUT', '/api/observations/3/supersedes/1')).status).toBe(200)
    expect((await rest('GET', '/api/observations/1')).body).toMatchObject({ pinned: true, supersededBy: 3 })
    expect((await rest('GET', '/api/search?pinned=1')).body.hits).toMatchObject([{ id: 1 }])
    expect((await rest('DELETE', '/api/observations/1')).status).toBe(422)
    expect((await rest('DELETE', '/api/observations/1?confirm=1')).body).toMatchObject({ dryRun: false, ids: [1] })
    expect((await rest('GET', '/api/observations/1')).status).toBe(404)
  })

  test('something is written down', async () => {
    const { status, body } = await rest('POST', '/api/observations', { project: 'shop', text: 'Deploys wait for CI.' })
    expect(status).toBe(200)
    expect((await rest('GET', `/api/observations/${body.id}`)).body).toMatchObject({
      title: 'Deploys wait for CI',
      type: 'discovery',
      project: PROJECT.key,
    })
  })

  test('a session is erased with all that it left behind', async () => {
    await h.supervisor.accept(events.prompt('live', 'p', 'Where do zebras live?'))
    await h.supervisor.accept(events.tool('live', 'a'))
    expect((await rest('DELETE', '/api/sessions/live?purge=1')).body).toMatchObject({ dryRun: false, prompts: 1 })
    expect(await found('zebras', { kinds: ['prompt'] })).toEqual([])
    expect(await h.store.queue({ session: 'live' })).toEqual([])
  })

  test('a session that cannot be restored is erased as well', async () => {
    expect((await rest('DELETE', '/api/sessions/session-shop?purge=1')).body).toMatchObject({
      dryRun: false,
      observations: 3,
      summaries: 1,
    })
    expect(await found('')).toEqual([4])
  })

  test('timeline, summaries and figures', async () => {
    expect((await rest('GET', '/api/timeline?anchor=2&before=1&after=0')).body).toMatchObject({
      anchor: 2,
      items: [{ id: 1 }, { id: 2 }],
    })
    expect((await rest('GET', '/api/summaries?project=shop')).body).toMatchObject([{ completed: 'fixed' }])
    expect((await rest('GET', '/api/stats?project=blog')).body).toMatchObject({ observations: 1 })
    expect((await rest('POST', '/api/reindex?what=lexical')).status).toBe(200)
    await expect.poll(() => context.memory.indexing()).toBeNull()
  })

  test.each([
    ['GET', '/api/search?q=jwt&typ=bugfix', 422, 'there is no parameter "typ"'],
    ['GET', '/api/search?type=bug', 422, 'type must be one of bugfix'],
    ['GET', '/api/search?since=soon', 422, 'since must be a date'],
    ['GET', '/api/search?since=2026-02-30', 422, 'since must be a date'],
    ['GET', '/api/search?limit=501', 422, 'limit must be a whole number from 1 to 500'],
    ['GET', `/api/search?q=${'x'.repeat(MAX_QUERY_CHARS + 1)}`, 422, 'a query has at most'],
    ['GET', '/api/search?project=nope', 404, 'no project is called'],
    ['GET', '/api/timeline?anchor=x', 422, 'anchor'],
    ['GET', '/api/observations/99', 404, 'no observation #99'],
    ['PUT', '/api/observations/99/pin', 404, 'no observation #99'],
    ['DELETE', '/api/observations/99?confirm=1', 404, 'no observation #99'],
    ['PUT', '/api/observations/1/supersedes/1', 422, 'cannot supersede itself'],
    ['GET', '/api/observations/abc', 404, 'there is nothing at'],
    ['DELETE', '/api/observations/1,2?confirm=1', 404, 'there is nothing at'],
    ['PUT', '/api/observations/1,2/pin', 404, 'there is nothing at'],
    ['DELETE', '/api/observations/1?confirm=1&ids=2', 422, 'there is no parameter "ids"'],
    ['DELETE', '/api/observations/1?confirm=1&id=2', 422, 'there is no parameter "id"'],
    ['POST', '/api/reindex?what=world', 422, 'what must be one of all, lexical, vectors'],
  ])('%s %s is %i', async (method, path, status, message) => {
    expect(await rest(method, path)).toMatchObject({
      status,
      body: { error: { message: expect.stringContaining(message) } },
    })
  })

  test('a memory without a text, or of a project that nobody knows, is refused', async () => {
    expect((await rest('POST', '/api/observations', { project: 'shop' })).status).toBe(422)
    expect((await rest('POST', '/api/observations', { project: 'nope', text: 'x' })).status).toBe(404)
  })
})
