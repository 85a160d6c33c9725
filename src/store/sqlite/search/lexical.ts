/** What stands in the full-text tables. The filters are part of the statement: what does not pass is never scored. */
import type { SearchFilters } from '../../../search/query.ts'
import type { ColumnWeights, LexicalQuery, ScoredChunk, ScoredRow } from '../../search-port.ts'
import { all, type Connection, count } from '../statement.ts'
import { conditionsOf, kindsOnly } from './filters.ts'
import { chunkExpression, MAX_TERMS, matchExpression, queryWords, wordExpression } from './match.ts'
import { tellingExpression } from './telling.ts'

const SCORE = '-bm25(memory_fts, @title, @body, @facts, @names, @grams, @neighbours)'

export function selectMatches(
  db: Connection,
  query: LexicalQuery,
  filters: SearchFilters,
  weights: ColumnWeights,
  limit: number,
): ScoredRow[] {
  const match = matchExpression(query)
  if (match === null) return []
  if (query.how === 'every') return selectNewest(db, match, filters, weights, limit)
  const telling = tellingExpression(db, query.text)
  const found = telling === null ? [] : selectBest(db, telling.match, filters, weights, limit)
  if (telling === null || found.length < limit) return selectBest(db, match, filters, weights, limit)
  return found.map(({ row, score }) => ({ row, score: score / telling.factor }))
}

function selectNewest(
  db: Connection,
  match: string,
  filters: SearchFilters,
  weights: ColumnWeights,
  limit: number,
): ScoredRow[] {
  const { where, values } = conditionsOf(filters)
  return all(
    db,
    // The words lead: filters are looked up for what matches, not the other way round.
    `SELECT s.id AS row, ${SCORE} AS score FROM memory_fts CROSS JOIN search_rows s ON s.id = memory_fts.rowid
     WHERE memory_fts MATCH @match AND ${where} ORDER BY s.created_at_epoch DESC, s.id DESC LIMIT @limit`,
    { ...values, ...weights, match, limit },
  )
}

/** Of equals the newer one. A look at the row of everything that matches takes half as long again: only if it must be. */
function selectBest(
  db: Connection,
  match: string,
  filters: SearchFilters,
  weights: ColumnWeights,
  limit: number,
): ScoredRow[] {
  const kinds = kindsOnly(filters, 'memory_fts.rowid')
  const { where, values } = kinds === null ? conditionsOf(filters) : { where: kinds, values: {} }
  const rows = kinds === null ? 'CROSS JOIN search_rows s ON s.id = memory_fts.rowid' : ''
  return all(
    db,
    `SELECT memory_fts.rowid AS row, ${SCORE} AS score FROM memory_fts ${rows}
     WHERE memory_fts MATCH @match AND ${where} ORDER BY score DESC, row DESC LIMIT @limit`,
    { ...values, ...weights, match, limit },
  )
}

export function countMatches(db: Connection, query: LexicalQuery, filters: SearchFilters, atMost: number): number {
  const match = matchExpression(query)
  if (match === null) return 0
  const { where, values } = conditionsOf(filters)
  return count(
    db,
    `SELECT count(*) AS n FROM (SELECT 1 FROM memory_fts CROSS JOIN search_rows s ON s.id = memory_fts.rowid
       WHERE memory_fts MATCH @match AND ${where} LIMIT @atMost)`,
    { ...values, match, atMost },
  )
}

export function selectMatchedWords(db: Connection, text: string, rows: readonly number[]): Map<number, string[]> {
  const found = new Map<number, string[]>()
  for (const word of queryWords(text).slice(0, MAX_TERMS)) {
    const match = wordExpression(word)
    if (match === null) continue
    for (const { row } of rowsWith(db, match, rows)) found.set(row, [...(found.get(row) ?? []), word])
  }
  return found
}

function rowsWith(db: Connection, match: string, rows: readonly number[]): { row: number }[] {
  return all(
    db,
    `SELECT memory_fts.rowid AS row FROM json_each(@rows) wanted
     CROSS JOIN memory_fts ON memory_fts.rowid = wanted.value WHERE memory_fts MATCH @match`,
    { match, rows: JSON.stringify(rows) },
  )
}

export function selectChunks(db: Connection, text: string, project: string | null, limit: number): ScoredChunk[] {
  const match = chunkExpression(text)
  if (match === null) return []
  return all(
    db,
    `SELECT c.id AS chunk, -bm25(chunk_fts) AS score
     FROM chunk_fts CROSS JOIN session_chunks c ON c.id = chunk_fts.rowid
     WHERE chunk_fts MATCH @match ${project === null ? '' : 'AND c.project = @project'}
     ORDER BY score DESC, c.id DESC LIMIT @limit`,
    project === null ? { match, limit } : { match, limit, project },
  )
}
