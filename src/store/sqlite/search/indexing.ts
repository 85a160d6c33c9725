/** Keeps the full-text index in step with the rows. Every function here runs inside a transaction of its caller. */
import { systemCode } from '../../../errors.ts'
import type { MemoryKind } from '../../../search/query.ts'
import { type ObservationRow, type SummaryRow, toObservation, toSummary } from '../memories.ts'
import { all, type Connection, get, run } from '../statement.ts'
import { indexChunk, placeInChunk } from './chunks.ts'
import { isIndexDamage } from './damage.ts'
import { foldConcept, foldedList, foldPath } from './fold.ts'
import { distrustIndex } from './index-version.ts'
import { idOf, kindOf, rowOf } from './rows.ts'
import { type Beside, indexedText, textOfObservation, textOfPrompt, textOfSummary } from './texts.ts'

export interface Added {
  session: string
  observations: readonly number[]
  summaries: readonly number[]
  prompts: readonly number[]
}

/**
 * Words are derived: a damaged index never keeps a memory from being stored. It is marked and made anew; until then
 * what comes in waits.
 */
export function indexAddedSafely(db: Connection, added: Added): void {
  run(db, 'SAVEPOINT indexing')
  try {
    indexAdded(db, added)
    run(db, 'RELEASE indexing')
  } catch (error) {
    if (!isIndexTrouble(error) || !db.inTransaction) throw error
    run(db, 'ROLLBACK TO indexing')
    run(db, 'RELEASE indexing')
    distrustIndex(db)
  }
}

/** An index that lost count of its own parts gives out their numbers twice. */
function isIndexTrouble(error: unknown): boolean {
  return isIndexDamage(error) || systemCode(error)?.startsWith('SQLITE_CONSTRAINT') === true
}

/**
 * After a commit: its rows, the observations that now have more behind them, and the chunk that is being filled. How
 * long the session is makes no difference.
 */
function indexAdded(db: Connection, { session, observations, summaries, prompts }: Added): void {
  const [first] = observations
  const before = first === undefined ? [] : observationsBefore(db, session, first)
  const rows = [
    ...[...before, ...observations].map((id) => rowOf('observation', id)),
    ...summaries.map((id) => rowOf('summary', id)),
    ...prompts.map((id) => rowOf('prompt', id)),
  ]
  for (const row of rows) indexRow(db, row)
  const chunks = new Set(observations.flatMap((id) => placeInTurn(db, session, id) ?? []))
  for (const chunk of chunks) indexChunk(db, chunk)
}

const INDEX_BY_KIND: Record<MemoryKind, (db: Connection, row: number) => boolean> = {
  observation: indexObservation,
  summary: indexSummary,
  prompt: indexPrompt,
}

export function indexRow(db: Connection, row: number): void {
  // With nothing behind it, it would wait for ever.
  if (!INDEX_BY_KIND[kindOf(row)](db, row)) run(db, 'DELETE FROM search_rows WHERE id = ?', [row])
}

function indexObservation(db: Connection, row: number): boolean {
  const found = get<ObservationRow>(db, 'SELECT * FROM observations WHERE id = ?', [idOf(row)])
  if (found === undefined) return false
  const observation = toObservation(found)
  const { session, id, concepts, filesRead, filesModified } = observation
  const beside = [...besideBefore(db, session, id), ...besideAfter(db, session, id)]
  putText(db, row, indexedText(textOfObservation(observation), beside))
  return setIndexed(db, row, concepts, [...filesRead, ...filesModified])
}

function indexSummary(db: Connection, row: number): boolean {
  const found = get<SummaryRow>(db, 'SELECT * FROM session_summaries WHERE id = ?', [idOf(row)])
  if (found === undefined) return false
  const summary = toSummary(found)
  putText(db, row, indexedText(textOfSummary(summary), []))
  return setIndexed(db, row, [], [...summary.filesRead, ...summary.filesEdited])
}

function indexPrompt(db: Connection, row: number): boolean {
  const found = get<{ text: string }>(db, 'SELECT prompt_text AS text FROM user_prompts WHERE id = ? AND private = 0', [
    idOf(row),
  ])
  if (found === undefined) return false
  putText(db, row, indexedText(textOfPrompt(found.text), []))
  return setIndexed(db, row, [], [])
}

function putText(db: Connection, row: number, text: ReturnType<typeof indexedText>): void {
  run(db, 'DELETE FROM memory_fts WHERE rowid = ?', [row])
  run(
    db,
    `INSERT INTO memory_fts (rowid, title, body, facts, names, grams, neighbours)
     VALUES (@row, @title, @body, @facts, @names, @grams, @neighbours)`,
    { row, ...text },
  )
}

function setIndexed(db: Connection, row: number, concepts: readonly string[], files: readonly string[]): boolean {
  return (
    run(db, 'UPDATE search_rows SET indexed = 1, concepts = @concepts, files = @files WHERE id = @row', {
      row,
      concepts: foldedList(concepts.map(foldConcept)),
      files: foldedList(files.map(foldPath)),
    }).changes > 0
  )
}

/** Chunks are filled in a session's order: one whose forerunners still wait for their place waits with them. */
function placeInTurn(db: Connection, session: string, id: number): number | null {
  return firstUnplaced(db, session) === rowOf('observation', id) ? placeInChunk(db, id) : null
}

function firstUnplaced(db: Connection, session: string): number | undefined {
  return get<{ id: number }>(
    db,
    `SELECT id FROM search_rows WHERE content_session_id = ? AND chunk IS NULL AND id & 3 = 0 ORDER BY id LIMIT 1`,
    [session],
  )?.id
}

/** On each side. Two find more than one (docs/retrieval.md); the triggers of the schema know this number too. */
const NEIGHBOURS = 2

function observationsBefore(db: Connection, session: string, id: number): number[] {
  return all<{ id: number }>(
    db,
    `SELECT id FROM observations WHERE content_session_id = ? AND id < ? ORDER BY id DESC LIMIT ${NEIGHBOURS}`,
    [session, id],
  ).map((row) => row.id)
}

function besideBefore(db: Connection, session: string, id: number): Beside[] {
  return all<Beside>(
    db,
    `SELECT title, subtitle, narrative FROM observations
     WHERE content_session_id = ? AND id < ? ORDER BY id DESC LIMIT ${NEIGHBOURS}`,
    [session, id],
  ).reverse()
}

function besideAfter(db: Connection, session: string, id: number): Beside[] {
  return all<Beside>(
    db,
    `SELECT title, subtitle, narrative FROM observations
     WHERE content_session_id = ? AND id > ? ORDER BY id LIMIT ${NEIGHBOURS}`,
    [session, id],
  )
}
