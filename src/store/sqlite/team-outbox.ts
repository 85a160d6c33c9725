/**
 * `shared_projects` and `team_outbox`: which projects are shared, and the records that wait to be pushed to the shared log.
 * Triggers fill the outbox (migration 13); here it is read, and emptied when the log has stored the records. A memory's
 * body is read when it is pushed: one that was deleted in the meantime never leaves.
 */
import type { Observation, Summary } from '../../domain/observation.ts'
import type { Passage } from '../../domain/passage.ts'
import {
  isTravellingKey,
  type RecordKind,
  type SharedObservation,
  type SharedPassage,
  type SharedSession,
  type SharedSummary,
  type TeamRecord,
} from '../../domain/team-record.ts'
import { MemError } from '../../lib/errors.ts'
import type {
  OutboxBatch,
  OutboxStats,
  SharedCounts,
  SharedMemories,
  SharedProject,
  SharePreview,
} from '../team-port.ts'
import { type Database, raw, type Sql, type Stored, sql } from './database.ts'
import { observationsFrom, summariesFrom } from './memories.ts'
import { passagesFrom } from './passages.ts'

/** Tables of memories that travel, by the kind of their records, with the column of their time. */
export const MEMORY_TABLES = [
  { kind: 'observation', table: raw('observations'), time: raw('created_at_epoch') },
  { kind: 'summary', table: raw('session_summaries'), time: raw('created_at_epoch') },
  { kind: 'passage', table: raw('passages'), time: raw('at') },
] as const

/** Also those whose withdrawal is not sent yet. */
export function selectSharedProjects(db: Database): SharedProject[] {
  return db.all<Stored<SharedProject>>`
    SELECT project, since, passages, at FROM shared_projects WHERE withdrawn < 2 ORDER BY project`.map((row) => ({
    ...row,
    passages: row.passages === 1,
  }))
}

export function selectSharedMemories(db: Database): SharedMemories[] {
  const found = MEMORY_TABLES.flatMap(
    ({ table }) => db.all<{ repository: string; total: number; own: number }>`
      SELECT repository, count(*) AS total, sum(machine IS NULL) AS own FROM ${table}
      WHERE repository IS NOT NULL GROUP BY repository`,
  )
  return selectSharedProjects(db).map(({ project }) => {
    const counts = found.filter(({ repository }) => repository === project)
    const own = counts.reduce((sum, one) => sum + one.own, 0)
    return { project, own, received: counts.reduce((sum, one) => sum + one.total, 0) - own }
  })
}

/** One transaction; a dry run is rolled back. */
export function shareProject(
  db: Database,
  project: Omit<SharedProject, 'at'>,
  at: number,
  dryRun: boolean,
): SharedCounts {
  if (!isTravellingKey(project.project)) {
    throw new MemError(
      'bad_request',
      `${project.project} is a path of this machine: give the project a remote or a name before it is shared.`,
    )
  }
  db.run`BEGIN IMMEDIATE`
  try {
    const counts = share(db, project, at)
    if (dryRun) db.run`ROLLBACK`
    else db.run`COMMIT`
    return counts
  } catch (error) {
    // SQLite may already have rolled back when the disk failed.
    if (db.inTransaction) db.run`ROLLBACK`
    throw error
  }
}

/** As a dry run, with the records themselves. */
export function previewShare(
  db: Database,
  project: Omit<SharedProject, 'at'>,
  after: number,
  limit: number,
): SharePreview {
  db.run`BEGIN IMMEDIATE`
  try {
    const last = lastEntry(db)
    share(db, project, 0)
    const page = db.all<OutboxEntry>`
      SELECT id, uid, kind, project, record, at FROM team_outbox WHERE id > ${last} ORDER BY id
      LIMIT ${limit} OFFSET ${after}`
    const bodies = new BodyReader(db, page)
    const records = page.map((entry) => bodies.recordOf(entry)).filter((record) => record !== null)
    return { records, next: page.length < limit ? null : after + limit }
  } finally {
    if (db.inTransaction) db.run`ROLLBACK`
  }
}

/** Memories leave the log and enter it again, which puts them with their pins, links and states into the outbox. */
export function resendProject(db: Database, project: string): void {
  db.write(() => {
    if (!db.exists`SELECT 1 FROM shared_projects WHERE project = ${project} AND withdrawn = 0`) return
    db.run`DELETE FROM team_outbox WHERE project = ${project}`
    db.run`
      INSERT INTO team_outbox (uid, kind, project, record, at)
      SELECT lower(hex(randomblob(16))), 'tombstone', repository, json_object('target', uid), at FROM team_tombstones
      WHERE repository = ${project} ORDER BY id`
    for (const { table } of MEMORY_TABLES) {
      db.run`UPDATE ${table} SET repository = NULL WHERE repository = ${project} AND machine IS NULL`
    }
    db.run`UPDATE shared_projects SET at = at WHERE project = ${project}`
  })
}

function share(db: Database, { project, since, passages }: Omit<SharedProject, 'at'>, at: number): SharedCounts {
  const state = db.get<{ withdrawn: number }>`SELECT withdrawn FROM shared_projects WHERE project = ${project}`
  if (state?.withdrawn === 1) {
    throw new MemError(
      'busy',
      `The records of ${project} are still being withdrawn. Share it again when that is done.`,
      {
        retryable: true,
      },
    )
  }
  const last = lastEntry(db)
  const hasPassages = passages ? 1 : 0
  // What waited when sharing was stopped was dropped from the outbox: it is sent again, and the log knows the rest.
  if (state?.withdrawn === 2) queueAgain(db, sql`repository = ${project}`)
  db.run`
    INSERT INTO shared_projects (project, since, passages, withdrawn, at)
    VALUES (${project}, ${since}, ${hasPassages}, 0, ${at})
    ON CONFLICT (project) DO UPDATE SET since = excluded.since, passages = excluded.passages, withdrawn = 0,
      at = excluded.at`
  return countEntries(db, last)
}

function lastEntry(db: Database): number {
  return db.number`SELECT max(id) AS n FROM team_outbox`
}

/** Own memories in the log that are not in the outbox. Sending a record again changes nothing. */
export function queueAgain(db: Database, which: Sql): void {
  for (const { kind, table, time } of MEMORY_TABLES) {
    db.run`
      INSERT INTO team_outbox (uid, kind, project, at) SELECT m.uid, ${kind}, m.repository, m.${time} FROM ${table} m
      WHERE m.repository IS NOT NULL AND m.machine IS NULL AND ${which}
        AND NOT EXISTS (SELECT 1 FROM team_outbox o WHERE o.uid = m.uid) ORDER BY m.id`
  }
}

const NO_COUNTS: SharedCounts = { observation: 0, summary: 0, passage: 0, link: 0, pin: 0, status: 0 }

function countEntries(db: Database, after: number): SharedCounts {
  const counts = { ...NO_COUNTS }
  const found = db.all<{ kind: RecordKind; n: number }>`
    SELECT kind, count(*) AS n FROM team_outbox WHERE id > ${after} GROUP BY kind`
  for (const { kind, n } of found) if (kind !== 'tombstone' && kind !== 'project') counts[kind] = n
  return counts
}

/**
 * Without `withdraw`, what was sent stays in the log. Rows keep their repository, so that forgetting one still sends a
 * tombstone, which is all that leaves of a project that is no longer shared.
 */
export function unshareProject(db: Database, project: string, at: number, withdraw: boolean): SharedCounts {
  return db.write(() => {
    const counts = { ...NO_COUNTS }
    if (!db.exists`SELECT 1 FROM shared_projects WHERE project = ${project} AND withdrawn < 2`) return counts
    db.run`DELETE FROM team_outbox WHERE project = ${project} AND kind <> 'tombstone'`
    if (withdraw) counts.passage += db.run`DELETE FROM team_expired WHERE repository = ${project}`.changes
    for (const { kind, table } of withdraw ? MEMORY_TABLES : []) counts[kind] += withdrawRows(db, table, project, at)
    db.run`UPDATE shared_projects SET withdrawn = ${withdraw ? 1 : 2}, at = ${at} WHERE project = ${project}`
    finishWithdrawals(db)
    return counts
  })
}

/** Tombstones for the log; the memories stay here, in no log any more. */
function withdrawRows(db: Database, table: Sql, project: string, at: number): number {
  const own = sql`repository = ${project} AND machine IS NULL`
  db.run`
    INSERT INTO team_outbox (uid, kind, project, record, at)
    SELECT lower(hex(randomblob(16))), 'tombstone', repository, json_object('target', uid), ${at} FROM ${table}
    WHERE ${own} ORDER BY id`
  db.run`
    INSERT INTO team_tombstones (uid, repository, at)
    SELECT uid, repository, ${at} FROM ${table} WHERE ${own} ON CONFLICT (uid) DO NOTHING`
  return db.run`UPDATE ${table} SET repository = NULL WHERE ${own}`.changes
}

/** A project whose tombstones are all sent is no longer shared. */
function finishWithdrawals(db: Database): void {
  db.run`
    UPDATE shared_projects SET withdrawn = 2 WHERE withdrawn = 1
      AND NOT EXISTS (SELECT 1 FROM team_outbox o WHERE o.project = shared_projects.project)`
}

interface OutboxEntry {
  id: number
  uid: string
  kind: RecordKind
  project: string
  record: string | null
  at: number
}

/** Entries whose bodies are in memory at the same time. */
const PAGE_ENTRIES = 100

/** Oldest first. What is gone, or no longer of a shared project, is left out. At least one record, whatever its size. */
export function selectOutbox(db: Database, maxRecords: number, maxBytes: number): OutboxBatch {
  return db.transaction(() => {
    const records: TeamRecord[] = []
    let upTo = 0
    let bytes = 0
    for (let page = entriesAfter(db, 0); page.length > 0; page = entriesAfter(db, upTo)) {
      const bodies = new BodyReader(db, page)
      for (const entry of page) {
        const record = bodies.recordOf(entry)
        if (record !== null) {
          bytes += JSON.stringify(record).length
          if (records.length >= maxRecords || (records.length > 0 && bytes > maxBytes)) return batch(db, records, upTo)
          records.push(record)
        }
        upTo = entry.id
      }
    }
    return batch(db, records, upTo)
  })()
}

function entriesAfter(db: Database, id: number): OutboxEntry[] {
  return db.all<OutboxEntry>`
    SELECT id, uid, kind, project, record, at FROM team_outbox WHERE id > ${id} ORDER BY id LIMIT ${PAGE_ENTRIES}`
}

function batch(db: Database, records: TeamRecord[], upTo: number): OutboxBatch {
  return { records, upTo, left: db.number`SELECT count(*) AS n FROM team_outbox WHERE id > ${upTo}` }
}

/** Makes the records of a page of entries, with one statement for each table. */
class BodyReader {
  readonly #shared: ReadonlySet<string>
  readonly #observations: ReadonlyMap<string, Observation>
  readonly #summaries: ReadonlyMap<string, Summary>
  readonly #passages: ReadonlyMap<string, Passage>
  readonly #sessions: ReadonlyMap<string, SharedSession>

  constructor(db: Database, page: readonly OutboxEntry[]) {
    const uids = (kind: RecordKind) => page.filter((entry) => entry.kind === kind).map(({ uid }) => uid)
    this.#shared = new Set(db.ids<string>`SELECT project AS id FROM shared_projects WHERE withdrawn = 0`)
    this.#observations = byUid(observationsFrom(db)`
      json_each(${uids('observation')}) wanted CROSS JOIN observations o ON o.uid = wanted.value
      WHERE o.machine IS NULL AND o.repository = o.project`)
    this.#summaries = byUid(summariesFrom(db)`
      json_each(${uids('summary')}) wanted CROSS JOIN session_summaries m ON m.uid = wanted.value
      WHERE m.machine IS NULL AND m.repository = m.project`)
    this.#passages = byUid(passagesFrom(db)`
      json_each(${uids('passage')}) wanted CROSS JOIN passages p ON p.uid = wanted.value
      WHERE p.machine IS NULL AND p.repository = p.project`)
    const memories = [this.#observations, this.#summaries, this.#passages].flatMap((found) => [...found.values()])
    this.#sessions = selectSharedSessions(db, [...new Set(memories.map(({ session }) => session))])
  }

  /** Null if it must not leave. A tombstone always may: it says nothing but the id of what was sent before. */
  recordOf({ uid, kind, project, record, at }: OutboxEntry): TeamRecord | null {
    const head = { id: uid, repository: project }
    if (record !== null) {
      if (kind !== 'tombstone' && !this.#shared.has(project)) return null
      // The triggers write the body of this kind.
      return { ...head, kind, at, body: JSON.parse(record) } as TeamRecord
    }
    if (!this.#shared.has(project)) return null
    switch (kind) {
      case 'observation': {
        const [row, session] = this.#withSession(this.#observations.get(uid))
        return row === null ? null : { ...head, kind, at: row.createdAt, body: observationBody(row, session) }
      }
      case 'summary': {
        const [row, session] = this.#withSession(this.#summaries.get(uid))
        return row === null ? null : { ...head, kind, at: row.createdAt, body: summaryBody(row, session) }
      }
      case 'passage': {
        const [row, session] = this.#withSession(this.#passages.get(uid))
        return row === null ? null : { ...head, kind, at: row.at, body: passageBody(row, session) }
      }
      default:
        return null
    }
  }

  #withSession<M extends { session: string }>(row: M | undefined): [M, SharedSession] | [null, null] {
    const session = row === undefined ? undefined : this.#sessions.get(row.session)
    return row === undefined || session === undefined ? [null, null] : [row, session]
  }
}

function byUid<M extends { uid?: string }>(rows: readonly M[]): Map<string, M> {
  return new Map(rows.map((row) => [row.uid ?? '', row]))
}

function selectSharedSessions(db: Database, ids: readonly string[]): Map<string, SharedSession> {
  const rows = db.all<SharedSession>`
    SELECT s.content_session_id AS id, s.client, s.prompts, s.created_at_epoch AS startedAt
    FROM json_each(${ids}) wanted CROSS JOIN sdk_sessions s ON s.content_session_id = wanted.value`
  return new Map(rows.map((row) => [row.id, row]))
}

function observationBody(row: Observation, session: SharedSession): SharedObservation {
  const { id: _, session: _s, project: _p, uid: _u, author: _a, machine: _m, ...content } = row
  const { contentHash: _h, status: _t, supersedes: _r, amends: _e, ...body } = content
  return { ...body, session }
}

function summaryBody(row: Summary, session: SharedSession): SharedSummary {
  const { id: _, session: _s, project: _p, uid: _u, author: _a, machine: _m, ...body } = row
  return { ...body, session }
}

function passageBody(row: Passage, session: SharedSession): SharedPassage {
  const { id: _, session: _s, project: _p, uid: _u, author: _a, machine: _m, ...body } = row
  return { ...body, session }
}

export function deleteFromOutbox(db: Database, upTo: number): void {
  db.write(() => {
    db.run`DELETE FROM team_outbox WHERE id <= ${upTo}`
    finishWithdrawals(db)
  })
}

export function selectOutboxStats(db: Database): OutboxStats {
  return db.one<OutboxStats>`SELECT count(*) AS waiting, min(at) AS oldestAt FROM team_outbox`
}
