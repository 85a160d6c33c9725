/**
 * What a session is about: its observations in their order, in chunks of bounded size, each one document of its own
 * full-text table. A write touches the chunk that is being filled and never the rest of the session.
 */
import { type ObservationRow, toObservation } from '../memories.ts'
import { all, type Connection, get, run } from '../statement.ts'
import { rowOf } from './rows.ts'
import { charsOf, chunkText, textOfObservation } from './texts.ts'

/** A chunk is indexed anew with each of its observations: these keep that within a few milliseconds. */
const MAX_MEMBERS = 32
const MAX_CHARS = 16_384

interface Chunk {
  id: number
  members: number
  chars: number
}

/** Gives an observation its place in its session's last chunk, or in a new one; returns the chunk. */
export function placeInChunk(db: Connection, id: number): number | null {
  const found = get<ObservationRow>(db, 'SELECT * FROM observations WHERE id = ?', [id])
  if (found === undefined) return null // its row goes when it is indexed, which comes first
  const observation = toObservation(found)
  const chars = charsOf(textOfObservation(observation))
  const last = lastChunk(db, observation.session)
  const fits = last !== undefined && last.members < MAX_MEMBERS && last.chars + chars <= MAX_CHARS
  const chunk = fits ? last.id : insertChunk(db, observation.session, observation.project)
  addMember(db, chunk, chars)
  run(db, 'UPDATE search_rows SET chunk = ? WHERE id = ?', [chunk, rowOf('observation', id)])
  return chunk
}

/** A chunk that has lost all its observations goes. */
export function indexChunk(db: Connection, chunk: number): void {
  const members = membersOf(db, chunk)
  if (members.length === 0) {
    run(db, 'DELETE FROM session_chunks WHERE id = ?', [chunk])
    return
  }
  const texts = members.map((row) => textOfObservation(toObservation(row)))
  run(db, 'DELETE FROM chunk_fts WHERE rowid = ?', [chunk])
  run(db, 'INSERT INTO chunk_fts (rowid, text) VALUES (?, ?)', [chunk, chunkText(texts)])
  run(db, 'UPDATE session_chunks SET indexed = 1, chars = ? WHERE id = ?', [
    texts.reduce((sum, text) => sum + charsOf(text), 0),
    chunk,
  ])
}

function membersOf(db: Connection, chunk: number): ObservationRow[] {
  return all<ObservationRow>(
    db,
    `SELECT o.* FROM search_rows s JOIN observations o ON o.id = s.id >> 2 WHERE s.chunk = ? ORDER BY s.id`,
    [chunk],
  )
}

function lastChunk(db: Connection, session: string): Chunk | undefined {
  return get<Chunk>(
    db,
    'SELECT id, members, chars FROM session_chunks WHERE content_session_id = ? ORDER BY id DESC LIMIT 1',
    [session],
  )
}

function insertChunk(db: Connection, session: string, project: string): number {
  return run(db, 'INSERT INTO session_chunks (content_session_id, project, members, chars) VALUES (?, ?, 0, 0)', [
    session,
    project,
  ]).id
}

function addMember(db: Connection, chunk: number, chars: number): void {
  run(db, 'UPDATE session_chunks SET members = members + 1, chars = chars + ?, indexed = 0 WHERE id = ?', [
    chars,
    chunk,
  ])
}
