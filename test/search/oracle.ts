/** What should be found, worked out the slow way from what was stored: no SQL, no index, nothing of the search itself. */
import { OBSERVATION_TYPES, type ObservationType } from '../../src/domain/observation.ts'
import { MEMORY_KINDS, type MemoryKind, type SearchFilters, type SearchHit } from '../../src/domain/search-query.ts'

/** A memory as a test stored it. */
export interface Stored {
  kind: MemoryKind
  id: number
  session: string
  project: string
  type: ObservationType | null
  concepts: readonly string[]
  files: readonly string[]
  agent: string | null
  at: number
  pinned: boolean
  supersededBy: number | null
  /** Everything it says. */
  text: string
}

export function passes(memory: Stored, filters: SearchFilters): boolean {
  const { project, kinds, types, concepts, files, since, until, agent, session, pinned } = filters
  const any = <T>(wanted: readonly T[], test: (one: T) => boolean) => wanted.length === 0 || wanted.some(test)
  return (
    (project === null || memory.project === project) &&
    any(kinds, (kind) => kind === memory.kind) &&
    any(types, (type) => type === memory.type) &&
    any(concepts, (concept) => memory.concepts.map(lower).includes(lower(concept))) &&
    any(files, (file) => memory.files.some((path) => slashed(path).includes(slashed(file)))) &&
    (since === null || memory.at >= since) &&
    (until === null || memory.at <= until) &&
    (agent === null || memory.agent === agent) &&
    (session === null || memory.session === session) &&
    (!pinned || memory.pinned)
  )
}

/** Newest first; of one moment, as rows are numbered: by id, and within one id observation, summary, prompt. */
export function newestFirst(memories: readonly Stored[]): Stored[] {
  return [...memories].sort((a, b) => b.at - a.at || b.id - a.id || rankOf(b.kind) - rankOf(a.kind))
}

/** All of the words stand in it, as whole words. The words of these tests have no endings to be cut. */
export function saysAll(memory: Stored, words: readonly string[]): boolean {
  const said = new Set(lower(memory.text).split(/[^a-z]+/))
  return words.every((word) => said.has(word))
}

export const nameOf = ({ kind, id }: Pick<SearchHit, 'kind' | 'id'>) => `${kind} ${id}`

/** A path is the same path on every system. */
const slashed = (path: string) => lower(path).replaceAll('\\', '/')
const lower = (text: string) => text.toLowerCase()
const rankOf = (kind: MemoryKind) => MEMORY_KINDS.indexOf(kind)

export const TYPES = OBSERVATION_TYPES
