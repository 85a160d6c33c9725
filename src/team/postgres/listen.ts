/**
 * Listening for pushes of others, on a connection of its own. What is heard is only a hint to pull: a notification can get
 * lost with a connection. PgBouncer in transaction mode accepts LISTEN and delivers nothing, which a trial notification
 * over another connection shows.
 */
import { randomUUID } from 'node:crypto'
import type { Client, Notification } from 'pg'
import { withTimeout } from '../../lib/timeout.ts'
import { toTeamError } from '../errors.ts'
import { type ConnectionSettings, type ConnectionTarget, connectClient, type PostgresDatabase } from './connection.ts'

const CHANNEL = 'claude_mem'
/** A notification takes milliseconds; this allows for a slow line. */
const TRIAL_TIMEOUT_MS = 5_000
const FIRST_RETRY_MS = 1_000
const LAST_RETRY_MS = 60_000

export interface ListenerOptions {
  target: ConnectionTarget
  settings: ConnectionSettings
  database: PostgresDatabase
  /** Number of a repository in the notification; `null`: any may have changed. */
  heard: (repository: number | null) => void
}

/** Null where notifications do not arrive. */
export async function startListener(options: ListenerOptions): Promise<Listener | null> {
  const listener = new Listener(options)
  if (await listener.start()) return listener
  await listener.stop()
  return null
}

export class Listener {
  readonly #options: ListenerOptions
  #client: Client | null = null
  #timer: NodeJS.Timeout | undefined
  #attempts = 0
  #stopped = false
  #trial: { payload: string; arrived: () => void } | null = null

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  async start(): Promise<boolean> {
    await this.#connect()
    const payload = `trial ${randomUUID()}`
    const arrival = new Promise<boolean>((resolve) => {
      this.#trial = { payload, arrived: () => resolve(true) }
    })
    await this.#options.database.query('SELECT pg_catalog.pg_notify($1::pg_catalog.text, $2::pg_catalog.text)', [
      CHANNEL,
      payload,
    ])
    return await withTimeout(TRIAL_TIMEOUT_MS, arrival, false)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    const client = this.#client
    this.#client = null
    await client?.end().catch(() => undefined)
  }

  async #connect(): Promise<void> {
    const { target, settings } = this.#options
    const client = await connectClient(target, settings)
    client.once('end', () => this.#lost(client))
    client.on('notification', (notification) => this.#received(notification))
    this.#client = client
    try {
      await client.query(`LISTEN ${CHANNEL}`)
    } catch (error) {
      this.#client = null
      await client.end().catch(() => undefined)
      throw toTeamError(error, target.server)
    }
    if (this.#stopped) await this.stop()
  }

  #received({ payload }: Notification): void {
    if (payload !== undefined && payload === this.#trial?.payload) this.#trial.arrived()
    else if (payload !== undefined && /^\d{1,10}$/.test(payload)) this.#options.heard(Number(payload))
  }

  #lost(client: Client): void {
    if (this.#stopped || this.#client !== client) return
    this.#client = null
    this.#retryLater()
  }

  #retryLater(): void {
    const longest = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#attempts)
    this.#attempts += 1
    // Random, so that the machines of a team do not all return at the same moment after the server was restarted.
    this.#timer = setTimeout(() => void this.#reconnect(), longest * (0.5 + Math.random() / 2))
    this.#timer.unref()
  }

  async #reconnect(): Promise<void> {
    try {
      await this.#connect()
      this.#attempts = 0
      // Whatever was announced meanwhile was not heard.
      if (!this.#stopped) this.#options.heard(null)
    } catch {
      if (!this.#stopped) this.#retryLater()
    }
  }
}
