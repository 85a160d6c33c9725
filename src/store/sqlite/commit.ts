/** Applies a group of commits: one durable transaction, each member whole or not at all. */
import { messageOf } from '../../errors.ts'
import { fault, sabotaged } from '../../faults.ts'
import type { Commit, CommitResult } from '../commit.ts'
import { insertCalls } from './calls.ts'
import { failsTheGroup, storageError } from './errors.ts'
import { eventKnown, insertEvent } from './events.ts'
import { applyInboxChange, type StoredObservation } from './inbox.ts'
import { insertObservation, insertPrompt, insertSummary, type Origin } from './memories.ts'
import { nextSeq, seqNow } from './meta.ts'
import { filedUnder } from './projects.ts'
import { indexAddedSafely } from './search/indexing.ts'
import { addLinks } from './search/links.ts'
import { upsertSeen } from './seen.ts'
import { insertSession, revisionOf, updateSession } from './sessions.ts'
import { type Connection, run } from './statement.ts'
import { insertTrace, insertTurn } from './turns.ts'

export function commitGroup(db: Connection, group: readonly Commit[]): CommitResult[] {
  fault('commit.begin')
  try {
    run(db, 'BEGIN IMMEDIATE')
    const results = group.map((commit) => applyMember(db, commit))
    fault('commit.before')
    run(db, 'COMMIT')
    fault('commit.after')
    return results
  } catch (error) {
    rollBack(db)
    throw storageError(error)
  }
}

/** SQLite has often rolled back by itself when the disk failed; the connection must be free of the transaction either way. */
function rollBack(db: Connection): void {
  if (db.inTransaction) run(db, 'ROLLBACK')
}

function applyMember(db: Connection, commit: Commit): CommitResult {
  if (sabotaged('commit.lose')) return { ok: true, seq: seqNow(db), observationIds: [], summaryIds: [], promptIds: [] }
  run(db, 'SAVEPOINT member')
  try {
    const refused = refusal(db, commit)
    const result = refused ?? apply(db, commit)
    run(db, 'RELEASE member')
    fault('commit.member')
    return result
  } catch (error) {
    if (failsTheGroup(error) || !db.inTransaction) throw error
    run(db, 'ROLLBACK TO member')
    run(db, 'RELEASE member')
    return { ok: false, why: 'failed', message: messageOf(error), retryable: false }
  }
}

function refusal(db: Connection, commit: Commit): CommitResult | null {
  const revision = revisionOf(db, commit.session) ?? 0
  if (revision !== commit.revision - 1) {
    const message = `session ${commit.session} is at revision ${revision}, the commit was decided on ${commit.revision - 1}`
    return { ok: false, why: 'stale', message, retryable: true }
  }
  const known = commit.events.map(({ event }) => event.id).filter((id) => eventKnown(db, commit.session, id))
  return known.length > 0 ? { ok: false, why: 'duplicate', eventIds: known } : null
}

function apply(db: Connection, decided: Commit): CommitResult {
  const { session } = decided
  // An actor may still hold the key of a project that was merged meanwhile: here nothing can come in between.
  const state = { ...decided.state, project: filedUnder(db, decided.state.project) }
  const commit = { ...decided, state }
  const seq = nextSeq(db)
  const origin: Origin = { session, project: commit.state.project.key, seq }
  if (commit.revision === 1) insertSession(db, commit, seq)
  else updateSession(db, commit, seq)
  for (const { event, receivedAt, outcome } of commit.events) insertEvent(db, session, event, receivedAt, outcome)
  const promptIds = commit.prompts.map((prompt) => insertPrompt(db, origin, prompt))
  const stored: StoredObservation[] = commit.observations.map((observation) => ({
    id: insertObservation(db, origin, observation),
    observation,
  }))
  for (const change of commit.inbox) applyInboxChange(db, session, change, stored)
  const summaryIds = commit.summaries.map((summary) => insertSummary(db, origin, summary))
  for (const turn of commit.turns) insertTurn(db, session, turn)
  insertCalls(db, commit)
  for (const { subject, digest } of commit.seen) upsertSeen(db, session, subject, digest, commit.at)
  for (const entry of commit.trace) insertTrace(db, session, entry)
  for (const { id, observation } of stored) addLinks(db, id, observation.links ?? [], commit.at)
  const observationIds = stored.map(({ id }) => id)
  indexAddedSafely(db, { session, observations: observationIds, summaries: summaryIds, prompts: promptIds })
  return { ok: true, seq, observationIds, summaryIds, promptIds }
}
