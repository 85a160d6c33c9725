/**
 * Imports memories that another store exported. Known ones are left as they are: an observation is known by session, time
 * and content, a summary by session, prompt number and time, a prompt by its number, a passage by its content in the
 * project. The others get new ids.
 */
import { DAY_MS } from '../../domain/dates.ts'
import { importedId } from '../../domain/event.ts'
import { type MemoryOrigin, observationNotFound } from '../../domain/observation.ts'
import { errorMessage, MemError } from '../../lib/errors.ts'
import { type Commit, closedSessionState, contentHash, emptyCommit } from '../commit.ts'
import type {
  ImportBatch,
  ImportedObservation,
  ImportedSession,
  ImportOutcome,
  ImportResult,
  LinkRecord,
  PassageRecord,
  PromptRecord,
  SummaryRecord,
} from '../exchange-records.ts'
import type { StoredSessionRow } from '../port.ts'
import { type Database, inSavepoint, isGroupFailure, nextSeq } from './database.ts'
import { indexAddedMemories } from './full-text-index.ts'
import {
  addLink,
  insertObservation,
  insertPrompt,
  insertSummary,
  isFreeUid,
  selectProjectOfObservation,
  setPins,
} from './memories.ts'
import { insertTrace } from './observer-turns.ts'
import { hasPassage, insertPassage } from './passages.ts'
import { resolveMergedProject } from './projects.ts'
import { insertSession, selectSession, updateSession } from './sessions.ts'
import { deleteSessionTombstones, selectSessionErasedAt } from './tombstones.ts'

/**
 * How far the clock of another computer may be ahead, in ms. A memory from further in the future would be the newest of its
 * project for ever.
 */
const MAX_AHEAD_MS = DAY_MS

/** One transaction per batch. A dry run is rolled back. */
export function importBatch(db: Database, batch: ImportBatch, at: number): ImportResult {
  db.run`BEGIN IMMEDIATE`
  try {
    const result = new ImportRun(db, batch, at).run()
    if (result.seq === null) db.run`ROLLBACK`
    else db.run`COMMIT`
    return result
  } catch (error) {
    // SQLite may already have rolled back when the disk failed.
    if (db.inTransaction) db.run`ROLLBACK`
    throw error
  }
}

const KNOWN: ImportOutcome = { is: 'known', id: null }
const ADDED: ImportOutcome = { is: 'added', id: null }

/** Ids of the memories added to one session, in increasing order. */
type AddedIds = Record<'observations' | 'summaries' | 'prompts', number[]>

class ImportRun {
  readonly #db: Database
  readonly #batch: ImportBatch
  readonly #at: number
  readonly #seq: number
  readonly #sessions: ReadonlyMap<string, ImportedSession>
  readonly #added = new Map<string, AddedIds>()
  readonly #projects = new Set<string>()

  constructor(db: Database, batch: ImportBatch, at: number) {
    this.#db = db
    this.#batch = batch
    this.#at = at
    this.#seq = nextSeq(db)
    this.#sessions = new Map(batch.sessions.map((session) => [session.id, notAfter(session, at)]))
  }

  run(): ImportResult {
    const outcomes = this.#batch.records.map((record) => this.#importRecord(record))
    if (this.#batch.dryRun) {
      // The ids of a dry run do not exist afterwards.
      const withoutIds = outcomes.map((outcome) => (outcome.is === 'added' ? ADDED : outcome))
      return { outcomes: withoutIds, projects: [], seq: null }
    }
    for (const [session, ids] of this.#added) indexAddedMemories(this.#db, { session, ...ids })
    const changed = outcomes.some(({ is }) => is === 'added')
    return { outcomes, projects: [...this.#projects], seq: changed ? this.#seq : null }
  }

  /** An invalid record is refused without affecting the others. */
  #importRecord(record: ImportBatch['records'][number]): ImportOutcome {
    const leftOut = this.#reasonToLeaveOut(record)
    if (leftOut !== null) return { is: 'left_out', because: leftOut }
    return inSavepoint<ImportOutcome>(
      this.#db,
      'record',
      () => this.#apply(record),
      (error) => !isGroupFailure(error),
      (error) => ({ is: 'refused', reason: errorMessage(error) }),
    )
  }

  #reasonToLeaveOut(record: ImportBatch['records'][number]): 'future' | 'forgotten' | null {
    if (record.kind === 'link' || record.kind === 'pin') return null
    const time = 'at' in record ? record.at : record.createdAt
    if (time > this.#at + MAX_AHEAD_MS) return 'future'
    if (selectSessionErasedAt(this.#db, record.session) === null) return null
    if (this.#batch.forgotten !== true) return 'forgotten'
    deleteSessionTombstones(this.#db, [record.session])
    return null
  }

  #apply(record: ImportBatch['records'][number]): ImportOutcome {
    switch (record.kind) {
      case 'prompt':
        return this.#prompt(record)
      case 'observation':
        return this.#observation(record)
      case 'summary':
        return this.#summary(record)
      case 'passage':
        return this.#passage(record)
      case 'link':
        return this.#link(record)
      case 'pin': {
        const { changed, missing } = setPins(this.#db, [record.observation], true, Math.min(record.at, this.#at))
        if (missing.length > 0) throw observationNotFound(record.observation)
        return changed > 0 ? this.#changed(record.observation) : KNOWN
      }
    }
  }

  #prompt({ session, number, text, at }: PromptRecord): ImportOutcome {
    const db = this.#db
    if (promptKnown(db, session, number)) return KNOWN
    const target = this.#target(session)
    // A later number would collide with the session's next prompt.
    if (number > target.prompts) {
      const why = `the existing session ${session} has only ${target.prompts} prompts`
      throw new MemError('bad_request', `prompt ${number} was not imported: ${why}`)
    }
    const prompt = { eventId: importedId(String(number)), number, text, private: false, at }
    const id = insertPrompt(db, { session, project: target.project, seq: this.#seq }, prompt)
    this.#projects.add(target.project)
    this.#addedTo(session).prompts.push(id)
    return ADDED
  }

  #observation(record: ImportedObservation): ImportOutcome {
    const db = this.#db
    const { session, createdAt } = record
    const hash = contentHash(record)
    const known = observationKnown(db, session, createdAt, [hash, ...(record.knownAs ?? [])])
    if (known !== undefined) return { is: 'known', id: known }
    const keys = { session, project: this.#projectOf(record), seq: this.#seq }
    const id = insertObservation(db, keys, { ...withFreeUid(db, record), contentHash: hash })
    this.#addedTo(session).observations.push(id)
    return { is: 'added', id }
  }

  #summary(record: SummaryRecord): ImportOutcome {
    const db = this.#db
    if (summaryKnownAs(db, record) !== undefined) return KNOWN
    const { session } = record
    const keys = { session, project: this.#projectOf(record), seq: this.#seq }
    const id = insertSummary(db, keys, withFreeUid(db, record))
    this.#addedTo(session).summaries.push(id)
    return ADDED
  }

  /** One that the project has stays what it is: a file does not say whose words they were. Indexed in the background. */
  #passage(record: PassageRecord): ImportOutcome {
    if (record.text === '') throw new MemError('bad_request', 'the passage has no text')
    const { session, passage: kind } = record
    const project = this.#projectOf(record)
    const draft = { ...withFreeUid(this.#db, record), kind }
    if (hasPassage(this.#db, project, draft)) return KNOWN
    insertPassage(this.#db, { session, project }, draft)
    return ADDED
  }

  /** Two observations of the file may be one here: then there is no link. */
  #link({ from, to, link, by, at }: LinkRecord): ImportOutcome {
    if (from === to) return KNOWN
    return addLink(this.#db, { from, to, kind: link, by, at: Math.min(at, this.#at) }) ? this.#changed(from) : KNOWN
  }

  #changed(observation: number): ImportOutcome {
    this.#projects.add(selectProjectOfObservation(this.#db, observation))
    return ADDED
  }

  /** A memory of its session's own project is stored under the project of the session here. */
  #projectOf({ session, project }: { session: string; project: string }): string {
    const target = this.#target(session)
    const own = this.#sessions.get(session)?.project.key
    const key =
      own === undefined || own === project
        ? target.project
        : resolveMergedProject(this.#db, { key: project, name: '' }).key
    this.#projects.add(key)
    return key
  }

  #target(session: string): SessionTarget {
    return ensureImportSession(this.#db, session, this.#sessions.get(session), this.#seq, this.#at)
  }

  #addedTo(session: string): AddedIds {
    const ids = this.#added.get(session) ?? { observations: [], summaries: [], prompts: [] }
    this.#added.set(session, ids)
    return ids
  }
}

/** The uid of the file stays if no memory here has it and it was not erased: else the memory gets a new one. */
function withFreeUid<R extends MemoryOrigin>(db: Database, record: R): R {
  const { uid, ...content } = record
  if (uid === undefined || isFreeUid(db, uid)) return record
  // A new one is made where it is inserted.
  return content as R
}

function notAfter(session: ImportedSession, now: number): ImportedSession {
  const latest = now + MAX_AHEAD_MS
  return { ...session, startedAt: Math.min(session.startedAt, latest), heardAt: Math.min(session.heardAt, latest) }
}

/** The project under which a session's memories are stored, and the number of its last prompt. */
interface SessionTarget {
  project: string
  prompts: number
}

/**
 * Creates the session if it is missing. A session that was imported before and never opened since is extended. A session
 * that a client wrote is not changed, because an actor may have it in memory.
 */
export function ensureImportSession(
  db: Database,
  id: string,
  imported: ImportedSession | undefined,
  seq: number,
  at: number,
): SessionTarget {
  const row = selectSession(db, id)
  if (row !== null) {
    const project = resolveMergedProject(db, row.project).key
    const extended = imported === undefined ? null : extendedState(row, imported)
    if (extended === null) return { project, prompts: row.prompts }
    writeSession(db, { session: id, revision: row.revision + 1, state: extended, at }, seq)
    return { project, prompts: extended.prompts }
  }
  if (imported === undefined) throw new MemError('not_found', `its session ${id} is not in the file`)
  const project = resolveMergedProject(db, imported.project)
  const { client, cwd, heardAt, prompts, startedAt } = imported
  const state = closedSessionState({ project, client, cwd, heardAt, prompts })
  writeSession(db, { session: id, revision: 1, state, at }, seq)
  db.run`
    UPDATE sdk_sessions SET created_at_epoch = min(${startedAt}, updated_at_epoch) WHERE content_session_id = ${id}`
  return { project: project.key, prompts }
}

/** Null if there is nothing to extend, or if a client wrote the session. */
function extendedState(row: StoredSessionRow, { prompts, heardAt }: ImportedSession): Commit['state'] | null {
  if (prompts <= row.prompts && heardAt <= row.heardAt) return null
  const imported = closedSessionState(row)
  if (row.snapshot !== imported.snapshot || row.quarantine !== null) return null
  return closedSessionState({
    ...row,
    prompts: Math.max(prompts, row.prompts),
    heardAt: Math.max(heardAt, row.heardAt),
  })
}

type SessionChange = Pick<Commit, 'session' | 'revision' | 'state' | 'at'>

function writeSession(db: Database, { session, revision, state, at }: SessionChange, seq: number): void {
  const entry = { at, event: 'IMPORT', eventId: null, from: 'closed', to: 'closed', reason: 'imported', effectId: null }
  const commit = { ...emptyCommit(session, revision, at), state, trace: [entry] }
  if (revision === 1) insertSession(db, commit, seq)
  else updateSession(db, commit, seq)
  insertTrace(db, session, entry)
}

function promptKnown(db: Database, session: string, number: number): boolean {
  return db.exists`SELECT 1 FROM user_prompts WHERE content_session_id = ${session} AND prompt_number = ${number}`
}

/** The plus makes SQLite use the index of times: few observations have the same time. */
function observationKnown(
  db: Database,
  session: string,
  createdAt: number,
  hashes: readonly string[],
): number | undefined {
  return db.ids`
    SELECT id FROM observations WHERE created_at_epoch = ${createdAt} AND +content_session_id = ${session}
      AND content_hash IN (SELECT value FROM json_each(${hashes})) ORDER BY id LIMIT 1`[0]
}

type SummaryKeys = Pick<SummaryRecord, 'session' | 'promptNumber' | 'createdAt' | 'whole' | 'author' | 'machine'>

/** The id of the summary that makes this one known. */
function summaryKnownAs(
  db: Database,
  { session, promptNumber, createdAt, whole, author, machine }: SummaryKeys,
): number | undefined {
  // A session keeps the newest summary of the whole of each machine.
  if (whole === true) {
    return db.ids`
      SELECT id FROM session_summaries
      WHERE content_session_id = ${session} AND whole = 1 AND created_at_epoch >= ${createdAt}
        AND coalesce(author, '') = ${author ?? ''} AND coalesce(machine, '') = ${machine ?? ''}`[0]
  }
  return db.ids`
    SELECT id FROM session_summaries WHERE content_session_id = ${session} AND created_at_epoch = ${createdAt}
      AND prompt_number = ${promptNumber} AND whole = 0 ORDER BY id LIMIT 1`[0]
}
