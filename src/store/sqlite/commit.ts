/**
 * Applies a group of commits in one durable transaction, each member in a savepoint of its own. The call throws only if
 * the whole transaction could not be made durable; a member that is refused does not affect the others.
 */
import { errorMessage } from '../../lib/errors.ts'
import { faultByChance, faultPoint } from '../../lib/faults.ts'
import type { Commit, CommitResult } from '../commit.ts'
import { insertCalls } from './calls.ts'
import { type Database, inSavepoint, isGroupFailure, nextSeq, seqNow, storageError } from './database.ts'
import { deleteHeldEvents, eventKnown, insertEvent } from './events.ts'
import { indexAddedMemories } from './full-text-index.ts'
import { applyInboxUpdate, type InsertedObservation } from './inbox.ts'
import {
  addLinks,
  insertObservation,
  insertPrompt,
  insertSummary,
  type RowKeys,
  resolveObservations,
} from './memories.ts'
import { insertTrace, insertTurn, upsertSeen } from './observer-turns.ts'
import { insertPassage } from './passages.ts'
import { resolveMergedProject } from './projects.ts'
import { insertSession, selectRevision, updateSession } from './sessions.ts'

export function commitGroup(db: Database, group: readonly Commit[]): CommitResult[] {
  faultPoint('commit.begin')
  try {
    db.run`BEGIN IMMEDIATE`
    const results = group.map((commit) => applyMember(db, commit))
    faultPoint('commit.before')
    db.run`COMMIT`
    faultPoint('commit.after')
    return results
  } catch (error) {
    // SQLite may already have rolled back when the disk failed.
    if (db.inTransaction) db.run`ROLLBACK`
    throw storageError(error)
  }
}

function applyMember(db: Database, commit: Commit): CommitResult {
  if (faultByChance('commit.lose'))
    return { ok: true, seq: seqNow(db), observationIds: [], summaryIds: [], promptIds: [] }
  const result = inSavepoint<CommitResult>(
    db,
    'member',
    () => refusal(db, commit) ?? apply(db, commit),
    (error) => !isGroupFailure(error),
    (error) => ({ ok: false, why: 'failed', message: errorMessage(error), retryable: false }),
  )
  faultPoint('commit.member')
  return result
}

function refusal(db: Database, commit: Commit): CommitResult | null {
  const revision = selectRevision(db, commit.session) ?? 0
  if (revision !== commit.revision - 1) {
    const message = `session ${commit.session} is at revision ${revision}, the commit was decided at ${commit.revision - 1}`
    return { ok: false, why: 'stale', message, retryable: true }
  }
  const released = new Set(commit.released)
  const ids = commit.events.map(({ event }) => event.id).filter((id) => !released.has(id))
  const known = ids.filter((id) => eventKnown(db, commit.session, id))
  return known.length > 0 ? { ok: false, why: 'duplicate', eventIds: known } : null
}

function apply(db: Database, decided: Commit): CommitResult {
  const { session } = decided
  // The session's actor may still use the key of a project that was merged in the meantime.
  const state = { ...decided.state, project: resolveMergedProject(db, decided.state.project) }
  const commit = { ...decided, state }
  const seq = nextSeq(db)
  const keys: RowKeys = { session, project: commit.state.project.key, seq }
  if (commit.revision === 1) insertSession(db, commit, seq)
  else updateSession(db, commit, seq)
  deleteHeldEvents(db, session, commit.released)
  for (const event of commit.events) insertEvent(db, session, event)
  const promptIds = commit.prompts.map((prompt) => insertPrompt(db, keys, prompt))
  for (const passage of commit.passages) insertPassage(db, keys, passage)
  // Before the new ones are inserted: an answer names problems that were stored before it.
  resolveObservations(db, keys, commit.resolved)
  const inserted: InsertedObservation[] = commit.observations.map((observation) => ({
    id: insertObservation(db, keys, observation),
    observation,
  }))
  for (const update of commit.inbox) applyInboxUpdate(db, session, update, inserted, commit.keepPayloads ?? true)
  const summaryIds = commit.summaries.map((summary) => insertSummary(db, keys, summary))
  for (const turn of commit.turns) insertTurn(db, session, turn)
  insertCalls(db, commit)
  for (const { subject, digest } of commit.seen) upsertSeen(db, session, subject, digest, commit.at)
  for (const entry of commit.trace) insertTrace(db, session, entry)
  for (const { id, observation } of inserted) addLinks(db, id, observation.links ?? [], commit.at)
  const observationIds = inserted.map(({ id }) => id)
  // A hook waits for its prompt: that is indexed later, with the passages.
  indexAddedMemories(db, { session, observations: observationIds, summaries: summaryIds, prompts: [] })
  return { ok: true, seq, observationIds, summaryIds, promptIds }
}
