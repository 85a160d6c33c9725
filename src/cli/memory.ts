/** The memory as a daemon gives it, and as it is before there is any. */
import type { ChannelClient } from '../channel/client.ts'
import type { MemoryStats, ReadableMemory } from '../channel/memory.ts'
import { MemError } from '../errors.ts'

export function daemonMemory(client: ChannelClient): ReadableMemory {
  return {
    search: async (request) => (await client.request('found', { type: 'search', request })).answer,
    observations: async (ids) => {
      const { observations, missing } = await client.request('observations', { type: 'observations', ids })
      return { observations, missing }
    },
    timeline: async (request) => {
      const { anchor, items } = await client.request('timeline', { type: 'timeline', ...request })
      return { anchor, items }
    },
    summaries: async (filter) => (await client.request('summaries', { type: 'summaries', ...filter })).summaries,
    stats: async (project) => (await client.request('memory_stats', { type: 'memory_stats', project })).stats,
  }
}

const noStats: Omit<MemoryStats, 'project'> = {
  observations: 0,
  summaries: 0,
  prompts: 0,
  sessions: 0,
  oldestAt: null,
  newestAt: null,
  projects: [],
  types: { bugfix: 0, feature: 0, refactor: 0, decision: 0, discovery: 0, change: 0 },
  months: [],
  pinned: 0,
  links: { repeats: 0, supersedes: 0 },
  databaseBytes: 0,
  index: {
    lexical: { done: 0, total: 0 },
    vectors: { done: 0, total: 0, fragments: 0, bytes: 0 },
    embedder: null,
    method: null,
  },
}

/** Of a data directory that no daemon ever served. */
export const emptyMemory: ReadableMemory = {
  search: async ({ query }) => ({
    mode: query === '' ? 'filter' : 'strict',
    notes: ['nothing is remembered yet'],
    hits: [],
    total: 0,
    tookMs: 0,
    embedder: null,
  }),
  observations: async (ids) => ({ observations: [], missing: [...ids] }),
  timeline: async ({ anchor }) => {
    if (anchor !== null) throw new MemError('not_found', `there is no observation ${anchor}`)
    return { anchor: null, items: [] }
  },
  summaries: async () => [],
  stats: async (key) => ({ ...noStats, project: key === null ? null : { key, name: key } }),
}
