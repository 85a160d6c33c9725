/** The index of vectors over real rows: whatever happens to its files, the same is found. */
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { NO_FILTERS, type SearchFilters } from '../../src/domain/search-query.ts'
import type { Embedder } from '../../src/search/embedders/models.ts'
import { VectorStore, type VectorStoreOptions } from '../../src/search/vectors/vector-store.ts'
import { openSearchDatabase, type SearchDatabase } from '../../src/store/sqlite/search-reader.ts'
import { PROJECT } from '../store/samples.ts'
import {
  HAS_HNSW,
  learn,
  OTHER_PROJECT,
  randomFrom,
  randomVector,
  type SearchFixture,
  searchFixture,
} from './search-fixture.ts'

const DIMENSIONS = 24
const OF_SHOP = { ...NO_FILTERS, project: PROJECT.key }
/** Longer than any building of these tests takes: one step builds all. */
const ALL_MS = 60_000

let here: SearchFixture
let readers: SearchDatabase[]
let random: () => number

beforeEach(async () => {
  here = await searchFixture(null)
  readers = []
  random = randomFrom(7)
})
afterEach(async () => {
  for (const reader of readers) reader.close()
  await here.dispose()
})

function embedderOf(name: string, dimensions = DIMENSIONS): Embedder {
  return { name, dimensions, embed: async (texts) => texts.map(() => randomVector(random, dimensions)) }
}

async function open(over: Partial<VectorStoreOptions> = {}): Promise<VectorStore> {
  const reader = openSearchDatabase(here.database)
  readers.push(reader)
  return await VectorStore.open({
    reader,
    embedder: embedderOf('one'),
    directory: here.vectors,
    hnswThreshold: 50,
    log: (text) => here.messages.push(text),
    ...over,
  })
}

/** Observations with two vectors each; returns their ids. */
async function many(count: number, project = PROJECT, embedder = 'one', dimensions = DIMENSIONS): Promise<number[]> {
  const learned = Array.from({ length: count }, (_, n) => ({ title: `number ${n}` }))
  const ids = await learn(here, `session of ${project.name} by ${embedder}`, learned, project)
  await embed(ids, embedder, dimensions)
  return ids
}

async function embed(ids: readonly number[], embedder: string, dimensions = DIMENSIONS): Promise<void> {
  const vectors = ids.flatMap((observationId) =>
    (['narrative', 'fact_0'] as const).map((fragment) => ({
      observationId,
      fragment,
      embedder,
      vector: randomVector(random, dimensions),
    })),
  )
  await here.store.putEmbeddings(vectors)
}

const queries = () => Array.from({ length: 25 }, () => randomVector(randomFrom(random() * 1e9), DIMENSIONS))

function answers(store: VectorStore, asked: readonly Float32Array[], filters: SearchFilters = OF_SHOP, limit = 10) {
  return asked.map((query) => store.nearest(query, filters, limit).map(({ observationId }) => observationId))
}

function recall(found: readonly number[][], exact: readonly number[][]): number {
  const hits = exact.map((ids, n) => ids.filter((id) => found[n]?.includes(id)).length)
  return hits.reduce((sum, n) => sum + n, 0) / exact.flat().length
}

const files = () => (existsSync(here.vectors) ? readdirSync(here.vectors).sort() : [])
const fileOf = (ending: string) => join(here.vectors, files().find((name) => name.endsWith(ending)) ?? 'none')

/** Asked once, so that the project is in memory, then completed. */
function built(store: VectorStore): VectorStore {
  answers(store, queries().slice(0, 1))
  while (store.build(ALL_MS));
  return store
}

describe.skipIf(!HAS_HNSW)('the graph', () => {
  test('finds the same as comparing all vectors, in the same order', async () => {
    await many(1_500)
    const exact = await open({ library: null })
    const store = built(await open())
    expect([store.method, exact.method]).toEqual(['hnsw', 'exact'])
    const asked = queries()
    const truth = answers(exact, asked)
    const found = answers(store, asked)
    expect(recall(found, truth)).toBeGreaterThanOrEqual(0.98)
    const scores = asked.map((query) => store.nearest(query, OF_SHOP, 10).map(({ score }) => score))
    for (const list of scores) expect(list).toEqual([...list].sort((a, b) => b - a))
  })

  test('is built in small steps, and searches work meanwhile without it', async () => {
    await many(300)
    const store = await open()
    const exact = answers(await open({ library: null }), queries().slice(0, 1))
    answers(store, queries().slice(0, 1))
    let steps = 0
    for (; store.build(0); steps++) expect(store.method).toBe('exact')
    expect(steps).toBeGreaterThan(100)
    expect(store.method).toBe('hnsw')
    expect(exact).toHaveLength(1)
  })

  test('is read from its file at the next start, and completed with new vectors', async () => {
    await many(100)
    built(await open()).close()
    const [newest] = await many(1, PROJECT)
    const store = await open()
    const asked = queries()
    answers(store, asked.slice(0, 1))
    expect(store.method).toBe('exact')
    while (store.build(ALL_MS));
    expect(answers(store, asked)).toEqual(answers(await open({ library: null }), asked))
    expect(answers(store, asked, OF_SHOP, 101).flat()).toContain(newest)
    expect(here.messages).toEqual([])
  })

  test('is written when it is closed, not for every new vector', async () => {
    await many(100)
    const store = built(await open())
    const before = readFileSync(fileOf('.json'), 'utf8')
    await many(1)
    built(store)
    expect(readFileSync(fileOf('.json'), 'utf8')).toBe(before)
    store.close()
    expect(readFileSync(fileOf('.json'), 'utf8')).not.toBe(before)
  })

  test.each([
    ['the index is missing', () => rmSync(fileOf('.hnsw')), 'ENOENT'],
    ['the labels are missing', () => rmSync(fileOf('.json')), 'the file with its labels is missing'],
    ['the index is cut off', () => truncateSync(fileOf('.hnsw'), 100), 'checksum'],
    ['the index is empty', () => truncateSync(fileOf('.hnsw'), 0), 'checksum'],
    ['a byte of the index is wrong', () => flip(fileOf('.hnsw')), 'checksum'],
    ['the labels are cut off', () => truncateSync(fileOf('.json'), 50), 'JSON'],
    ['the labels are null', () => writeFileSync(fileOf('.json'), 'null'), 'not a JSON object'],
    ['the labels are no list', () => rewrite({ labels: 5 }), 'is not a function'],
    ['a label is missing', () => rewrite({ labels: [[1, 'narrative']] }), 'its labels belong to another graph'],
    ['it is of another version', () => rewrite({ format: 99 }), 'another version'],
    ['it is of another embedder', () => rewriteKey({ embedder: 'two' }), 'another project or embedder'],
    ['it is of other dimensions', () => rewriteKey({ dimensions: 3 }), 'another project or embedder'],
    ['it is of another project', () => rewriteKey({ project: OTHER_PROJECT.key }), 'another project or embedder'],
  ])('is built again with a log line if %s', async (_, spoil, why) => {
    await many(80)
    built(await open()).close()
    const asked = queries()
    const truth = answers(await open({ library: null }), asked)
    spoil()
    const store = await open()
    expect(answers(store, asked)).toEqual(truth)
    expect(here.messages.join()).toMatch(/the vector index of .* is built again: /)
    expect(here.messages.join()).toContain(why)
    built(store)
    expect(store.method).toBe('hnsw')
    expect(answers(store, asked)).toEqual(truth)
    store.close()
    here.messages.length = 0
    built(await open())
    expect(here.messages).toEqual([])
  })

  test('a directory that cannot be written only prevents the file', async () => {
    await many(60)
    writeFileSync(here.vectors, 'in the way')
    const store = built(await open())
    expect(store.method).toBe('hnsw')
    expect(here.messages.join()).toMatch(/the vector index of .* could not be written/)
    store.forget([1])
    store.reset()
    expect(answers(store, queries(), OF_SHOP, 100)[0]).toHaveLength(60)
  })

  test('temporary files of a killed process are removed, and nothing else', async () => {
    await many(60)
    built(await open()).close()
    const left = fileOf('.hnsw').concat('.4711')
    writeFileSync(left, 'half')
    writeFileSync(join(here.vectors, 'notes.txt'), 'mine')
    await open()
    expect(existsSync(left)).toBe(false)
    expect(files()).toContain('notes.txt')
    expect(files()).toHaveLength(3)
  })
})

function flip(file: string): void {
  const bytes = readFileSync(file)
  bytes[bytes.length - 9] = (bytes.at(-9) ?? 0) ^ 0xff
  writeFileSync(file, bytes)
}
function rewrite(over: object): void {
  const file = fileOf('.json')
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...over }))
}
function rewriteKey(over: object): void {
  rewrite({ key: { ...JSON.parse(readFileSync(fileOf('.json'), 'utf8')).key, ...over } })
}

describe('a forgotten observation', () => {
  test('is found neither with the graph nor without, and is in no file', async () => {
    const ids = await many(100)
    const store = built(await open())
    const gone = ids.slice(0, 3)
    await here.store.forget({ ids: gone, filters: null, dryRun: false, at: 0 })
    store.forget(gone)
    expect(files()).toEqual([])
    const asked = queries()
    const found = answers(store, asked, OF_SHOP, 100)
    for (const id of gone) expect(found.flat()).not.toContain(id)
    expect(found).toEqual(answers(await open({ library: null }), asked, OF_SHOP, 100))
    expect(gone.flatMap((id) => store.similarTo(PROJECT.key, id, 5))).toEqual([])
    store.close()
    expect(files()).toEqual([])
  })

  test.skipIf(!HAS_HNSW)('is removed from files of projects and embedders that are not in memory', async () => {
    const ids = await many(60)
    await embed(ids, 'two')
    await many(60, OTHER_PROJECT)
    built(await open()).close()
    const two = await open({ embedder: embedderOf('two') })
    built(two).close()
    const other = await open()
    answers(other, queries(), { ...NO_FILTERS, project: OTHER_PROJECT.key })
    while (other.build(ALL_MS));
    other.close()
    expect(files().filter((name) => name.endsWith('.hnsw'))).toHaveLength(3)
    const gone = ids.slice(0, 1)
    await here.store.forget({ ids: gone, filters: null, dryRun: false, at: 0 })
    ;(await open()).forget(gone)
    expect(files().filter((name) => name.endsWith('.hnsw'))).toHaveLength(1)
  })

  test('that the index does not know of is not found, and the index file is deleted', async () => {
    const ids = await many(80)
    built(await open()).close()
    const gone = ids.slice(0, 2)
    await here.store.forget({ ids: gone, filters: null, dryRun: false, at: 0 })
    const store = await open()
    const asked = queries()
    const found = answers(store, asked, OF_SHOP, 80)
    for (const id of gone) expect(found.flat()).not.toContain(id)
    expect(found).toEqual(answers(await open({ library: null }), asked, OF_SHOP, 80))
    expect(files()).toEqual([])
  })

  test.skipIf(!HAS_HNSW)('in large numbers causes the graph to be built again without them', async () => {
    const ids = await many(200)
    const store = built(await open())
    const gone = ids.slice(0, 100)
    await here.store.forget({ ids: gone, filters: null, dryRun: false, at: 0 })
    store.forget(gone)
    expect(store.method).toBe('exact')
    built(store)
    expect(store.method).toBe('hnsw')
    const labels: unknown[] = JSON.parse(readFileSync(fileOf('.json'), 'utf8')).labels
    expect(labels).toHaveLength(200)
    const asked = queries()
    expect(answers(store, asked)).toEqual(answers(await open({ library: null }), asked))
  })
})

describe('vectors of several projects and embedders', () => {
  test('one project never finds those of another', async () => {
    const shop = await many(60)
    const blog = await many(60, OTHER_PROJECT)
    const store = built(await open())
    const of = (project: string | null) => answers(store, queries(), { ...NO_FILTERS, project }, 200).flat()
    expect(of(PROJECT.key).filter((id) => blog.includes(id))).toEqual([])
    expect(of(OTHER_PROJECT.key).filter((id) => shop.includes(id))).toEqual([])
    expect(new Set(of(null))).toEqual(new Set([...shop, ...blog]))
  })

  test('those of another embedder, or with other dimensions, are ignored', async () => {
    const one = await many(10)
    const two = await many(10, PROJECT, 'two', 7)
    const other = await many(10, PROJECT, 'one', 7)
    const found = answers(await open(), queries(), OF_SHOP, 100).flat()
    expect(new Set(found)).toEqual(new Set(one))
    expect([...two, ...other].filter((id) => found.includes(id))).toEqual([])
    expect(here.messages.join()).toContain('20 vectors by one do not have 24 dimensions')
  })

  test('a project that was evicted from memory is read again at its next search', async () => {
    await many(60)
    await many(60, OTHER_PROJECT)
    const asked = queries()
    const roomy = await open()
    const narrow = await open({ maxBytes: 1 })
    for (const project of [PROJECT.key, OTHER_PROJECT.key, PROJECT.key, null]) {
      const filters = { ...NO_FILTERS, project }
      expect(answers(narrow, asked, filters)).toEqual(answers(roomy, asked, filters))
    }
  })

  test('filters that leave few, many or no observations are exact', async () => {
    const shop = await many(80)
    await many(40, OTHER_PROJECT)
    const wanted = shop.slice(0, 5)
    await here.store.pin(wanted, true, 0)
    const store = built(await open())
    const pinned = { ...NO_FILTERS, pinned: true }
    for (const found of answers(store, queries(), pinned)) expect(new Set(found)).toEqual(new Set(wanted))
    expect(answers(store, queries(), { ...pinned, project: OTHER_PROJECT.key }).flat()).toEqual([])
    expect(answers(store, queries(), { ...pinned, kinds: ['summary'] }).flat()).toEqual([])
    expect(answers(store, queries(), { ...NO_FILTERS, kinds: [] }, 200)[0]).toHaveLength(120)
  })
})

test('after a reset everything is found as before', async () => {
  await many(60)
  const store = built(await open())
  const asked = queries()
  const before = answers(store, asked)
  store.reset()
  expect(files()).toEqual([])
  expect(answers(store, asked)).toEqual(before)
})

test('similar observations are of the same project, and never the observation itself', async () => {
  const ids = await many(60)
  await many(60, OTHER_PROJECT)
  const store = built(await open())
  for (const id of ids.slice(0, 10)) {
    const similar = store.similarTo(PROJECT.key, id, 100).map(({ observationId }) => observationId)
    expect(new Set(similar)).toEqual(new Set(ids.filter((other) => other !== id)))
  }
})
