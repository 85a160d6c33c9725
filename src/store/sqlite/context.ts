/**
 * What the context of a session is selected from. Every statement reads the start of an index, never a whole project.
 * `shown`: observations that a session got with its prompts, so that none is given twice.
 */
import { type Authorship, isOwn } from '../../domain/authorship.ts'
import { isImportedId } from '../../domain/event.ts'
import type { Observation } from '../../domain/observation.ts'
import type { Passage } from '../../domain/passage.ts'
import type {
  ContextMaterial,
  ContextQuery,
  ProjectAlias,
  ProjectTotals,
  SessionPrompt,
  SessionStory,
} from '../port.ts'
import { type Database, isOwnRow, raw, type Sql, type Stored } from './database.ts'
import { observationsFrom, selectObservationsById, selectSummaries } from './memories.ts'
import { selectOwnPassages, selectOwnSessions } from './passages.ts'
import { newestName, selectGivenName } from './projects.ts'

/** Null for an unknown project. */
export function selectContextMaterial(db: Database, query: ContextQuery): ContextMaterial | null {
  const key = query.project
  const name = selectGivenName(db, key) ?? newestName(db, key)
  if (name === null) return null
  const me = query.me ?? null
  const sessions = selectOwnSessions(db, key, me)
  const pinned = selectPinned(db, query)
  const isPinned = new Set(pinned.map(({ id }) => id))
  const candidates = newestCandidates(db, query).filter(({ id }) => !isPinned.has(id))
  const ids = candidates.filter(({ superseded }) => superseded === 0).map(({ id }) => id)
  return {
    project: { key, name },
    totals: selectTotals(db, query.project),
    observations: selectObservationsById(db, ids),
    pinned,
    summaries: selectSummaries(db, { project: key, limit: query.summaries, me }),
    passages: selectContextPassages(db, sessions, query),
    prompts: query.prompts === 0 ? [] : selectNewestPrompts(db, sessions, query.prompts),
    idle: selectIdleSessions(db, sessions),
    repeats: selectRepeats(db, [...ids, ...isPinned]),
    amends: selectAmends(db, [...ids, ...isPinned]),
  }
}

function selectNewestPrompts(db: Database, sessions: readonly string[], limit: number): SessionPrompt[] {
  const rows = db.all<Omit<SessionPrompt, 'imported'> & { eventId: string }>`
    SELECT p.content_session_id AS session, p.prompt_number AS promptNumber, p.prompt_text AS text,
      p.created_at_epoch AS at, p.event_id AS eventId
    FROM json_each(${sessions}) wanted
      CROSS JOIN user_prompts p ON p.content_session_id = wanted.value
    WHERE p.private = 0 ORDER BY p.created_at_epoch DESC, p.id DESC LIMIT ${limit}`
  return rows.map(({ eventId, ...prompt }) => ({ ...prompt, imported: isImportedId(eventId) }))
}

/** Sessions of this machine in which no tool was used: somebody asked something, and no more. */
function selectIdleSessions(db: Database, sessions: readonly string[]): string[] {
  return db.ids<string>`
    SELECT wanted.value AS id FROM json_each(${sessions}) wanted
    WHERE EXISTS (SELECT 1 FROM events e WHERE e.content_session_id = wanted.value)
      AND NOT EXISTS (SELECT 1 FROM events e WHERE e.content_session_id = wanted.value AND e.tool IS NOT NULL)`
}

function selectContextPassages(
  db: Database,
  sessions: readonly string[],
  { project, passages, me = null }: ContextQuery,
): Passage[] {
  return passages
    .flatMap((group) => selectOwnPassages(db, sessions, { project, ...group }, me))
    .sort((a, b) => b.at - a.at || (a.eventId < b.eventId ? -1 : a.eventId > b.eventId ? 1 : a.position - b.position))
}

export function selectAliases(db: Database, key: string): ProjectAlias[] {
  const rows = db.all<Stored<ProjectAlias>>`
    SELECT key, root IS NULL AS moved FROM projects WHERE merged_into = ${key} ORDER BY key`
  return rows.map((row) => ({ ...row, moved: row.moved === 1 }))
}

function selectTotals(db: Database, project: string): ProjectTotals {
  const totals = db.get<ProjectTotals>`
    SELECT observations, discovery_tokens AS discoveryTokens,
      (SELECT min(created_at_epoch) FROM observations o WHERE o.project = t.project) AS since
    FROM project_totals t WHERE project = ${project}`
  return totals ?? { observations: 0, discoveryTokens: 0, since: null }
}

interface Candidate extends Authorship {
  id: number
  at: number
  superseded: number
}

/**
 * Newest first: the reader's own, and beside them the newest of other people. However many others write, and whatever their
 * clocks say, they displace none of the reader's own.
 */
function newestCandidates(db: Database, query: ContextQuery): Candidate[] {
  const { project, observations, me = null, others = 0 } = query
  const isMine = (candidate: Candidate) => isOwn(candidate, me)
  const newest = (limit: number, which: Sql) => db.all<Candidate>`
    SELECT id, created_at_epoch AS at, author,
      EXISTS (SELECT 1 FROM links WHERE to_id = o.id AND kind = 'supersedes') AS superseded
    FROM observations o INDEXED BY observations_project WHERE project = ${project} AND ${which}
    ORDER BY created_at_epoch DESC, id DESC LIMIT ${limit}`
  const own = newest(observations, isOwnRow('o', me))
  const foreign = newest(others * OTHERS_LOOKED_AT, raw('1')).filter((one) => !isMine(one))
  return [...own, ...foreign.slice(0, others)].sort(newestFirst)
}

/** Newest rows that are looked at to find those of other people, as a multiple: the rest of them are one's own. */
const OTHERS_LOOKED_AT = 3

function newestFirst(a: Candidate, b: Candidate): number {
  return b.at - a.at || b.id - a.id
}

/** Pins are made by hand, so there are few of them in all projects together. One's own memories come first. */
function selectPinned(db: Database, { project, pinned: limit, me = null }: ContextQuery): Observation[] {
  return observationsFrom(db)`
    pins p CROSS JOIN observations o ON o.id = p.id WHERE o.project = ${project}
    ORDER BY (o.author IS NULL OR o.author IS ${me}) DESC, p.at DESC, p.id DESC LIMIT ${limit}`
}

function selectRepeats(db: Database, ids: readonly number[]): ContextMaterial['repeats'] {
  return db.all<ContextMaterial['repeats'][number]>`
    SELECT l.from_id AS "from", l.to_id AS "to"
    FROM json_each(${ids}) wanted CROSS JOIN links l ON l.from_id = wanted.value
    WHERE l.kind = 'repeats' ORDER BY l.from_id, l.to_id`
}

function selectAmends(db: Database, ids: readonly number[]): ContextMaterial['amends'] {
  return db.all<ContextMaterial['amends'][number]>`
    SELECT l.from_id AS "from", l.to_id AS "to"
    FROM json_each(${ids}) wanted CROSS JOIN links l ON l.to_id = wanted.value
    WHERE l.kind = 'amends' ORDER BY l.from_id, l.to_id`
}

/** Oldest first. */
export function selectGiven(db: Database, session: string): SessionStory['given'] {
  return db.all<SessionStory['given'][number]>`
    SELECT o.id, o.type, o.title, g.at FROM shown g JOIN observations o ON o.id = g.observation_id
    WHERE g.content_session_id = ${session} ORDER BY g.at, o.id`
}

export function selectShown(db: Database, session: string): number[] {
  return db.ids`SELECT observation_id AS id FROM shown WHERE content_session_id = ${session}`
}

/**
 * Returns those that were not shown before, and marks them. None for an unknown session. One statement, so that of two
 * hooks at the same time only one gets an observation.
 */
export function insertShown(db: Database, session: string, observations: readonly number[], at: number): number[] {
  return db.ids`
    INSERT INTO shown (content_session_id, observation_id, at)
    SELECT s.content_session_id, o.id, ${at} FROM sdk_sessions s, json_each(${observations}) wanted
      JOIN observations o ON o.id = wanted.value WHERE s.content_session_id = ${session}
    ON CONFLICT DO NOTHING RETURNING observation_id AS id`
}

/** The client emptied its conversation: everything may be shown again. */
export function deleteShown(db: Database, session: string): void {
  db.run`DELETE FROM shown WHERE content_session_id = ${session}`
}
