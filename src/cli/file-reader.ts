/** The database file read as it is, so that a memory can be looked at when its daemon does not start. */
import { projectViews } from '../channel/project-list.ts'
import { MemError, systemCode } from '../errors.ts'
import { NO_USAGE } from '../memory/observation.ts'
import type { Paths } from '../paths.ts'
import { loadSettings } from '../settings.ts'
import { noEvent } from '../store/find-event.ts'
import { noSession } from '../store/find-session.ts'
import { callsNamed, eventNamed, payloadsNamed, sessionNamed, storyNamed, viewNamed } from '../store/named.ts'
import type { Reader } from '../store/port.ts'
import type { PrivateCopy } from '../store/sqlite/private-copy.ts'
import { usageView } from '../store/usage-view.ts'
import type { FileMemory } from './file-memory.ts'
import { emptyMemory } from './memory.ts'
import type { MemoryReader } from './memory-reader.ts'

export async function fileReader(paths: Paths): Promise<MemoryReader> {
  try {
    return await openFile(paths)
  } catch (error) {
    if (error instanceof MemError && error.code === 'not_found') return nothingYet
    if (isReadOnly(error)) return await openCopy(paths, error)
    throw error
  }
}

async function openFile(paths: Paths): Promise<MemoryReader> {
  const [{ SqliteReader }, { openFileMemory }, { searchOptions }] = await Promise.all([
    import('../store/sqlite/reader.ts'),
    import('./file-memory.ts'),
    import('../search/options.ts'),
  ])
  const file = await SqliteReader.open(paths.database)
  try {
    const { values } = loadSettings(paths.dataDir)
    return readerOf(file, await openFileMemory(searchOptions(values, paths), file))
  } catch (error) {
    await file.close()
    throw error
  }
}

/** SQLite has to write beside a file to read it; where that is not allowed, a copy is read. */
async function openCopy(paths: Paths, why: unknown): Promise<MemoryReader> {
  const { privateCopy } = await import('../store/sqlite/private-copy.ts')
  let copy: PrivateCopy
  try {
    copy = privateCopy(paths.database)
  } catch (error) {
    // The file itself cannot be read: what SQLite said tells what to do.
    throw ['EACCES', 'EPERM'].includes(systemCode(error) ?? '') ? why : error
  }
  try {
    const reader = await openFile({ ...paths, database: copy.readable })
    return { ...reader, close: () => reader.close().finally(copy.dispose) }
  } catch (error) {
    copy.dispose()
    throw error
  }
}

function isReadOnly(error: unknown): boolean {
  const code = systemCode(error instanceof MemError ? error.cause : undefined) ?? ''
  return code.startsWith('SQLITE_READONLY') || code.startsWith('SQLITE_CANTOPEN')
}

function readerOf(file: Reader, memory: FileMemory): MemoryReader {
  return {
    daemon: null,
    memory,
    sessions: (filter) => file.sessions(filter),
    projects: () => projectViews(file),
    session: (prefix, trace) => viewNamed(file, prefix, trace),
    queue: async ({ session, ...rest }) => {
      const filter = session === undefined ? rest : { ...rest, session: await sessionNamed(file, session) }
      return { messages: await file.queue(filter), stats: await file.queueStats() }
    },
    usage: (by, days) => usageView(file, by, days, Date.now()),
    calls: (prefix, limit) => callsNamed(file, prefix, limit),
    origin: async (id) => {
      const [{ observations }, origin] = await Promise.all([memory.observations([id]), file.origin(id)])
      const [observation] = observations
      if (observation === undefined || origin === null) throw noObservation(id)
      return { observation, origin }
    },
    eventView: (prefix, within) => eventNamed(file, prefix, within),
    story: (prefix, limits) => storyNamed(file, prefix, limits),
    payloads: (prefix, after, limit) => payloadsNamed(file, prefix, after, limit),
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
  origin: async (id) => {
    throw noObservation(id)
  },
  eventView: async (prefix) => {
    throw noEvent(prefix)
  },
  payloads: async (prefix) => {
    throw noSession(prefix)
  },
  story: async (prefix) => {
    throw noSession(prefix)
  },
  close: async () => undefined,
}

function noObservation(id: number): MemError {
  return new MemError('not_found', `there is no observation #${id}; claude-mem search finds them`)
}
