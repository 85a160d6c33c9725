/**
 * Between search and the store: the ids of rows, what search reads on its own connection, and what it has the store write.
 */
import type { Observation, ObservationType } from '../domain/observation.ts'
import type { Passage } from '../domain/passage.ts'
import { MEMORY_KINDS, type MemoryKind, type SearchFilters, type SearchHit } from '../domain/search-query.ts'
import type { BackupInfo } from './port.ts'

/** A power of two, because SQL uses `id & 3` and `id >> 2`. Three of the four are used. */
const KINDS_PER_ID = 4

export function searchRowId(kind: MemoryKind, id: number): number {
  return id * KINDS_PER_ID + MEMORY_KINDS.indexOf(kind)
}

export function searchRowKind(row: number): MemoryKind {
  return MEMORY_KINDS[row % KINDS_PER_ID] ?? 'observation'
}

export function searchRowMemoryId(row: number): number {
  return Math.floor(row / KINDS_PER_ID)
}

/** The ids of the memories of one kind. */
export function memoryIds(rows: readonly number[], kind: MemoryKind): number[] {
  return rows.filter((row) => searchRowKind(row) === kind).map(searchRowMemoryId)
}

/**
 * `every`: all words must occur in the memory itself; newest first. `phrase`: in this order, next to each other; newest
 * first. `any`: the more words match, in the memory or in its neighbours, the better; best first.
 */
export interface LexicalQuery {
  text: string
  how: 'every' | 'phrase' | 'any'
}

/** Weight of a match in each column; 0 excludes a column from the score. */
export interface ColumnWeights {
  title: number
  body: number
  facts: number
  /** Concepts, files, functions, and the parts of compound words. */
  names: number
  /** Letter pairs, for languages without spaces. */
  grams: number
  /** The observations before and after it in its session. */
  neighbours: number
}

/** `row` identifies a memory of any kind: `searchRowId(kind, id)`. */
export interface ScoredRow {
  row: number
  /** Negated BM25: higher is better, never negative. */
  score: number
}

export interface ScoredChunk {
  chunk: number
  score: number
}

/** A memory with its text. */
export interface FoundMemory
  extends Omit<SearchHit, 'snippet' | 'passage' | 'matched' | 'similar' | 'explanation' | 'further'> {
  kind: MemoryKind
  row: number
  /** Its text without the title: the source of the snippet. */
  text: string
  facts: string[]
  concepts: string[]
  /** The chunk of its session; null before it was indexed, and for summaries and prompts. */
  chunk: number | null
  /** Earlier observations that it repeats. */
  repeats: number[]
}

/** What the rank of a memory depends on, beside the query. */
export type RankingRow = Pick<
  FoundMemory,
  'row' | 'kind' | 'id' | 'session' | 'promptNumber' | 'project' | 'createdAt' | 'chunk' | 'supersededBy'
>

/** Weight of a match in the passage itself, and in the passages before and after it in its event. */
export interface PassageWeights {
  text: number
  around: number
}

export interface ScoredPassage {
  id: number
  /** Negated BM25: higher is better, never negative. */
  score: number
}

/** A passage with its project's name and the observations that were made of its event. */
export interface FoundPassage extends Passage {
  projectName: string
  observationIds: number[]
}

/** A passage of an event that an observation was made of. */
export interface EvidencePassage extends Passage {
  observationId: number
}

/** An observation with its project's name, its pin and its links. */
export interface LinkedObservation extends Observation {
  projectName: string
  pinned: boolean
  supersededBy: number | null
  supersedes: number[]
  amends: number[]
  amendedBy: number[]
  repeats: number[]
  tokens: number
}

/** A part of an observation that has its own vector. */
type Fragment = 'narrative' | `fact_${number}`

export interface StoredVector {
  /** Increases with every stored vector: the cursor of a reader. */
  id: number
  observationId: number
  fragment: string
  vector: Float32Array
}

export interface NewVector {
  observationId: number
  fragment: Fragment
  embedder: string
  /** Null: this embedder has no vector for the text. Stored, so that it is not tried again. */
  vector: Float32Array | null
}

export type UnembeddedObservation = Pick<Observation, 'id' | 'project' | 'title' | 'subtitle' | 'narrative' | 'facts'>

export interface UnembeddedPage {
  observations: UnembeddedObservation[]
  /** Cursor of the next page; null at the end. */
  next: number | null
}

export const LINK_KINDS = ['repeats', 'supersedes', 'amends'] as const
export type LinkKind = (typeof LINK_KINDS)[number]
/** Who made the link, as stored: `person` is the user. A search only makes `repeats`. */
export type LinkMaker = 'search' | 'model' | 'person'

/** `from` is the newer observation. */
export interface Link {
  from: number
  to: number
  kind: LinkKind
  by: LinkMaker
  at: number
}

/** Selects what to forget: observations by id, and everything that passes the filters. */
export interface ForgetOptions {
  ids: readonly number[]
  filters: SearchFilters | null
  /** Also what is related to them: see `RelatedMemories`. */
  related?: boolean
  /** Only report what would be removed. */
  dryRun: boolean
  at: number
}

/**
 * What may say the same as a forgotten memory: prompts and summaries of its turn, and observations that it repeats or
 * supersedes, or that do so with it. Ids.
 */
export interface RelatedMemories {
  observations: number[]
  summaries: number[]
  prompts: number[]
}

export interface ForgetResult {
  dryRun: boolean
  observations: number
  summaries: number
  prompts: number
  /** Messages in the inbox that contain, or may contain, the same. */
  messages: number
  /** Passages of the same turns, and of the messages. */
  passages: number
  /** Sessions whose inbox or effect is affected. */
  inbox: ForgetScope[]
  /** Ids of the observations. */
  ids: number[]
  /** Requested ids that do not exist. */
  missing: number[]
  /** Copies that were removed with them. */
  embeddings: number
  links: number
  payloads: number
  observerTurns: number
  callTexts: number
  /** What stays, although it may say the same. Empty where it was forgotten too. */
  related: RelatedMemories
  /** Backups and set-aside databases that may still contain it. */
  copies: Omit<BackupInfo, 'bytes'>[]
  /** False while a reader keeps old pages in the write-ahead log; the next housekeeping removes them. */
  cleared: boolean
  /** Null where nothing was removed. */
  seq: number | null
}

/** Which messages of a session's inbox are forgotten. Times are those of the events. */
export interface ForgetScope {
  session: string
  /** Prompt numbers; null: of all turns. */
  prompts: number[] | null
  since: number | null
  until: number | null
}

/** The messages of one inbox that are forgotten, as the session's machine counts them. */
export interface InboxToForget {
  /** Ids of the messages, turn ends included. */
  rows: number[]
  /** Pending and claimed ones by turn, without turn ends. */
  messages: { prompt: number; count: number }[]
  failed: number
  /** Prompt numbers of turns whose summary is no longer due; null: of all turns. */
  summaries: number[] | null
}

export interface ErasedSession
  extends Pick<
    ForgetResult,
    'ids' | 'observations' | 'summaries' | 'prompts' | 'messages' | 'passages' | 'copies' | 'cleared'
  > {
  /** Key of its project. */
  project: string
  seq: number
}

/** `seq`: null where nothing changed, and for links made by a search. */
export interface LinkResult {
  changed: boolean
  seq: number | null
}

export interface PinResult {
  changed: number
  missing: number[]
  seq: number | null
}

/** Progress of indexing. */
export interface IndexState {
  done: number
  total: number
}

/** Sizes of the memory, of one project or of all. */
export interface MemoryCounts {
  observations: number
  summaries: number
  prompts: number
  /** `bytes`: what they take on disk, estimated. */
  passages: { count: number; bytes: number }
  sessions: number
  /** Of the oldest and newest observation; null before the first. */
  oldestAt: number | null
  newestAt: number | null
  types: Record<ObservationType, number>
  /** Oldest first, in the local time zone: `2026-11`. */
  months: { month: string; observations: number }[]
  pinned: number
  /** Observations that repeat an earlier one, and those that are superseded. */
  links: { repeats: number; supersedes: number }
  /** Rows in the full-text index, of all rows. */
  indexed: IndexState
  /** Vectors of one embedder; null without vectors. */
  vectors: { embedder: string; dimensions: number; observations: number; fragments: number; bytes: number } | null
}
