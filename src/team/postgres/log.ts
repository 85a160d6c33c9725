/** The shared log in PostgreSQL. Every request is one call of a function of the schema `claude_mem` (migrations/). */
import type { ReceivedRecord, RecordOrigin, TeamRecord } from '../../domain/team-record.ts'
import type { LogCursor } from '../../store/team-port.ts'
import type {
  LogAdministration,
  LogGrant,
  LogMember,
  LogRepository,
  PulledRecords,
  PushOutcome,
  SharedLog,
} from '../shared-log.ts'
import { type ConnectionSettings, ConnectionTarget, PostgresDatabase } from './connection.ts'
import { startListener } from './listen.ts'
import { checkLogVersion, type InitResult, initLog, type LogVersion, readLogVersion } from './migrations/index.ts'
import { pushRecords } from './push.ts'

/** What one pull holds in memory, about; a single record may be larger. */
const MAX_PULL_BYTES = 4 * 1024 * 1024

/** A progress bar does not need to be more exact. */
const MAX_COUNTED = 1_000_000

/** Operators are named with their schema: one that a member made in another schema is not used. */
const COUNT_BEHIND = `
  SELECT pg_catalog.count(*)::pg_catalog.int4 AS n FROM (
    SELECT 1 FROM pg_catalog.jsonb_to_recordset($1::pg_catalog.jsonb)
      AS c (repository pg_catalog.text, "transaction" pg_catalog.text, sequence pg_catalog.text)
    JOIN claude_mem.repositories p ON p.key OPERATOR(pg_catalog.=) c.repository
    JOIN claude_mem.records r ON r.repository OPERATOR(pg_catalog.=) p.id
      AND (r.x, r.seq) OPERATOR(pg_catalog.>) (c."transaction"::pg_catalog.xid8, c.sequence::pg_catalog.int8)
      AND r.kind OPERATOR(pg_catalog.<>) 'erased'
    LIMIT $2::pg_catalog.int8
  ) counted`

export interface PostgresLogSettings extends ConnectionSettings {
  /** Whether to use a connection for notifications. Without it others' records arrive with the next poll. */
  listen?: boolean
}

/** A record as `record_json` of the schema makes it. */
interface SentRecord extends Record<string, unknown> {
  id: string
  kind: ReceivedRecord['kind']
  repository: string
  at: number
  author: string
  machine: string
  target: string | null
  body: unknown
  transaction: string
  sequence: string
}

interface SentPull extends LogVersion {
  generation: string
  moved: boolean
  records: SentRecord[]
  more: boolean
  heldBackMs: number | null
}

/** Connects and checks that this program can use the log. */
export async function openPostgresLog(url: string, settings: PostgresLogSettings = {}): Promise<PostgresLog> {
  const database = await PostgresDatabase.open(new ConnectionTarget(url, settings), settings)
  try {
    checkLogVersion(await database.transaction(readLogVersion), database.target.server)
    return new PostgresLog(database, settings)
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Makes or updates the schema, as the role of the URL. */
export async function initPostgresLog(url: string, settings: PostgresLogSettings = {}): Promise<InitResult> {
  const database = await PostgresDatabase.open(new ConnectionTarget(url, settings), settings)
  try {
    return await initLog(database)
  } finally {
    await database.close()
  }
}

export class PostgresLog implements SharedLog, LogAdministration {
  readonly #database: PostgresDatabase
  readonly #settings: PostgresLogSettings

  constructor(database: PostgresDatabase, settings: PostgresLogSettings) {
    this.#database = database
    this.#settings = settings
  }

  get target(): ConnectionTarget {
    return this.#database.target
  }

  async push(records: readonly TeamRecord[], origin: RecordOrigin): Promise<PushOutcome[]> {
    return await pushRecords(this.#database, records, origin)
  }

  async pull(cursors: readonly LogCursor[], limit: number): Promise<PulledRecords> {
    let pulled = await this.#pullOnce(cursors, limit)
    if (pulled.moved) {
      await this.#database.query('SELECT claude_mem.renew()')
      pulled = await this.#pullOnce(cursors, limit)
    }
    return {
      records: pulled.records.map(toReceived),
      cursors: cursorsAfter(cursors, pulled),
      more: pulled.more,
      heldBackMs: pulled.heldBackMs,
    }
  }

  async behind(cursors: readonly LogCursor[]): Promise<number> {
    const [row] = await this.#database.query<{ n: number }>(COUNT_BEHIND, [JSON.stringify(cursors), MAX_COUNTED])
    return row?.n ?? 0
  }

  async newest(repository: string, limit: number): Promise<ReceivedRecord[]> {
    const records = await this.#call<SentRecord[]>(
      'claude_mem.newest($1::pg_catalog.text, $2::pg_catalog.int4)',
      repository,
      limit,
    )
    return records.map(toReceived)
  }

  async start(repositories: readonly string[]): Promise<LogCursor[]> {
    await this.#database.query('SELECT claude_mem.renew() WHERE claude_mem.moved()')
    const [log] = await this.#database.query<{ generation: string }>('SELECT generation FROM claude_mem.log')
    const generation = log?.generation ?? ''
    return repositories.map((repository) => ({ repository, generation, transaction: '0', sequence: '0' }))
  }

  async repositories(): Promise<LogRepository[]> {
    const rows = await this.#numbered()
    return rows.map(({ key, may_write, may_erase }) => ({ key, mayWrite: may_write, mayEraseOthers: may_erase }))
  }

  async register(repository: string): Promise<void> {
    await this.#call('claude_mem.register($1::pg_catalog.text)', repository)
  }

  async listen(heard: (repository: string) => void): Promise<(() => Promise<void>) | null> {
    if (this.#settings.listen === false) return null
    const keys = new Map((await this.#numbered()).map(({ id, key }) => [id, key]))
    /** A repository that was registered or granted since: look again. */
    const learn = async () => {
      for (const { id, key } of await this.#numbered()) keys.set(id, key)
    }
    const hearAgain = (id: number) => {
      const key = keys.get(id)
      if (key !== undefined) heard(key)
    }
    const listener = await startListener({
      target: this.#database.target,
      settings: this.#settings,
      database: this.#database,
      heard: (id) => {
        if (id === null) for (const key of keys.values()) heard(key)
        else if (keys.has(id)) hearAgain(id)
        // The next poll finds the records where this fails.
        else
          learn().then(
            () => hearAgain(id),
            () => undefined,
          )
      },
    })
    return listener === null ? null : () => listener.stop()
  }

  async members(): Promise<LogMember[]> {
    return await this.#call<LogMember[]>('claude_mem.list_members()')
  }

  async grant(role: string, grant: LogGrant): Promise<void> {
    await this.#call(
      'claude_mem.grant_access($1::pg_catalog.text, $2::pg_catalog.text, $3::pg_catalog.bool, $4::pg_catalog.bool, $5::pg_catalog.bool)',
      role,
      grant.repository,
      grant.mayWrite,
      grant.mayEraseOthers,
      grant.mayGrant,
    )
  }

  async revoke(role: string, repository: string): Promise<boolean> {
    return await this.#call<boolean>(
      'claude_mem.revoke_access($1::pg_catalog.text, $2::pg_catalog.text)',
      role,
      repository,
    )
  }

  async setMember(author: string): Promise<string> {
    return await this.#call<string>('claude_mem.set_member($1::pg_catalog.text)', author)
  }

  async cleanBodies(full: boolean): Promise<void> {
    await this.#database.query(full ? 'VACUUM (FULL) claude_mem.records' : 'VACUUM claude_mem.records')
  }

  async close(): Promise<void> {
    await this.#database.close()
  }

  async #pullOnce(cursors: readonly LogCursor[], limit: number): Promise<SentPull> {
    const pulled = await this.#call<SentPull>(
      'claude_mem.pull($1::pg_catalog.jsonb, $2::pg_catalog.int4, $3::pg_catalog.int4)',
      JSON.stringify(cursors),
      limit,
      MAX_PULL_BYTES,
    )
    checkLogVersion(pulled, this.#database.target.server)
    return pulled
  }

  async #numbered(): Promise<{ id: number; key: string; may_write: boolean; may_erase: boolean }[]> {
    return await this.#database.query(
      "SELECT id, key, id OPERATOR(pg_catalog.=) ANY (claude_mem.allowed('write')) AS may_write, " +
        "id OPERATOR(pg_catalog.=) ANY (claude_mem.allowed('erase')) AS may_erase FROM claude_mem.repositories ORDER BY key",
    )
  }

  /** Arguments have a type that fits exactly: no function of another schema can fit better. */
  async #call<T>(call: string, ...values: unknown[]): Promise<T> {
    const [row] = await this.#database.query<{ answer: T }>(`SELECT ${call} AS answer`, values)
    return row?.answer as T
  }
}

function toReceived(sent: SentRecord): ReceivedRecord {
  const { id, kind, repository, at, author, machine, target } = sent
  const body = kind === 'tombstone' ? { target } : sent.body
  return { id, kind, repository, at, author, machine, body } as ReceivedRecord
}

/** A cursor of another generation, whose repository had nothing, is at the start of the present one. */
function cursorsAfter(cursors: readonly LogCursor[], pulled: SentPull): LogCursor[] {
  const { generation } = pulled
  const last = new Map(pulled.records.map((record) => [record.repository, record]))
  return cursors.map((cursor) => {
    const { transaction, sequence } =
      last.get(cursor.repository) ?? (cursor.generation === generation ? cursor : { transaction: '0', sequence: '0' })
    return { repository: cursor.repository, generation, transaction, sequence }
  })
}
