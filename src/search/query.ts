/** What can be asked of the memory, and what it answers. The same words in the CLI, REST, WebSocket and MCP. */
import type { ObservationType } from '../memory/observation.ts'

/**
 * `strict`: every word must stand there, newest first. `semantic`: by meaning alone. `hybrid`: words and meaning ranked
 * together. `auto` picks by what is asked and available, and the answer says which it was.
 */
export const SEARCH_MODES = ['auto', 'strict', 'semantic', 'hybrid'] as const
export type SearchMode = (typeof SEARCH_MODES)[number]
export type AnsweredMode = Exclude<SearchMode, 'auto'> | 'filter'

export const MEMORY_KINDS = ['observation', 'summary', 'prompt'] as const
export type MemoryKind = (typeof MEMORY_KINDS)[number]

/** Exact, and the same for every mode. Lists: any of them will do. */
export interface SearchFilters {
  /** A project's key. Null: all projects. */
  project: string | null
  kinds: readonly MemoryKind[]
  types: readonly ObservationType[]
  concepts: readonly string[]
  /** Parts of paths. */
  files: readonly string[]
  /** Epoch ms, both included. */
  since: number | null
  until: number | null
  agent: string | null
  session: string | null
  /** Only what is pinned. */
  pinned: boolean
}

export const NO_FILTERS: SearchFilters = {
  project: null,
  kinds: ['observation'],
  types: [],
  concepts: [],
  files: [],
  since: null,
  until: null,
  agent: null,
  session: null,
  pinned: false,
}

export interface SearchRequest {
  /** Empty: the newest that pass the filters. */
  query: string
  mode: SearchMode
  filters: SearchFilters
  limit: number
  offset: number
}

/** Why a result stands where it does: each part as it went into the sum. */
export interface Explanation {
  /** From 0 to 1 before its weight. */
  lexical: number
  semantic: number
  session: number
  recency: number
  type: number
  /** What the parts came to with their weights; superseded ones come after all others. */
  score: number
  /** Words of the query that stand in it, as far as they were looked for. */
  matched: string[]
  /** The fragment that is closest in meaning: `narrative`, `fact 2`, … Null: none. */
  fragment: string | null
}

export interface SearchHit {
  kind: MemoryKind
  id: number
  session: string
  project: string
  projectName: string
  /** Null for summaries and prompts. */
  type: ObservationType | null
  title: string
  /** The words around what was found, one line. */
  snippet: string
  files: string[]
  createdAt: number
  promptNumber: number
  pinned: boolean
  /** The newer observation that replaces it. */
  supersededBy: number | null
  /** Near-duplicates that were left out for this one; they are still there. */
  similar: number[]
  /** What it costs to read it whole, in tokens. */
  tokens: number
  explanation: Explanation
  /** It only passes the filters: it completes a list that the query alone did not fill. */
  completes: boolean
}

export interface SearchAnswer {
  mode: AnsweredMode
  /** Why it was not the mode that was asked for, and other things to know. */
  notes: string[]
  hits: SearchHit[]
  /** How many passed the filters and the query; a lower bound where counting would take long. */
  total: number
  tookMs: number
  embedder: string | null
}
