/** What there is, for people. */
import type { SearchCalls } from '../search/client.ts'
import type { Store } from '../store/port.ts'
import type { MemoryStats } from './memory.ts'

/** Projects that are listed; the rest is in the sums. */
const MAX_PROJECTS = 200

export async function statsOf(
  store: Pick<Store, 'projects' | 'stats'>,
  search: Pick<SearchCalls, 'state' | 'counts'>,
  project: string | null,
  now: number,
): Promise<MemoryStats> {
  const [state, counts, projects, { databaseBytes }] = await Promise.all([
    search.state(),
    search.counts(project),
    store.projects({ limit: MAX_PROJECTS, ...(project === null ? {} : { key: project }) }),
    store.stats(now),
  ])
  const { indexed, vectors, ...rest } = counts
  const [known] = projects
  return {
    ...rest,
    project: project === null ? null : { key: project, name: known?.name ?? project },
    projects: projects
      .map(({ key, name, observations, updatedAt }) => ({ key, name, observations, updatedAt }))
      .sort((a, b) => b.observations - a.observations),
    databaseBytes,
    index: {
      lexical: indexed,
      vectors: {
        done: vectors?.observations ?? 0,
        total: rest.observations,
        fragments: vectors?.fragments ?? 0,
        bytes: vectors?.bytes ?? 0,
      },
      embedder: state.embedder,
      method: state.method,
    },
  }
}
