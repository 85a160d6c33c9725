/** `coding-agent-memory/client`: the daemon's operations and its live stream for other programs, typed. See docs/client.md. */
import type { CallArguments, OperationName, OutputOf } from '../api/index.ts'
import { MemError } from '../lib/errors.ts'
import { dataDirectory, dataPaths, type Paths } from '../lib/paths.ts'
import { DaemonClient, openLocalSocket } from './client.ts'
import { LiveConnection, type LiveState } from './live-connection.ts'
import type { StreamMessage } from './messages.ts'

export type { InputOf, OperationName, OutputOf } from '../api/index.ts'
export type { DaemonStatus } from '../api/operations/daemon.ts'
export type { ChangeItem as ChangeNews, CommitItem as CommitNews, StreamItem } from '../daemon/actors/stream.ts'
export type { MemoryEvent } from '../domain/event.ts'
export type { Observation, Summary } from '../domain/observation.ts'
export { type ErrorCode, MemError } from '../lib/errors.ts'
export type { LiveState } from './live-connection.ts'
export type { StreamMessage } from './messages.ts'

export interface ConnectOptions {
  /** Default: CLAUDE_MEM_DATA_DIR, or `.claude-mem` in the home directory. */
  dataDir?: string
}

export interface FollowOptions {
  /** Resume after the item with this number; left out: from now on. */
  since?: number
  /** In the order of `seq`, none twice. */
  onItem(item: StreamMessage): void
  /** Items were missed that the daemon no longer keeps: load again what you show. Items continue after `seq`. */
  onGap?(seq: number): void
  /** `stale`: the daemon does not answer; the client reconnects until `close`. */
  onState?(state: LiveState): void
}

export interface Following {
  /** The newest item that was received; null before the first connection. Store it as the next `since`. */
  readonly seq: number | null
  readonly state: LiveState
  close(): void
}

export interface MemoryClient {
  /**
   * Rejects with a `MemError`: its `code` is `not_running` where no daemon answers. A broken connection is opened again
   * by the next request.
   */
  request<N extends OperationName>(name: N, ...args: CallArguments<N>): Promise<OutputOf<N>>
  follow(options: FollowOptions): Following
  /** Closes the connection and everything that is followed. */
  close(): void
}

/** Rejects with `not_running` where no daemon answers; it does not start one. */
export async function connect({ dataDir }: ConnectOptions = {}): Promise<MemoryClient> {
  const client = new ReconnectingClient(dataPaths(dataDir ?? dataDirectory()))
  await client.open()
  return client
}

class ReconnectingClient implements MemoryClient {
  readonly #paths: Paths
  readonly #followings = new Set<LiveConnection>()
  #connection: Promise<DaemonClient> | null = null
  #closed = false

  constructor(paths: Paths) {
    this.#paths = paths
  }

  async open(): Promise<DaemonClient> {
    this.#checkOpen()
    this.#connection ??= DaemonClient.connect(this.#paths).then(
      (client) => {
        client.onClose = () => {
          this.#connection = null
        }
        if (this.#closed) client.close()
        return client
      },
      (error: unknown) => {
        this.#connection = null
        throw error
      },
    )
    return await this.#connection
  }

  async request<N extends OperationName>(name: N, ...args: CallArguments<N>): Promise<OutputOf<N>> {
    return await (await this.open()).call(name, ...args)
  }

  follow({ since, onItem, onGap, onState }: FollowOptions): Following {
    this.#checkOpen()
    // Without `since` nothing was missed before the first load.
    let isFirst = since === undefined
    const live = new LiveConnection({
      open: () => openLocalSocket(this.#paths),
      since: since ?? null,
      onItem,
      onLoad: () => {
        if (!isFirst) onGap?.(live.seq ?? 0)
        isFirst = false
      },
      onState: (state) => {
        if (state === 'closed') this.#followings.delete(live)
        onState?.(state)
      },
    })
    this.#followings.add(live)
    live.start()
    return live
  }

  close(): void {
    this.#closed = true
    for (const live of this.#followings) live.close()
    this.#connection?.then(
      (client) => client.close(),
      () => undefined,
    )
  }

  #checkOpen(): void {
    if (this.#closed) throw new MemError('bad_request', 'this client was closed')
  }
}
