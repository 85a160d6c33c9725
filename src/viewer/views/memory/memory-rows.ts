/**
 * The rows of the memory list.
 *
 * 1. Without a search text the list contains all memories that match the filters, newest first. It is loaded in pages
 *    around the visible rows. The pages are a snapshot up to the newest memory of the first page, so that rows do not
 *    move while the reader scrolls.
 * 2. With a search text it contains the best hits, loaded at once.
 * 3. Stream messages never change rows directly: they cause a refresh, which is throttled. At the top of the list the
 *    refresh takes a new snapshot. Further down it reloads the visible pages of the same snapshot, and newer memories
 *    are only counted.
 * 4. An answer to an outdated request is dropped. Until the newest answer arrives the old rows stay.
 */
import type { AnsweredMode, HitKind, SearchAnswer, SearchHit, SearchRequest } from '../../../domain/search-query.ts'
import { errorMessage } from '../../../lib/errors.ts'
import type { StreamMessage } from '../../../transport/messages.ts'
import type { RowRange } from '../../components/virtual-list.tsx'
import { Observable } from '../../observable.ts'
import { isMemoryChange } from '../../queries.ts'
import type { MemoryQuery } from './memory-query.ts'

/** Rows per page: several screens. */
const PAGE_ROWS = 60
/** Page requests at the same time: fast scrolling passes many pages and needs only the last ones. */
const MAX_PAGE_REQUESTS = 2
/** Pages kept in memory; those far from the visible rows are dropped. */
const MAX_PAGES = 50
const MAX_HITS = 100
/** How long a new row is highlighted, in ms. */
const HIGHLIGHT_MS = 2_600
/** Changes within this time cause one refresh, in ms. */
const REFRESH_MS = 250
/** The same for a search text: the search index is updated up to a second after the commit. */
const REFRESH_SEARCH_MS = 1_500

export interface AnsweredQuery {
  query: MemoryQuery
  mode: AnsweredMode
  notes: readonly string[]
  total: number
  tookMs: number
}

export function memoryKey({ kind, id }: { kind: HitKind; id: number }): string {
  return `${kind}:${id}`
}

/** Identifies a memory or a passage in the address: `12`, `summary.4.SESSION`, `prompt.2.SESSION`, `p12`. */
export function memoryAddressId(memory: Pick<SearchHit, 'kind' | 'id' | 'session' | 'promptNumber'>): string {
  const { kind, id, session, promptNumber } = memory
  if (kind === 'observation') return `${id}`
  if (kind === 'passage') return `p${id}`
  return kind === 'summary' ? `summary.${id}.${session}` : `prompt.${promptNumber}.${session}`
}

export class MemoryRows {
  /** Increases with every change of the other fields. */
  readonly version = new Observable(0)
  /** Number of rows, loaded or not. */
  count = 0
  /** Memories that are newer than the snapshot. */
  waiting = 0
  /** The newest answer; null before the first. */
  answered: AnsweredQuery | null = null
  error: string | null = null
  /** A search that the user started is in progress. */
  loading = false
  readonly #search: (request: SearchRequest) => Promise<SearchAnswer>
  #query: MemoryQuery | null = null
  #pages = new Map<number, readonly SearchHit[]>()
  #atTop = true
  /** Time of the newest memory of the snapshot; null: the list was empty. */
  #until: number | null = null
  /** Answers to requests of an earlier generation are dropped. */
  #generation = 0
  #refreshing = false
  readonly #requestedPages = new Set<number>()
  #visible: RowRange = { from: 0, to: 0 }
  readonly #highlighted = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(search: (request: SearchRequest) => Promise<SearchAnswer>) {
    this.#search = search
  }

  /** Undefined: not loaded. */
  at(index: number): SearchHit | undefined {
    return this.#pages.get(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS]
  }

  /** -1: not loaded. */
  indexOf(key: string): number {
    for (const [page, rows] of this.#pages) {
      const index = rows.findIndex((row) => memoryKey(row) === key)
      if (index !== -1) return page * PAGE_ROWS + index
    }
    return -1
  }

  isNew(row: SearchHit): boolean {
    return this.#highlighted.has(memoryKey(row))
  }

  get isRanked(): boolean {
    return this.answered !== null && this.answered.mode !== 'filter'
  }

  /** Starts a search; the old rows stay until it is answered. */
  async search(query: MemoryQuery): Promise<void> {
    // Another query scrolls the list to the top; a reconnect does not.
    if (query !== this.#query) this.#atTop = true
    this.#query = query
    this.loading = true
    this.#notify()
    await this.#loadSnapshot(query)
  }

  /** Loads the rows again, for example after an error. */
  async refresh(): Promise<void> {
    if (this.#query === null) return
    this.#refreshing = true
    if (this.#atTop || this.isRanked || this.answered === null) await this.#loadSnapshot(this.#query)
    else await this.#reloadVisible(this.#query)
    this.#refreshing = false
  }

  /** Loads the missing rows of the visible range. */
  show(range: RowRange): void {
    this.#visible = range
    if (this.#query === null || this.answered?.mode !== 'filter' || this.loading) return
    for (const page of this.#visiblePages()) {
      const isMissing = !this.#pages.has(page) && !this.#requestedPages.has(page)
      if (isMissing && this.#requestedPages.size < MAX_PAGE_REQUESTS) void this.#loadPage(this.#query, page)
    }
  }

  /** At the top new memories are shown immediately. */
  setAtTop(atTop: boolean): void {
    const hasWaiting = atTop && !this.#atTop && this.waiting > 0
    this.#atTop = atTop
    if (hasWaiting) void this.refresh()
  }

  onStreamMessages(messages: readonly StreamMessage[]): void {
    if (this.answered === null || !messages.some(isMemoryChange)) return
    const isChange = messages.some(({ type }) => type === 'change')
    // Forgotten memories must disappear soon, also from hits.
    if (isChange) this.#cancelRefresh()
    this.#refreshAfter(this.isRanked && !isChange ? REFRESH_SEARCH_MS : REFRESH_MS)
  }

  stop(): void {
    this.#cancelRefresh()
    this.#startGeneration()
  }

  #refreshAfter(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      // Starting over would drop the answer in progress: under constant changes no answer would ever be shown.
      if (this.loading || this.#refreshing) this.#refreshAfter(ms)
      else void this.refresh()
    }, ms)
  }

  #cancelRefresh(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #startGeneration(): number {
    this.#requestedPages.clear()
    this.#generation += 1
    return this.#generation
  }

  async #loadSnapshot(query: MemoryQuery): Promise<void> {
    const limit = query.text.trim() === '' ? PAGE_ROWS : MAX_HITS
    const request = { query: query.text, mode: 'auto', filters: query.filters, limit, offset: 0 } as const
    await this.#request(
      () => this.#search(request),
      (answer) => {
        const isSameQuery = this.answered?.query === query
        const known = new Set([...this.#pages.values()].flat().map(memoryKey))
        const { hits, mode, notes, total, tookMs } = answer
        if (isSameQuery && mode === 'filter') this.#highlight(hits.filter((row) => this.#isNewer(row, known)))
        this.answered = { query, mode, notes, total, tookMs }
        this.count = mode === 'filter' ? total : hits.length
        this.waiting = 0
        this.#until = hits[0]?.createdAt ?? null
        this.#pages = new Map([[0, hits.slice(0, PAGE_ROWS)]])
        if (hits.length > PAGE_ROWS) this.#pages.set(1, hits.slice(PAGE_ROWS))
      },
    )
  }

  /** All pages are replaced together: rows of different answers may overlap. */
  async #reloadVisible(query: MemoryQuery): Promise<void> {
    const pages = this.#visiblePages()
    const newest = { query: '', mode: 'auto', filters: query.filters, limit: 1, offset: 0 } as const
    const requests = [this.#search(newest), ...pages.map((page) => this.#searchPage(query, page))]
    await this.#request(
      () => Promise.all(requests),
      ([all, ...answers]) => {
        this.#pages = new Map(pages.map((page, i) => [page, answers[i]?.hits ?? []]))
        this.count = answers[0]?.total ?? this.count
        this.waiting = Math.max(0, (all?.total ?? 0) - this.count)
      },
    )
  }

  async #loadPage(query: MemoryQuery, page: number): Promise<void> {
    this.#requestedPages.add(page)
    const generation = this.#generation
    try {
      const { hits, total } = await this.#searchPage(query, page)
      if (generation !== this.#generation) return
      this.#pages.set(page, hits)
      this.count = total
      this.#dropFarPages()
      this.error = null
    } catch (error) {
      if (generation !== this.#generation) return
      this.error = errorMessage(error)
    }
    this.#requestedPages.delete(page)
    this.#notify()
    if (this.error === null) this.show(this.#visible)
  }

  #searchPage(query: MemoryQuery, page: number): Promise<SearchAnswer> {
    const { filters } = query
    const limits = [filters.until, this.#until].filter((time) => time !== null)
    const until = limits.length === 0 ? null : Math.min(...limits)
    const offset = page * PAGE_ROWS
    return this.#search({ query: '', mode: 'auto', filters: { ...filters, until }, limit: PAGE_ROWS, offset })
  }

  /** Runs a request that makes all earlier ones outdated. */
  async #request<T>(send: () => Promise<T>, take: (answer: T) => void): Promise<void> {
    const generation = this.#startGeneration()
    try {
      const answer = await send()
      if (generation !== this.#generation) return
      take(answer)
      this.error = null
    } catch (error) {
      if (generation !== this.#generation) return
      this.error = errorMessage(error)
    }
    this.loading = false
    this.#notify()
    this.show(this.#visible)
  }

  #visiblePages(): number[] {
    const to = Math.min(this.#visible.to, this.count)
    const first = Math.floor(Math.min(this.#visible.from, to) / PAGE_ROWS)
    const last = Math.floor(Math.max(0, to - 1) / PAGE_ROWS)
    return Array.from({ length: last - first + 1 }, (_, i) => first + i)
  }

  #dropFarPages(): void {
    const centre = (this.#visible.from + this.#visible.to) / 2 / PAGE_ROWS
    const byDistance = [...this.#pages.keys()].sort((a, b) => Math.abs(a - centre) - Math.abs(b - centre))
    for (const page of byDistance.slice(MAX_PAGES)) this.#pages.delete(page)
  }

  #isNewer(row: SearchHit, known: ReadonlySet<string>): boolean {
    return !known.has(memoryKey(row)) && (this.#until === null || row.createdAt >= this.#until)
  }

  #highlight(rows: readonly SearchHit[]): void {
    const keys = rows.map(memoryKey)
    for (const key of keys) this.#highlighted.add(key)
    setTimeout(() => {
      for (const key of keys) this.#highlighted.delete(key)
    }, HIGHLIGHT_MS)
  }

  #notify(): void {
    this.version.set(this.version.value + 1)
  }
}
