/**
 * A memory to search, made as a daemon makes it: real commits to a real database, the indexer, the search thread with the
 * default settings. Beside it plain FTS5 as a baseline, and the scores of a list of results.
 */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { ObservationDraft, SummaryDraft } from '../../src/domain/observation.ts'
import type { Project } from '../../src/domain/project.ts'
import { NO_FILTERS, type SearchFilters, type SearchHit } from '../../src/domain/search-query.ts'
import type { Paths } from '../../src/lib/paths.ts'
import { STOP_WORDS } from '../../src/lib/words.ts'
import { Indexer } from '../../src/search/indexer.ts'
import { openSearchThread, type SearchCalls, searchOptions } from '../../src/search/search-thread.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import {
  type Commit,
  closedSessionState,
  contentHash,
  emptyCommit,
  type NewObservation,
  type NewSummary,
} from '../../src/store/commit.ts'
import type { Store } from '../../src/store/port.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { DIST, makeSandbox, type Sandbox } from '../lib/sandbox.ts'

export interface Score {
  /** Share of the right answers among the first ten results. */
  recall: number
  /** The same weighted by rank: 1 if all right answers come first. */
  ndcg: number
}

export const TOP = 10

export function scoreOf(found: readonly string[], right: readonly string[]): Score {
  const wanted = new Set(right)
  const gains = found.slice(0, TOP).map((id, sandbox) => (wanted.has(id) ? gainAt(sandbox) : 0))
  const best = Array.from({ length: Math.min(TOP, wanted.size) }, (_, sandbox) => gainAt(sandbox))
  return { recall: gains.filter((gain) => gain > 0).length / wanted.size, ndcg: sum(gains) / sum(best) }
}

export function meanOf(scores: readonly Score[]): Score {
  const n = Math.max(1, scores.length)
  return { recall: sum(scores.map(({ recall }) => recall)) / n, ndcg: sum(scores.map(({ ndcg }) => ndcg)) / n }
}

function gainAt(sandbox: number): number {
  return 1 / Math.log2(sandbox + 2)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** The baseline: one FTS5 table, porter stemming, the words of the query without stop words joined by OR. */
export class PlainFts5 {
  readonly #db = new Database(':memory:')
  readonly #ids: string[] = []

  constructor(texts: Iterable<{ id: string; text: string }>) {
    this.#db.exec(`CREATE VIRTUAL TABLE memory USING fts5 (text, tokenize = 'porter unicode61')`)
    const insert = this.#db.prepare('INSERT INTO memory (rowid, text) VALUES (?, ?)')
    for (const { id, text } of texts) insert.run(this.#ids.push(id), text)
  }

  search(query: string, limit: number): string[] {
    const match = matchOf(query)
    if (match === '') return []
    const rows = this.#db
      .prepare<[string, number], number>('SELECT rowid FROM memory WHERE memory MATCH ? ORDER BY rank LIMIT ?')
      .pluck()
      .all(match, limit)
    return rows.flatMap((row) => this.#ids[row - 1] ?? [])
  }

  close(): void {
    this.#db.close()
  }
}

function matchOf(query: string): string {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])]
  const telling = words.filter((word) => !STOP_WORDS.has(word))
  return (telling.length > 0 ? telling : words).map((word) => `"${word}"`).join(' OR ')
}

interface Dated<T> {
  draft: T
  promptNumber: number
  at: number
}

interface KeptSession {
  id: string
  project: Project
  observations: Dated<ObservationDraft>[]
  summaries: Dated<SummaryDraft>[]
}

interface KeptIds {
  observations: number[]
  summaries: number[]
}

/** The search of a daemon over a store: the search thread with the default settings, and the indexer. */
export class IndexedSearch {
  readonly calls: SearchCalls
  readonly #store: Store
  readonly #notices: string[]

  private constructor(calls: SearchCalls, store: Store, notices: string[]) {
    this.calls = calls
    this.#store = store
    this.#notices = notices
  }

  static async open(store: Store, paths: Paths): Promise<IndexedSearch> {
    const notices: string[] = []
    const notice = (text: string) => notices.push(text)
    const { values } = loadSettings('', {})
    const calls = await openSearchThread(
      { ...searchOptions(values, paths), workerFile: join(DIST, 'search-worker.js') },
      { notice, log: () => undefined, exited: (error) => notice(error.message) },
    )
    return new IndexedSearch(calls, store, notices)
  }

  /** Waits until everything is indexed and has vectors; any notice of the search is an error. */
  async index(): Promise<void> {
    const notice = (text: string) => this.#notices.push(text)
    const indexer = new Indexer({ store: this.#store, search: async () => this.calls, notice, now: Date.now })
    indexer.wake()
    await indexer.whenIdle()
    if (this.#notices.length > 0) throw new Error(this.#notices.join('; '))
  }

  async close(): Promise<void> {
    await this.calls.close()
  }
}

export class SearchedMemory {
  readonly #sandbox: Sandbox
  readonly #store: Store
  readonly #search: IndexedSearch

  private constructor(sandbox: Sandbox, store: Store, search: IndexedSearch) {
    this.#sandbox = sandbox
    this.#store = store
    this.#search = search
  }

  static async open(name: string): Promise<SearchedMemory> {
    const sandbox = makeSandbox(name)
    const store = await openLocalStore({ databaseFile: sandbox.paths.database, backupsDir: sandbox.paths.backups })
    return new SearchedMemory(sandbox, store, await IndexedSearch.open(store, sandbox.paths))
  }

  /** One commit per observation, as observers answer one after the other. */
  async keep(session: KeptSession): Promise<KeptIds> {
    const kept: KeptIds = { observations: [], summaries: [] }
    const parts = [
      ...session.observations.map((one) => ({ at: one.at, observations: [newObservation(one)], summaries: [] })),
      ...session.summaries.map((one) => ({ at: one.at, observations: [], summaries: [newSummary(one)] })),
    ]
    for (const [i, part] of parts.entries()) {
      const [result] = await this.#store.commit([commitOf(session, i + 1, part)])
      if (result?.ok !== true) throw new Error(`${session.id} could not be committed: ${JSON.stringify(result)}`)
      kept.observations.push(...result.observationIds)
      kept.summaries.push(...result.summaryIds)
    }
    return kept
  }

  async index(): Promise<void> {
    await this.#search.index()
  }

  async ask(query: string, filters: Partial<SearchFilters>, limit: number): Promise<SearchHit[]> {
    const { hits } = await this.#search.calls.search({
      query,
      mode: 'auto',
      filters: { ...NO_FILTERS, ...filters },
      limit,
      offset: 0,
    })
    return hits
  }

  async close(): Promise<void> {
    await this.#search.close()
    await this.#store.close()
    this.#sandbox.remove()
  }
}

function newObservation({ draft, promptNumber, at }: Dated<ObservationDraft>): NewObservation {
  return {
    ...draft,
    sources: [],
    promptNumber,
    contentHash: contentHash(draft),
    promptVersion: null,
    model: null,
    createdAt: at,
  }
}

function newSummary({ draft, promptNumber, at }: Dated<SummaryDraft>): NewSummary {
  return { ...draft, promptNumber, model: null, createdAt: at }
}

type Part = Pick<Commit, 'at' | 'observations' | 'summaries'>

function commitOf({ id, project }: KeptSession, revision: number, part: Part): Commit {
  return {
    ...emptyCommit(id, revision, part.at),
    ...part,
    state: closedSessionState({ project, client: 'claude-mem', cwd: project.name, heardAt: part.at }),
  }
}
