/**
 * The sessions of OpenCode: SQLite, `~/.local/share/opencode/opencode.db` (1.18). Only `session`, `message` and `part` are
 * read, and nothing is written: other tables hold credentials. Each session of the user counts as a file, named
 * `opencode.db#<session>`, so that a backfill reads only what it sends; a plain `opencode.db` is all of them. Sessions of
 * subagents come where the call that started them ends.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type BetterSqlite3 from 'better-sqlite3'
import {
  fieldsOrEmpty,
  nonEmptyString,
  type TranscriptEntry,
  type TranscriptEntryHead,
} from '../../domain/transcript-entry.ts'
import { openCodeToolFailure, openCodeToolUses, unquoted } from '../../hook/clients/opencode.ts'
import { databaseDriver } from '../../lib/packages.ts'
import type { OnLine } from './lines.ts'
import {
  type FoundTranscripts,
  type TranscriptHome,
  type TranscriptReader,
  toolEntries,
  unreadableReason,
} from './reader.ts'

export const openCodeTranscripts: TranscriptReader = {
  client: 'opencode',
  find: findSessions,
  recognises: (firstLine) => firstLine.startsWith('SQLite format 3\0'),
  entries: readSessions,
}

/** OpenCode follows XDG on every system. */
function databaseFile({ env, home }: TranscriptHome): string {
  return join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'opencode', 'opencode.db')
}

interface SessionRow {
  id: string
  parent: string | null
  directory: string
  changedAt: number
}

interface MessageRow {
  id: string
  at: number
  data: string
}

interface PartRow {
  id: string
  message: string
  at: number
  data: string
}

function findSessions(where: TranscriptHome): FoundTranscripts {
  const file = databaseFile(where)
  const found: FoundTranscripts = { files: [], problems: [] }
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return found
  try {
    withDatabase(file, (db) => {
      for (const { id, changedAt } of rootSessions(db)) {
        const bytes = sessionBytes(db, id)
        found.files.push({ client: openCodeTranscripts.client, file: `${file}#${id}`, bytes, changedAt })
      }
    })
  } catch (error) {
    found.problems.push({ file, reason: databaseProblem(error) })
  }
  return found
}

function databaseProblem(error: unknown): string {
  const isOtherVersion = error instanceof Error && /no such (?:table|column)/.test(error.message)
  return isOtherVersion
    ? 'it has other tables than the versions of OpenCode that are known (1.18)'
    : unreadableReason(error)
}

async function* readSessions(source: string, onLine: OnLine): AsyncGenerator<TranscriptEntry> {
  const [, file = source, id] = /^(.*\.db)#(ses_\w+)$/s.exec(source) ?? []
  const db = openReadOnly(file)
  try {
    const sessions = id === undefined ? rootSessions(db) : sessionNamed(db, id)
    for (const session of sessions) yield* new SessionEntries(db, session.id, onLine).entries(session, null)
  } finally {
    db.close()
  }
}

function openReadOnly(file: string): BetterSqlite3.Database {
  const Database = databaseDriver()
  return new Database(file, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
}

/** OpenCode may be writing. */
const BUSY_TIMEOUT_MS = 2_000

function withDatabase<T>(file: string, read: (db: BetterSqlite3.Database) => T): T {
  const db = openReadOnly(file)
  try {
    return read(db)
  } finally {
    db.close()
  }
}

const SESSION_COLUMNS = 'id, parent_id AS parent, directory, time_updated AS changedAt'

function rootSessions(db: BetterSqlite3.Database): SessionRow[] {
  return db
    .prepare<[], SessionRow>(`SELECT ${SESSION_COLUMNS} FROM session WHERE parent_id IS NULL ORDER BY time_created`)
    .all()
}

function sessionNamed(db: BetterSqlite3.Database, id: string): SessionRow[] {
  return db.prepare<[string], SessionRow>(`SELECT ${SESSION_COLUMNS} FROM session WHERE id = ?`).all(id)
}

function sessionBytes(db: BetterSqlite3.Database, id: string): number {
  const sum = db.prepare<[string], { bytes: number | null }>(
    'SELECT SUM(LENGTH(data)) AS bytes FROM part WHERE session_id = ?',
  )
  return sum.get(id)?.bytes ?? 0
}

/** Deeper subagents than any client starts; a session cannot be its own subagent. */
const MAX_DEPTH = 8

class SessionEntries {
  readonly #db: BetterSqlite3.Database
  readonly #root: string
  readonly #onLine: OnLine
  #rows = 0

  constructor(db: BetterSqlite3.Database, root: string, onLine: OnLine) {
    this.#db = db
    this.#root = root
    this.#onLine = onLine
  }

  /** `agent`: the id of the session, if it is a subagent's. */
  *entries({ id, directory }: SessionRow, agent: string | null, depth = 0): Generator<TranscriptEntry> {
    const messages = this.#db.prepare<[string], MessageRow>(
      'SELECT id, time_created AS at, data FROM message WHERE session_id = ? ORDER BY time_created, id',
    )
    for (const message of messages.all(id)) {
      const data = this.#parse(message.data)
      if (data === null) continue
      const head: TranscriptEntryHead = {
        session: this.#root,
        uuid: message.id,
        parent: null,
        at: message.at,
        cwd: directory,
        promptId: nonEmptyString(data.role === 'user' ? message.id : data.parentID),
        sidechain: agent !== null,
        agentId: agent,
      }
      if (data.role === 'user') yield* this.#userMessage(head)
      else if (data.role === 'assistant') yield* this.#assistantMessage(head, data, depth)
    }
  }

  *#userMessage(head: TranscriptEntryHead): Generator<TranscriptEntry> {
    const parts = this.#parts(head.uuid)
    const compaction = parts.find(({ fields }) => fields.type === 'compaction')
    if (compaction !== undefined) {
      yield { ...head, kind: 'compact', trigger: compaction.fields.auto === true ? 'auto' : 'manual' }
    }
    const texts = parts.flatMap(({ fields }) =>
      fields.type === 'text' && fields.synthetic !== true ? (nonEmptyString(fields.text) ?? []) : [],
    )
    if (texts.length > 0) yield { ...head, kind: 'prompt', text: unquoted(texts.join('\n')) }
  }

  *#assistantMessage(
    message: TranscriptEntryHead,
    data: Record<string, unknown>,
    depth: number,
  ): Generator<TranscriptEntry> {
    // Written by the client when it compacts.
    if (data.summary === true || data.mode === 'compaction') return
    for (const { id, at, fields } of this.#parts(message.uuid)) {
      const head = { ...message, uuid: id, at }
      const text = fields.type === 'text' && fields.synthetic !== true ? nonEmptyString(fields.text) : null
      if (text !== null) yield assistantText(head, message.uuid, text, false)
      else if (fields.type === 'tool') yield* this.#tool(head, fields, depth)
    }
    const error = fieldsOrEmpty(data.error)
    const name = nonEmptyString(error.name)
    if (name === 'MessageAbortedError') yield { ...message, kind: 'interrupt' }
    else if (name !== null) {
      const reason = nonEmptyString(fieldsOrEmpty(error.data).message)
      yield assistantText(message, message.uuid, reason === null ? name : `${name}: ${reason}`, true)
    }
  }

  *#tool(head: TranscriptEntryHead, fields: Record<string, unknown>, depth: number): Generator<TranscriptEntry> {
    const state = fieldsOrEmpty(fields.state)
    const call = nonEmptyString(fields.callID)
    const tool = nonEmptyString(fields.tool)
    // A call that neither ended nor failed has no result.
    if (call === null || tool === null || (state.status !== 'completed' && state.status !== 'error')) return
    const input = fieldsOrEmpty(state.input)
    if (state.status === 'error') {
      yield* toolEntries(head, call, openCodeToolFailure(tool, input, String(state.error ?? 'failed')))
      return
    }
    const uses = openCodeToolUses(tool, input, state, head.cwd ?? '/')
    const child = tool === 'task' ? nonEmptyString(fieldsOrEmpty(state.metadata).sessionId) : null
    for (const [index, use] of uses.entries()) {
      const id = index === 0 ? call : `${call}#${index}`
      if (child === null) yield* toolEntries(head, id, use)
      else yield* this.#subagent(head, id, use, child, depth)
    }
  }

  /** The entries of the subagent come between its call and the result. */
  *#subagent(
    head: TranscriptEntryHead,
    id: string,
    use: Record<string, unknown>,
    child: string,
    depth: number,
  ): Generator<TranscriptEntry> {
    const response = { agentId: child, content: use.tool_response }
    const [call, result] = toolEntries(head, id, { ...use, tool_response: response })
    if (call !== undefined) yield call
    if (depth < MAX_DEPTH) for (const row of sessionNamed(this.#db, child)) yield* this.entries(row, child, depth + 1)
    if (result !== undefined) yield result
  }

  #parts(message: string | null): { id: string; at: number; fields: Record<string, unknown> }[] {
    const parts = this.#db.prepare<[string | null], PartRow>(
      'SELECT id, message_id AS message, time_created AS at, data FROM part WHERE message_id = ? ORDER BY id',
    )
    return parts.all(message).flatMap(({ id, at, data }) => {
      const fields = this.#parse(data)
      return fields === null ? [] : [{ id, at, fields }]
    })
  }

  #parse(data: string): Record<string, unknown> | null {
    this.#rows += 1
    const line = { number: this.#rows, text: data }
    try {
      const fields = fieldsOrEmpty(JSON.parse(data))
      this.#onLine(line, null)
      return fields
    } catch {
      this.#onLine(line, 'the row is not JSON')
      return null
    }
  }
}

function assistantText(
  head: TranscriptEntryHead,
  message: string | null,
  text: string,
  failed: boolean,
): TranscriptEntry {
  return { ...head, kind: 'assistant', message, text, calls: [], usage: null, failed }
}
