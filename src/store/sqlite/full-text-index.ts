/**
 * The full-text index: `memory_fts` has one row for every memory, `chunk_fts` one for every chunk of a session,
 * `passage_fts` one for every passage. All of it is derived from the other tables. Rows are indexed with their commit; what
 * is missing is indexed in the background, in bounded steps; a damaged or outdated index is deleted and rebuilt the same way.
 */
import type { Observation, Summary } from '../../domain/observation.ts'
import type { Passage } from '../../domain/passage.ts'
import { foldConcept, foldPath } from '../../domain/search-query.ts'
import { splitWords } from '../../lib/words.ts'
import { type IndexState, searchRowId, searchRowKind, searchRowMemoryId } from '../search-port.ts'
import { changeIndex, type Database, isIndexDamage, raw, type Sql, selectMeta, setMeta, sql } from './database.ts'
import { indexedPairs } from './full-text-search.ts'
import { observationsFrom, selectObservation, summariesFrom } from './memories.ts'
import { hasPassages, selectPassageSiblings, selectPassages } from './passages.ts'
import { foldedList } from './search-rows.ts'

const FULL_TEXT_TABLES = ['memory_fts', 'chunk_fts', 'passage_fts'] as const
type FullTextTable = (typeof FULL_TEXT_TABLES)[number]

/** The columns of a memory's own text. */
interface OwnText {
  title: string
  body: string
  facts: string
  /** Concepts, files and functions. */
  names: string
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

/** Deletes the index; `indexNext` rebuilds it from the rows. */
export function resetIndex(db: Database): void {
  resetMemoryIndex(db)
  // A backup of an older schema has no passages.
  if (hasPassages(db)) {
    recreate(db, 'passage_fts')
    db.run`UPDATE passages SET indexed = 0 WHERE indexed = 1`
  }
  setMeta(db, 'index_version', INDEX_VERSION)
}

/** Deletes the index of memories and chunks. Fast, however large it is. */
export function resetMemoryIndex(db: Database): void {
  recreate(db, 'memory_fts')
  recreate(db, 'chunk_fts')
  db.run`UPDATE search_rows SET indexed = 0, chunk = NULL`
  db.run`DELETE FROM session_chunks`
}

/** For work that deletes from the index: a damaged one is deleted and the work tried again. */
export function withIndexReset<T>(db: Database, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!isIndexDamage(error)) throw error
    db.write(() => resetIndex(db))
    return work()
  }
}

export function rebuildIndex(db: Database): IndexState {
  db.write(() => resetIndex(db))
  return indexState(db)
}

/** Dropping the table is fast; deleting its rows would take as long as the index is large. */
function recreate(db: Database, table: FullTextTable): void {
  const schema = db.get<{ sql: string }>`SELECT sql FROM sqlite_schema WHERE name = ${table}`
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

/** Adds an observation to the last chunk of its session, or to a new one; returns the chunk. */
function addToChunk(db: Database, id: number): number | null {
  const observation = selectObservation(db, id)
  if (observation === null) return null // `indexSearchRow` deletes its search row
  const chars = ownTextChars(observationText(observation))
  const { session, project } = observation
  const last = db.get<{ id: number; members: number; chars: number }>`
    SELECT id, members, chars FROM session_chunks WHERE content_session_id = ${session} ORDER BY id DESC LIMIT 1`
  const fits = last !== undefined && last.members < MAX_CHUNK_MEMBERS && last.chars + chars <= MAX_CHUNK_CHARS
  const chunk = fits
    ? last.id
    : db.insertRow('session_chunks', { content_session_id: session, project, members: 0, chars: 0 })
  db.run`
    UPDATE session_chunks SET members = members + 1, chars = chars + ${chars}, indexed = 0 WHERE id = ${chunk}`
  db.run`UPDATE search_rows SET chunk = ${chunk} WHERE id = ${searchRowId('observation', id)}`
  return chunk
}

/** Deletes a chunk without observations. */
export function indexChunk(db: Database, chunk: number): void {
  const members = observationsFrom(db)`
    search_rows s JOIN observations o ON o.id = s.id >> 2 WHERE s.chunk = ${chunk} ORDER BY s.id`
  if (members.length === 0) {
    db.run`DELETE FROM session_chunks WHERE id = ${chunk}`
    return
  }
  const texts = members.map(observationText)
  const chunkText = joinLines(texts.map((own) => searchable(joinLines(Object.values(own)))))
  const chars = texts.reduce((sum, text) => sum + ownTextChars(text), 0)
  db.run`DELETE FROM chunk_fts WHERE rowid = ${chunk}`
  db.run`INSERT INTO chunk_fts (rowid, text) VALUES (${chunk}, ${chunkText})`
  db.run`UPDATE session_chunks SET indexed = 1, chars = ${chars} WHERE id = ${chunk}`
}

/** The subject is part of the text: a passage is found by its file or command too. */
function passageText({ subject, text }: Passage): string {
  return searchable(joinLines([subject, text]))
}

/** The triggers of the schema keep the rule that a passage with `indexed = 0` is not in the index. */
function indexPassages(db: Database, ids: readonly number[]): void {
  const siblings = selectPassageSiblings(db, ids)
  const beside = [...siblings.values()].flatMap(({ before, after }) => [before ?? [], after ?? []].flat())
  const texts = new Map(selectPassages(db, [...new Set([...ids, ...beside])]).map((passage) => [passage.id, passage]))
  for (const id of ids) {
    const passage = texts.get(id)
    if (passage === undefined) continue
    const { before = null, after = null } = siblings.get(id) ?? {}
    const around = [before, after].flatMap((beside) => (beside === null ? [] : (texts.get(beside) ?? [])))
    db.run`
      INSERT INTO passage_fts (rowid, text, around)
      VALUES (${id}, ${passageText(passage)}, ${joinLines(around.map(({ text }) => searchable(text)))})`
    db.run`UPDATE passages SET indexed = 1 WHERE id = ${id}`
  }
}

interface AddedMemories {
  session: string
  observations: readonly number[]
  summaries: readonly number[]
  prompts: readonly number[]
}

/** Runs inside the caller's transaction. */
export function indexAddedMemories(db: Database, added: AddedMemories): void {
  // Most commits only add an event.
  if (added.observations.length + added.summaries.length + added.prompts.length === 0) return
  changeIndex(
    db,
    () => indexAdded(db, added),
    () => undefined,
  )
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

export function indexSearchRow(db: Database, row: number): void {
  const memory = selectIndexedMemory(db, row)
  if (memory === null) {
    // Without its memory the row would stay unindexed.
    db.run`DELETE FROM search_rows WHERE id = ${row}`
    return
  }
  const { title, body, facts } = memory.text
  const text = joinLines(Object.values(memory.text))
  const names = joinLines([memory.text.names, splitForms(text)])
  const neighbours = joinLines((memory.neighbours ?? []).map(neighbourText))
  db.run`DELETE FROM memory_fts WHERE rowid = ${row}`
  db.run`
    INSERT INTO memory_fts (rowid, title, body, facts, names, grams, neighbours)
    VALUES (${row}, ${title}, ${body}, ${facts}, ${names}, ${indexedPairs(text)}, ${neighbours})`
  db.run`
    UPDATE search_rows SET indexed = 1, concepts = ${foldedList(memory.concepts ?? [], foldConcept)},
      files = ${foldedList(memory.files, foldPath)}
    WHERE id = ${row}`
}

interface IndexedMemory {
  text: OwnText
  files: readonly string[]
  concepts?: readonly string[]
  neighbours?: readonly NeighbourText[]
}

/** Null if there is no such memory, and for a private prompt. */
function selectIndexedMemory(db: Database, row: number): IndexedMemory | null {
  const id = searchRowMemoryId(row)
  switch (searchRowKind(row)) {
    case 'observation': {
      const observation = selectObservation(db, id)
      if (observation === null) return null
      const { session, concepts, filesRead, filesModified } = observation
      const neighbours = selectNeighbourTexts(db, session, id)
      return { text: observationText(observation), files: [...filesRead, ...filesModified], concepts, neighbours }
    }
    case 'summary': {
      const [summary] = summariesFrom(db)`session_summaries m WHERE m.id = ${id}`
      if (summary === undefined) return null
      return { text: summaryText(summary), files: [...summary.filesRead, ...summary.filesEdited] }
    }
    case 'prompt': {
      const prompt = db.get<{ text: string }>`
        SELECT prompt_text AS text FROM user_prompts WHERE id = ${id} AND private = 0`
      if (prompt === undefined) return null
      return { text: { title: '', body: prompt.text, facts: '', names: '' }, files: [] }
    }
  }
}

/** Chunks are filled in the order of the session. Not yet if an earlier observation is still without a chunk. */
function addToChunkInOrder(db: Database, session: string, id: number): number | null {
  const [first] = db.ids`
    SELECT id FROM search_rows WHERE content_session_id = ${session} AND chunk IS NULL AND id & 3 = 0
    ORDER BY id LIMIT 1`
  return first === searchRowId('observation', id) ? addToChunk(db, id) : null
}

/** On each side. Two find more than one (docs/retrieval.md). The triggers of the schema use the same number. */
const NEIGHBOURS = 2

function observationsBefore(db: Database, session: string, id: number): number[] {
  return db.ids`
    SELECT id FROM observations WHERE content_session_id = ${session} AND id < ${id}
    ORDER BY id DESC LIMIT ${NEIGHBOURS}`
}

/** In their order. */
function selectNeighbourTexts(db: Database, session: string, id: number): NeighbourText[] {
  const nearest = (side: Sql) => db.all<NeighbourText>`
    SELECT title, subtitle, narrative FROM observations
    WHERE content_session_id = ${session} AND ${side} LIMIT ${NEIGHBOURS}`
  return [...nearest(sql`id < ${id} ORDER BY id DESC`).reverse(), ...nearest(sql`id > ${id} ORDER BY id`)]
}

/** Indexing a chunk costs as much as indexing this many rows. */
const ROWS_PER_CHUNK = 8
/** The index of passages is the largest: merging its segments is part of the step. */
const ROWS_PER_PASSAGE = 2

export function indexState(db: Database): IndexState {
  const count = (from: Sql) => db.number`SELECT count(*) AS n FROM ${from}`
  const purges = selectMeta(db, 'purge') === null ? 0 : 1
  const left =
    count(sql`search_rows WHERE indexed = 0`) +
    count(sql`search_rows WHERE chunk IS NULL AND id & 3 = 0`) +
    count(sql`session_chunks WHERE indexed = 0`) +
    count(sql`passages WHERE indexed = 0 AND transient = 0`) +
    purges
  const total =
    count(sql`search_rows`) + count(sql`observations`) + count(sql`session_chunks`) + passageIds(db) + purges
  return { done: total - left, total }
}

/**
 * At least as many as there are passages: those that were deleted in between count too. Counting them takes longer than
 * the step whose progress this shows, and every step would do it.
 */
function passageIds(db: Database): number {
  const { first, last } = db.one<{ first: number | null; last: number | null }>`
    SELECT (SELECT min(id) FROM passages) AS first, (SELECT max(id) FROM passages) AS last`
  return first === null || last === null ? 0 : last - first + 1
}

/**
 * Indexes up to `limit` rows that are not indexed yet: the newest memories first, then chunks, which need the order of
 * the session, then passages. The caller repeats it until all is done.
 */
export function indexNext(db: Database, limit: number): IndexState {
  purge(db, 1)
  return db.write(() => {
    const version = selectMeta(db, 'index_version')
    if (version === null) setMeta(db, 'index_version', INDEX_VERSION)
    else if (version !== INDEX_VERSION) resetIndex(db)
    const rows = db.ids`SELECT id FROM search_rows WHERE indexed = 0 ORDER BY id DESC LIMIT ${limit}`
    for (const row of rows) indexSearchRow(db, row)
    const withoutChunk = db.ids`
      SELECT id FROM search_rows WHERE chunk IS NULL AND id & 3 = 0
      ORDER BY content_session_id, id LIMIT ${limit - rows.length}`
    for (const row of withoutChunk) addToChunk(db, searchRowMemoryId(row))
    const left = limit - rows.length - withoutChunk.length
    const chunks = db.ids`
      SELECT id FROM session_chunks WHERE indexed = 0 ORDER BY id LIMIT ${Math.ceil(left / ROWS_PER_CHUNK)}`
    for (const chunk of chunks) indexChunk(db, chunk)
    const passages = Math.ceil(Math.max(0, left - chunks.length * ROWS_PER_CHUNK) / ROWS_PER_PASSAGE)
    const unindexed = db.ids`SELECT id FROM passages WHERE indexed = 0 AND transient = 0 ORDER BY id DESC LIMIT ${passages}`
    if (unindexed.length > 0)
      changeIndex(
        db,
        () => indexPassages(db, unindexed),
        () => undefined,
      )
    return indexState(db)
  })
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
  setMeta(db, 'purge', FIRST_MERGE_STAGE)
}

/** True when it is finished. False while segments are left to merge, or a reader still uses an older state. */
export function purge(db: Database, steps: number): boolean {
  for (let step = 0; step < steps; step += 1) {
    const stage = selectMeta(db, 'purge')
    if (stage === null) return true
    if (stage >= CHECKPOINT_STAGE) return truncateLog(db)
    mergeOrReset(db, stage)
  }
  return selectMeta(db, 'purge') === null
}

/** The first stage of a table starts a full merge, the second continues it until nothing is left to merge. */
function mergeStep(db: Database, stage: number): void {
  const table = FULL_TEXT_TABLES[Math.floor((stage - FIRST_MERGE_STAGE) / 2)]
  const isStart = (stage - FIRST_MERGE_STAGE) % 2 === 0
  if (table === undefined) setMeta(db, 'purge', CHECKPOINT_STAGE)
  else if (isStart) {
    merge(db, table, -PAGES_PER_STEP)
    setMeta(db, 'purge', stage + 1)
  } else if (!merge(db, table, PAGES_PER_STEP)) setMeta(db, 'purge', stage + 1)
}

/** A damaged index cannot be merged; deleting it removes the text too. */
function mergeOrReset(db: Database, stage: number): void {
  try {
    mergeStep(db, stage)
  } catch (error) {
    if (!isIndexDamage(error)) throw error
    db.write(() => resetIndex(db))
    setMeta(db, 'purge', CHECKPOINT_STAGE)
  }
}

/** False when there was nothing to merge: then FTS5 changes only one row of its own. */
function merge(db: Database, table: FullTextTable, pages: number): boolean {
  const changes = () => db.number`SELECT total_changes() AS n`
  const before = changes()
  db.run`INSERT INTO ${raw(table)} (${raw(table)}, rank) VALUES ('merge', ${pages})`
  return changes() - before >= 2
}

function truncateLog(db: Database): boolean {
  // Before the checkpoint: afterwards this write would be in the log.
  setMeta(db, 'purge', null)
  const truncated = checkpoint(db)
  if (!truncated) setMeta(db, 'purge', CHECKPOINT_STAGE)
  return truncated
}

function checkpoint(db: Database): boolean {
  const timeoutMs = db.pragma('busy_timeout', { simple: true })
  db.pragma(`busy_timeout = ${CHECKPOINT_BUSY_TIMEOUT_MS}`)
  try {
    const [result] = db.all<{ busy: number }>`PRAGMA wal_checkpoint(TRUNCATE)`
    return result?.busy === 0
  } finally {
    db.pragma(`busy_timeout = ${Number(timeoutMs)}`)
  }
}
