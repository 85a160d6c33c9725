/** How much of what looking through all vectors finds the index finds too. */
import { staticEmbedder } from '../../src/search/embedders/static.ts'
import { NO_FILTERS } from '../../src/search/query.ts'
import { VectorStore } from '../../src/search/vectors/vector-store.ts'
import { SearchReader } from '../../src/store/sqlite/search/reader.ts'
import type { Place } from '../lib/place.ts'
import { LARGE, settings } from './memory.ts'

const TOP = 10

/** Share of the ten closest observations that are among the ten of the index. */
export async function recallAt10(place: Place, queries: readonly string[]): Promise<number> {
  const reader = SearchReader.open(place.paths.database)
  const embedder = await staticEmbedder()
  const common = { reader, embedder, directory: place.paths.vectors, log: () => undefined }
  const graphFrom = settings.CLAUDE_MEM_VECTOR_INDEX_FROM
  const graph = await VectorStore.open({ ...common, graphFrom })
  const exact = await VectorStore.open({ ...common, graphFrom, library: null })
  const filters = { ...NO_FILTERS, project: LARGE.key }
  let found = 0
  let wanted = 0
  for (const query of await embedder.embed(queries)) {
    if (query === null) continue
    const near = new Set(graph.nearest(query, filters, TOP).map(({ observationId }) => observationId))
    const closest = exact.nearest(query, filters, TOP)
    wanted += closest.length
    found += closest.filter(({ observationId }) => near.has(observationId)).length
  }
  if (graph.method !== 'hnsw') throw new Error('the index of vectors was not used')
  reader.close()
  return found / wanted
}
