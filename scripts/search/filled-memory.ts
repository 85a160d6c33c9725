/** A memory of a given size with its search index, and the time of each step: filling, vectors, index, queries. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { ObservationDraft } from '../../src/domain/observation.ts'
import type { Project } from '../../src/domain/project.ts'
import { NO_FILTERS, type SearchFilters } from '../../src/domain/search-query.ts'
import { staticEmbedder } from '../../src/search/embedders/static.ts'
import { Indexer } from '../../src/search/indexer.ts'
import { openSearchThread, type SearchCalls, searchOptions } from '../../src/search/search-thread.ts'
import { VectorStore } from '../../src/search/vectors/vector-store.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import type { Store } from '../../src/store/port.ts'
import { passageDiskBytes } from '../../src/store/sqlite/passages.ts'
import { openSearchDatabase } from '../../src/store/sqlite/search-reader.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { median, percentile, rounded } from '../lib/report.ts'
import { DIST, makeSandbox, type Sandbox, until } from '../lib/sandbox.ts'
import { type Corpus, keepSessions } from './corpus.ts'
import { PlainFts5 } from './searched-memory.ts'

/** Nine tenths of all observations are in one project: the largest index at this size, and a filter. */
const LARGE: Project = { key: 'dir:/large', name: 'large' }
const SMALL: Project = { key: 'dir:/small', name: 'small' }
const SMALL_EVERY = 10

const OBSERVATIONS_EACH = 20
const SESSIONS_AT_ONCE = 20
/** Sessions start one hour after the other, the last one an hour ago: younger than the age of passages. */
const SESSION_MS = 3_600_000
/** In recorded sessions of real work 8 to 20 passages belong to one observation, 12 on average. */
const PASSAGES_EACH = 12 * OBSERVATIONS_EACH
/** Bytes of the text of a generated passage, on average: how many of them a daemon keeps. */
const PASSAGE_TEXT_BYTES = 220
/** Longer than an index of 100,000 vectors takes on a slow machine, in ms. */
const BUILD_LIMIT_MS = 1_800_000

const settings = loadSettings('', {}).values

export interface Filled {
  sandbox: Sandbox
  sessions: number
  passages: number
  /** Time of the first session, epoch ms. */
  firstAt: number
  /** One observation of each session. */
  samples: ObservationDraft[]
  keepS: number
  vectorsS: number
}

interface Steps {
  corpus: Corpus
  /** True: each fact has its own vector. */
  apart: boolean
  progress(text: string): void
}

export async function fill(size: number, { corpus, apart, progress }: Steps): Promise<Filled> {
  const sandbox = makeSandbox('bench-search', { CLAUDE_MEM_BATCH_MAX_SIZE: '500' })
  const store = await openLocalStore({ databaseFile: sandbox.paths.database, backupsDir: sandbox.paths.backups })
  const began = performance.now()
  const samples: ObservationDraft[] = []
  const all = Math.ceil(size / OBSERVATIONS_EACH)
  const firstAt = Date.now() - all * SESSION_MS
  // Of older sessions a daemon keeps no passages.
  const firstWithPassages = all - Math.floor(keptPassages() / PASSAGES_EACH)
  const passagesOf = (n: number) => (n < firstWithPassages ? 0 : PASSAGES_EACH)
  for (let kept = 0; kept < all; kept += SESSIONS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(SESSIONS_AT_ONCE, all - kept) }, (_, i) => kept + i)
    const sessions = numbers.map((n) => ({
      id: `session-${n}`,
      project: n % SMALL_EVERY === 0 ? SMALL : LARGE,
      at: firstAt + n * SESSION_MS,
      ...corpus.sessionWithPassages(Math.min(OBSERVATIONS_EACH, size - n * OBSERVATIONS_EACH), apart, passagesOf(n)),
    }))
    await keepSessions(store, sessions)
    samples.push(...sessions.flatMap(({ observations: [first] }) => first ?? []))
    progress(`${size}: ${Math.min(size, (kept + SESSIONS_AT_ONCE) * OBSERVATIONS_EACH)} observations kept`)
  }
  const keepS = (performance.now() - began) / 1_000
  const vectorsS = await embed(sandbox, store, progress)
  await store.close()
  return { sandbox, sessions: samples.length, passages: passagesIn(sandbox), firstAt, samples, keepS, vectorsS }
}

/** As many as the settings allow. */
function keptPassages(): number {
  return (settings.CLAUDE_MEM_PASSAGE_MB * 2 ** 20) / passageDiskBytes(1, PASSAGE_TEXT_BYTES)
}

function passagesIn(sandbox: Sandbox): number {
  const db = new Database(sandbox.paths.database, { readonly: true })
  try {
    return db.prepare<[], number>('SELECT count(*) FROM passages').pluck().get() ?? 0
  } finally {
    db.close()
  }
}

/** Seconds until every observation has vectors, duplicates are linked and the index is current. */
async function embed(sandbox: Sandbox, store: Store, progress: (text: string) => void): Promise<number> {
  const began = performance.now()
  const search = await openSearch(sandbox)
  const complaints: string[] = []
  const indexer = new Indexer({
    store,
    search: async () => search,
    notice: (text) => complaints.push(text),
    now: Date.now,
  })
  const timer = setInterval(() => progress(`vectors: ${JSON.stringify(indexer.progress)}`), 1_000)
  indexer.wake()
  await indexer.whenIdle()
  clearInterval(timer)
  await search.close()
  if (complaints.length > 0) throw new Error(complaints.join('; '))
  return (performance.now() - began) / 1_000
}

export async function openSearch(sandbox: Sandbox): Promise<SearchCalls> {
  const fail = (text: string) => {
    throw new Error(text)
  }
  return await openSearchThread(
    { ...searchOptions(settings, sandbox.paths), workerFile: join(DIST, 'search-worker.js') },
    { notice: fail, log: () => undefined, exited: (error) => fail(error.message) },
  )
}

/** A semantic search loads the vectors. */
const askOnce = (search: SearchCalls) =>
  search.search({ query: 'why does the test fail', mode: 'semantic', filters: NO_FILTERS, limit: 10, offset: 0 })

/** Seconds to build the vector index from the rows; null if there are too few vectors for one. */
export async function rebuildS(sandbox: Sandbox): Promise<number | null> {
  rmSync(sandbox.paths.vectors, { recursive: true, force: true })
  const search = await openSearch(sandbox)
  try {
    const { vectors } = await search.counts(LARGE.key)
    await askOnce(search)
    if ((vectors?.fragments ?? 0) < settings.CLAUDE_MEM_VECTOR_INDEX_FROM) return null
    const began = performance.now()
    const isDone = async () => (await search.state()).method === 'hnsw'
    if (!(await until(isDone, BUILD_LIMIT_MS, 100))) throw new Error('the vector index was not built in time')
    return (performance.now() - began) / 1_000
  } finally {
    await search.close()
  }
}

/** Time from starting the search thread to the first semantic answer: reads all vectors and the index. */
export async function loadMs(sandbox: Sandbox): Promise<number> {
  const began = performance.now()
  const search = await openSearch(sandbox)
  await askOnce(search)
  const ms = performance.now() - began
  await search.close()
  return ms
}

const RECALL_TOP = 10

/** Share of the ten nearest observations (by exact search) that the index returns too. */
export async function recallAt10(sandbox: Sandbox, queries: readonly string[]): Promise<number> {
  const reader = openSearchDatabase(sandbox.paths.database)
  const embedder = await staticEmbedder()
  const common = { reader, embedder, directory: sandbox.paths.vectors, log: () => undefined }
  const hnswThreshold = settings.CLAUDE_MEM_VECTOR_INDEX_FROM
  const indexed = await VectorStore.open({ ...common, hnswThreshold })
  const exact = await VectorStore.open({ ...common, hnswThreshold, library: null })
  const filters = { ...NO_FILTERS, project: LARGE.key }
  let found = 0
  let wanted = 0
  for (const query of await embedder.embed(queries)) {
    if (query === null) continue
    const near = new Set(indexed.nearest(query, filters, RECALL_TOP).map(({ observationId }) => observationId))
    const closest = exact.nearest(query, filters, RECALL_TOP)
    wanted += closest.length
    found += closest.filter(({ observationId }) => near.has(observationId)).length
  }
  if (indexed.method !== 'hnsw') throw new Error('the vector index was not used')
  reader.close()
  return found / wanted
}

interface Row {
  id: number
  text: string
}

export function plainOf(sandbox: Sandbox): PlainFts5 {
  const db = new Database(sandbox.paths.database, { readonly: true })
  try {
    return new PlainFts5(texts(db))
  } finally {
    db.close()
  }
}

function* texts(db: Database.Database): Generator<{ id: string; text: string }> {
  const rows = db.prepare<[], Row>(
    `SELECT id, title || char(10) || narrative || char(10) || facts || char(10) || concepts || char(10) || files_modified AS text
     FROM observations ORDER BY id`,
  )
  for (const { id, text } of rows.iterate()) yield { id: String(id), text }
}

const MODES = ['strict', 'semantic', 'hybrid'] as const
const ROUNDS = 2
const TOP = 10

interface Times {
  p50_ms: number
  p99_ms: number
}

/** Key: mode and filter, such as `hybrid`, `hybrid_project`, `hybrid_filters`, or `fts5`. */
export type Answered = Map<string, Times>

/** No filter, one project, and one project with a type and the later half of the time. */
function filtersOf({ firstAt, sessions }: Filled): [name: string, filters: SearchFilters][] {
  const ofProject = { ...NO_FILTERS, project: LARGE.key }
  return [
    ['', NO_FILTERS],
    ['_project', ofProject],
    ['_filters', { ...ofProject, types: ['bugfix'], since: firstAt + (sessions * SESSION_MS) / 2 }],
  ]
}

/** Each query is sent to all modes in turn, so that other load on the machine affects all of them. */
export async function ask(
  search: SearchCalls,
  plain: PlainFts5,
  queries: readonly string[],
  filled: Filled,
): Promise<Answered> {
  const samples = new Map<string, number[]>()
  const timed = async (name: string, work: () => unknown) => {
    const began = performance.now()
    await work()
    const ms = performance.now() - began
    samples.set(name, [...(samples.get(name) ?? []), ms])
  }
  const filters = filtersOf(filled)
  const askAll = async (query: string) => {
    await timed('fts5', () => plain.search(query, TOP))
    for (const mode of MODES) {
      for (const [name, chosen] of filters) {
        await timed(`${mode}${name}`, () => search.search({ query, mode, filters: chosen, limit: TOP, offset: 0 }))
      }
    }
  }
  // The first queries load the vectors and are not measured.
  for (const query of queries.slice(0, TOP)) await askAll(query)
  samples.clear()
  for (let n = 0; n < ROUNDS; n++) for (const query of queries) await askAll(query)
  const times = (ms: readonly number[]): Times => ({
    p50_ms: rounded(median(ms), 1),
    p99_ms: rounded(percentile(ms, 0.99), 1),
  })
  return new Map([...samples].map(([name, ms]) => [name, times(ms)]))
}
