/** A daemon that runs is asked; else the database file is read. */
import { ChannelClient } from '../channel/client.ts'
import { MemError, systemCode } from '../errors.ts'
import type { Paths } from '../paths.ts'
import { fileReader } from './file-reader.ts'
import { daemonMemory } from './memory.ts'
import type { MemoryReader } from './memory-reader.ts'

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
    origin: async (id) => {
      const { observation, origin } = await client.request('origin', { type: 'origin', observation: id })
      return { observation, origin }
    },
    eventView: async (event, session) =>
      (await client.request('event_view', { type: 'event_view', event, session })).view,
    story: async (session, limits) => (await client.request('story', { type: 'story', session, ...limits })).story,
    payloads: async (prefix, after, limit) => {
      const { session, events } = await client.request('payloads', { type: 'payloads', session: prefix, after, limit })
      return { session, events }
    },
    close: async () => client.close(),
  }
}
