/**
 * claude-mem for other programs: everything that can be asked of a daemon, and its stream, with types. What it says on the
 * wire is in docs/protocol.md.
 */
import { ChannelClient } from '../channel/client.ts'
import { LiveChannel, type LiveState } from '../channel/live.ts'
import type { StreamMessage } from '../channel/protocol.ts'
import type { RequestBody } from '../channel/questions.ts'
import { MemError } from '../errors.ts'
import { dataDirectory, pathsOf } from '../paths.ts'
import { ANSWERS, type AnswerTo, type Fields, type RequestType } from './answers.ts'
import { openSocket } from './socket.ts'

export type { ChangeNews, CommitNews, StreamItem } from '../actors/stream.ts'
export type { LiveState } from '../channel/live.ts'
export type { Status, StreamMessage } from '../channel/protocol.ts'
export { type ErrorCode, MemError } from '../errors.ts'
export type { MemoryEvent } from '../memory/event.ts'
export type { Observation, Summary } from '../memory/observation.ts'
export type { AnswerTo, Fields, RequestType } from './answers.ts'

export interface ConnectOptions {
  /** Default: CLAUDE_MEM_DATA_DIR, or `.claude-mem` in the home directory. */
  dataDir?: string
}

export interface FollowOptions {
  /** Go on after the item with this number; left out: from now on. */
  since?: number
  /** In the order of `seq`, none twice. */
  onItem(item: StreamMessage): void
  /** Items were missed that the daemon does not remember: load again what you show. `seq`: they go on after this one. */
  onGap?(seq: number): void
  /** `live`: what is told is what is. `stale`: the daemon is away; it is tried again until `close`. */
  onState?(state: LiveState): void
}

export interface Following {
  /** The newest item that was told; null before the first connection. Kept, it is the next `since`. */
  readonly seq: number | null
  readonly state: LiveState
  close(): void
}

export interface MemoryClient {
  /**
   * Rejects with a `MemError`: its `code` says what is wrong, `not_running` where no daemon answers. A connection that broke
   * is opened again by the next request.
   */
  request<T extends RequestType>(
    type: T,
    ...fields: object extends Fields<T> ? [fields?: Fields<T>] : [fields: Fields<T>]
  ): Promise<AnswerTo<T>>
  follow(options: FollowOptions): Following
  /** Ends whatever is followed too. */
  close(): void
}

/** Rejects with `not_running` where no daemon answers; it starts none. */
export async function connect({ dataDir }: ConnectOptions = {}): Promise<MemoryClient> {
  const paths = pathsOf(dataDir ?? dataDirectory())
  const followings = new Set<LiveChannel>()
  let closed = false
  let channel: Promise<ChannelClient> | null = null
  const open = (): Promise<ChannelClient> => {
    if (closed) return Promise.reject(new MemError('bad_request', 'this client was closed'))
    channel ??= ChannelClient.connect(paths).then(
      (opened) => {
        opened.onClose = () => {
          channel = null
        }
        if (closed) opened.close()
        return opened
      },
      (error: unknown) => {
        channel = null
        throw error
      },
    )
    return channel
  }
  await open()
  return {
    request: async (type, ...[fields]) => {
      // The names and fields fit by `Fields`; the compiler does not follow a union by its key.
      const body = { type, ...fields } as unknown as RequestBody
      return await (await open()).request(ANSWERS[type], body)
    },
    follow: ({ since, onItem, onGap, onState }) => {
      if (closed) throw new MemError('bad_request', 'this client was closed')
      // Whoever begins with what comes from now on has missed nothing.
      let isFirst = since === undefined
      const live = new LiveChannel({
        open: () => openSocket(paths),
        since: since ?? null,
        onItem,
        onLoad: () => {
          if (!isFirst) onGap?.(live.seq ?? 0)
          isFirst = false
        },
        onState: (state) => onState?.(state),
      })
      followings.add(live)
      live.start()
      return {
        get seq() {
          return live.seq
        },
        get state() {
          return live.state
        },
        close: () => {
          followings.delete(live)
          live.close()
        },
      }
    },
    close: () => {
      closed = true
      for (const live of followings) live.close()
      followings.clear()
      channel?.then(
        (opened) => opened.close(),
        () => undefined,
      )
    },
  }
}
