/** The session that imported memories belong to: closed from its first moment, or one that is there already. */
import { MemError } from '../../errors.ts'
import { closedState } from '../closed-session.ts'
import { type Commit, emptyCommit } from '../commit.ts'
import type { ImportedSession } from '../import-port.ts'
import type { SessionRow } from '../port.ts'
import { filedUnder } from './projects.ts'
import { insertSession, selectSession, updateSession } from './sessions.ts'
import { type Connection, run } from './statement.ts'
import { insertTrace } from './turns.ts'

/** Where a memory of this session is to be filed, and up to which number it has prompts. */
export interface Home {
  project: string
  prompts: number
}

/**
 * Makes the session where it is missing. One that was imported before and never opened since grows with what comes
 * now; one that a client wrote is not changed: an actor may have it in memory.
 */
export function homeOf(
  db: Connection,
  id: string,
  imported: ImportedSession | undefined,
  seq: number,
  at: number,
): Home {
  const row = selectSession(db, id)
  if (row !== null) {
    const project = filedUnder(db, row.project).key
    const grown = imported === undefined ? null : grownState(row, imported)
    if (grown === null) return { project, prompts: row.prompts }
    write(db, importCommit(id, row.revision + 1, grown, at), seq)
    return { project, prompts: grown.prompts }
  }
  if (imported === undefined) throw new MemError('not_found', `its session ${id} is not in the file`)
  const project = filedUnder(db, imported.project)
  const { client, cwd, heardAt, prompts, startedAt } = imported
  write(db, importCommit(id, 1, closedState({ project, client, cwd, heardAt, prompts }), at), seq)
  run(db, 'UPDATE sdk_sessions SET created_at_epoch = min(?, updated_at_epoch) WHERE content_session_id = ?', [
    startedAt,
    id,
  ])
  return { project: project.key, prompts }
}

/** Null where there is nothing to add to it, or where it is not ours to change. */
function grownState(row: SessionRow, { prompts, heardAt }: ImportedSession): Commit['state'] | null {
  if (prompts <= row.prompts && heardAt <= row.heardAt) return null
  const untouched = closedState(row)
  if (row.snapshot !== untouched.snapshot || row.quarantine !== null) return null
  return closedState({ ...row, prompts: Math.max(prompts, row.prompts), heardAt: Math.max(heardAt, row.heardAt) })
}

function write(db: Connection, commit: Commit, seq: number): void {
  if (commit.revision === 1) insertSession(db, commit, seq)
  else updateSession(db, commit, seq)
  for (const entry of commit.trace) insertTrace(db, commit.session, entry)
}

function importCommit(session: string, revision: number, state: Commit['state'], at: number): Commit {
  return {
    ...emptyCommit(session, revision, at),
    state,
    trace: [{ at, event: 'IMPORT', eventId: null, from: 'closed', to: 'closed', reason: 'imported', effectId: null }],
  }
}
