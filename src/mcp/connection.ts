/**
 * The connection of the MCP server to the daemon. The daemon is started if needed, reconnected after a restart, and an older
 * one is replaced. All calls share one connection.
 */

import type { Call } from '../api/index.ts'
import { MemError } from '../lib/errors.ts'
import type { Paths } from '../lib/paths.ts'
import { compareVersions, VERSION } from '../lib/version.ts'
import { DaemonClient } from '../transport/client.ts'

interface ConnectionOptions {
  paths: Paths
  /** Key of the project that the agent works in. */
  project: string
  /** Resolves once a daemon of this version or a newer one answers. */
  start: () => Promise<void>
}

/** A write whose answer was lost. */
export class UnknownOutcomeError extends MemError {
  constructor(cause: unknown) {
    const what = 'the daemon went away before it answered, so this may have been done or not'
    super('not_running', `${what}; look with search_memory before you try again`, { cause })
  }
}

export class Connection {
  readonly #options: ConnectionOptions
  #client: Promise<DaemonClient> | null = null

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** `changes`: it may have been done before the connection was lost, so it is not retried then. */
  async ask<T>(question: (client: DaemonClient) => Promise<T>, changes: boolean): Promise<T> {
    const opening = this.#connected()
    const client = await opening
    try {
      return await question(client)
    } catch (error) {
      const outcome = requestOutcome(error)
      if (outcome === 'refused') throw error
      // Not closed here: it is already closed, or other calls still wait for answers on it.
      this.#discard(opening)
      if (outcome === 'unknown' && changes) throw new UnknownOutcomeError(error)
      if (outcome === 'not processed') await this.#options.start()
      return await question(await this.#connected())
    }
  }

  close(): void {
    this.#client?.then(
      (client) => client.close(),
      () => undefined,
    )
  }

  /** Concurrent calls share one connection attempt. */
  #connected(): Promise<DaemonClient> {
    if (this.#client !== null) return this.#client
    const opening = this.#open(() => this.#discard(opening))
    this.#client = opening
    opening.catch(() => this.#discard(opening))
    return opening
  }

  #discard(gone: Promise<DaemonClient>): void {
    if (this.#client === gone) this.#client = null
  }

  async #open(closed: () => void): Promise<DaemonClient> {
    const { paths, project, start } = this.#options
    try {
      return await connect(paths, project, closed)
    } catch (error) {
      if (!(error instanceof MemError && error.code === 'not_running')) throw error
    }
    await start()
    return await connect(paths, project, closed)
  }
}

async function connect(paths: Paths, agentProject: string, closed: () => void): Promise<DaemonClient> {
  const client = await DaemonClient.connect(paths, { agentProject })
  const { version } = await client.call('hello', { version: VERSION })
  if (compareVersions(version, VERSION) >= 0) {
    client.onClose = closed
    return client
  }
  client.close()
  throw new MemError('not_running', `claude-mem ${version} is running, which is older than ${VERSION}`)
}

/** What happened to a request without an answer. `not processed`: the daemon is stopping. */
function requestOutcome(error: unknown): 'unknown' | 'not processed' | 'refused' {
  if (!(error instanceof MemError)) return 'refused'
  if (error.code === 'draining') return 'not processed'
  return error.code === 'not_running' && error.retryable ? 'unknown' : 'refused'
}

/** `call` retries when an answer is lost; `callOnce` does not. */
export function callsOver(connection: Connection): { call: Call; callOnce: Call } {
  return {
    call: (name, ...args) => connection.ask((client) => client.call(name, ...args), false),
    callOnce: (name, ...args) => connection.ask((client) => client.call(name, ...args), true),
  }
}
