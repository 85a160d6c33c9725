/** Vectors that came since the graph was built are found before it has them. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NO_FILTERS } from '../../src/domain/search-query.ts'
import type { Embedder } from '../../src/search/embedders/models.ts'
import { VectorStore } from '../../src/search/vectors/vector-store.ts'
import { openSearchDatabase, type SearchDatabase } from '../../src/store/sqlite/search-reader.ts'
import { PROJECT } from '../store/samples.ts'
import { HAS_HNSW, learn, randomFrom, randomVector, type SearchFixture, searchFixture } from './search-fixture.ts'

const DIMENSIONS = 16
const EMBEDDER: Embedder = { name: 'one', dimensions: DIMENSIONS, embed: async (texts) => texts.map(() => null) }
const OF_SHOP = { ...NO_FILTERS, project: PROJECT.key }
/** Longer than the building takes: one step builds all. */
const ALL_MS = 60_000

let here: SearchFixture
let reader: SearchDatabase
let random: () => number
beforeEach(async () => {
  here = await searchFixture(null)
  reader = openSearchDatabase(here.database)
  random = randomFrom(3)
})
afterEach(async () => {
  reader.close()
  await here.dispose()
})

async function some(session: string, count: number): Promise<Map<number, Float32Array>> {
  const ids = await learn(
    here,
    session,
    Array.from({ length: count }, (_, n) => ({ title: `${session} ${n}` })),
  )
  const vectors = new Map(ids.map((id) => [id, randomVector(random, DIMENSIONS)]))
  await here.store.putEmbeddings(
    [...vectors].map(([observationId, vector]) => ({ observationId, fragment: 'narrative', embedder: 'one', vector })),
  )
  return vectors
}

const openStore = () =>
  VectorStore.open({
    reader,
    embedder: EMBEDDER,
    directory: here.vectors,
    hnswThreshold: 50,
    log: (text) => here.messages.push(text),
  })

test.skipIf(!HAS_HNSW)('observations that are not yet in the graph are found too', async () => {
  await some('old', 120)
  const store = await openStore()
  store.nearest(randomVector(random, DIMENSIONS), OF_SHOP, 1)
  while (store.build(ALL_MS));
  expect(store.method).toBe('hnsw')
  const added = await some('new', 5)
  for (const [id, vector] of added) {
    expect(store.nearest(vector, OF_SHOP, 1).map(({ observationId }) => observationId)).toEqual([id])
  }
  const [[first] = []] = added
  if (first !== undefined) store.forget([first])
  for (const vector of added.values()) {
    expect(store.nearest(vector, OF_SHOP, 125).map(({ observationId }) => observationId)).not.toContain(first)
  }
  while (store.build(ALL_MS));
  expect(store.method).toBe('hnsw')
})

test('an old observation with new fragments is found by each of them', async () => {
  const old = await some('old', 120)
  const store = await openStore()
  store.nearest(randomVector(random, DIMENSIONS), OF_SHOP, 1)
  while (store.build(ALL_MS));
  const [[id] = []] = old
  if (id === undefined) throw new Error('nothing was learned')
  const fact = randomVector(random, DIMENSIONS)
  await here.store.putEmbeddings([{ observationId: id, fragment: 'fact_0', embedder: 'one', vector: fact }])
  for (const vector of [fact, old.get(id) ?? fact]) {
    expect(store.nearest(vector, OF_SHOP, 1)).toEqual([expect.objectContaining({ observationId: id })])
  }
  while (store.build(ALL_MS));
  for (const vector of [fact, old.get(id) ?? fact]) {
    expect(store.nearest(vector, OF_SHOP, 1)).toEqual([expect.objectContaining({ observationId: id })])
  }
})
