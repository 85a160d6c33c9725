/**
 * The rows of the memory's list. Without a text it is the whole memory, newest first, asked for in pages wherever the
 * reader is; with one it is what was found, ranked.
 *
 * 1. Pages are of one moment: what was there when the list was first asked for. Newer ones stand in front of them, or
 *    wait there while the reader is further down, so that nothing ever moves under the eyes.
 * 2. Only the newest question counts: an answer to an earlier one is thrown away, and what is shown stays until then.
 * 3. What is forgotten goes at once; an answer that was under way then may still hold it and is asked for again.
 */
import type { StreamMessage } from '../../../channel/protocol.ts'
import { messageOf } from '../../../errors.ts'
import type { AnsweredMode, SearchAnswer, SearchFilters, SearchRequest } from '../../../search/query.ts'
import { Cell } from '../../cell.ts'
import { missingPages, type Range } from '../../parts/pages.ts'
import { type Asked, filtersOf } from './asked.ts'
import { KeptRows } from './kept-rows.ts'
import { type Arrival, arrivalsOf, passes, type Row, rowKey } from './news.ts'

/** A screen is a dozen rows: a page is some screens. */
const PAGE = 60
/** Pages under way: whoever scrolls fast passes many, and waits only for those where the scrolling ends. */
const AT_ONCE = 2
/** What is found is read from the top; who wants more asks more closely. */
const HITS = 100
/** How long a row is new, in ms: as long as it glows. */
const NEW_MS = 2_600
/** The index of words follows a commit within a second; several commits are one question, in ms. */
const SEARCH_AGAIN_MS = 1_500

export interface Answered {
  asked: Asked
  mode: AnsweredMode
  notes: readonly string[]
  total: number
  tookMs: number
}

type Ask = (request: SearchRequest) => Promise<SearchAnswer>

export class MemoryRows {
  /** Grows with every change. */
  readonly version = new Cell(0)
  readonly kept = new KeptRows()
  /** The reader stands at the top: what is new may come in. */
  atTop = true
  /** What the newest answer said of itself; null before the first. */
  answered: Answered | null = null
  error: string | null = null
  loading = false
  readonly #ask: Ask
  #asked: Asked | null = null
  #filters: SearchFilters | null = null
  /** The newest moment that the pages may hold; null: the list was empty. */
  #moment: number | null = null
  /** Answers to earlier questions are thrown away. */
  #question = 0
  readonly #underWay = new Set<number>()
  #range: Range = { from: 0, to: 0 }
  readonly #new = new Set<string>()
  #again: ReturnType<typeof setTimeout> | undefined

  constructor(ask: Ask) {
    this.#ask = ask
  }

  isNew(row: Row): boolean {
    return this.#new.has(rowKey(row))
  }

  /** Another question, or the same once more. */
  async look(asked: Asked): Promise<void> {
    this.stop()
    const question = this.#question
    const filters = filtersOf(asked)
    this.#asked = asked
    this.#filters = filters
    this.loading = true
    this.#draw()
    try {
      const limit = asked.text.trim() === '' ? PAGE : HITS
      const answer = await this.#ask({ query: asked.text, mode: 'auto', filters, limit, offset: 0 })
      if (question !== this.#question) return
      this.#take(asked, answer)
    } catch (error) {
      if (question !== this.#question) return
      this.error = messageOf(error)
    }
    this.loading = false
    this.#draw()
    this.show(this.#range)
  }

  /** The same question again, as when something was missed. */
  refresh(): void {
    if (this.#asked !== null) void this.look(this.#asked)
  }

  /** These rows are on the screen: what is missing of them is asked for. */
  show(range: Range): void {
    this.#range = range
    if (this.answered?.mode !== 'filter' || this.loading) return
    for (const page of missingPages(this.kept.inPages(range), PAGE, (index) => this.kept.hasPaged(index))) {
      if (this.#underWay.size < AT_ONCE) void this.#load(page)
    }
  }

  /** What waited comes in. */
  letIn(): void {
    const rows = this.kept.waited()
    if (rows === null) this.refresh()
    else this.#add(rows)
  }

  hear(items: readonly StreamMessage[]): void {
    if (this.answered === null) return
    for (const item of items) {
      if (item.type === 'commit') this.#hearCommit(arrivalsOf(item))
      else this.#hearChange(item)
    }
    this.show(this.#range)
  }

  /** Nothing that is under way counts any more. */
  stop(): void {
    clearTimeout(this.#again)
    this.#again = undefined
    this.#question += 1
    this.#underWay.clear()
  }

  #take(asked: Asked, { mode, notes, total, tookMs, hits }: SearchAnswer): void {
    this.answered = { asked, mode, notes, total, tookMs }
    this.error = null
    this.#moment = hits[0]?.createdAt ?? null
    this.kept.startOver(hits, mode === 'filter' ? total : hits.length)
  }

  async #load(page: number): Promise<void> {
    const filters = this.#filters
    if (filters === null || this.#underWay.has(page)) return
    this.#underWay.add(page)
    const question = this.#question
    const until = Math.min(filters.until ?? Number.POSITIVE_INFINITY, this.#moment ?? Number.POSITIVE_INFINITY)
    const asOf = { ...filters, until: Number.isFinite(until) ? until : null }
    const offset = page * PAGE
    try {
      const { hits, total } = await this.#ask({ query: '', mode: 'auto', filters: asOf, limit: PAGE, offset })
      if (question !== this.#question) return
      this.kept.addPage(offset, hits, total, this.#range)
      this.error = hits.length === 0 && offset < total ? 'the daemon has fewer rows than it counted' : null
    } catch (error) {
      if (question !== this.#question) return
      this.error = messageOf(error)
    }
    this.#underWay.delete(page)
    this.#draw()
    if (this.error === null) this.show(this.#range)
  }

  #hearCommit(arrivals: readonly Arrival[]): void {
    if (arrivals.length === 0) return
    for (const { row, replaces } of arrivals) {
      if (replaces.length > 0) this.kept.change(replaces, (old) => ({ ...old, supersededBy: row.id }))
    }
    const filters = this.#filters
    const rows = arrivals.filter((one) => filters !== null && passes(one, filters)).map(({ row }) => row)
    const fresh = rows.filter((row) => !this.kept.knows(row))
    const moment = this.#moment
    // What was reported late stands somewhere further down.
    const isLate = moment !== null && fresh.some(({ createdAt }) => createdAt < moment)
    if (this.answered?.mode !== 'filter' || isLate) {
      this.#refreshSoon()
    } else if (this.atTop) {
      this.#add(fresh)
    } else {
      this.kept.wait(fresh)
      this.#draw()
    }
  }

  #add(rows: readonly Row[]): void {
    const [newest] = rows
    if (newest === undefined) return
    if (this.kept.add(rows)) this.#moment = newest.createdAt
    this.#glow(rows)
    this.#draw()
  }

  #hearChange(item: Extract<StreamMessage, { type: 'change' }>): void {
    switch (item.change) {
      case 'forgotten':
        this.#forget(new Set(item.ids.map((id) => rowKey({ kind: 'observation', id }))))
        // Which summaries and prompts went is not told.
        if (item.summaries + item.prompts > 0) this.refresh()
        break
      case 'pinned':
        this.kept.change(item.ids, (row) => ({ ...row, pinned: item.on }))
        if (this.#filters?.pinned === true) this.refresh()
        break
      case 'linked':
        this.kept.change([item.to], (row) => ({ ...row, supersededBy: item.on ? item.from : null }))
        break
      case 'imported':
      case 'projects':
      case 'erased':
        this.refresh()
        break
      case 'quarantined':
        break
    }
    this.#draw()
  }

  #forget(keys: ReadonlySet<string>): void {
    const known = this.kept.remove(keys)
    if (this.answered !== null) this.answered = { ...this.answered, total: Math.max(0, this.answered.total - known) }
    // One stands where nothing is loaded, or in an answer that is under way.
    if (known < keys.size || this.#underWay.size > 0 || this.loading) this.refresh()
  }

  #glow(rows: readonly Row[]): void {
    const keys = rows.map(rowKey)
    for (const key of keys) this.#new.add(key)
    setTimeout(() => {
      for (const key of keys) this.#new.delete(key)
    }, NEW_MS)
  }

  #refreshSoon(): void {
    this.#again ??= setTimeout(() => this.refresh(), SEARCH_AGAIN_MS)
  }

  #draw(): void {
    this.version.set(this.version.value + 1)
  }
}
