/**
 * `passages`: short pieces of what was said and done. A project has each one once per machine, as a part of the newest event
 * with it.
 * Texts are compressed one by one, because each is read alone.
 */
import { createHash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Passage, PassageDraft, PassageKind } from '../../domain/passage.ts'
import { schemaVersion } from '../migrations/index.ts'
import {
  assignmentsSql,
  changeIndex,
  type Database,
  isOwnRow,
  raw,
  type Sql,
  type SqlTemplate,
  type SqlValue,
  sql,
} from './database.ts'
import { type NewOrigin, originColumns, originSql, type RowKeys } from './memories.ts'

/** The first schema version with passages. A backup of an older one is cleaned as it is. */
const FIRST_VERSION_WITH_PASSAGES = 11

export function hasPassages(db: Database): boolean {
  return schemaVersion(db) >= FIRST_VERSION_WITH_PASSAGES
}

/**
 * What passages take on disk: keys and the entries of the indexes for each, and for each byte of text its compressed form
 * and its words in the full-text index. Measured: 875 bytes a passage of 335 bytes (11,000 pieces of real sessions), 1,360
 * bytes of 416 (36,000 of their words at random, which share fewer words with each other).
 */
const BYTES_PER_PASSAGE = 320
const BYTES_PER_TEXT_BYTE = 2

/** Estimated bytes on disk. */
export function passageDiskBytes(passages: number, textBytes: number): number {
  return passages * BYTES_PER_PASSAGE + textBytes * BYTES_PER_TEXT_BYTE
}

/**
 * How many there are, of one project or of all, and their size on disk. Those of a project count with the average size: its
 * own sizes are not in an index.
 */
export function passageTotals(db: Database, inProject: Sql): { count: number; bytes: number } {
  const count = db.number`SELECT count(*) AS n FROM passages WHERE ${inProject}`
  const all = db.one<{ n: number; bytes: number }>`
    SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes FROM passages`
  return { count, bytes: Math.round(passageDiskBytes(count, (all.bytes * count) / Math.max(1, all.n))) }
}

/** 16 of the 32 bytes of SHA-256 identify a text among any number of them, and keep the index small. */
const DIGEST_BYTES = 16

function passageDigest({ kind, subject, text }: Pick<PassageDraft, 'kind' | 'subject' | 'text'>): Buffer {
  return contentDigest(JSON.stringify([kind, subject, text]))
}

function contentDigest(content: string): Buffer {
  return createHash('sha256').update(content).digest().subarray(0, DIGEST_BYTES)
}

type PassageOwner = Pick<RowKeys, 'session' | 'project'>

/** Whether the project has a passage with this content, of the same machine. */
export function hasPassage(db: Database, project: string, draft: PassageDraft & NewOrigin): boolean {
  return db.exists`
    SELECT 1 FROM passages WHERE project = ${project} AND digest = ${passageDigest(draft)}
      AND coalesce(machine, '') = ${draft.machine ?? ''}`
}

/** `moved`: the project had it as a part of an older event. `known`: it has it as a part of this event or of a newer one. */
export type PassageOutcome = { id: number; is: 'added' | 'moved' | 'known' }

export function insertPassage(
  db: Database,
  { session, project }: PassageOwner,
  draft: PassageDraft & NewOrigin & { transient?: boolean },
): PassageOutcome {
  const { kind, subject, outcome, eventId, position, promptNumber, at, transient = false } = draft
  const digest = passageDigest(draft)
  const place = {
    content_session_id: session,
    prompt_number: promptNumber,
    event_id: eventId,
    position,
    outcome,
    at,
  }
  const known = db.get<{ id: number; at: number; session: string; eventId: string; transient: number }>`
    SELECT id, at, content_session_id AS session, event_id AS eventId, transient FROM passages
    WHERE project = ${project} AND digest = ${digest} AND coalesce(author, '') = ${draft.author ?? ''}
      AND coalesce(machine, '') = ${draft.machine ?? ''}`
  if (known === undefined) {
    const text = Buffer.from(draft.text)
    const content = {
      project,
      kind,
      subject,
      text: compressed(text),
      bytes: text.length,
      digest,
      transient,
      ...originColumns(draft),
    }
    return { id: db.insertRow('passages', { ...place, ...content }), is: 'added' }
  }
  const isSameEvent = known.session === session && known.eventId === eventId
  if (isSameEvent || known.at > at) return { id: known.id, is: 'known' }
  const move = (): PassageOutcome => {
    const isTransient = known.transient === 1 && transient
    db.run`UPDATE passages SET ${assignmentsSql({ ...place, transient: isTransient })} WHERE id = ${known.id}`
    return { id: known.id, is: 'moved' }
  }
  // A trigger takes it out of the index. If that is damaged, the passage stays where it is.
  return changeIndex(db, move, () => ({ id: known.id, is: 'known' }))
}

/**
 * Stores passages of events that are still there: a message that the observer has not settled, a prompt that is not private.
 * Of what was forgotten meanwhile nothing is stored; passages that are there already stay as they are. `transient`: they
 * are deleted when the summary of their turn is settled.
 */
export function addPassages(
  db: Database,
  session: string,
  drafts: readonly PassageDraft[],
  transient: boolean,
): { stored: number } {
  return db.write(() => {
    const project = db.get<{ key: string }>`
      SELECT coalesce(p.merged_into, s.project) AS key FROM sdk_sessions s LEFT JOIN projects p ON p.key = s.project
      WHERE s.content_session_id = ${session}`?.key
    if (project === undefined) return { stored: 0 }
    const isThere = new Map<string, boolean>()
    let stored = 0
    for (const draft of drafts) {
      const known = isThere.get(draft.eventId) ?? isEventThere(db, session, draft)
      isThere.set(draft.eventId, known)
      if (!known) continue
      insertPassage(db, { session, project }, { ...draft, transient })
      stored += 1
    }
    return { stored }
  })
}

/** False if it was forgotten: the event itself, or its turn when it had happened already. */
function isEventThere(db: Database, session: string, { eventId, promptNumber, at }: PassageDraft): boolean {
  const isForgotten = (table: string) => sql`EXISTS (SELECT 1 FROM ${raw(table)} WHERE content_session_id = ${session}
    AND prompt_number = ${promptNumber} AND at >= ${at})`
  return db.exists`
    SELECT 1 WHERE (
      EXISTS (SELECT 1 FROM pending_messages WHERE content_session_id = ${session} AND event_id = ${eventId})
      OR EXISTS (SELECT 1 FROM user_prompts WHERE content_session_id = ${session} AND prompt_number = ${promptNumber}
        AND event_id = ${eventId} AND private = 0))
      AND NOT ${isForgotten('forgotten_turns')} AND NOT ${isForgotten('forgotten')}`
}

/** Of the turns up to this one. */
export function deleteTransientPassages(db: Database, session: string, promptNumber: number): void {
  db.run`
    DELETE FROM passages WHERE content_session_id = ${session} AND prompt_number <= ${promptNumber} AND transient = 1`
}

/** Small buffers for small texts: a commit waits for it, and the default ones take three times as long to set up. */
const DEFLATE = { level: 9, windowBits: 12, memLevel: 5, chunkSize: 1_024 }
const INFLATE = { chunkSize: 4_096 }

/** As it is where deflating does not make it shorter. */
function compressed(text: Buffer): Buffer {
  const deflated = deflateRawSync(text, DEFLATE)
  return deflated.length < text.length ? deflated : text
}

function decompressed(text: Buffer, bytes: number): string {
  return (text.length < bytes ? inflateRawSync(text, INFLATE) : text).toString()
}

/** Whether the text of a row that was read from a damaged database is the one that was stored. */
export function isIntactPassage(row: Record<string, SqlValue>): boolean {
  const { kind, subject, text, bytes, digest } = row
  if (!Buffer.isBuffer(text) || !Buffer.isBuffer(digest) || typeof bytes !== 'number') return false
  try {
    const content = JSON.stringify([kind, subject, decompressed(text, bytes)])
    return contentDigest(content).equals(digest)
  } catch {
    // The compressed text is damaged.
    return false
  }
}

type PassageRow = Omit<Passage, 'text'> & { text: Buffer; bytes: number }

function toPassage({ bytes, text, ...row }: PassageRow): Passage {
  return { ...row, text: decompressed(text, bytes) }
}

/** Of `passages p`. */
const PASSAGE_COLUMNS = sql`p.id, p.content_session_id AS session, p.project, p.kind, p.subject, p.outcome, p.text, p.bytes,
  p.event_id AS eventId, p.position, p.prompt_number AS promptNumber, p.at, ${originSql('p')}`

/** `from` and the rest of the statement; the table is `passages p`. */
export function passagesFrom(db: Database): (...from: SqlTemplate) => Passage[] {
  return (...from) => db.all<PassageRow>`SELECT ${PASSAGE_COLUMNS} FROM ${sql(...from)}`.map(toPassage)
}

/** In the order of the ids; missing ones are left out. */
export function selectPassages(db: Database, ids: readonly number[]): Passage[] {
  return passagesFrom(db)`
    json_each(${ids}) wanted CROSS JOIN passages p ON p.id = wanted.value ORDER BY wanted.key`
}

/** In their order. */
export function selectPassagesOfEvent(db: Database, session: string, eventId: string): Passage[] {
  return passagesFrom(db)`
    passages p WHERE p.content_session_id = ${session} AND p.event_id = ${eventId} ORDER BY p.position`
}

/** In the order of the session. */
export function selectPassagesOfTurn(db: Database, session: string, promptNumber: number): Passage[] {
  return passagesFrom(db)`
    passages p WHERE p.content_session_id = ${session} AND p.prompt_number = ${promptNumber}
    ORDER BY p.at, p.event_id, p.position`
}

/** The agent's last message of a turn; null if there is none. Without the spaces between its passages. */
export function selectClosingWords(db: Database, session: string, promptNumber: number): string | null {
  const passages = selectPassagesOfTurn(db, session, promptNumber).filter(({ kind }) => kind === 'closing')
  return passages.length === 0 ? null : passages.map(({ text }) => text).join('\n')
}

export interface NewestPassages {
  project: string
  kinds: readonly PassageKind[]
  limit: number
}

/** Older sessions of a project are not looked at: what is newest is in the last few. */
const MAX_NEWEST_SESSIONS = 50

/**
 * Those in which the reader worked: another member may send any number of sessions. Sessions of other machines have neither
 * directory nor prompts here. `me`: the reader's name in a team; null: none.
 */
export function selectOwnSessions(db: Database, project: string, me: string | null): string[] {
  const isOwn = sql`(s.cwd <> '' OR EXISTS (SELECT 1 FROM user_prompts u WHERE u.content_session_id = s.content_session_id)
    OR EXISTS (SELECT 1 FROM passages p WHERE p.content_session_id = s.content_session_id AND ${isOwnRow('p', me)}))`
  return newestSessions(db, project, isOwn)
}

function newestSessions(db: Database, project: string, which: Sql): string[] {
  return db.ids<string>`
    SELECT content_session_id AS id FROM sdk_sessions s WHERE project = ${project} AND ${which}
    ORDER BY updated_at_epoch DESC LIMIT ${MAX_NEWEST_SESSIONS}`
}

/** Of the newest sessions of a project, newest first; within an event in their order. */
export function selectNewestPassages(db: Database, wanted: NewestPassages): Passage[] {
  const all = raw('1')
  return passagesOfSessions(db, newestSessions(db, wanted.project, all), wanted, all)
}

/** The reader's own of these sessions. */
export function selectOwnPassages(
  db: Database,
  sessions: readonly string[],
  wanted: NewestPassages,
  me: string | null,
): Passage[] {
  return passagesOfSessions(db, sessions, wanted, isOwnRow('p', me))
}

function passagesOfSessions(
  db: Database,
  sessions: readonly string[],
  { project, kinds, limit }: NewestPassages,
  which: Sql,
): Passage[] {
  const found: Passage[] = []
  for (const session of sessions) {
    if (found.length >= limit) break
    const ofSession = passagesFrom(db)`
      passages p WHERE p.content_session_id = ${session} AND p.project = ${project} AND ${which}
        AND p.kind IN (SELECT value FROM json_each(${kinds}))
      ORDER BY p.prompt_number DESC, p.at DESC, p.event_id, p.position LIMIT ${limit - found.length}`
    found.push(...ofSession)
  }
  return found
}

/** The passages before and after one in its event, by its id. */
export function selectPassageSiblings(
  db: Database,
  ids: readonly number[],
): Map<number, { before: number | null; after: number | null }> {
  const beside = (step: Sql) => sql`(SELECT b.id FROM passages b WHERE b.content_session_id = p.content_session_id
    AND b.prompt_number = p.prompt_number AND b.event_id = p.event_id AND b.position = p.position + ${step} LIMIT 1)`
  const found = db.all<{ id: number; before: number | null; after: number | null }>`
    SELECT p.id, ${beside(raw('-1'))} AS before, ${beside(raw('1'))} AS after
    FROM json_each(${ids}) wanted CROSS JOIN passages p ON p.id = wanted.value`
  return new Map(found.map(({ id, before, after }) => [id, { before, after }]))
}
