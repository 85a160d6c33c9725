/** What stands around a moment. */
import { MemError } from '../errors.ts'
import type { SearchCalls } from '../search/client.ts'
import { MEMORY_KINDS, NO_FILTERS } from '../search/query.ts'
import type { FoundMemory } from '../store/search-port.ts'
import { rowOf } from '../store/sqlite/search/rows.ts'
import type { Timeline, TimelineItem, TimelineRequest } from './memory.ts'

export type TimelineSource = Pick<SearchCalls, 'search' | 'observations' | 'found' | 'beside' | 'passing'>

export async function timelineOf(search: TimelineSource, request: TimelineRequest): Promise<Timeline> {
  const { before, after } = request
  const filters = { ...NO_FILTERS, kinds: MEMORY_KINDS, project: request.project }
  if (request.anchor === null && request.query === null) {
    const newest = await search.passing(filters, before + after + 1, 0)
    return { anchor: null, items: (await search.found(newest.reverse())).map(itemOf) }
  }
  const anchor = request.anchor ?? (await bestHit(search, request.query ?? '', request.project))
  if (anchor === null) return { anchor: null, items: [] }
  const [observation] = await search.observations([anchor])
  if (observation === undefined) throw new MemError('not_found', `there is no observation ${anchor}`)
  const around = { ...filters, project: request.project ?? observation.project }
  const rows = await search.beside(rowOf('observation', anchor), around, before, after)
  return { anchor, items: (await search.found(rows)).map(itemOf) }
}

async function bestHit(search: TimelineSource, query: string, project: string | null): Promise<number | null> {
  const filters = { ...NO_FILTERS, project }
  const { hits } = await search.search({ query, mode: 'auto', filters, limit: 1, offset: 0 })
  const [best] = hits
  return best === undefined || best.completes ? null : best.id
}

function itemOf(found: FoundMemory): TimelineItem {
  const { kind, id, session, project, projectName, type, title, createdAt, promptNumber, tokens } = found
  return { kind, id, session, project, projectName, type, title, createdAt, promptNumber, tokens }
}
