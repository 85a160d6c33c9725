/** What the daemon can be asked about the memory itself, and told to do with it. The doors speak to this, whoever does it. */
import type { ObservationType, Summary } from '../memory/observation.ts'
import type { Project } from '../memory/project.ts'
import type { SearchAnswer, SearchFilters, SearchHit, SearchRequest } from '../search/query.ts'
import type { Correction } from '../store/remember.ts'
import type { Forgotten, LinkedObservation, MemoryCounts } from '../store/search-port.ts'

/** An observation with everything that is known about it. */
export type ObservationView = LinkedObservation

export interface TimelineRequest {
  /** An observation's id. */
  anchor: number | null
  /** Without an anchor: the best hit of this is it. With neither: the newest. */
  query: string | null
  /** A project's key. Null: the anchor's own; of a query, all. */
  project: string | null
  /** How many to show on either side of the anchor. */
  before: number
  after: number
}

export type TimelineItem = Pick<
  SearchHit,
  'kind' | 'id' | 'session' | 'project' | 'projectName' | 'type' | 'title' | 'createdAt' | 'promptNumber' | 'tokens'
>

export interface Timeline {
  /** The observation in the middle; null where the newest was asked for, or the query found nothing. */
  anchor: number | null
  /** Oldest first, the anchor among them. */
  items: TimelineItem[]
}

export interface SummaryFilter {
  session: string | null
  project: string | null
  limit: number
}

/** A memory that somebody writes down by hand. */
export interface RememberRequest {
  project: Project
  cwd: string
  title: string
  text: string
  kind: ObservationType
  concepts: readonly string[]
  files: readonly string[]
}

/** What an observation should have said. */
export interface CorrectRequest extends Correction {
  observation: number
}

export interface ForgetRequest {
  /** Of observations. */
  ids: readonly number[]
  /** Whatever passes; null where ids are given. */
  filters: SearchFilters | null
  /** False: nothing goes, the report says what would. */
  confirm: boolean
}

export interface ForgetReport
  extends Pick<Forgotten, 'dryRun' | 'observations' | 'summaries' | 'prompts' | 'ids' | 'missing'> {
  /** When the last backup that still holds any of it will be gone; null: none does. */
  backupsUntil: number | null
}

export const REINDEX_PARTS = ['all', 'lexical', 'vectors'] as const
export type ReindexPart = (typeof REINDEX_PARTS)[number]

export interface IndexProgress {
  what: 'lexical' | 'vectors'
  done: number
  total: number
  /** Null for words. */
  embedder: string | null
}

export interface MemoryStats extends Omit<MemoryCounts, 'indexed' | 'vectors'> {
  /** Null: all projects. */
  project: Project | null
  /** Most observations first, at most some hundred. */
  projects: { key: string; name: string; observations: number; updatedAt: number }[]
  databaseBytes: number
  index: IndexStats
}

export interface IndexStats {
  /** Observations, summaries and prompts that can be found by their words, of those that should be. */
  lexical: { done: number; total: number }
  /** Observations that can be found by their meaning. */
  vectors: { done: number; total: number; fragments: number; bytes: number }
  /** Null where none was ever used. */
  embedder: { name: string; dimensions: number } | null
  /** How vectors are looked through; null: not at all, without an embedder or a daemon. */
  method: 'exact' | 'hnsw' | null
}

/** What changes nothing; the command line also reads it from the file while no daemon runs. */
export interface ReadableMemory {
  search(request: SearchRequest): Promise<SearchAnswer>
  /** In the order of the ids, each once. */
  observations(ids: readonly number[]): Promise<{ observations: ObservationView[]; missing: number[] }>
  /** An anchor that does not exist is `not_found`. */
  timeline(request: TimelineRequest): Promise<Timeline>
  /** Newest first. */
  summaries(filter: SummaryFilter): Promise<Summary[]>
  stats(project: string | null): Promise<MemoryStats>
}

export interface Memory extends ReadableMemory {
  remember(request: RememberRequest): Promise<{ id: number }>
  /** A new one, which supersedes the other. One that does not exist is `not_found`. */
  correct(request: CorrectRequest): Promise<{ id: number }>
  forget(request: ForgetRequest): Promise<ForgetReport>
  pin(ids: readonly number[], on: boolean): Promise<{ changed: number; missing: number[] }>
  /** `from` is the newer one. An id that does not exist is `not_found`. */
  link(from: number, to: number, kind: 'supersedes', on: boolean): Promise<void>
  /** Resolves once it has begun: from then on until its end `indexing` says how far it is. */
  reindex(what: ReindexPart): Promise<void>
  /** Null while nothing has to be indexed. */
  indexing(): IndexProgress | null
}
