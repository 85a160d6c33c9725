/**
 * What can be read with or without a daemon. A daemon that runs is asked; else the database file is read as it is,
 * so that a memory can be looked at when its daemon does not start.
 */
import { ChannelClient } from '../channel/client.ts'
import type { ReadableMemory } from '../channel/memory.ts'
import { type ProjectView, projectViews } from '../channel/project-list.ts'
import { MemError, systemCode } from '../errors.ts'
import { NO_USAGE } from '../memory/observation.ts'
import type { Paths } from '../paths.ts'
import { loadSettings } from '../settings.ts'
import type { CallRow, UsageKey } from '../store/accounting.ts'
import { chosenSession, noSession } from '../store/find-session.ts'
import type {
  Message,
  QueueFilter,
  QueueStats,
  Reader,
  SessionFilter,
  SessionListItem,
  SessionView,
} from '../store/port.ts'
import { type UsageView, usageView } from '../store/usage-view.ts'
import type { FileMemory } from './file-memory.ts'
import { daemonMemory, emptyMemory } from './memory.ts'

export interface MemoryReader {
  /** Null when the file is read. */
  readonly daemon: ChannelClient | null
  readonly memory: ReadableMemory
  sessions(filter: SessionFilter): Promise<SessionListItem[]>
  /** The one that was last heard of first. */
  projects(): Promise<ProjectView[]>
  /** `prefix`: the first characters of an id. */
  session(prefix: string, trace: number): Promise<SessionView>
  queue(filter: QueueFilter): Promise<{ messages: Message[]; stats: QueueStats }>
  /** What models cost in the last `days` days. */
  usage(by: UsageKey, days: number): Promise<UsageView>
  /** The newest `limit` calls of a session to a model, oldest of them first. */
  calls(prefix: string, limit: number): Promise<{ session: string; calls: CallRow[] }>
  close(): Promise<void>
}

export async function withReader<T>(paths: Paths, use: (reader: MemoryReader) => Promise<T>): Promise<T> {
  const reader = await openReader(paths)
  try {
    return await use(reader)
  } finally {
    await reader.close()
  }
}

export async function openReader(paths: Paths): Promise<MemoryReader> {
  try {
    return daemonReader(await ChannelClient.connect(paths))
  } catch (error) {
    if (error instanceof MemError && error.code === 'not_running') return await fileReader(paths)
    throw error
  }
}

/** Null where nobody listens. A daemon that is there and does not answer is an error. */
export async function connectIfRunning(paths: Paths): Promise<ChannelClient | null> {
  try {
    return await ChannelClient.connect(paths)
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    if (['ENOENT', 'ENOTDIR', 'ECONNREFUSED'].includes(systemCode(cause) ?? '')) return null
    throw new MemError('not_running', `something listens on ${paths.socket} but does not answer; try again`, {
      cause: error,
      retryable: true,
    })
  }
}

export function daemonReader(client: ChannelClient): MemoryReader {
  return {
    daemon: client,
    memory: daemonMemory(client),
    sessions: async (filter) => (await client.request('sessions', { type: 'sessions', filter })).sessions,
    projects: async () => (await client.request('projects', { type: 'projects' })).projects,
    session: async (session, trace) => (await client.request('session', { type: 'session', session, trace })).view,
    queue: async (filter) => {
      const { messages, stats } = await client.request('queue', { type: 'queue', filter })
      return { messages, stats }
    },
    usage: async (by, days) => (await client.request('usage', { type: 'usage', by, days })).usage,
    calls: async (prefix, limit) => {
      const { session, calls } = await client.request('calls', { type: 'calls', session: prefix, limit })
      return { session, calls }
    },
    close: async () => client.close(),
  }
}

export async function fileReader(paths: Paths): Promise<MemoryReader> {
  const [{ SqliteReader }, { openFileMemory }, { searchOptions }] = await Promise.all([
    import('../store/sqlite/reader.ts'),
    import('./file-memory.ts'),
    import('../search/options.ts'),
  ])
  try {
    const file = await SqliteReader.open(paths.database)
    const { values } = loadSettings(paths.dataDir)
    return readerOf(file, await openFileMemory(searchOptions(values, paths), file))
  } catch (error) {
    if (error instanceof MemError && error.code === 'not_found') return nothingYet
    throw error
  }
}

function readerOf(file: Reader, memory: FileMemory): MemoryReader {
  const resolve = async (prefix: string) => chosenSession(prefix, await file.findSessions(prefix))
  return {
    daemon: null,
    memory,
    sessions: (filter) => file.sessions(filter),
    projects: () => projectViews(file),
    session: async (prefix, trace) => {
      const view = await file.view(await resolve(prefix), trace)
      if (view === null) throw noSession(prefix)
      return view
    },
    queue: async ({ session, ...rest }) => {
      const filter = session === undefined ? rest : { ...rest, session: await resolve(session) }
      return { messages: await file.queue(filter), stats: await file.queueStats() }
    },
    usage: (by, days) => usageView(file, by, days, Date.now()),
    calls: async (prefix, limit) => {
      const session = await resolve(prefix)
      return { session, calls: await file.calls({ session, limit }) }
    },
    close: async () => {
      memory.close()
      await file.close()
    },
  }
}

const noCalls = { usage: async () => [], spentSince: async () => ({ cost: 0, usage: NO_USAGE }) }

/** A data directory that no daemon ever served. */
const nothingYet: MemoryReader = {
  daemon: null,
  memory: emptyMemory,
  sessions: async () => [],
  projects: async () => [],
  session: async (prefix) => {
    throw noSession(prefix)
  },
  queue: async () => ({ messages: [], stats: { pending: 0, processing: 0, failed: 0, sessions: 0, oldestAt: null } }),
  usage: (by, days) => usageView(noCalls, by, days, Date.now()),
  calls: async (prefix) => {
    throw noSession(prefix)
  },
  close: async () => undefined,
}
