/**
 * What search reads, on a read-only connection of its own. Search runs on a worker thread, so the operations answer
 * synchronously; they never block the writer.
 */

import { isImportedId } from '../../domain/event.ts'
import {
  estimateTokens,
  memoryOrigin,
  type ObservationType,
  observationTokens,
  summaryTokens,
} from '../../domain/observation.ts'
import type { MemoryKind } from '../../domain/search-query.ts'
import { type FoundMemory, type LinkedObservation, type MemoryCounts, memoryIds, searchRowId } from '../search-port.ts'
import {
  type Bound,
  bindDatabase,
  type Database,
  EMPTY_SQL,
  indexDamageError,
  isIndexDamage,
  type Sql,
  sql,
  storageError,
  whereEqual,
} from './database.ts'
import { countVectors, pagesOfVectors, selectLastVector, selectProjectsWithVectors } from './embeddings.ts'
import { observationText, summaryText } from './full-text-index.ts'
import {
  countMatches,
  selectChunks,
  selectMatchedWords,
  selectMatches,
  selectSpellingSuggestions,
} from './full-text-search.ts'
import {
  OBSERVATION_COLUMNS,
  type ObservationRow,
  SUMMARY_COLUMNS,
  type SummaryRow,
  toObservation,
  toSummary,
} from './memories.ts'
import {
  countFilteredPassages,
  selectEvidence,
  selectFilteredPassages,
  selectFoundPassages,
  selectMatchingPassages,
  selectPassagesAround,
} from './passage-search.ts'
import { passageTotals, selectPassageSiblings } from './passages.ts'
import { displayNameSql } from './projects.ts'
import { openForReading } from './reader.ts'
import {
  countFiltered,
  selectAllFiltered,
  selectAround,
  selectFiltered,
  selectFilteredOf,
  selectNeighbours,
  selectRankingRows,
} from './search-rows.ts'

const searchOperations = {
  /** By words. Empty if the query has none. */
  lexical: selectMatches,
  /** The number of rows that `lexical` would find, counted up to `atMost`. */
  countLexical: countMatches,
  matchedWords: selectMatchedWords,
  spellingSuggestions: selectSpellingSuggestions,
  chunks: selectChunks,
  /** Passages by words. */
  passages: selectMatchingPassages,
  loadPassages: selectFoundPassages,
  listPassages: selectFilteredPassages,
  countPassages: countFilteredPassages,
  evidence: selectEvidence,
  passagesAround: selectPassagesAround,
  passageSiblings: selectPassageSiblings,
  neighbours: selectNeighbours,
  listFiltered: selectFiltered,
  listAllFiltered: selectAllFiltered,
  count: countFiltered,
  filterRows: selectFilteredOf,
  around: selectAround,
  /** Much cheaper than `loadMemories`. */
  rankingRows: selectRankingRows,
  loadMemories: selectMemories,
  observations: selectLinked,
  /** In pages, oldest first, so that no row is held while an index is built. `project` null: of all projects. */
  vectors: pagesOfVectors,
  lastVector: selectLastVector,
  projectsWithVectors: selectProjectsWithVectors,
  vectorCount: countVectors,
  counts: selectCounts,
}

export type SearchDatabase = Bound<typeof searchOperations> & {
  /** Everything read inside sees one state of the database. */
  snapshot<T>(read: () => T): T
  close(): void
}

export function openSearchDatabase(file: string): SearchDatabase {
  const db = openForReading(file)
  const bound = bindDatabase(db, searchOperations, (error) =>
    isIndexDamage(error) ? indexDamageError(error) : storageError(error),
  )
  return {
    ...bound,
    snapshot: (read) => db.transaction(read)(),
    close: () => {
      db.close()
    },
  }
}

/** A prompt has no title: its first line is used. */
const PROMPT_TITLE_CHARS = 120

type LinkedRow = ObservationRow & {
  projectName: string
  chunk: number | null
  pinned: number
  supersededBy: number | null
  supersedes: string
  amends: string
  amendedBy: string
  repeats: string
}

/** In the order of the rows; missing ones are left out. */
function selectMemories(db: Database, rows: readonly number[]): FoundMemory[] {
  const found = new Map<number, FoundMemory>()
  for (const memory of [
    ...selectLinkedRows(db, memoryIds(rows, 'observation')).map(foundObservation),
    ...selectFoundSummaries(db, memoryIds(rows, 'summary')).map(foundSummary),
    ...selectFoundPrompts(db, memoryIds(rows, 'prompt')).map(foundPrompt),
  ]) {
    found.set(memory.row, memory)
  }
  return rows.flatMap((row) => found.get(row) ?? [])
}

/** In the order of the ids; missing ones are left out. */
function selectLinked(db: Database, ids: readonly number[]): LinkedObservation[] {
  const found = new Map<number, LinkedObservation>()
  for (const row of selectLinkedRows(db, ids)) {
    const { chunk: _, ...observation } = toObservation(row)
    found.set(row.id, {
      ...observation,
      pinned: row.pinned === 1,
      supersedes: JSON.parse(row.supersedes),
      amends: JSON.parse(row.amends),
      amendedBy: JSON.parse(row.amendedBy),
      repeats: JSON.parse(row.repeats),
      tokens: observationTokens(observation),
    })
  }
  return ids.flatMap((id) => found.get(id) ?? [])
}

function foundObservation(row: LinkedRow): FoundMemory {
  const observation = toObservation(row)
  const { id, session, project, type, facts, concepts, filesRead, filesModified, createdAt, promptNumber } = observation
  return {
    row: searchRowId('observation', id),
    kind: 'observation',
    id,
    session,
    project,
    projectName: row.projectName,
    type,
    title: observation.title ?? observation.subtitle ?? firstLine(observation.narrative ?? ''),
    text: observationText(observation).body,
    facts,
    concepts,
    files: [...new Set([...filesModified, ...filesRead])],
    createdAt,
    promptNumber,
    saidBy: observation.saidBy ?? null,
    ...memoryOrigin(observation),
    tokens: observationTokens(observation),
    chunk: row.chunk,
    pinned: row.pinned === 1,
    supersededBy: row.supersededBy,
    amendedBy: JSON.parse(row.amendedBy),
    repeats: JSON.parse(row.repeats),
  }
}

/** Summaries and prompts have none of these. */
const OBSERVATION_ONLY = {
  chunk: null,
  pinned: false,
  supersededBy: null,
  amendedBy: [],
  repeats: [],
  facts: [],
  concepts: [],
}

type FoundSummaryRow = SummaryRow & { projectName: string }

function foundSummary(row: FoundSummaryRow): FoundMemory {
  const summary = toSummary(row)
  const { id, session, project, filesRead, filesEdited, createdAt, promptNumber } = summary
  const text = summaryText(summary)
  return {
    ...OBSERVATION_ONLY,
    row: searchRowId('summary', id),
    kind: 'summary',
    id,
    session,
    project,
    projectName: row.projectName,
    type: null,
    title: text.title === '' ? firstLine(text.body) : text.title,
    text: text.body,
    files: [...new Set([...filesEdited, ...filesRead])],
    createdAt,
    promptNumber,
    saidBy: summary.saidBy ?? null,
    ...memoryOrigin(summary),
    tokens: summaryTokens(summary),
  }
}

type FoundPromptRow = Pick<
  FoundMemory,
  'id' | 'session' | 'project' | 'projectName' | 'text' | 'promptNumber' | 'createdAt'
> & { eventId: string }

function foundPrompt({ eventId, ...row }: FoundPromptRow): FoundMemory {
  return {
    ...OBSERVATION_ONLY,
    ...row,
    row: searchRowId('prompt', row.id),
    kind: 'prompt',
    type: null,
    title: firstLine(row.text),
    saidBy: isImportedId(eventId) ? 'tool' : 'person',
    files: [],
    tokens: estimateTokens(row.text),
  }
}

function firstLine(text: string): string {
  const [line = ''] = text.trimStart().split('\n', 1)
  return [...line.slice(0, PROMPT_TITLE_CHARS * 2)].slice(0, PROMPT_TITLE_CHARS).join('')
}

function selectLinkedRows(db: Database, ids: readonly number[]): LinkedRow[] {
  return db.all<LinkedRow>`
    SELECT ${OBSERVATION_COLUMNS}, ${displayNameSql('o.project', 's.project_name')} AS projectName, r.chunk,
      EXISTS (SELECT 1 FROM pins p WHERE p.id = o.id) AS pinned,
      (SELECT max(from_id) FROM links WHERE to_id = o.id AND kind = 'supersedes') AS supersededBy,
      (SELECT json_group_array(to_id) FROM links WHERE from_id = o.id AND kind = 'supersedes') AS supersedes,
      (SELECT json_group_array(to_id) FROM links WHERE from_id = o.id AND kind = 'amends') AS amends,
      (SELECT json_group_array(from_id) FROM links WHERE to_id = o.id AND kind = 'amends') AS amendedBy,
      (SELECT json_group_array(to_id) FROM links WHERE from_id = o.id AND kind = 'repeats') AS repeats
    FROM json_each(${ids}) wanted CROSS JOIN observations o ON o.id = wanted.value
      JOIN sdk_sessions s USING (content_session_id) LEFT JOIN search_rows r ON r.id = o.id * 4`
}

function selectFoundSummaries(db: Database, ids: readonly number[]): FoundSummaryRow[] {
  return db.all<FoundSummaryRow>`
    SELECT ${SUMMARY_COLUMNS}, ${displayNameSql('m.project', 's.project_name')} AS projectName
    FROM json_each(${ids}) wanted CROSS JOIN session_summaries m ON m.id = wanted.value
      JOIN sdk_sessions s USING (content_session_id)`
}

function selectFoundPrompts(db: Database, ids: readonly number[]): FoundPromptRow[] {
  return db.all<FoundPromptRow>`
    SELECT p.id, p.content_session_id AS session, r.project,
      ${displayNameSql('r.project', 's.project_name')} AS projectName, p.prompt_text AS text,
      p.prompt_number AS promptNumber, p.created_at_epoch AS createdAt, p.event_id AS eventId
    FROM json_each(${ids}) wanted CROSS JOIN user_prompts p ON p.id = wanted.value
      JOIN search_rows r ON r.id = p.id * 4 + 2 JOIN sdk_sessions s USING (content_session_id)`
}

/** `project` null: of all projects. `embedder` null: the one of the newest vectors. */
function selectCounts(db: Database, project: string | null, embedder: string | null): MemoryCounts {
  const inProject = whereEqual({ project: project ?? undefined })
  const rows = db.all<{ kind: number; n: number; indexed: number }>`
    SELECT id & 3 AS kind, count(*) AS n, sum(indexed) AS indexed FROM search_rows WHERE ${inProject} GROUP BY 1`
  const count = (kind: MemoryKind) => rows.find((row) => row.kind === searchRowId(kind, 0))?.n ?? 0
  return {
    observations: count('observation'),
    summaries: count('summary'),
    prompts: count('prompt'),
    passages: passageTotals(db, inProject),
    sessions: db.number`SELECT count(*) AS n FROM sdk_sessions WHERE ${inProject}`,
    ...db.one<Pick<MemoryCounts, 'oldestAt' | 'newestAt'>>`
      SELECT min(created_at_epoch) AS oldestAt, max(created_at_epoch) AS newestAt FROM observations WHERE ${inProject}`,
    types: countTypes(db, inProject),
    months: db.all<MemoryCounts['months'][number]>`
      SELECT strftime('%Y-%m', created_at_epoch / 1000, 'unixepoch', 'localtime') AS month, count(*) AS observations
      FROM observations WHERE ${inProject} GROUP BY 1 ORDER BY 1`,
    pinned: db.number`SELECT count(*) AS n FROM pins JOIN observations USING (id) WHERE ${inProject}`,
    // The observations that repeat an earlier one, and those that are superseded.
    links: {
      repeats: db.number`
        SELECT count(DISTINCT from_id) AS n FROM links JOIN observations o ON o.id = from_id
        WHERE kind = 'repeats' AND ${inProject}`,
      supersedes: db.number`
        SELECT count(DISTINCT to_id) AS n FROM links JOIN observations o ON o.id = to_id
        WHERE kind = 'supersedes' AND ${inProject}`,
    },
    indexed: {
      done: rows.reduce((sum, { indexed }) => sum + indexed, 0),
      total: rows.reduce((sum, { n }) => sum + n, 0),
    },
    vectors: countVectorsOf(db, project, embedder ?? newestEmbedder(db)),
  }
}

function countTypes(db: Database, where: Sql): MemoryCounts['types'] {
  const types: MemoryCounts['types'] = { bugfix: 0, feature: 0, refactor: 0, decision: 0, discovery: 0, change: 0 }
  const found = db.all<{ type: ObservationType; n: number }>`
    SELECT type, count(*) AS n FROM observations WHERE ${where} GROUP BY type`
  for (const { type, n } of found) types[type] = n
  return types
}

function newestEmbedder(db: Database): string | null {
  return db.get<{ embedder: string }>`SELECT embedder FROM embeddings ORDER BY id DESC LIMIT 1`?.embedder ?? null
}

function countVectorsOf(db: Database, project: string | null, embedder: string | null): MemoryCounts['vectors'] {
  if (embedder === null) return null
  const ofProject =
    project === null ? EMPTY_SQL : sql`JOIN observations o ON o.id = e.observation_id AND o.project = ${project}`
  const sums = db.one<Omit<NonNullable<MemoryCounts['vectors']>, 'embedder'>>`
    SELECT coalesce(max(e.dimensions), 0) AS dimensions, count(DISTINCT e.observation_id) AS observations,
      count(*) FILTER (WHERE e.dimensions > 0) AS fragments, coalesce(sum(length(e.vector)), 0) AS bytes
    FROM embeddings e ${ofProject} WHERE e.embedder = ${embedder}`
  return { embedder, ...sums }
}
