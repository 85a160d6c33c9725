/** What search asks of the store: what it reads on a connection of its own, and what it has the store write. */
import type { Observation, ObservationType } from '../memory/observation.ts'
import type { SearchFilters, SearchHit } from '../search/query.ts'

/**
 * How a text is looked for. `every`: all of its words stand in the memory itself, newest first. `any`: the more of them
 * the better, in the memory or beside it, best first.
 */
export interface LexicalQuery {
  text: string
  how: 'every' | 'any'
}

/** What a word counts in each column; 0 leaves a column out of the score. */
export interface ColumnWeights {
  title: number
  body: number
  facts: number
  /** Concepts, files, functions, and the parts of compound words. */
  names: number
  /** Pairs of letters, for languages without spaces. */
  grams: number
  /** What stands before and after it in its session. */
  neighbours: number
}

export const EVEN_WEIGHTS: ColumnWeights = { title: 1, body: 1, facts: 1, names: 1, grams: 1, neighbours: 0.3 }

/** `row` names a memory of any kind: `rowOf(kind, id)`. */
export interface ScoredRow {
  row: number
  /** Of BM25, turned round: higher is better, never below 0. */
  score: number
}

export interface ScoredChunk {
  chunk: number
  score: number
}

/** A memory as a result shows it, before it was ranked. */
export interface FoundMemory extends Omit<SearchHit, 'snippet' | 'similar' | 'explanation' | 'completes'> {
  row: number
  /** What it says beside its title: the source of a snippet. */
  text: string
  facts: string[]
  concepts: string[]
  /** Of its session; null where it has none yet, and for summaries and prompts. */
  chunk: number | null
  /** The earlier ones that it repeats. */
  repeats: number[]
}

/** What the rank of a memory depends on, beside the query. */
export type Rankable = Pick<
  FoundMemory,
  'row' | 'kind' | 'id' | 'project' | 'type' | 'createdAt' | 'chunk' | 'supersededBy'
>

/** An observation with what people and search have added to it. */
export interface LinkedObservation extends Observation {
  projectName: string
  pinned: boolean
  supersededBy: number | null
  supersedes: number[]
  repeats: number[]
  tokens: number
}

/** A part of an observation that has a vector of its own. */
export type Fragment = 'narrative' | `fact_${number}`

export interface StoredVector {
  /** Grows with every vector that is stored: where a reader goes on. */
  id: number
  observationId: number
  fragment: string
  vector: Float32Array
}

export interface NewVector {
  observationId: number
  fragment: Fragment
  embedder: string
  /** Null: the text says nothing to this embedder. It is noted, so that it is not tried again. */
  vector: Float32Array | null
}

export type Unembedded = Pick<Observation, 'id' | 'project' | 'title' | 'subtitle' | 'narrative' | 'facts'>

export interface UnembeddedPage {
  observations: Unembedded[]
  /** Where to go on; null at the end. */
  next: number | null
}

export const LINK_KINDS = ['repeats', 'supersedes'] as const
export type LinkKind = (typeof LINK_KINDS)[number]
/** Who says so. A search only ever says `repeats`. */
export type LinkMaker = 'search' | 'model' | 'person'

/** `from` is the newer one. */
export interface Link {
  from: number
  to: number
  kind: LinkKind
  by: LinkMaker
  at: number
}

/** What is to be forgotten: observations by id, or whatever passes the filters. */
export interface ForgetRequest {
  ids: readonly number[]
  filters: SearchFilters | null
  /** Nothing goes; the report says what would. */
  dryRun: boolean
  at: number
}

export interface Forgotten {
  dryRun: boolean
  observations: number
  summaries: number
  prompts: number
  /** Of the observations. */
  ids: number[]
  /** Ids that were asked for and are not there. */
  missing: number[]
  /** Copies that went with them. */
  embeddings: number
  links: number
  payloads: number
  observerTurns: number
  callTexts: number
  /** Summaries of the same turns: they may say the same in other words. */
  summariesBeside: number[]
  /** Backups that may still hold it, newest first. */
  backups: { file: string; at: number; reason: string }[]
  /** False while a reader keeps old pages in the log: the next housekeeping clears them. */
  cleared: boolean
  /** Null where nothing went. */
  seq: number | null
}

/** `seq`: the number of the change, for those who follow; null where nothing changed, or only a search said so. */
export interface Changed {
  changed: boolean
  seq: number | null
}

export interface Pinned {
  changed: number
  missing: number[]
  seq: number | null
}

/** How far the index is behind the rows. */
export interface IndexState {
  done: number
  total: number
}

/** How much is remembered, of one project or of all. */
export interface MemoryCounts {
  observations: number
  summaries: number
  prompts: number
  sessions: number
  /** Of the oldest and newest observation; null before the first. */
  oldestAt: number | null
  newestAt: number | null
  types: Record<ObservationType, number>
  /** Oldest first, in the user's zone: `2026-11`. */
  months: { month: string; observations: number }[]
  pinned: number
  /** Observations that repeat an earlier one, and those that a newer one replaces. */
  links: { repeats: number; supersedes: number }
  /** What can be found by its words, of what should be. */
  indexed: IndexState
  /** Of one embedder: how many observations it was asked about, and what came of it. Null: there are no vectors. */
  vectors: { embedder: string; dimensions: number; observations: number; fragments: number; bytes: number } | null
}

export interface SearchStore {
  putEmbeddings(vectors: readonly NewVector[]): Promise<number>
  /** Observations without any vector of this embedder; looks through a bounded number of them. */
  missingEmbeddings(embedder: string, afterId: number, limit: number): Promise<UnembeddedPage>
  /** A bounded number of vectors of one embedder, or of all; 0: none is left. */
  dropEmbeddings(embedder: string | null): Promise<number>
  /** Not changed where it was there already. Both must exist and be of one project. */
  link(link: Link): Promise<Changed>
  unlink(from: number, to: number, kind: LinkKind): Promise<Changed>
  /** How many changed, and which do not exist. */
  pin(ids: readonly number[], on: boolean, at: number): Promise<Pinned>
  forget(request: ForgetRequest): Promise<Forgotten>
  /** Indexes some of what waits. Called again and again until all is done. */
  indexNext(limit: number): Promise<IndexState>
  indexState(): Promise<IndexState>
  /** Throws the index of words away; `indexNext` makes it again from the rows. */
  rebuildSearch(): Promise<IndexState>
}
