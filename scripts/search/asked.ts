/** How long answers take: every mode, without filters, within a project, and with several filters. */
import type { SearchCalls } from '../../src/search/client.ts'
import { NO_FILTERS, type SearchFilters } from '../../src/search/query.ts'
import { median, percentile, rounded } from '../lib/stats.ts'
import type { PlainFts5 } from '../retrieval/plain-fts5.ts'
import { FIRST_AT, LARGE, SESSION_MS } from './memory.ts'

const MODES = ['strict', 'semantic', 'hybrid'] as const
const ROUNDS = 2
const TOP = 10

export interface Times {
  p50_ms: number
  p99_ms: number
}

/** By mode and filter: `hybrid`, `hybrid_project`, `hybrid_filters`; and `fts5`. */
export type Answered = Map<string, Times>

/** One kind of every twelve observations, of the later half, of one project. */
function filtersOf(sessions: number): [name: string, filters: SearchFilters][] {
  const ofProject = { ...NO_FILTERS, project: LARGE.key }
  return [
    ['', NO_FILTERS],
    ['_project', ofProject],
    ['_filters', { ...ofProject, types: ['bugfix'], since: FIRST_AT + (sessions * SESSION_MS) / 2 }],
  ]
}

/** Each question goes to all of them in turn, so that a slow moment of the machine meets them all. */
export async function ask(
  search: SearchCalls,
  plain: PlainFts5,
  queries: readonly string[],
  sessions: number,
): Promise<Answered> {
  const samples = new Map<string, number[]>()
  const timed = async (name: string, work: () => unknown) => {
    const began = performance.now()
    await work()
    const ms = performance.now() - began
    samples.set(name, [...(samples.get(name) ?? []), ms])
  }
  const filters = filtersOf(sessions)
  const askAll = async (query: string) => {
    await timed('fts5', () => plain.search(query, TOP))
    for (const mode of MODES) {
      for (const [name, chosen] of filters) {
        await timed(`${mode}${name}`, () => search.search({ query, mode, filters: chosen, limit: TOP, offset: 0 }))
      }
    }
  }
  // The first answers read the vectors and warm the program up.
  for (const query of queries.slice(0, TOP)) await askAll(query)
  samples.clear()
  for (let n = 0; n < ROUNDS; n++) for (const query of queries) await askAll(query)
  const times = (ms: readonly number[]): Times => ({
    p50_ms: rounded(median(ms), 1),
    p99_ms: rounded(percentile(ms, 0.99), 1),
  })
  return new Map([...samples].map(([name, ms]) => [name, times(ms)]))
}
