/**
 * What was learned: `observations`, `session_summaries` and `user_prompts`. Also `pins`, and `links` from a newer
 * observation to an older one that it repeats, supersedes or amends.
 */
import { randomBytes } from 'node:crypto'
import { type MemoryOrigin, type Observation, observationNotFound, type Summary } from '../../domain/observation.ts'
import { MemError } from '../../lib/errors.ts'
import type { NewLink, NewObservation, NewPrompt, NewSummary } from '../commit.ts'
import type { EventOfTurn, MemoryFilter, PromptRow, TurnMaterial } from '../port.ts'
import type { Link, LinkKind, LinkResult, PinResult } from '../search-port.ts'
import {
  type Database,
  EMPTY_SQL,
  isOwnRow,
  nextSeq,
  raw,
  type Sql,
  type SqlTemplate,
  type Stored,
  sql,
  whereEqual,
} from './database.ts'

/** What all rows of one commit share. */
export interface RowKeys {
  session: string
  project: string
  seq: number
}

/** The columns that every memory has. */
function memoryColumns({ session, seq }: RowKeys, createdAt: number) {
  return {
    content_session_id: session,
    seq,
    created_at: new Date(createdAt).toISOString(),
    created_at_epoch: createdAt,
  }
}

/** 16 bytes: two of any number of machines never make the same one. */
const UID_BYTES = 16

/** `repository`: the one in whose shared log it is already. */
export type NewOrigin = MemoryOrigin & { repository?: string }

/** A new id, unless the memory has one from the machine that made it. */
export function originColumns({ uid, author = null, machine = null, repository }: NewOrigin) {
  return { uid: uid ?? randomBytes(UID_BYTES).toString('hex'), author, machine, repository: repository ?? null }
}

/** No memory has or had it. */
export function isFreeUid(db: Database, uid: string): boolean {
  return !db.exists`
    SELECT 1 FROM observations WHERE uid = ${uid} UNION ALL SELECT 1 FROM session_summaries WHERE uid = ${uid}
    UNION ALL SELECT 1 FROM passages WHERE uid = ${uid} UNION ALL SELECT 1 FROM team_aliases WHERE uid = ${uid}
    UNION ALL SELECT 1 FROM team_tombstones WHERE uid = ${uid}`
}

/** SQL for the columns of a memory's origin; `table` is its alias. */
export function originSql(table: string): Sql {
  return raw(`${table}.uid, ${table}.author, ${table}.machine`)
}

export function insertObservation(db: Database, keys: RowKeys, observation: NewObservation): number {
  return db.insertRow('observations', {
    ...memoryColumns(keys, observation.createdAt),
    project: keys.project,
    type: observation.type,
    title: observation.title,
    subtitle: observation.subtitle,
    narrative: observation.narrative,
    facts: observation.facts,
    concepts: observation.concepts,
    files_read: observation.filesRead,
    files_modified: observation.filesModified,
    functions_changed: observation.functionsChanged,
    agent: observation.agent,
    discovery_tokens: observation.discoveryTokens,
    discovery_estimated: observation.discoveryEstimated,
    sources: observation.sources,
    prompt_number: observation.promptNumber,
    content_hash: observation.contentHash,
    prompt_version: observation.promptVersion,
    model: observation.model,
    effect_id: observation.effectId ?? null,
    said_by: observation.saidBy ?? null,
    said_in: observation.saidIn ?? null,
    status: observation.status ?? null,
    ...originColumns(observation),
  })
}

export function insertSummary(db: Database, keys: RowKeys, summary: NewSummary): number {
  const whole = summary.whole === true
  // The new summary of the whole session replaces the one before of the same machine; triggers remove its copies from the
  // index.
  if (whole) {
    const replaced = sql`content_session_id = ${keys.session} AND whole = 1
      AND coalesce(author, '') = ${summary.author ?? ''} AND coalesce(machine, '') = ${summary.machine ?? ''}`
    // Only the machine that made it erases the replaced one in the shared log.
    db.run`UPDATE session_summaries SET repository = NULL WHERE ${replaced} AND machine IS NOT NULL`
    db.run`DELETE FROM session_summaries WHERE ${replaced}`
  }
  return db.insertRow('session_summaries', {
    ...memoryColumns(keys, summary.createdAt),
    project: keys.project,
    request: summary.request,
    investigated: summary.investigated,
    learned: summary.learned,
    completed: summary.completed,
    next_steps: summary.nextSteps,
    notes: summary.notes,
    files_read: summary.filesRead,
    files_edited: summary.filesEdited,
    prompt_number: summary.promptNumber,
    whole,
    model: summary.model,
    effect_id: summary.effectId ?? null,
    ...originColumns(summary),
  })
}

export function insertPrompt(db: Database, keys: RowKeys, prompt: NewPrompt): number {
  return db.insertRow('user_prompts', {
    ...memoryColumns(keys, prompt.at),
    event_id: prompt.eventId,
    prompt_number: prompt.number,
    prompt_text: prompt.text,
    private: prompt.private,
  })
}

/** `rest` of the statement follows `FROM user_prompts`. */
function promptsWhere(db: Database, rest: Sql): PromptRow[] {
  return db.all<Stored<PromptRow>>`
    SELECT prompt_number AS number, prompt_text AS text, private, created_at_epoch AS at FROM user_prompts
    ${rest}`.map((row) => ({ ...row, private: row.private === 1 }))
}

export function selectPrompt(db: Database, session: string, number: number): PromptRow | null {
  return promptsWhere(db, sql`WHERE content_session_id = ${session} AND prompt_number = ${number}`)[0] ?? null
}

/** The newest `limit`, oldest first. */
export function selectPrompts(db: Database, session: string, limit: number): PromptRow[] {
  const rest = sql`WHERE content_session_id = ${session} ORDER BY prompt_number DESC LIMIT ${limit}`
  return promptsWhere(db, rest).reverse()
}

export type ObservationRow = Stored<Omit<Observation, 'supersedes' | 'amends'>>

/** Of `observations o`. */
export const OBSERVATION_COLUMNS = sql`o.id, o.content_session_id AS session, o.project, o.type, o.title, o.subtitle,
  o.narrative, o.facts, o.concepts, o.files_read AS filesRead, o.files_modified AS filesModified,
  o.functions_changed AS functionsChanged, o.agent, o.discovery_tokens AS discoveryTokens,
  o.discovery_estimated AS discoveryEstimated, o.sources, o.prompt_number AS promptNumber,
  o.content_hash AS contentHash, o.prompt_version AS promptVersion, o.model, o.created_at_epoch AS createdAt, o.said_by AS saidBy, o.said_in AS saidIn,
  o.status, ${originSql('o')}`

/** Keeps further columns of the row as they are. */
export function toObservation<Row extends ObservationRow>(row: Row): Omit<Row, keyof ObservationRow> & Observation {
  return {
    ...row,
    facts: JSON.parse(row.facts),
    concepts: JSON.parse(row.concepts),
    filesRead: JSON.parse(row.filesRead),
    filesModified: JSON.parse(row.filesModified),
    functionsChanged: JSON.parse(row.functionsChanged),
    discoveryEstimated: row.discoveryEstimated === 1,
    sources: JSON.parse(row.sources),
  }
}

/** `from` and the rest of the statement; the table is `observations o`. */
export function observationsFrom(db: Database): (...from: SqlTemplate) => Observation[] {
  return (...from) => db.all<ObservationRow>`SELECT ${OBSERVATION_COLUMNS} FROM ${sql(...from)}`.map(toObservation)
}

export function selectObservation(db: Database, id: number): Observation | null {
  return observationsFrom(db)`observations o WHERE o.id = ${id}`[0] ?? null
}

/** In the order of the ids; missing ones are left out. */
export function selectObservationsById(db: Database, ids: readonly number[]): Observation[] {
  return observationsFrom(db)`
    json_each(${ids}) wanted CROSS JOIN observations o ON o.id = wanted.value ORDER BY wanted.key`
}

/** Newest first. */
export function selectObservations(db: Database, filter: MemoryFilter): Observation[] {
  const { session, project, current = false, limit = -1 } = filter
  const where = whereEqual({ 'o.content_session_id': session, 'o.project': project })
  const isCurrent = current
    ? sql`AND NOT EXISTS (SELECT 1 FROM links l WHERE l.to_id = o.id AND l.kind = 'supersedes')`
    : EMPTY_SQL
  return observationsFrom(db)`
    observations o WHERE ${where} ${isCurrent} ORDER BY o.created_at_epoch DESC, o.id DESC LIMIT ${limit}`
}

/** Of the messages that an effect has claimed, oldest first: of several turns where turns were merged. */
export function selectClaimedPrompts(db: Database, session: string, effectId: string): PromptRow[] {
  return promptsWhere(
    db,
    sql`WHERE content_session_id = ${session} AND prompt_number IN (
      SELECT prompt_number FROM pending_messages WHERE content_session_id = ${session} AND effect_id = ${effectId})
      ORDER BY prompt_number`,
  )
}

/** The prompt of an effect's turn and those of the messages that it has claimed, as their events; without private ones. */
export function selectPromptEvents(db: Database, session: string, effectId: string, prompt: number): EventOfTurn[] {
  type Row = { id: string; prompt: number; text: string; at: number; client: string; cwd: string } & {
    key: string
    name: string
  }
  const rows = db.all<Row>`
    SELECT p.event_id AS id, p.prompt_number AS prompt, p.prompt_text AS text, p.created_at_epoch AS at, s.client, s.cwd,
      s.project AS key, s.project_name AS name
    FROM user_prompts p JOIN sdk_sessions s USING (content_session_id)
    WHERE p.content_session_id = ${session} AND p.private = 0 AND (p.prompt_number = ${prompt} OR p.prompt_number IN (
      SELECT prompt_number FROM pending_messages WHERE content_session_id = ${session} AND effect_id = ${effectId}))
    ORDER BY p.prompt_number`
  const rest = { kind: 'prompt', session, transcriptPath: null, promptId: null, agent: null, private: false } as const
  return rows.map(({ key, name, prompt: number, ...row }) => ({
    event: { ...rest, ...row, project: { key, name } },
    prompt: number,
  }))
}

/** Observations in the order in which they were made. */
export function selectTurnMaterial(db: Database, session: string, prompt: number): TurnMaterial {
  return {
    prompt: selectPrompt(db, session, prompt),
    observations: observationsFrom(db)`
      observations o WHERE o.content_session_id = ${session} AND o.prompt_number = ${prompt} ORDER BY o.id`,
  }
}

export type SummaryRow = Stored<Omit<Summary, 'whole' | 'saidBy'>> & { whole: number; imported: number }

/** Of `session_summaries m`. What was neither made here nor received came from a file. */
export const SUMMARY_COLUMNS = sql`m.id, m.content_session_id AS session, m.project, m.request, m.investigated, m.learned,
  m.completed, m.next_steps AS nextSteps, m.notes, m.files_read AS filesRead, m.files_edited AS filesEdited,
  m.prompt_number AS promptNumber, m.whole, m.model, m.created_at_epoch AS createdAt, ${originSql('m')},
  m.effect_id IS NULL AND m.machine IS NULL AS imported`

export function toSummary({
  filesRead,
  filesEdited,
  promptNumber,
  whole,
  imported,
  model,
  createdAt,
  ...row
}: SummaryRow): Summary {
  return {
    ...row,
    filesRead: JSON.parse(filesRead),
    filesEdited: JSON.parse(filesEdited),
    promptNumber,
    ...(whole === 1 ? { whole: true } : {}),
    ...(imported === 1 ? { saidBy: 'tool' } : {}),
    model,
    createdAt,
  }
}

/** `from` and the rest of the statement; the table is `session_summaries m`. */
export function summariesFrom(db: Database): (...from: SqlTemplate) => Summary[] {
  return (...from) => db.all<SummaryRow>`SELECT ${SUMMARY_COLUMNS} FROM ${sql(...from)}`.map(toSummary)
}

/** Newest first. */
export function selectSummaries(
  db: Database,
  { session, project, limit = -1, me }: MemoryFilter & { me?: string | null },
): Summary[] {
  const where = whereEqual({ 'm.content_session_id': session, 'm.project': project })
  const own = me === undefined ? raw('1') : isOwnRow('m', me)
  return summariesFrom(db)`
    session_summaries m WHERE ${where} AND ${own} ORDER BY m.created_at_epoch DESC, m.id DESC LIMIT ${limit}`
}

/** A link made by a search is derived and there are thousands: clients do not follow it, so it takes no sequence number. */
export function linkObservations(db: Database, link: Link): LinkResult {
  if (link.by === 'search') return { changed: addLink(db, link), seq: null }
  return withSeq(db, () => addLink(db, link))
}

export function unlinkObservations(db: Database, from: number, to: number, kind: LinkKind): LinkResult {
  return withSeq(
    db,
    () => db.run`DELETE FROM links WHERE from_id = ${from} AND to_id = ${to} AND kind = ${kind}`.changes > 0,
  )
}

export function pinObservations(db: Database, ids: readonly number[], on: boolean, at: number): PinResult {
  return db.write(() => {
    const pins = setPins(db, ids, on, at)
    return { ...pins, seq: pins.changed > 0 ? nextSeq(db) : null }
  })
}

function withSeq(db: Database, change: () => boolean): LinkResult {
  return db.write(() => {
    const changed = change()
    return { changed, seq: changed ? nextSeq(db) : null }
  })
}

/** Takes no sequence number: the caller's change has one. */
export function addLink(db: Database, link: Link): boolean {
  const { from, to, kind } = link
  if (from === to) throw new MemError('bad_request', `Observation ${from} cannot be linked to itself.`)
  return db.write(() => {
    if (selectProjectOfObservation(db, from) !== selectProjectOfObservation(db, to)) {
      throw new MemError('bad_request', `Observations ${from} and ${to} belong to different projects.`)
    }
    if (kind === 'supersedes' && supersedesTransitively(db, to, from)) {
      throw new MemError('bad_request', `Observation ${to} already supersedes ${from}; remove that link first.`)
    }
    return insertLink(db, link)
  })
}

/** Open problems of a project that this machine learned and no later observation supersedes, newest first. */
export function selectOpenProblems(db: Database, project: string, limit: number): Observation[] {
  return observationsFrom(db)`
    observations o WHERE o.project = ${project} AND o.status = 'open' AND o.author IS NULL
      AND NOT EXISTS (SELECT 1 FROM links l WHERE l.to_id = o.id AND l.kind = 'supersedes')
    ORDER BY o.created_at_epoch DESC, o.id DESC LIMIT ${limit}`
}

/** Ids that do not exist, are of another project or of another author, or are not open or untested are left out. */
export function resolveObservations(db: Database, { project, seq }: RowKeys, ids: readonly number[]): void {
  if (ids.length === 0) return
  db.run`
    UPDATE observations SET status = 'resolved', seq = ${seq}
    WHERE id IN (SELECT value FROM json_each(${ids})) AND project = ${project} AND status IN ('open', 'untested')
      AND author IS NULL`
}

/**
 * Links to observations that do not exist, or of another project, are left out. What another author learned is only superseded
 * or amended by a person: an observer may not know why it was written.
 */
export function addLinks(db: Database, from: number, links: readonly NewLink[], at: number): void {
  for (const { to, kind, by } of links) {
    const isForeign = kind !== 'repeats' && by !== 'person' && isReceived(db, to)
    if (to !== from && !isForeign) insertLink(db, { from, to, kind, by, at })
  }
}

/** Authors of those of these observations that came from others, most observations first. */
export function selectAuthorsOf(db: Database, ids: readonly number[]): { author: string; observations: number }[] {
  return db.all<{ author: string; observations: number }>`
    SELECT o.author, count(*) AS observations FROM json_each(${ids}) wanted CROSS JOIN observations o ON o.id = wanted.value
    WHERE o.author IS NOT NULL GROUP BY o.author ORDER BY observations DESC, o.author`
}

function isReceived(db: Database, id: number): boolean {
  return db.exists`SELECT 1 FROM observations WHERE id = ${id} AND author IS NOT NULL`
}

export function setPins(db: Database, ids: readonly number[], on: boolean, at: number): Omit<PinResult, 'seq'> {
  return db.write(() => {
    const existing = new Set(selectExistingObservations(db, ids))
    let changed = 0
    for (const id of existing) {
      const pin = on
        ? db.run`INSERT INTO pins (id, at) VALUES (${id}, ${at}) ON CONFLICT DO NOTHING`
        : db.run`DELETE FROM pins WHERE id = ${id}`
      changed += pin.changes
    }
    return { changed, missing: ids.filter((id) => !existing.has(id)) }
  })
}

export function selectExistingObservations(db: Database, ids: readonly number[]): number[] {
  return db.ids`SELECT o.id FROM json_each(${ids}) wanted CROSS JOIN observations o ON o.id = wanted.value`
}

/** False if it exists, or if the observations are of different projects. */
export function insertLink(db: Database, { from, to, kind, by, at }: Link): boolean {
  const { changes } = db.run`
    INSERT INTO links (from_id, to_id, kind, made_by, at)
    SELECT newer.id, older.id, ${kind}, ${by}, ${at} FROM observations newer JOIN observations older USING (project)
    WHERE newer.id = ${from} AND older.id = ${to}
    ON CONFLICT DO NOTHING`
  return changes > 0
}

/** Directly or over others. In a cycle of superseding observations none would be current. */
function supersedesTransitively(db: Database, from: number, to: number): boolean {
  return db.exists`
    WITH RECURSIVE replaced (id) AS (
      SELECT to_id FROM links WHERE from_id = ${from} AND kind = 'supersedes'
      UNION SELECT l.to_id FROM replaced r CROSS JOIN links l ON l.from_id = r.id AND l.kind = 'supersedes')
    SELECT 1 FROM replaced WHERE id = ${to}`
}

/** Observations from one to another over `supersedes`, both included; empty if there is no way. */
export function selectSupersedesPath(db: Database, from: number, to: number): number[] {
  const cameFrom = new Map<number, number | null>([[from, null]])
  for (const id of cameFrom.keys()) {
    if (id === to) return pathTo(cameFrom, id)
    for (const next of db.ids`SELECT to_id AS id FROM links WHERE from_id = ${id} AND kind = 'supersedes' ORDER BY to_id`) {
      if (!cameFrom.has(next)) cameFrom.set(next, id)
    }
  }
  return []
}

function pathTo(cameFrom: ReadonlyMap<number, number | null>, last: number): number[] {
  const path: number[] = []
  for (let at: number | null = last; at !== null; at = cameFrom.get(at) ?? null) path.unshift(at)
  return path
}

export function selectProjectOfObservation(db: Database, id: number): string {
  const row = db.get<{ project: string }>`SELECT project FROM observations WHERE id = ${id}`
  if (row === undefined) throw observationNotFound(id)
  return row.project
}
