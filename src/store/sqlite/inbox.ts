/**
 * `pending_messages`: the inbox. An event stays in it until the observer has read it: pending, then processing while an
 * effect has claimed it, and failed after too many attempts. `queue_depth`: the length of the inbox over time.
 */
import type { Effect } from '../../../machines/session/types.ts'
import { eventTool, type MemoryEvent, withAddedFields } from '../../domain/event.ts'
import type { EventOutcome, InboxUpdate, NewObservation } from '../commit.ts'
import type {
  EventOfTurn,
  InboxMessage,
  MessageStatus,
  QueueFilter,
  QueueSample,
  QueueStats,
  SampledQueue,
} from '../port.ts'
import { type Database, EMPTY_SQL, sql, whereEqual } from './database.ts'
import { addObservationIds, settleEvent } from './events.ts'
import { deleteMessages } from './forget.ts'
import { deleteTransientPassages } from './passages.ts'

/** An observation of the commit that is being applied, with its new id. */
export interface InsertedObservation {
  id: number
  observation: NewObservation
}

export function applyInboxUpdate(
  db: Database,
  session: string,
  update: InboxUpdate,
  inserted: readonly InsertedObservation[],
  keepPayloads: boolean,
): void {
  const { at, event } = update
  for (const change of update.changes) {
    switch (change.type) {
      case 'add_message':
      case 'add_turn_end':
        if (event !== null) insertMessage(db, session, event, change.prompt, at)
        break
      case 'claim':
        claim(db, session, change.effect, at)
        break
      case 'release':
        endClaim(db, session, change.effectId, 'pending', change.counted ? change.reason : null)
        break
      case 'settle':
        settle(db, session, change.effectId, update, inserted, keepPayloads)
        if (change.kind === 'summarize') deleteTransientPassages(db, session, change.prompt)
        break
      case 'fail':
        failEvents(db, session, change.effectId, change.reason)
        endClaim(db, session, change.effectId, 'failed', change.reason)
        break
      case 'retry_failed':
        retryFailed(db, session)
        break
      case 'clear':
        dropMessages(db, session, 'failed')
        if (change.pending) dropMessages(db, session, 'pending')
        break
      case 'forget':
        deleteMessages(db, change.rows, at)
        break
      case 'add_prompt':
      case 'skip_event':
        // Stored with the commit's prompts and events.
        break
    }
  }
}

export function insertMessage(db: Database, session: string, event: MemoryEvent, prompt: number, at: number): void {
  db.insertRow('pending_messages', {
    content_session_id: session,
    event_id: event.id,
    kind: event.kind,
    tool: eventTool(event),
    prompt_number: prompt,
    status: 'pending',
    created_at_epoch: at,
    payload: event,
  })
}

/** An observation claims the oldest pending messages up to its prompt, a summary all turn ends up to its prompt. */
function claim(db: Database, session: string, effect: Effect, at: number): void {
  if (effect.kind === 'compact' || (effect.kind === 'summarize' && effect.whole === true)) return
  const [kind, limit] =
    effect.kind === 'observe' ? [sql`kind <> 'turn_end'`, effect.limit] : [sql`kind = 'turn_end'`, -1]
  db.run`
    UPDATE pending_messages SET status = 'processing', effect_id = ${effect.id}, claimed_at = ${at} WHERE id IN (
      SELECT id FROM pending_messages
      WHERE content_session_id = ${session} AND status = 'pending' AND ${kind} AND prompt_number <= ${effect.prompt}
      ORDER BY id LIMIT ${limit})`
}

/** `error`: of the attempt that failed; null if the attempt does not count. */
function endClaim(db: Database, session: string, effectId: string, status: MessageStatus, error: string | null): void {
  const attempt = error === null ? EMPTY_SQL : sql`, attempts = attempts + 1, error = ${error}`
  db.run`
    UPDATE pending_messages SET status = ${status}, effect_id = NULL, claimed_at = NULL ${attempt}
    WHERE content_session_id = ${session} AND effect_id = ${effectId}`
}

function settle(
  db: Database,
  session: string,
  effectId: string,
  { at, outcomes }: InboxUpdate,
  inserted: readonly InsertedObservation[],
  keepPayloads: boolean,
): void {
  const byEvent = new Map(outcomes.map((outcome) => [outcome.eventId, outcome]))
  // The alias hides the column `id`, hence the table's name.
  const claimed = db.ids<string>`
    SELECT event_id AS id FROM pending_messages m
    WHERE content_session_id = ${session} AND effect_id = ${effectId} ORDER BY m.id`
  for (const eventId of claimed) {
    if (!byEvent.has(eventId)) byEvent.set(eventId, defaultOutcome(eventId, inserted))
  }
  for (const outcome of byEvent.values()) {
    const ids = outcome.kind === 'observed' ? observationsFrom(outcome.eventId, inserted) : []
    settleEvent(db, session, effectId, outcome, ids)
  }
  linkEarlierSources(db, session, byEvent, inserted)
  if (keepPayloads) {
    db.run`
      INSERT INTO payloads (content_session_id, event_id, kept_at, bytes, payload)
      SELECT content_session_id, event_id, ${at}, octet_length(payload), payload FROM pending_messages
      WHERE content_session_id = ${session} AND effect_id = ${effectId} ORDER BY id`
  }
  db.run`DELETE FROM pending_messages WHERE content_session_id = ${session} AND effect_id = ${effectId}`
}

/** What an observer tells at the end of a turn has sources that were settled with earlier batches. */
function linkEarlierSources(
  db: Database,
  session: string,
  settled: ReadonlyMap<string, EventOutcome>,
  inserted: readonly InsertedObservation[],
): void {
  const sources = new Set(inserted.flatMap(({ observation }) => observation.sources))
  for (const eventId of sources) {
    if (!settled.has(eventId)) addObservationIds(db, session, eventId, observationsFrom(eventId, inserted))
  }
}

/** The observer need not mention every claimed message: it read the others together with those. */
function defaultOutcome(eventId: string, inserted: readonly InsertedObservation[]): EventOutcome {
  return { eventId, kind: observationsFrom(eventId, inserted).length > 0 ? 'observed' : 'folded', reason: null }
}

function observationsFrom(eventId: string, inserted: readonly InsertedObservation[]): number[] {
  return inserted.filter(({ observation }) => observation.sources.includes(eventId)).map(({ id }) => id)
}

/** The failed attempt counts too. */
function failEvents(db: Database, session: string, effectId: string, error: string): void {
  db.run`
    UPDATE events SET outcome = 'failed', reason = ${error}, effect_id = ${effectId}, attempts = m.attempts + 1
    FROM (SELECT event_id, attempts FROM pending_messages
          WHERE content_session_id = ${session} AND effect_id = ${effectId}) m
    WHERE events.content_session_id = ${session} AND events.event_id = m.event_id`
}

/** Attempts start again at 0; the trace still has the earlier errors. */
function retryFailed(db: Database, session: string): void {
  db.run`
    UPDATE events SET outcome = NULL, reason = NULL, effect_id = NULL, attempts = 0
    WHERE content_session_id = ${session} AND event_id IN (
      SELECT event_id FROM pending_messages WHERE content_session_id = ${session} AND status = 'failed')`
  db.run`
    UPDATE pending_messages SET status = 'pending', attempts = 0, error = NULL
    WHERE content_session_id = ${session} AND status = 'failed'`
}

function dropMessages(db: Database, session: string, status: MessageStatus): void {
  db.run`
    UPDATE events SET outcome = 'dropped', reason = NULL WHERE content_session_id = ${session} AND event_id IN (
      SELECT event_id FROM pending_messages WHERE content_session_id = ${session} AND status = ${status})`
  db.run`DELETE FROM pending_messages WHERE content_session_id = ${session} AND status = ${status}`
}

const MESSAGE_COLUMNS = sql`id, content_session_id AS session, event_id AS eventId, kind, tool, prompt_number AS prompt,
  status, claimed_at AS claimedAt, effect_id AS effectId, attempts, error, created_at_epoch AS createdAt`

/** Oldest first. */
export function selectQueue(db: Database, { session, status, limit = -1 }: QueueFilter): InboxMessage[] {
  const where = whereEqual({ content_session_id: session, status })
  return db.all<InboxMessage>`
    SELECT ${MESSAGE_COLUMNS} FROM pending_messages WHERE ${where} ORDER BY id LIMIT ${limit}`
}

export function selectMessage(db: Database, session: string, eventId: string): InboxMessage | null {
  const found = db.get<InboxMessage>`
    SELECT ${MESSAGE_COLUMNS} FROM pending_messages WHERE content_session_id = ${session} AND event_id = ${eventId}`
  return found ?? null
}

/** The messages that an effect has claimed, oldest first. */
export function selectClaimedMessages(db: Database, session: string, effectId: string): EventOfTurn[] {
  const rows = db.all<{ payload: string; prompt: number }>`
    SELECT payload, prompt_number AS prompt FROM pending_messages
    WHERE content_session_id = ${session} AND effect_id = ${effectId} ORDER BY id`
  return rows.map(({ payload, prompt }) => ({ event: withAddedFields(JSON.parse(payload)), prompt }))
}

/** Without turn ends: to the machine these are summaries that are due. */
export function countMessagesByPrompt(
  db: Database,
  session: string,
  status: MessageStatus,
): { prompt: number; count: number }[] {
  return db.all<{ prompt: number; count: number }>`
    SELECT prompt_number AS prompt, count(*) AS count FROM pending_messages
    WHERE content_session_id = ${session} AND status = ${status} AND kind <> 'turn_end'
    GROUP BY prompt_number ORDER BY prompt_number`
}

export function selectQueueStats(db: Database): QueueStats {
  return db.one<QueueStats>`
    SELECT count(*) FILTER (WHERE status = 'pending') AS pending,
      count(*) FILTER (WHERE status = 'processing') AS processing,
      count(*) FILTER (WHERE status = 'failed') AS failed,
      count(DISTINCT content_session_id) AS sessions,
      min(created_at_epoch) FILTER (WHERE status <> 'failed') AS oldestAt
    FROM pending_messages`
}

const SAMPLE_COLUMNS = sql`at, pending, processing, failed`

/**
 * Stored only where it differs from the sample before. `peak` is the highest number of waiting messages since then, where it
 * is known: a queue that was long between two samples leaves a sample too.
 */
export function sampleQueue(
  db: Database,
  at: number,
  peak: { at: number; waiting: number } | null = null,
): SampledQueue {
  const queue = selectQueueStats(db)
  const last = selectSampleAt(db, at) ?? { at: 0, pending: 0, processing: 0, failed: 0 }
  const { pending, processing, failed } = queue
  const known = Math.max(pending + processing, last.pending + last.processing)
  if (peak !== null && peak.waiting > known && peak.at > last.at && peak.at < at) {
    insertSample(db, { at: peak.at, pending: peak.waiting - processing, processing, failed })
    insertSample(db, { at, pending, processing, failed })
  } else if (last.pending !== pending || last.processing !== processing || last.failed !== failed) {
    insertSample(db, { at, pending, processing, failed })
  }
  return { ...queue, oldestDueAt: selectOldestDue(db) }
}

/** A session that observes nothing collects messages; a quarantined one has a notice of its own. */
function selectOldestDue(db: Database): number | null {
  return db.one<{ at: number | null }>`
    SELECT min(m.created_at_epoch) AS at FROM pending_messages m JOIN sdk_sessions s USING (content_session_id)
    WHERE m.status <> 'failed' AND s.quarantine IS NULL AND s.state NOT IN ('init', 'observing', 'closed')`.at
}

/** Messages that wait for the observer or are with it, by session. Turn ends are not counted, as in a session's machine. */
export function countMessagesBySession(db: Database): { session: string; count: number }[] {
  return db.all<{ session: string; count: number }>`
    SELECT content_session_id AS session, count(*) AS count FROM pending_messages
    WHERE status <> 'failed' AND kind <> 'turn_end' GROUP BY content_session_id`
}

function insertSample(db: Database, { at, pending, processing, failed }: QueueSample): void {
  db.run`
    INSERT INTO queue_depth (${SAMPLE_COLUMNS}) VALUES (${at}, ${pending}, ${processing}, ${failed})
    ON CONFLICT (at) DO UPDATE SET pending = excluded.pending, processing = excluded.processing,
      failed = excluded.failed`
}

/** The newest sample up to a time. After the clock was set back there are samples in the future. */
function selectSampleAt(db: Database, at: number): QueueSample | undefined {
  return db.get<QueueSample>`SELECT ${SAMPLE_COLUMNS} FROM queue_depth WHERE at <= ${at} ORDER BY at DESC LIMIT 1`
}

/** About the width of a chart in pixels; a bucket has at most two samples. */
const MAX_BUCKETS = 1_000

/** Starts with the depth at `since`. A bucket with many samples keeps its highest and its last. */
export function selectQueueDepth(db: Database, since: number, until: number): QueueSample[] {
  const before = selectSampleAt(db, since)
  const bucketMs = Math.max(1, Math.ceil((until - since) / MAX_BUCKETS))
  // Next to max(), SQLite takes bare columns from the row with the maximum.
  const samples = db.all<QueueSample & { peak: number }>`
    WITH during AS (SELECT *, CAST((at - ${since}) / ${bucketMs} AS INTEGER) AS bucket FROM queue_depth
      WHERE at > ${since} AND at < ${until})
    SELECT ${SAMPLE_COLUMNS}, max(pending + processing + failed) AS peak FROM during GROUP BY bucket
    UNION SELECT at, pending, processing, failed, pending + processing + failed FROM
      (SELECT max(at) AS at, pending, processing, failed FROM during GROUP BY bucket)
    ORDER BY at`.map(({ peak: _, ...sample }) => sample)
  return before === undefined ? samples : [{ ...before, at: since }, ...samples]
}
