/** Session rows: written by a commit, read whole, listed for people. */
import type { Effect } from '../../../machines/session/types.ts'
import type { Commit, SessionStatus } from '../commit.ts'
import type { SessionFilter, SessionListItem, SessionRow } from '../port.ts'
import { nextSeq } from './meta.ts'
import { shownName } from './projects.ts'
import { all, type Connection, get, run, type Value } from './statement.ts'

interface StoredSession {
  content_session_id: string
  memory_session_id: string
  project: string
  project_name: string
  client: string
  cwd: string
  transcript_path: string | null
  status: SessionStatus
  state: string
  revision: number
  machine_version: number
  wake_at: number | null
  waiting: string | null
  quarantine: string | null
  prompts: number
  generation: number
  context_tokens: number
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  seq: number
  created_at_epoch: number
  updated_at_epoch: number
  effect: string | null
  snapshot: string
}

export function revisionOf(db: Connection, session: string): number | undefined {
  return get<{ revision: number }>(db, 'SELECT revision FROM sdk_sessions WHERE content_session_id = ?', [session])
    ?.revision
}

export function insertSession(db: Connection, commit: Commit, seq: number): void {
  run(
    db,
    `INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, project_name, client, cwd,
       transcript_path, status, state, revision, machine_version, wake_at, waiting, prompts, generation,
       context_tokens, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, trace_count, seq,
       created_at_epoch, updated_at_epoch, effect, snapshot)
     VALUES (@session, @memorySession, @project, @projectName, @client, @cwd, @transcriptPath, @status, @state,
       @revision, @machineVersion, @wakeAt, @waiting, @prompts, @generation, @contextTokens, @input, @output,
       @cacheRead, @cacheWrite, @traces, @seq, @heardAt, @heardAt, @effect, @snapshot)`,
    sessionValues(commit, seq),
  )
}

/** A commit is also what ends a quarantine: it brings a snapshot that could be made. */
export function updateSession(db: Connection, commit: Commit, seq: number): void {
  run(
    db,
    `UPDATE sdk_sessions SET memory_session_id = @memorySession, project = @project, project_name = @projectName,
       client = @client, cwd = @cwd, transcript_path = @transcriptPath, status = @status, state = @state,
       revision = @revision, machine_version = @machineVersion, wake_at = @wakeAt, waiting = @waiting,
       quarantine = NULL, prompts = @prompts, generation = @generation, context_tokens = @contextTokens,
       input_tokens = @input, output_tokens = @output, cache_read_tokens = @cacheRead,
       cache_write_tokens = @cacheWrite, trace_count = trace_count + @traces, seq = @seq, updated_at_epoch = @heardAt,
       effect = @effect, snapshot = @snapshot
     WHERE content_session_id = @session`,
    sessionValues(commit, seq),
  )
}

function sessionValues(commit: Commit, seq: number): Record<string, Value> {
  const { state } = commit
  return {
    session: commit.session,
    memorySession: `${commit.session}:${state.generation}`,
    project: state.project.key,
    projectName: state.project.name,
    client: state.client,
    cwd: state.cwd,
    transcriptPath: state.transcriptPath,
    status: state.status,
    state: state.state,
    revision: commit.revision,
    machineVersion: state.machineVersion,
    // Jitter may leave a fraction of a millisecond; a wake-up never comes before its time.
    wakeAt: state.wakeAt === null ? null : Math.ceil(state.wakeAt),
    waiting: state.waiting,
    prompts: state.prompts,
    generation: state.generation,
    contextTokens: state.contextTokens,
    input: state.usage.input,
    output: state.usage.output,
    cacheRead: state.usage.cacheRead,
    cacheWrite: state.usage.cacheWrite,
    traces: commit.trace.length,
    seq,
    heardAt: state.heardAt,
    effect: state.effect === null ? null : JSON.stringify(state.effect),
    snapshot: state.snapshot,
  }
}

export function selectSession(db: Connection, session: string): SessionRow | null {
  const row = get<StoredSession>(db, 'SELECT * FROM sdk_sessions WHERE content_session_id = ?', [session])
  return row === undefined ? null : toSession(row)
}

function toSession(row: StoredSession): SessionRow {
  return {
    session: row.content_session_id,
    revision: row.revision,
    memorySession: row.memory_session_id,
    createdAt: row.created_at_epoch,
    quarantine: row.quarantine,
    seq: row.seq,
    project: { key: row.project, name: row.project_name },
    client: row.client,
    cwd: row.cwd,
    transcriptPath: row.transcript_path,
    heardAt: row.updated_at_epoch,
    status: row.status,
    state: row.state,
    snapshot: row.snapshot,
    machineVersion: row.machine_version,
    wakeAt: row.wake_at,
    effect: row.effect === null ? null : parseEffect(row.effect),
    waiting: row.waiting,
    prompts: row.prompts,
    generation: row.generation,
    contextTokens: row.context_tokens,
    usage: {
      input: row.input_tokens,
      output: row.output_tokens,
      cacheRead: row.cache_read_tokens,
      cacheWrite: row.cache_write_tokens,
    },
  }
}

export function parseEffect(json: string): Effect {
  // Effects that an older version left in flight do not say it.
  return { offline: null, ...JSON.parse(json) }
}

/** More than anyone would choose from. */
const MAX_PREFIX_MATCHES = 100

export function sessionsWithPrefix(db: Connection, prefix: string): string[] {
  return all<{ id: string }>(
    db,
    `SELECT content_session_id AS id FROM sdk_sessions
     WHERE content_session_id >= @prefix AND substr(content_session_id, 1, length(@prefix)) = @prefix
       AND content_session_id < @prefix || char(0x10FFFF)
     ORDER BY content_session_id LIMIT ${MAX_PREFIX_MATCHES}`,
    { prefix },
  ).map((row) => row.id)
}

/** Newest first. */
export function listSessions(db: Connection, filter: SessionFilter): SessionListItem[] {
  const conditions = ['TRUE']
  const values: Record<string, Value> = { limit: filter.limit ?? -1 }
  if (filter.status !== undefined) {
    conditions.push('s.status = @status')
    values.status = filter.status
  }
  if (filter.project !== undefined) {
    conditions.push('s.project = @project')
    values.project = filter.project
  }
  const waiting = (status: string) =>
    `(SELECT count(*) FROM pending_messages m WHERE m.content_session_id = s.content_session_id AND m.status = '${status}')`
  return all<SessionListItem>(
    db,
    `SELECT s.content_session_id AS session, s.project,
       ${shownName('s.project', 's.project_name')} AS projectName, s.status, s.state, s.prompts,
       ${waiting('pending')} AS pending, ${waiting('processing')} AS processing, ${waiting('failed')} AS failed,
       (SELECT count(*) FROM observations o WHERE o.content_session_id = s.content_session_id) AS observations,
       s.waiting, s.quarantine, s.wake_at AS wakeAt, s.created_at_epoch AS createdAt, s.updated_at_epoch AS updatedAt
     FROM sdk_sessions s WHERE ${conditions.join(' AND ')}
     ORDER BY s.updated_at_epoch DESC, s.id DESC LIMIT @limit`,
    values,
  )
}

export function eraseSession(db: Connection, session: string): { seq: number } | null {
  return db.transaction(() => (deleteSession(db, session) ? { seq: nextSeq(db) } : null)).immediate()
}

/** Whatever refers to it goes with it. */
function deleteSession(db: Connection, session: string): boolean {
  return run(db, 'DELETE FROM sdk_sessions WHERE content_session_id = ?', [session]).changes > 0
}
