/**
 * Reading operations without a daemon, over the database file: the command line uses this when no daemon is running, so
 * that a memory can be inspected even when its daemon does not start. Search goes by words only: loading vectors for a
 * single query would take longer than the query.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildContext, withMessage } from '../context/build.ts'
import { contextSettings } from '../context/options.ts'
import { MemError, systemCode } from '../lib/errors.ts'
import type { Paths } from '../lib/paths.ts'
import { SearchEngine } from '../search/engine.ts'
import { searchOptions } from '../search/search-thread.ts'
import { loadSettings } from '../settings/settings.ts'
import { type PrivateCopy, privateCopy } from '../store/sqlite/original-database.ts'
import { openStoreReader } from '../store/sqlite/reader.ts'
import { openSqliteStore } from '../store/sqlite/store.ts'
import { configuredAuthor } from '../team/team-file.ts'
import type { ReadContext, SearchReader } from './context.ts'
import { type Call, readOnlyCall } from './index.ts'

interface ReadOnlyMemory {
  call: Call
  close(): Promise<void>
}

const NO_MEMORY_YET = 'nothing is remembered yet'
const WORDS_ONLY = 'no daemon is running: searched by words only'

/** A data directory without a database reads as an empty memory. */
export async function openReadOnlyMemory(paths: Paths, env: NodeJS.ProcessEnv = process.env): Promise<ReadOnlyMemory> {
  try {
    return await openFile(paths, env, WORDS_ONLY)
  } catch (error) {
    if (error instanceof MemError && error.code === 'not_found') return await openEmpty(paths, env)
    if (isReadOnlyError(error)) return await openCopy(paths, env, error)
    throw error
  }
}

async function openFile(paths: Paths, env: NodeJS.ProcessEnv, searchNote: string): Promise<ReadOnlyMemory> {
  const reader = await openStoreReader(paths.database)
  try {
    const { values } = loadSettings(paths.dataDir, env)
    const engine = await SearchEngine.open({
      ...searchOptions(values, paths),
      embedder: null,
      log: () => undefined,
    })
    const search = wordSearch(engine, searchNote)
    const me = configuredAuthor(paths, values)
    const context: ReadContext = {
      reader,
      search: async () => search,
      now: Date.now,
      me: () => me,
      previewContext: async (project, overrides) => {
        const { pending, failed } = await reader.queueStats()
        const options = {
          ...contextSettings(values),
          ...overrides,
          now: Date.now(),
          me,
        }
        // Only a daemon knows why the model is unavailable.
        const problems = { pending, failed, reason: null, offline: false }
        return withMessage(await buildContext(reader, project, options), options, problems)
      },
    }
    return {
      call: readOnlyCall(context),
      close: async () => {
        engine.close()
        await reader.close()
      },
    }
  } catch (error) {
    await reader.close()
    throw error
  }
}

function wordSearch(engine: SearchEngine, note: string): SearchReader {
  const { reader } = engine
  return {
    search: async (request) => {
      const answer = await engine.search(request)
      const isComplete = answer.mode === 'strict' || answer.mode === 'filter'
      return { ...answer, notes: isComplete && note === WORDS_ONLY ? answer.notes : [note] }
    },
    observations: async (ids) => reader.observations(ids),
    loadMemories: async (rows) => reader.loadMemories(rows),
    evidence: async (ids, limit) => reader.evidence(ids, limit),
    passagesAround: async (id, around) => reader.passagesAround(id, around),
    around: async (...args) => reader.around(...args),
    listFiltered: async (...args) => reader.listFiltered(...args),
    counts: async (project) => reader.counts(project, null),
    state: async () => {
      const { vectors } = reader.counts(null, null)
      const embedder = vectors === null ? null : { name: vectors.embedder, dimensions: vectors.dimensions }
      return { ...engine.state(), embedder }
    },
  }
}

/** SQLite writes files beside a database to read it. Where it may not, a private copy is read. */
async function openCopy(paths: Paths, env: NodeJS.ProcessEnv, cause: unknown): Promise<ReadOnlyMemory> {
  let copy: PrivateCopy
  try {
    copy = privateCopy(paths.database, paths.temporary)
  } catch (error) {
    // The file itself cannot be read: SQLite's error says what to do.
    throw ['EACCES', 'EPERM'].includes(systemCode(error) ?? '') ? cause : error
  }
  return await disposing(openFile({ ...paths, database: copy.readable }, env, WORDS_ONLY), copy.dispose)
}

/** An empty database in a temporary directory answers like any other. */
async function openEmpty(paths: Paths, env: NodeJS.ProcessEnv): Promise<ReadOnlyMemory> {
  const directory = mkdtempSync(join(tmpdir(), 'claude-mem-empty-'))
  const dispose = () => rmSync(directory, { recursive: true, force: true })
  const database = join(directory, 'empty.db')
  const opened = openSqliteStore({ databaseFile: database, backupsDir: directory })
    .then((store) => store.close())
    .then(() => openFile({ ...paths, database }, env, NO_MEMORY_YET))
  return await disposing(opened, dispose)
}

async function disposing(opening: Promise<ReadOnlyMemory>, dispose: () => void): Promise<ReadOnlyMemory> {
  try {
    const memory = await opening
    return { ...memory, close: () => memory.close().finally(dispose) }
  } catch (error) {
    dispose()
    throw error
  }
}

function isReadOnlyError(error: unknown): boolean {
  const code = systemCode(error instanceof MemError ? error.cause : undefined) ?? ''
  return code.startsWith('SQLITE_READONLY') || code.startsWith('SQLITE_CANTOPEN')
}
