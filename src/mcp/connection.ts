/**
 * The daemon as a tool call sees it: there. It is started if need be, found again after a restart, and a newer one
 * takes the place of an older. All calls share one connection.
 */
import { ChannelClient } from '../channel/client.ts'
import { MemError } from '../errors.ts'
import type { Paths } from '../paths.ts'
import { compareVersions, VERSION } from '../version.ts'

/** A question that is asked twice changes nothing; a change may have been made before the connection was lost. */
export type Manner = 'read' | 'write'

export interface ConnectionOptions {
  paths: Paths
  /** Resolves once a daemon of this version or a newer one answers. */
  start: () => Promise<void>
}

/** A change that was sent and never answered. */
export class Unsure extends MemError {
  constructor(cause: unknown) {
    const what = 'the daemon went away before it answered, so this may have been done or not'
    super('not_running', `${what}; look with search_memory before you try again`, { cause })
  }
}

export class Connection {
  readonly #options: ConnectionOptions
  #client: Promise<ChannelClient> | null = null

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  async ask<T>(question: (client: ChannelClient) => Promise<T>, manner: Manner): Promise<T> {
    const opening = this.#connected()
    const client = await opening
    try {
      return await question(client)
    } catch (error) {
      const fate = fateOf(error)
      if (fate === 'refused') throw error
      // Not closed: it is gone, or other calls still wait for their answers on it.
      this.#forget(opening)
      if (fate === 'unknown' && manner === 'write') throw new Unsure(error)
      if (fate === 'not now') await this.#options.start()
      return await question(await this.#connected())
    }
  }

  close(): void {
    this.#client?.then(
      (client) => client.close(),
      () => undefined,
    )
  }

  /** Calls that come while it is being made wait for the same one. */
  #connected(): Promise<ChannelClient> {
    if (this.#client !== null) return this.#client
    const opening = this.#open(() => this.#forget(opening))
    this.#client = opening
    opening.catch(() => this.#forget(opening))
    return opening
  }

  #forget(gone: Promise<ChannelClient>): void {
    if (this.#client === gone) this.#client = null
  }

  async #open(closed: () => void): Promise<ChannelClient> {
    const { paths, start } = this.#options
    try {
      return await connect(paths, closed)
    } catch (error) {
      if (!(error instanceof MemError && error.code === 'not_running')) throw error
    }
    await start()
    return await connect(paths, closed)
  }
}

async function connect(paths: Paths, closed: () => void): Promise<ChannelClient> {
  const client = await ChannelClient.connect(paths)
  const { version } = await client.request('hello', { type: 'hello', version: VERSION })
  if (compareVersions(version, VERSION) >= 0) {
    client.onClose = closed
    return client
  }
  client.close()
  throw new MemError('not_running', `claude-mem ${version} is running, which is older than ${VERSION}`)
}

/** What became of a question that got no answer. `not now`: the daemon stops and did nothing with it. */
function fateOf(error: unknown): 'unknown' | 'not now' | 'refused' {
  if (!(error instanceof MemError)) return 'refused'
  if (error.code === 'draining') return 'not now'
  return error.code === 'not_running' && error.retryable ? 'unknown' : 'refused'
}
