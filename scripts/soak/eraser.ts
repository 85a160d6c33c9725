/**
 * Keeps the memory of a soak at one size: sessions that ended some minutes ago are erased, after it was checked that
 * nothing of them is lost or duplicated. Otherwise vectors and page caches would grow with what is stored, as they should,
 * and a leak would be lost in that growth.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { MemError } from '../../src/lib/errors.ts'
import type { LogEntry } from '../chaos/clients.ts'
import { clientKey } from '../chaos/verdict.ts'
import { connect, type Sandbox } from '../lib/sandbox.ts'
import type { SoakLoad } from './load.ts'

const EVERY_MS = 5_000
const AT_ONCE = 4
/** Sessions that ended this long ago are flushed and erased, in ms: shorter than the warm-up, so that it ends with a full memory. */
const KEPT_MS = 180_000
const CALL_TIMEOUT_MS = 30_000
const STOP_ATTEMPTS = 100
const RETRY_MS = 200

export class SessionEraser {
  sessions = 0
  readonly lost: string[] = []
  readonly duplicated: string[] = []
  readonly #sandbox: Sandbox
  readonly #load: SoakLoad
  /** Judged, but not yet erased. */
  readonly #judged = new Set<string>()
  #running = true
  #task: Promise<void> = Promise.resolve()

  constructor(sandbox: Sandbox, load: SoakLoad) {
    this.#sandbox = sandbox
    this.#load = load
  }

  start(): void {
    this.#task = this.#run()
  }

  /** A daemon must be running. */
  async stop(): Promise<void> {
    this.#running = false
    await this.#task
    // What was judged is no longer in the log: its rows must go too.
    for (let attempt = 0; this.#judged.size > 0 && attempt < STOP_ATTEMPTS; attempt++) {
      for (const session of this.#judged) await this.#erase(session)
      await sleep(RETRY_MS)
    }
  }

  async #run(): Promise<void> {
    while (this.#running) {
      await sleep(EVERY_MS)
      const before = performance.now() - KEPT_MS
      const due = [...this.#load.finished].flatMap(([session, at]) => (at < before ? [session] : []))
      // Erasing waits for the effects of a session.
      const next = async (): Promise<void> => {
        for (let session = due.shift(); session !== undefined && this.#running; session = due.shift()) {
          await this.#erase(session)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, next))
    }
  }

  async #erase(session: string): Promise<void> {
    const client = await connect(this.#sandbox, 0)
    if (client === null) return
    try {
      if (!this.#judged.has(session)) {
        // Messages of a session that never ended wait for ten minutes.
        if (!this.#isSettled(session))
          return void (await client.call('flush', { session, wait: false }, CALL_TIMEOUT_MS))
        this.#judge(session)
        this.#judged.add(session)
      }
      await client.call('purge_session', { session }, CALL_TIMEOUT_MS)
      this.#erased(session)
    } catch (error) {
      // Erased by a daemon that was killed before it answered. Else the daemon is being restarted: the next round.
      if (error instanceof MemError && error.code === 'not_found') this.#erased(session)
    } finally {
      client.close()
    }
  }

  #erased(session: string): void {
    this.#judged.delete(session)
    this.#load.finished.delete(session)
    this.sessions += 1
  }

  #isSettled(session: string): boolean {
    return this.#read((db) => {
      const open = db.prepare<[string, string, string], number>(
        `SELECT (SELECT count(*) FROM pending_messages WHERE content_session_id = ?)
           + (SELECT count(*) FROM events WHERE content_session_id = ? AND outcome IS NULL)
           + (SELECT count(*) FROM sdk_sessions WHERE content_session_id = ? AND effect IS NOT NULL)`,
      )
      return open.pluck().get(session, session, session) === 0
    })
  }

  /** As the verdict of the chaos script does for a whole database. */
  #judge(session: string): void {
    const entries = this.#load.log.filter((entry) => entry.session === session)
    const { events, prompts, observed } = this.#read((db) => ({
      events: keys(db, 'SELECT event_id FROM events WHERE content_session_id = ?', session),
      prompts: keys(db, 'SELECT event_id FROM user_prompts WHERE content_session_id = ?', session),
      observed: keys(
        db,
        'SELECT source.value FROM observations, json_each(sources) AS source WHERE content_session_id = ?',
        session,
      ),
    }))
    for (const entry of entries) {
      const counts = [
        events,
        ...(entry.kind === 'message' ? [observed] : entry.kind === 'prompt' ? [prompts] : []),
      ].map((stored) => stored.filter((key) => key === entry.key).length)
      if (entry.reported && counts.includes(0)) this.lost.push(entry.key)
      if (counts.some((count) => count > 1)) this.duplicated.push(entry.key)
    }
    this.#forgetEntries(session)
  }

  #forgetEntries(session: string): void {
    const kept: LogEntry[] = this.#load.log.filter((entry) => entry.session !== session)
    this.#load.log.splice(0, this.#load.log.length, ...kept)
  }

  #read<T>(question: (db: Database.Database) => T): T {
    const db = new Database(this.#sandbox.paths.database, { readonly: true })
    try {
      return question(db)
    } finally {
      db.close()
    }
  }
}

function keys(db: Database.Database, sql: string, session: string): string[] {
  return db.prepare<[string], string>(sql).pluck().all(session).map(clientKey)
}
