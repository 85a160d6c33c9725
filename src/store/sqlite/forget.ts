/**
 * Forgetting: deletes memories, or a whole session, with every copy in the database, and reports where else copies may
 * exist. Tombstones (tombstones.ts) keep them deleted. Both run in steps of one transaction each, between which the thread
 * commits. If the process dies in between, the rest is still there and can be forgotten again.
 */
import { setImmediate as nextTask } from 'node:timers/promises'
import type { SearchFilters } from '../../domain/search-query.ts'
import type { BackupInfo } from '../port.ts'
import {
  type ErasedSession,
  type ForgetOptions,
  type ForgetResult,
  type ForgetScope,
  type InboxToForget,
  memoryIds,
  searchRowId,
} from '../search-port.ts'
import { allOf, type Database, nextSeq, raw, type Sql, sql } from './database.ts'
import {
  deletePassageRows,
  forgetPassages,
  forgetPassagesOfMessages,
  oldestPassageAt,
  selectForgottenPassages,
  selectPassagesToForget,
  turnsOfMemories,
} from './forget-passages.ts'
import { indexChunk, indexSearchRow, purge, resetMemoryIndex, startPurge, withIndexReset } from './full-text-index.ts'
import { selectExistingObservations } from './memories.ts'
import { coversWholeTurns, selectFiltered } from './search-rows.ts'
import { insertMessageTombstones, insertSessionTombstone, insertTombstones } from './tombstones.ts'

/** A small index is purged before the answer; the rest of a large one in the background. */
const PURGE_STEPS_AT_ONCE = 40

/** Copies that are removed with memories. */
const NOTHING_REMOVED = { embeddings: 0, links: 0, payloads: 0, observerTurns: 0, callTexts: 0 }

/** Rows deleted in one step: some ten milliseconds, because deleted content is overwritten. */
const MAX_ROWS_PER_STEP = 500
/** Each may be of another session, whose copies are deleted in the same step. */
const MAX_MEMORIES_PER_STEP = 100

export async function forgetMemories(
  db: Database,
  request: ForgetOptions,
  copies: readonly BackupInfo[],
): Promise<ForgetResult> {
  const { report, rows, messages, passages } = planForgetting(db, request, copies)
  if (request.dryRun || rows.length + messages.length + passages.length === 0) {
    return { ...report, ...NOTHING_REMOVED, seq: null, cleared: purge(db, PURGE_STEPS_AT_ONCE) }
  }
  // Before the memories: what is left after a crash is found again by them.
  for (const step of slices(passages, MAX_ROWS_PER_STEP)) {
    withIndexReset(db, () => db.write(() => forgetPassages(db, step, request.at)))
    await nextTask()
  }
  // Only messages of quarantined sessions are left here: the others were dropped by the machine of their session.
  for (const step of slices(messages, MAX_ROWS_PER_STEP)) {
    db.write(() => deleteMessages(db, step, request.at))
    await nextTask()
  }
  const removed = { ...NOTHING_REMOVED }
  if (rows.length > MAX_INDEX_DELETIONS) db.write(() => resetMemoryIndex(db))
  for (const step of slices(bySession(db, rows), MAX_MEMORIES_PER_STEP)) {
    addTo(removed, await removeWithCopies(db, step, sessionsOf(db, step), request.at))
  }
  const inboxes = report.inbox.map(({ session }) => session)
  for (const step of slices(inboxes, MAX_MEMORIES_PER_STEP)) {
    addTo(removed, await removeWithCopies(db, [], step, request.at))
  }
  const seq = db.write(() => {
    startPurge(db)
    return nextSeq(db)
  })
  return { ...report, ...removed, seq, cleared: purge(db, PURGE_STEPS_AT_ONCE) }
}

async function removeWithCopies(
  db: Database,
  rows: readonly number[],
  sessions: readonly string[],
  at: number,
): Promise<Removed> {
  const bulk = await deleteBulk(db, withoutQuarantined(db, sessions))
  const removed = withIndexReset(db, () =>
    db.write(() => {
      insertTombstones(db, rows, at)
      return removeMemories(db, rows, sessions)
    }),
  )
  addTo(removed, bulk)
  await nextTask()
  return removed
}

function* slices<T>(values: readonly T[], length: number): Generator<T[]> {
  for (let start = 0; start < values.length; start += length) yield values.slice(start, start + length)
}

/**
 * Deletes the session with everything that refers to it, except what its calls cost, and leaves a tombstone. Null if it
 * does not exist.
 */
export async function eraseSession(
  db: Database,
  session: string,
  at: number,
  copies: readonly BackupInfo[],
): Promise<ErasedSession | null> {
  await deleteBulk(db, [session])
  const passages = await deleteInSteps(db, 'passages', [session])
  const erased = withIndexReset(db, () =>
    db.write(() => {
      const row = db.get<{ project: string; createdAt: number }>`
        SELECT project, created_at_epoch AS createdAt FROM sdk_sessions WHERE content_session_id = ${session}`
      if (row === undefined) return null
      insertSessionTombstone(db, session, at)
      const counts = deleteSession(db, session)
      startPurge(db)
      return { ...counts, passages, project: row.project, copies: copiesSince(copies, row.createdAt), seq: nextSeq(db) }
    }),
  )
  return erased === null ? null : { ...erased, cleared: purge(db, PURGE_STEPS_AT_ONCE) }
}

/** Deletes the bulk of sessions, in steps. Nothing else refers to these rows. */
async function deleteBulk(db: Database, sessions: readonly string[]): Promise<BulkRemoved> {
  return {
    payloads: await deleteInSteps(db, 'payloads', sessions),
    observerTurns: await deleteInSteps(db, 'observer_turns', sessions),
  }
}

async function deleteInSteps(db: Database, table: string, sessions: readonly string[]): Promise<number> {
  const next = () =>
    db.run`
    DELETE FROM ${raw(table)} WHERE id IN (SELECT id FROM ${raw(table)}
      WHERE content_session_id IN (SELECT value FROM json_each(${sessions})) LIMIT ${MAX_ROWS_PER_STEP})`.changes
  let deleted = 0
  for (;;) {
    const changes = withIndexReset(db, () => db.write(next))
    deleted += changes
    if (changes < MAX_ROWS_PER_STEP) return deleted
    await nextTask()
  }
}

/** Payloads of a quarantined session are the only copy of its events. */
function withoutQuarantined(db: Database, sessions: readonly string[]): string[] {
  return db.ids<string>`
    SELECT content_session_id AS id FROM sdk_sessions
    WHERE quarantine IS NULL AND content_session_id IN (SELECT value FROM json_each(${sessions}))`
}

/** The rows in the order of their sessions, so that the copies of a session are deleted in few steps. */
function bySession(db: Database, rows: readonly number[]): number[] {
  return db.ids`
    SELECT s.id FROM json_each(${rows}) wanted CROSS JOIN search_rows s ON s.id = wanted.value
    ORDER BY s.content_session_id, s.id`
}

function sessionsOf(db: Database, rows: readonly number[]): string[] {
  return db.ids<string>`
    SELECT DISTINCT s.content_session_id AS id
    FROM json_each(${rows}) wanted CROSS JOIN search_rows s ON s.id = wanted.value`
}

/** Runs inside the caller's transaction. */
function deleteSession(db: Database, session: string) {
  const rows = db.ids`SELECT id FROM search_rows WHERE content_session_id = ${session}`
  if (rows.length > MAX_INDEX_DELETIONS) resetMemoryIndex(db)
  const messages = db.number`SELECT count(*) AS n FROM pending_messages WHERE content_session_id = ${session}`
  // Foreign keys delete the rows that refer to it, and triggers those of the index.
  db.run`DELETE FROM sdk_sessions WHERE content_session_id = ${session}`
  const ids = memoryIds(rows, 'observation')
  const [summaries, prompts] = [memoryIds(rows, 'summary').length, memoryIds(rows, 'prompt').length]
  return { ids, observations: ids.length, summaries, prompts, messages }
}

interface ForgetPlan {
  report: Omit<ForgetResult, keyof Removed | 'seq' | 'cleared'>
  /** Ids of `search_rows`. */
  rows: number[]
  /** Ids of `pending_messages`. */
  messages: number[]
  /** Ids of `passages`. */
  passages: number[]
}

function planForgetting(
  db: Database,
  { ids, filters, related = false, dryRun }: ForgetOptions,
  copies: readonly BackupInfo[],
): ForgetPlan {
  const existing = selectExistingObservations(db, ids)
  const passing = filters === null ? [] : selectFiltered(db, filters, -1, 0)
  const selected = [...new Set([...existing.map((id) => searchRowId('observation', id)), ...passing])]
  const beside = selectRelated(db, selected)
  const rows = related ? [...selected, ...beside] : selected
  const left = related ? [] : beside
  const observations = memoryIds(rows, 'observation')
  const inbox = selectScopes(db, rows, filters)
  const messages = inbox.flatMap((scope) => selectInboxToForget(db, scope).rows)
  const passages = selectPassagesToForget(db, rows, messages, filters)
  const known = new Set(existing)
  const report = {
    dryRun,
    observations: observations.length,
    summaries: memoryIds(rows, 'summary').length,
    prompts: memoryIds(rows, 'prompt').length,
    messages: messages.length,
    passages: passages.length,
    inbox,
    ids: observations,
    missing: ids.filter((id) => !known.has(id)),
    related: {
      observations: memoryIds(left, 'observation'),
      summaries: memoryIds(left, 'summary'),
      prompts: memoryIds(left, 'prompt'),
    },
    copies: copiesSince(
      copies,
      Math.min(oldestMemoryAt(db, rows), oldestMessageAt(db, messages), oldestPassageAt(db, passages)),
    ),
  }
  return { report, rows, messages, passages }
}

/** What may say the same as the rows, in no order. */
function selectRelated(db: Database, rows: readonly number[]): number[] {
  const linked = db.ids`
    WITH RECURSIVE linked (id) AS (
      SELECT value FROM json_each(${memoryIds(rows, 'observation')})
      UNION SELECT CASE links.from_id WHEN linked.id THEN links.to_id ELSE links.from_id END
        FROM linked JOIN links ON links.from_id = linked.id OR links.to_id = linked.id)
    SELECT id FROM linked`.map((id) => searchRowId('observation', id))
  const turns = turnsOfMemories([...rows, ...linked])
  const sameTurn = (table: string) => sql`(${turns}) turn JOIN ${raw(table)} m
    ON m.content_session_id = turn.session AND m.prompt_number = turn.prompt`
  const beside = db.ids`
    SELECT 4 * m.id + 1 AS id FROM ${sameTurn('session_summaries')}
    UNION SELECT 4 * m.id + 1 FROM (${turns}) turn JOIN session_summaries m
      ON m.content_session_id = turn.session AND m.whole = 1
    UNION SELECT 4 * m.id + 2 FROM ${sameTurn('user_prompts')} WHERE m.private = 0`
  const known = new Set(rows)
  return [...linked, ...beside].filter((row) => !known.has(row))
}

/**
 * Sessions that have something in their inbox, or an effect, that may contain what is forgotten: those of the rows, with
 * the turns of the rows; and where the filters select whole turns, those that pass the filters, whether observed or not.
 */
function selectScopes(db: Database, rows: readonly number[], filters: SearchFilters | null): ForgetScope[] {
  const live = sql`(s.effect IS NOT NULL OR s.waiting IS NOT NULL
    OR EXISTS (SELECT 1 FROM pending_messages m WHERE m.content_session_id = s.content_session_id))`
  if (filters !== null && coversWholeTurns(filters)) {
    const conditions: Sql[] = [live]
    if (filters.session !== null) conditions.push(sql`s.content_session_id = ${filters.session}`)
    if (filters.project !== null) conditions.push(sql`s.project = ${filters.project}`)
    const { since, until } = filters
    return db.ids<string>`SELECT s.content_session_id AS id FROM sdk_sessions s WHERE ${allOf(conditions)}`.map(
      (session) => ({ session, prompts: null, since, until }),
    )
  }
  const found = db.all<{ session: string; prompts: string }>`
    SELECT s.content_session_id AS session, json_group_array(DISTINCT turn.prompt) AS prompts
    FROM (${turnsOfMemories(rows)}) turn JOIN sdk_sessions s ON s.content_session_id = turn.session
    WHERE ${live} GROUP BY s.content_session_id`
  return found.map(({ session, prompts }) => ({ session, prompts: JSON.parse(prompts), since: null, until: null }))
}

/** The messages of a session's inbox that are forgotten, as its machine counts them. */
export function selectInboxToForget(db: Database, { session, prompts, since, until }: ForgetScope): InboxToForget {
  const conditions: Sql[] = [sql`m.content_session_id = ${session}`]
  if (prompts !== null) conditions.push(sql`m.prompt_number IN (SELECT value FROM json_each(${prompts}))`)
  if (since !== null) conditions.push(sql`e.at >= ${since}`)
  if (until !== null) conditions.push(sql`e.at <= ${until}`)
  const found = db.all<{ id: number; prompt: number; kind: string; status: string }>`
    SELECT m.id, m.prompt_number AS prompt, m.kind, m.status FROM pending_messages m
      JOIN events e ON e.content_session_id = m.content_session_id AND e.event_id = m.event_id
    WHERE ${allOf(conditions)} ORDER BY m.id`
  const counts = new Map<number, number>()
  for (const { prompt, kind, status } of found) {
    if (kind !== 'turn_end' && status !== 'failed') counts.set(prompt, (counts.get(prompt) ?? 0) + 1)
  }
  return {
    rows: found.map(({ id }) => id),
    messages: [...counts].map(([prompt, count]) => ({ prompt, count })),
    failed: found.filter(({ kind, status }) => kind !== 'turn_end' && status === 'failed').length,
    summaries: prompts === null && since === null ? null : turnEnds(found),
  }
}

function turnEnds(messages: readonly { prompt: number; kind: string }[]): number[] {
  return [...new Set(messages.filter(({ kind }) => kind === 'turn_end').map(({ prompt }) => prompt))]
}

/**
 * Deletes messages of the inbox with the passages of their events, and leaves tombstones. The events stay, so that they
 * are not accepted again.
 */
export function deleteMessages(db: Database, messages: readonly number[], at: number): void {
  forgetPassagesOfMessages(db, messages, at)
  insertMessageTombstones(db, messages, at)
  deleteInboxRows(db, messages)
}

function deleteInboxRows(db: Database, messages: readonly number[]): void {
  db.run`
    UPDATE events SET outcome = 'dropped', reason = 'forgotten' FROM json_each(${messages}) wanted
      CROSS JOIN pending_messages m ON m.id = wanted.value
    WHERE events.content_session_id = m.content_session_id AND events.event_id = m.event_id`
  db.run`DELETE FROM pending_messages WHERE id IN (SELECT value FROM json_each(${messages}))`
}

function oldestMemoryAt(db: Database, rows: readonly number[]): number {
  if (rows.length === 0) return Number.POSITIVE_INFINITY
  return db.number`
    SELECT min(s.created_at_epoch) AS n FROM json_each(${rows}) wanted CROSS JOIN search_rows s ON s.id = wanted.value`
}

function oldestMessageAt(db: Database, messages: readonly number[]): number {
  if (messages.length === 0) return Number.POSITIVE_INFINITY
  return db.number`
    SELECT min(created_at_epoch) AS n FROM pending_messages WHERE id IN (SELECT value FROM json_each(${messages}))`
}

/** A copy that is older than the oldest of them cannot contain any. */
function copiesSince(copies: readonly BackupInfo[], since: number): ForgetResult['copies'] {
  return copies.filter(({ at }) => at >= since).map(({ file, at, reason }) => ({ file, at, reason }))
}

/** For more rows than this it is cheaper to rebuild the index in the background than to delete each row from it. */
const MAX_INDEX_DELETIONS = 1_000

type Removed = typeof NOTHING_REMOVED
type BulkRemoved = Pick<Removed, 'payloads' | 'observerTurns'>

function addTo(sum: Removed, part: Partial<Removed>): void {
  for (const [key, count] of Object.entries(part)) sum[key as keyof Removed] += count
}

/**
 * Deletes memories and their copies from every table; `others`: further sessions with copies. Runs inside the caller's
 * transaction.
 */
export function removeMemories(db: Database, rows: readonly number[], others: readonly string[] = []): Removed {
  const sessions = new Set([...sessionsOf(db, rows), ...others])
  const observations = memoryIds(rows, 'observation')
  const removed = { ...NOTHING_REMOVED, ...countCopies(db, observations) }
  if (rows.length > MAX_INDEX_DELETIONS) resetMemoryIndex(db)
  db.run`DELETE FROM observations WHERE id IN (SELECT value FROM json_each(${observations}))`
  db.run`DELETE FROM session_summaries WHERE id IN (SELECT value FROM json_each(${memoryIds(rows, 'summary')}))`
  db.run`DELETE FROM user_prompts WHERE id IN (SELECT value FROM json_each(${memoryIds(rows, 'prompt')}))`
  for (const session of sessions) addTo(removed, removeCopiesInSession(db, session, observations))
  return removed
}

function countCopies(db: Database, ids: readonly number[]): Pick<Removed, 'embeddings' | 'links'> {
  return {
    embeddings: db.number`
      SELECT count(*) AS n FROM embeddings WHERE observation_id IN (SELECT value FROM json_each(${ids}))`,
    links: db.number`
      SELECT count(*) AS n FROM links WHERE from_id IN (SELECT value FROM json_each(${ids}))
        OR to_id IN (SELECT value FROM json_each(${ids}))`,
  }
}

/** Any payload, call or transition of the session may contain the forgotten text. */
function removeCopiesInSession(
  db: Database,
  session: string,
  ids: readonly number[],
): Pick<Removed, 'payloads' | 'observerTurns' | 'callTexts'> {
  const changed = db.all<{ id: string; isOrphan: number }>`
    UPDATE events SET
      observation_ids = (SELECT json_group_array(value) FROM json_each(events.observation_ids)
        WHERE value NOT IN (SELECT value FROM json_each(${ids}))),
      reason = 'forgotten'
    WHERE content_session_id = ${session} AND observation_ids <> '[]' AND EXISTS (
      SELECT 1 FROM json_each(events.observation_ids) made WHERE made.value IN (SELECT value FROM json_each(${ids})))
    RETURNING event_id AS id, observation_ids = '[]' AS isOrphan`
  const orphaned = changed.filter(({ isOrphan }) => isOrphan === 1).map(({ id }) => id)
  // In a quarantined session payloads are the only copy of its events: there only those without any other observation.
  const payloads = db.run`
    DELETE FROM payloads WHERE content_session_id = ${session} AND (
      event_id IN (SELECT value FROM json_each(${orphaned}))
      OR (SELECT quarantine IS NULL FROM sdk_sessions WHERE content_session_id = ${session}))`.changes
  const observerTurns = db.run`DELETE FROM observer_turns WHERE content_session_id = ${session}`.changes
  // Also the error, which may quote the model's reply.
  const callTexts = db.run`
    UPDATE calls SET sent = NULL, received = NULL,
      error = CASE WHEN error IS NULL THEN NULL ELSE 'deleted with a forgotten memory' END
    WHERE content_session_id = ${session} AND (sent IS NOT NULL OR error IS NOT NULL)`.changes
  // The reason of a failed transition may quote the reply too; the part before the colon is kept.
  db.run`
    UPDATE trace SET reason = substr(reason, 1, instr(reason, ':')) || ' deleted with a forgotten memory'
    WHERE content_session_id = ${session} AND event = 'FAILED' AND instr(reason, ':') > 0`
  // So may the reasons that a model gave for leaving out an event.
  db.run`
    UPDATE trace SET reason = substr(reason, 1, instr(reason, '; left out: ') - 1)
    WHERE content_session_id = ${session} AND event = 'OBSERVED' AND instr(reason, '; left out: ') > 0`
  db.run`
    UPDATE events SET reason = 'forgotten' WHERE content_session_id = ${session} AND reason IS NOT NULL
      AND outcome IN ('skipped', 'folded', 'failed')`
  db.run`UPDATE pending_messages SET error = NULL WHERE content_session_id = ${session} AND error IS NOT NULL`
  // The subject may be a command.
  db.run`DELETE FROM seen WHERE content_session_id = ${session}`
  indexOutdatedText(db, session)
  return { payloads, observerTurns, callTexts }
}

/** The index rows of the neighbours, and of the chunks, still contain the text of a deleted observation. */
export function indexOutdatedText(db: Database, session: string): void {
  const rows = db.ids`
    SELECT id FROM search_rows WHERE indexed = 0 AND content_session_id = ${session}
      AND EXISTS (SELECT 1 FROM memory_fts WHERE memory_fts.rowid = search_rows.id)`
  for (const row of rows) indexSearchRow(db, row)
  const chunks = db.ids`
    SELECT id FROM session_chunks WHERE indexed = 0 AND content_session_id = ${session}
      AND (members = 0 OR EXISTS (SELECT 1 FROM chunk_fts WHERE chunk_fts.rowid = session_chunks.id))`
  for (const chunk of chunks) indexChunk(db, chunk)
}

/** After a recovery or a restore, and in a backup: deletes what was forgotten and is there again. */
export function forgetAgain(db: Database): void {
  for (const session of selectErasedSessions(db)) deleteSession(db, session)
  const messages = selectForgottenMessages(db)
  const rows = selectForgottenRows(db)
  const messageIds = messages.map(({ id }) => id)
  deletePassageRows(db, selectForgottenPassages(db, messageIds))
  const inboxes = [...new Set(messages.map(({ session }) => session))]
  deleteInboxRows(db, messageIds)
  clearWaitReasons(db, rows, inboxes)
  removeMemories(db, rows, inboxes)
}

/** Whether `forgetAgain` would delete something. */
export function holdsForgotten(db: Database): boolean {
  const messages = selectForgottenMessages(db).map(({ id }) => id)
  const passages = selectForgottenPassages(db, messages)
  return selectErasedSessions(db).length + messages.length + selectForgottenRows(db).length + passages.length > 0
}

/** A session that a client continued after it was erased is a new one. */
function selectErasedSessions(db: Database): string[] {
  return db.ids<string>`
    SELECT s.content_session_id AS id FROM forgotten_sessions f
      JOIN sdk_sessions s ON s.content_session_id = f.content_session_id AND s.created_at_epoch <= f.at`
}

function selectForgottenRows(db: Database): number[] {
  return db.ids`
    SELECT s.id FROM forgotten f JOIN search_rows s ON s.id = f.id AND s.created_at_epoch = f.created_at_epoch`
}

/** Forgotten messages, and the turns of forgotten memories before they were observed. */
function selectForgottenMessages(db: Database): { id: number; session: string }[] {
  return db.all<{ id: number; session: string }>`
    SELECT m.id, m.content_session_id AS session FROM forgotten f
      JOIN pending_messages m ON m.id = f.id >> 2 AND m.created_at_epoch = f.created_at_epoch WHERE f.id & 3 = 3
    UNION SELECT m.id, m.content_session_id FROM forgotten f JOIN pending_messages m
      ON m.content_session_id = f.content_session_id AND m.prompt_number = f.prompt_number AND m.created_at_epoch <= f.at`
}

/** An older version stored errors that quote a reply. */
function clearWaitReasons(db: Database, rows: readonly number[], inboxes: readonly string[]): void {
  db.run`
    UPDATE sdk_sessions SET waiting = 'forgotten', snapshot = CASE WHEN json_valid(snapshot)
      AND json_type(snapshot, '$.context.waiting.reason') IS NOT NULL
      THEN json_set(snapshot, '$.context.waiting.reason', 'forgotten') ELSE snapshot END
    WHERE waiting IS NOT NULL AND content_session_id IN (SELECT value FROM json_each(${inboxes})
      UNION SELECT s.content_session_id FROM json_each(${rows}) wanted JOIN search_rows s ON s.id = wanted.value)`
}
