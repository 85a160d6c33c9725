/** What filters mean, in its plainest form. */
import type { ObservationType } from '../../src/domain/observation.ts'
import type { MemoryKind, SearchFilters } from '../../src/domain/search-query.ts'

export interface Filtered {
  kind: MemoryKind
  id: number
  session: string
  project: string
  type: ObservationType | null
  agent: string | null
  concepts: readonly string[]
  files: readonly string[]
  createdAt: number
  pinned: boolean
}

export function passes(filters: SearchFilters, memory: Filtered): boolean {
  const { project, kinds, types, concepts, files, since, until, agent, session, pinned } = filters
  const anyOf = <T>(wanted: readonly T[], holds: (item: T) => boolean) => wanted.length === 0 || wanted.some(holds)
  const path = (file: string) => file.replaceAll('\\', '/').toLowerCase()
  return (
    (project === null || memory.project === project) &&
    (session === null || memory.session === session) &&
    (agent === null || memory.agent === agent) &&
    (since === null || memory.createdAt >= since) &&
    (until === null || memory.createdAt <= until) &&
    (!pinned || memory.pinned) &&
    anyOf(kinds, (kind) => memory.kind === kind) &&
    anyOf(types, (type) => memory.type === type) &&
    anyOf(concepts, (concept) => memory.concepts.some((own) => own.trim().toLowerCase() === concept.toLowerCase())) &&
    anyOf(files, (part) => memory.files.some((file) => path(file).includes(path(part))))
  )
}
