/** Two projects become one while the search has both of them in memory. */
import { existsSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Embedder } from '../../src/search/embedders/models.ts'
import { hnswIndexFiles } from '../../src/search/vectors/hnsw-index.ts'
import { NOW, PROJECT } from '../store/samples.ts'
import {
  HAS_HNSW,
  learn,
  OTHER_PROJECT,
  randomFrom,
  randomVector,
  type SearchFixture,
  searchFixture,
} from './search-fixture.ts'

const DIMENSIONS = 16
const FROM = OTHER_PROJECT.key
const INTO = PROJECT.key

let here: SearchFixture
beforeEach(async () => {
  const random = randomFrom(11)
  const embedder: Embedder = {
    name: 'one',
    dimensions: DIMENSIONS,
    embed: async (texts) => texts.map(() => randomVector(random, DIMENSIONS)),
  }
  here = await searchFixture(embedder)
  await here.open({ hnswThreshold: 20 })
})
afterEach(() => here.dispose())

const learned = (count: number, about: string) =>
  Array.from({ length: count }, (_, n) => ({ title: `${about} ${n}`, narrative: `${about} number ${n} at length` }))

async function merge(): Promise<void> {
  await here.store.updateProjects([{ key: FROM, mergedInto: INTO }], NOW)
  while ((await here.store.moveMergedRows(7)) > 0);
  here.engine().moved(FROM, INTO)
}

test('after a merge, memories of both projects are found by words and by meaning', async () => {
  const posts = await learn(here, 'blog', learned(4, 'posts'), OTHER_PROJECT)
  const carts = await learn(here, 'shop', learned(4, 'carts'), PROJECT)
  await here.index()
  expect(await here.near('anything', { project: FROM })).toHaveLength(4)
  expect(await here.near('anything', { project: INTO })).toHaveLength(4)
  await merge()
  const everything = [...posts, ...carts].sort((a, b) => a - b)
  expect((await here.near('anything', { project: INTO })).sort((a, b) => a - b)).toEqual(everything)
  expect(await here.near('anything', { project: FROM })).toEqual([])
  expect(await here.found('posts', { mode: 'strict', project: INTO })).toHaveLength(4)
  // Parts of sessions are looked through by project too.
  expect(here.engine().reader.chunks('posts', INTO, 10)).toHaveLength(1)
  expect(here.engine().reader.chunks('posts', FROM, 10)).toEqual([])
})

test.runIf(HAS_HNSW)('after a merge, the built index is completed and the other one is deleted', async () => {
  await learn(here, 'blog', learned(30, 'posts'), OTHER_PROJECT)
  await learn(here, 'shop', learned(30, 'carts'), PROJECT)
  await here.index()
  const build = () => {
    while (here.engine().vectors?.build(1_000) === true);
  }
  const ask = (project: string) => here.near('anything', { project })
  await ask(FROM)
  await ask(INTO)
  build()
  const fileOf = (project: string) =>
    hnswIndexFiles(here.vectors, { project, embedder: 'one', dimensions: DIMENSIONS }).index
  expect([FROM, INTO].map((project) => existsSync(fileOf(project)))).toEqual([true, true])
  await merge()
  expect(existsSync(fileOf(FROM))).toBe(false)
  expect(await ask(INTO)).toHaveLength(60)
  build()
  expect(here.engine().state().method).toBe('hnsw')
  expect(await ask(INTO)).toHaveLength(60)
  expect(here.messages).toEqual([])
})
