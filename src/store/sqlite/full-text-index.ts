/**
 * The full-text index: `memory_fts` has one row for every memory, `chunk_fts` one for every chunk of a session. All of it
 * is derived from the other tables. Rows are indexed with their commit; what is missing is indexed in the background, in
 * bounded steps; a damaged or outdated index is deleted and rebuilt the same way.
 */
import type { Observation, Summary } from '../../domain/observation.ts'
import type { MemoryKind } from '../../domain/search-query.ts'
import { systemCode } from '../../lib/errors.ts'
import { splitWords } from '../../lib/words.ts'
import type { IndexState } from '../search-port.ts'
import {
  all,
  type Database,
  get,
  inSavepoint,
  isIndexDamage,
  run,
  selectIds,
  selectMeta,
  selectNumber,
  setMeta,
} from './database.ts'
import { indexedPairs } from './full-text-search.ts'
import {
  OBSERVATION_COLUMNS,
  type ObservationRow,
  SUMMARY_COLUMNS,
  type SummaryRow,
  selectObservation,
  toObservation,
  toSummary,
} from './memories.ts'
import { foldConcept, foldedList, foldPath, searchRowId, searchRowKind, searchRowMemoryId } from './search-rows.ts'

const FULL_TEXT_TABLES = ['memory_fts', 'chunk_fts'] as const
type FullTextTable = (typeof FULL_TEXT_TABLES)[number]

/** The columns of a memory's own text. */
interface OwnText {
  title: string
  body: string
  facts: string
  /** Concepts, files and functions. */
  names: string
}

/** All columns of `memory_fts`. */
interface IndexedText extends OwnText {
  /** Letter pairs, for languages without spaces. */
  grams: string
  neighbours: string
}

/** Characters of each neighbour that are indexed: the title and the start show what it is about. */
const NEIGHBOUR_CHARS = 400

type NeighbourText = Pick<Observation, 'title' | 'subtitle' | 'narrative'>

export function observationText(observation: Observation): OwnText {
  const { title, subtitle, narrative, facts, concepts, filesRead, filesModified, functionsChanged } = observation
  const functions = functionsChanged.map(({ name }) => name)
  return {
    title: title ?? '',
    body: joinLines([subtitle, narrative]),
    facts: joinLines(facts),
    names: joinLines([...new Set([...concepts, ...filesRead, ...filesModified, ...functions])]),
  }
}

export function summaryText(summary: Summary): OwnText {
  const { request, investigated, learned, completed, nextSteps, notes, filesRead, filesEdited } = summary
  return {
    title: request ?? '',
    body: joinLines([investigated, learned, completed, nextSteps, notes]),
    facts: '',
    names: joinLines([...new Set([...filesRead, ...filesEdited])]),
  }
}

function promptText(text: string): OwnText {
  return { title: '', body: text, facts: '', names: '' }
}

/** `neighbours`: the observations before and after it in its session. */
function indexedText(own: OwnText, neighbours: readonly NeighbourText[]): IndexedText {
  const text = joinLines(Object.values(own))
  return {
    ...own,
    names: joinLines([own.names, splitForms(text)]),
    grams: indexedPairs(text),
    neighbours: joinLines(neighbours.map(neighbourText)),
  }
}

/** Several observations as one text. */
function chunkText(members: readonly OwnText[]): string {
  return joinLines(members.map((own) => searchable(joinLines(Object.values(own)))))
}

function ownTextChars(own: OwnText): number {
  return own.title.length + own.body.length + own.facts.length + own.names.length
}

function neighbourText({ title, subtitle, narrative }: NeighbourText): string {
  return searchable(joinLines([title, subtitle, narrative]).slice(0, NEIGHBOUR_CHARS))
}

function searchable(text: string): string {
  return joinLines([text, splitForms(text), indexedPairs(text)])
}

/** The parts of `getUserById` or `sha256`, which are one word to the tokenizer. It splits `snake_case` and paths itself. */
function splitForms(text: string): string {
  const split = new Set<string>()
  for (const [word] of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (!/\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}|\p{L}\p{N}|\p{N}\p{L}/u.test(word)) continue
    const parts = splitWords(word)
    if (parts.length > 1) split.add(parts.join(' '))
  }
  return [...split].join('\n')
}

function joinLines(parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join('\n')
}

/** Increase it when texts are split differently: an index with another version is rebuilt. */
export const INDEX_VERSION = 1

/** The version of a damaged index. */
const DAMAGED_VERSION = 0

export function indexVersion(db: Database): number | null {
  return selectMeta(db, 'index_version')
}

export function setIndexVersion(db: Database, version = INDEX_VERSION): void {
  setMeta(db, 'index_version', version)
}

/** The next `indexNext` deletes and rebuilds the index. */
export function markIndexDamaged(db: Database): void {
  setIndexVersion(db, DAMAGED_VERSION)
}

/** Deletes the index; `indexNext` rebuilds it from the rows. Fast, however large the index is. */
export function resetIndex(db: Database): void {
  for (const table of FULL_TEXT_TABLES) recreate(db, table)
  run(db, 'UPDATE search_rows SET indexed = 0, chunk = NULL')
  run(db, 'DELETE FROM session_chunks')
  setIndexVersion(db)
}

export function rebuildIndex(db: Database): IndexState {
  db.transaction(() => resetIndex(db)).immediate()
  return indexState(db)
}

function resetOutdatedIndex(db: Database): void {
  const version = indexVersion(db)
  if (version === null) setIndexVersion(db)
  else if (version !== INDEX_VERSION) resetIndex(db)
}

/** Dropping the table is fast; deleting its rows would take as long as the index is large. */
function recreate(db: Database, table: FullTextTable): void {
  const schema = get<{ sql: string }>(db, 'SELECT sql FROM sqlite_schema WHERE name = ?', [table])
  if (schema === undefined) throw new Error(`the database has no table ${table}`)
  db.exec(`DROP TABLE ${table}`)
  db.exec(schema.sql)
}

/**
 * Chunks: the observations of a session in their order, in groups of bounded size. A new observation goes into the last
 * chunk of its session, which is indexed again; these bounds keep that within a few milliseconds.
 */
const MAX_CHUNK_MEMBERS = 32
const MAX_CHUNK_CHARS = 16_384

interface Chunk {
  id: number
  members: number
  chars: number
}

/** Adds an observation to the last chunk of its session, or to a new one; returns the chunk. */
function addToChunk(db: Database, id: number): number | null {
  const observation = selectObservation(db, id)
  if (observation === null) return null // `indexSearchRow` deletes its search row
  const chars = ownTextChars(observationText(observation))
  const last = lastChunk(db, observation.session)
  const fits = last !== undefined && last.members < MAX_CHUNK_MEMBERS && last.chars + chars <= MAX_CHUNK_CHARS
  const chunk = fits ? last.id : insertChunk(db, observation.session, observation.project)
  addMember(db, chunk, chars)
  run(db, 'UPDATE search_rows SET chunk = ? WHERE id = ?', [chunk, searchRowId('observation', id)])
  return chunk
}

/** Deletes a chunk without observations. */
export function indexChunk(db: Database, chunk: number): void {
  const members = membersOf(db, chunk)
  if (members.length === 0) {
    run(db, 'DELETE FROM session_chunks WHERE id = ?', [chunk])
    return
  }
  const texts = members.map((row) => observationText(toObservation(row)))
  run(db, 'DELETE FROM chunk_fts WHERE rowid = ?', [chunk])
  run(db, 'INSERT INTO chunk_fts (rowid, text) VALUES (?, ?)', [chunk, chunkText(texts)])
  run(db, 'UPDATE session_chunks SET indexed = 1, chars = ? WHERE id = ?', [
    texts.reduce((sum, text) => sum + ownTextChars(text), 0),
    chunk,
  ])
}

function membersOf(db: Database, chunk: number): ObservationRow[] {
  return all(
    db,
    `SELECT ${OBSERVATION_COLUMNS} FROM search_rows s JOIN observations o ON o.id = s.id >> 2
     WHERE s.chunk = ? ORDER BY s.id`,
    [chunk],
  )
}

function lastChunk(db: Database, session: string): Chunk | undefined {
  return get<Chunk>(
    db,
    'SELECT id, members, chars FROM session_chunks WHERE content_session_id = ? ORDER BY id DESC LIMIT 1',
    [session],
  )
}

function insertChunk(db: Database, session: string, project: string): number {
  return run(db, 'INSERT INTO session_chunks (content_session_id, project, members, chars) VALUES (?, ?, 0, 0)', [
    session,
    project,
  ]).id
}

function addMember(db: Database, chunk: number, chars: number): void {
  run(db, 'UPDATE session_chunks SET members = members + 1, chars = chars + ?, indexed = 0 WHERE id = ?', [
    chars,
    chunk,
  ])
}

interface AddedMemories {
  session: string
  observations: readonly number[]
  summaries: readonly number[]
  prompts: readonly number[]
}

/** Runs inside the caller's transaction. A damaged index does not fail the commit: it is marked and rebuilt later. */
export function indexAddedMemories(db: Database, added: AddedMemories): void {
  inSavepoint(
    db,
    () => indexAdded(db, added),
    isIndexFailure,
    () => markIndexDamaged(db),
  )
}

/** A damaged index may also assign an id of its parts twice, which violates a constraint. */
function isIndexFailure(error: unknown): boolean {
  return isIndexDamage(error) || systemCode(error)?.startsWith('SQLITE_CONSTRAINT') === true
}

/** The rows of a commit, the observations that got new neighbours, and the last chunk: independent of the session's length. */
function indexAdded(db: Database, { session, observations, summaries, prompts }: AddedMemories): void {
  const [first] = observations
  const before = first === undefined ? [] : observationsBefore(db, session, first)
  const rows = [
    ...[...before, ...observations].map((id) => searchRowId('observation', id)),
    ...summaries.map((id) => searchRowId('summary', id)),
    ...prompts.map((id) => searchRowId('prompt', id)),
  ]
  for (const row of rows) indexSearchRow(db, row)
  const chunks = new Set(observations.flatMap((id) => addToChunkInOrder(db, session, id) ?? []))
  for (const chunk of chunks) indexChunk(db, chunk)
}

const INDEX_BY_KIND: Record<MemoryKind, (db: Database, row: number) => boolean> = {
  observation: indexObservation,
  summary: indexSummary,
  prompt: indexPrompt,
}

export function indexSearchRow(db: Database, row: number): void {
  // Without its memory the row would stay unindexed.
  if (!INDEX_BY_KIND[searchRowKind(row)](db, row)) run(db, 'DELETE FROM search_rows WHERE id = ?', [row])
}

function indexObservation(db: Database, row: number): boolean {
  const observation = selectObservation(db, searchRowMemoryId(row))
  if (observation === null) return false
  const { session, id, concepts, filesRead, filesModified } = observation
  const neighbours = [...neighboursBefore(db, session, id), ...neighboursAfter(db, session, id)]
  putText(db, row, indexedText(observationText(observation), neighbours))
  return setIndexed(db, row, concepts, [...filesRead, ...filesModified])
}

function indexSummary(db: Database, row: number): boolean {
  const found = get<SummaryRow>(db, `SELECT ${SUMMARY_COLUMNS} FROM session_summaries m WHERE m.id = ?`, [
    searchRowMemoryId(row),
  ])
  if (found === undefined) return false
  const summary = toSummary(found)
  putText(db, row, indexedText(summaryText(summary), []))
  return setIndexed(db, row, [], [...summary.filesRead, ...summary.filesEdited])
}

function indexPrompt(db: Database, row: number): boolean {
  const found = get<{ text: string }>(db, 'SELECT prompt_text AS text FROM user_prompts WHERE id = ? AND private = 0', [
    searchRowMemoryId(row),
  ])
  if (found === undefined) return false
  putText(db, row, indexedText(promptText(found.text), []))
  return setIndexed(db, row, [], [])
}

function putText(db: Database, row: number, text: IndexedText): void {
  run(db, 'DELETE FROM memory_fts WHERE rowid = ?', [row])
  run(
    db,
    `INSERT INTO memory_fts (rowid, title, body, facts, names, grams, neighbours)
     VALUES (@row, @title, @body, @facts, @names, @grams, @neighbours)`,
    { row, ...text },
  )
}

function setIndexed(db: Database, row: number, concepts: readonly string[], files: readonly string[]): boolean {
  return (
    run(db, 'UPDATE search_rows SET indexed = 1, concepts = @concepts, files = @files WHERE id = @row', {
      row,
      concepts: foldedList(concepts.map(foldConcept)),
      files: foldedList(files.map(foldPath)),
    }).changes > 0
  )
}

/** Chunks are filled in the order of the session. Not yet if an earlier observation is still without a chunk. */
function addToChunkInOrder(db: Database, session: string, id: number): number | null {
  return firstWithoutChunk(db, session) === searchRowId('observation', id) ? addToChunk(db, id) : null
}

function firstWithoutChunk(db: Database, session: string): number | undefined {
  return get<{ id: number }>(
    db,
    `SELECT id FROM search_rows WHERE content_session_id = ? AND chunk IS NULL AND id & 3 = 0 ORDER BY id LIMIT 1`,
    [session],
  )?.id
}

/** On each side. Two find more than one (docs/retrieval.md). The triggers of the schema use the same number. */
const NEIGHBOURS = 2

function observationsBefore(db: Database, session: string, id: number): number[] {
  const sql = `SELECT id FROM observations WHERE content_session_id = ? AND id < ? ORDER BY id DESC LIMIT ${NEIGHBOURS}`
  return selectIds(db, sql, [session, id])
}

function neighboursBefore(db: Database, session: string, id: number): NeighbourText[] {
  return all<NeighbourText>(
    db,
    `SELECT title, subtitle, narrative FROM observations
     WHERE content_session_id = ? AND id < ? ORDER BY id DESC LIMIT ${NEIGHBOURS}`,
    [session, id],
  ).reverse()
}

function neighboursAfter(db: Database, session: string, id: number): NeighbourText[] {
  return all<NeighbourText>(
    db,
    `SELECT title, subtitle, narrative FROM observations
     WHERE content_session_id = ? AND id > ? ORDER BY id LIMIT ${NEIGHBOURS}`,
    [session, id],
  )
}

/** Indexing a chunk costs as much as indexing this many rows. */
const ROWS_PER_CHUNK = 8

export function indexState(db: Database): IndexState {
  const left =
    selectNumber(db, 'SELECT count(*) AS n FROM search_rows WHERE indexed = 0') +
    selectNumber(db, 'SELECT count(*) AS n FROM search_rows WHERE chunk IS NULL AND id & 3 = 0') +
    selectNumber(db, 'SELECT count(*) AS n FROM session_chunks WHERE indexed = 0') +
    purgesLeft(db)
  const total =
    selectNumber(db, 'SELECT count(*) AS n FROM search_rows') +
    selectNumber(db, 'SELECT count(*) AS n FROM observations') +
    selectNumber(db, 'SELECT count(*) AS n FROM session_chunks') +
    purgesLeft(db)
  return { done: total - left, total }
}

/**
 * Indexes up to `limit` rows that are not indexed yet: the newest memories first, then chunks, which need the order of
 * the session. The caller repeats it until all is done.
 */
export function indexNext(db: Database, limit: number): IndexState {
  purge(db, 1)
  return db
    .transaction(() => {
      resetOutdatedIndex(db)
      const rows = unindexedRows(db, limit)
      for (const row of rows) indexSearchRow(db, row)
      const withoutChunk = rowsWithoutChunk(db, limit - rows.length)
      for (const row of withoutChunk) addToChunk(db, searchRowMemoryId(row))
      const left = limit - rows.length - withoutChunk.length
      for (const chunk of unindexedChunks(db, Math.ceil(left / ROWS_PER_CHUNK))) indexChunk(db, chunk)
      return indexState(db)
    })
    .immediate()
}

function unindexedRows(db: Database, limit: number): number[] {
  return selectIds(db, 'SELECT id FROM search_rows WHERE indexed = 0 ORDER BY id DESC LIMIT ?', [limit])
}

function rowsWithoutChunk(db: Database, limit: number): number[] {
  const sql = 'SELECT id FROM search_rows WHERE chunk IS NULL AND id & 3 = 0 ORDER BY content_session_id, id LIMIT ?'
  return selectIds(db, sql, [limit])
}

function unindexedChunks(db: Database, limit: number): number[] {
  return selectIds(db, 'SELECT id FROM session_chunks WHERE indexed = 0 ORDER BY id LIMIT ?', [limit])
}

/** Pages merged in one step, about ten milliseconds. */
const PAGES_PER_STEP = 100

/** Commits wait behind the checkpoint, so it waits for readers only this long. */
const CHECKPOINT_BUSY_TIMEOUT_MS = 100

/** Stages of a purge. Stored in `meta`, so that a restart continues with it. Each full-text table has two. */
const FIRST_MERGE_STAGE = 1
const CHECKPOINT_STAGE = 2 + 2 * FULL_TEXT_TABLES.length

/**
 * Starts the purge of forgotten text. Deleted text stays in the index of a full-text table until its segments are merged,
 * and in the write-ahead log until a checkpoint truncates it. A purge does both in bounded steps.
 */
export function startPurge(db: Database): void {
  setPurgeStage(db, FIRST_MERGE_STAGE)
}

/** True when it is finished. False while segments are left to merge, or a reader still uses an older state. */
export function purge(db: Database, steps: number): boolean {
  for (let step = 0; step < steps; step += 1) {
    const stage = purgeStage(db)
    if (stage === null) return true
    if (stage >= CHECKPOINT_STAGE) return truncateLog(db)
    mergeOrReset(db, stage)
  }
  return purgeStage(db) === null
}

function purgesLeft(db: Database): number {
  return purgeStage(db) === null ? 0 : 1
}

/** The first stage of a table starts a full merge, the second continues it until nothing is left to merge. */
function mergeStep(db: Database, stage: number): void {
  const table = FULL_TEXT_TABLES[Math.floor((stage - FIRST_MERGE_STAGE) / 2)]
  const isStart = (stage - FIRST_MERGE_STAGE) % 2 === 0
  if (table === undefined) setPurgeStage(db, CHECKPOINT_STAGE)
  else if (isStart) {
    merge(db, table, -PAGES_PER_STEP)
    setPurgeStage(db, stage + 1)
  } else if (!merge(db, table, PAGES_PER_STEP)) setPurgeStage(db, stage + 1)
}

/** A damaged index cannot be merged; deleting it removes the text too. */
function mergeOrReset(db: Database, stage: number): void {
  try {
    mergeStep(db, stage)
  } catch (error) {
    if (!isIndexDamage(error)) throw error
    db.transaction(() => resetIndex(db)).immediate()
    setPurgeStage(db, CHECKPOINT_STAGE)
  }
}

/** False when there was nothing to merge: then FTS5 changes only one row of its own. */
function merge(db: Database, table: FullTextTable, pages: number): boolean {
  const before = changes(db)
  run(db, `INSERT INTO ${table} (${table}, rank) VALUES ('merge', ?)`, [pages])
  return changes(db) - before >= 2
}

function changes(db: Database): number {
  return selectNumber(db, 'SELECT total_changes() AS n')
}

function truncateLog(db: Database): boolean {
  // Before the checkpoint: afterwards this write would be in the log.
  setPurgeStage(db, null)
  const truncated = checkpoint(db)
  if (!truncated) setPurgeStage(db, CHECKPOINT_STAGE)
  return truncated
}

function checkpoint(db: Database): boolean {
  const timeoutMs = db.pragma('busy_timeout', { simple: true })
  db.pragma(`busy_timeout = ${CHECKPOINT_BUSY_TIMEOUT_MS}`)
  try {
    const [result] = all<{ busy: number }>(db, 'PRAGMA wal_checkpoint(TRUNCATE)')
    return result?.busy === 0
  } finally {
    db.pragma(`busy_timeout = ${Number(timeoutMs)}`)
  }
}

function purgeStage(db: Database): number | null {
  return selectMeta(db, 'purge')
}

function setPurgeStage(db: Database, stage: number | null): void {
  setMeta(db, 'purge', stage)
}
