/**
 * The memory as its file has it, while no daemon runs: the daemon's own search, by words alone. Vectors would have to
 * be loaded for a single question.
 */
import type { ReadableMemory } from '../channel/memory.ts'
import { statsOf } from '../channel/memory-stats.ts'
import { NamedReadableMemory } from '../channel/named-memory.ts'
import { timelineOf } from '../channel/timeline.ts'
import { COLUMNS } from '../search/columns.ts'
import { SearchEngine } from '../search/engine.ts'
import type { SearchOptions } from '../search/open.ts'
import type { SearchAnswer, SearchRequest } from '../search/query.ts'
import type { Reader } from '../store/port.ts'

export interface FileMemory extends ReadableMemory {
  close(): void
}

/** `reader` is open on the same file, and stays the caller's. */
export async function openFileMemory(options: SearchOptions, reader: Reader): Promise<FileMemory> {
  const log = () => undefined
  const engine = await SearchEngine.open({ ...options, embedder: null, columns: COLUMNS, log })
  const search = {
    search: (request: SearchRequest) => byWords(engine, request),
    observations: async (ids: readonly number[]) => engine.reader.observations(ids),
    found: async (rows: readonly number[]) => engine.reader.found(rows),
    beside: async (...args: Parameters<typeof engine.reader.beside>) => engine.reader.beside(...args),
    passing: async (...args: Parameters<typeof engine.reader.passing>) => engine.reader.passing(...args),
  }
  const file: ReadableMemory = {
    search: search.search,
    observations: async (ids) => {
      const observations = engine.reader.observations(ids)
      const there = new Set(observations.map(({ id }) => id))
      return { observations, missing: ids.filter((id) => !there.has(id)) }
    },
    timeline: (request) => timelineOf(search, request),
    summaries: ({ session, project, limit }) =>
      reader.summaries({ limit, ...(session === null ? {} : { session }), ...(project === null ? {} : { project }) }),
    stats: (project) => stats(engine, reader, project),
  }
  return Object.assign(new NamedReadableMemory(file, reader), { close: () => engine.close() })
}

async function byWords(engine: SearchEngine, request: SearchRequest): Promise<SearchAnswer> {
  const answer = await engine.search(request)
  const wanted = answer.mode === 'strict' || answer.mode === 'filter'
  return { ...answer, notes: wanted ? answer.notes : ['no daemon answers: this was found by words alone'] }
}

function stats(engine: SearchEngine, reader: Reader, project: string | null) {
  const counts = engine.reader.counts(project, null)
  const { vectors } = counts
  const embedder = vectors === null ? null : { name: vectors.embedder, dimensions: vectors.dimensions }
  const state = { ...engine.state(), embedder }
  return statsOf(reader, { state: async () => state, counts: async () => counts }, project, 0)
}
