/** What search reads of passages: matches by words, and the passages themselves with what they belong to. */
import type { Passage } from '../../domain/passage.ts'
import { foldPath, type SearchFilters } from '../../domain/search-query.ts'
import type { EvidencePassage, FoundPassage, LexicalQuery, PassageWeights, ScoredPassage } from '../search-port.ts'
import { allOf, type Database, EMPTY_SQL, type Sql, sql } from './database.ts'
import { matchExpression, narrowedFirst } from './full-text-search.ts'
import { selectPassages } from './passages.ts'
import { displayNameSql } from './projects.ts'
import { authorCondition, clientsCondition } from './search-rows.ts'

/** `every` and `phrase`: newest first. `any`: best first; equal scores: the newer one first. Empty if the query has no words. */
export function selectMatchingPassages(
  db: Database,
  query: LexicalQuery,
  filters: SearchFilters,
  weights: PassageWeights,
  limit: number,
): ScoredPassage[] {
  const expression = matchExpression(query, 'passage_fts')
  if (expression === null) return []
  const conditions = passageConditions(filters)
  const isJoined = conditions.length > 0 || query.how !== 'any'
  // CROSS JOIN fixes the order: filters are looked up for matching rows, not the other way round.
  const join = isJoined ? sql`CROSS JOIN passages p ON p.id = passage_fts.rowid` : EMPTY_SQL
  const order = query.how === 'any' ? sql`score DESC, passage_fts.rowid DESC` : sql`p.at DESC, p.id DESC`
  const select = (match: string) => db.all<ScoredPassage>`
    SELECT passage_fts.rowid AS id, -bm25(passage_fts, ${weights.text}, ${weights.around}) AS score
    FROM passage_fts ${join} WHERE passage_fts MATCH ${match} AND ${allOf(conditions)} ORDER BY ${order} LIMIT ${limit}`
  if (query.how !== 'any') return select(expression)
  return narrowedFirst(db, 'passage_fts', query.text, limit, (narrowed) => select(narrowed ?? expression))
}

/** Newest first; within an event in their order. */
export function selectFilteredPassages(db: Database, filters: SearchFilters, limit: number, offset: number): number[] {
  return db.ids`
    SELECT p.id FROM passages p WHERE ${allOf(passageConditions(filters))}
    ORDER BY p.at DESC, p.event_id, p.position LIMIT ${limit} OFFSET ${offset}`
}

export function countFilteredPassages(db: Database, filters: SearchFilters): number {
  return db.number`SELECT count(*) AS n FROM passages p WHERE ${allOf(passageConditions(filters))}`
}

/** Over `passages p`. A passage has no type, concept or pin: a filter for one excludes all of them. */
export function passageConditions(filters: SearchFilters): Sql[] {
  const { project, types, concepts, files, since, until, agent, author, clients, session, pinned } = filters
  const conditions: Sql[] = []
  if (types.length + concepts.length > 0 || agent !== null || pinned) conditions.push(sql`FALSE`)
  if (author !== null) {
    const isByWriter = author === 'user' ? sql`p.kind IN ('prompt', 'answer')` : sql`FALSE`
    conditions.push(authorCondition(author, sql`p.author`, isByWriter))
  }
  if (project !== null) conditions.push(sql`p.project = ${project}`)
  if (session !== null) conditions.push(sql`p.content_session_id = ${session}`)
  if (clients.length > 0) conditions.push(clientsCondition(clients, sql`p.content_session_id`))
  if (since !== null) conditions.push(sql`p.at >= ${since}`)
  if (until !== null) conditions.push(sql`p.at <= ${until}`)
  if (files.length > 0) {
    conditions.push(sql`p.subject IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(${files.map(foldPath)}) wanted
      WHERE instr(lower(replace(p.subject, '\\', '/')), wanted.value) > 0)`)
  }
  return conditions
}

/** In the order of the ids; missing ones are left out. */
export function selectFoundPassages(db: Database, ids: readonly number[]): FoundPassage[] {
  const links = db.all<{ id: number; projectName: string; observationIds: string | null }>`
    SELECT p.id, ${displayNameSql('p.project', 's.project_name')} AS projectName, e.observation_ids AS observationIds
    FROM json_each(${ids}) wanted CROSS JOIN passages p ON p.id = wanted.value
      JOIN sdk_sessions s USING (content_session_id)
      LEFT JOIN events e ON e.content_session_id = p.content_session_id AND e.event_id = p.event_id`
  const linksOf = new Map(links.map((row) => [row.id, row]))
  return selectPassages(db, ids).flatMap((passage: Passage) => {
    const found = linksOf.get(passage.id)
    if (found === undefined) return []
    return [{ ...passage, projectName: found.projectName, observationIds: JSON.parse(found.observationIds ?? '[]') }]
  })
}

/** The passages of the events that observations were made of, in the order of the ids and of the session; at most `limit`. */
export function selectEvidence(db: Database, observationIds: readonly number[], limit: number): EvidencePassage[] {
  const links = db.all<{ observationId: number; id: number }>`
    SELECT o.id AS observationId, p.id FROM json_each(${observationIds}) wanted
      CROSS JOIN observations o ON o.id = wanted.value
      CROSS JOIN json_each(o.sources) source
      CROSS JOIN passages p ON p.content_session_id = o.content_session_id AND p.event_id = source.value
    ORDER BY wanted.key, p.at, p.event_id, p.position LIMIT ${limit}`
  const passages = new Map(selectPassages(db, [...new Set(links.map(({ id }) => id))]).map((one) => [one.id, one]))
  return links.flatMap(({ observationId, id }) => {
    const passage = passages.get(id)
    return passage === undefined ? [] : [{ ...passage, observationId }]
  })
}

/** A passage with those before and after it in its turn, in the order of the session; empty if it does not exist. */
export function selectPassagesAround(db: Database, id: number, around: number): FoundPassage[] {
  const ids = db.ids`
    SELECT b.id FROM passages p JOIN passages b
      ON b.content_session_id = p.content_session_id AND b.prompt_number = p.prompt_number
    WHERE p.id = ${id} ORDER BY b.at, b.event_id, b.position`
  const at = ids.indexOf(id)
  return at === -1 ? [] : selectFoundPassages(db, ids.slice(Math.max(0, at - around), at + around + 1))
}
