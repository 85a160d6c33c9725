/**
 * Forgets memories and erases sessions. Rows first, while the sessions concerned are held; then everything
 * that is derived from them: rendered context, sections in files, indexes.
 */
import type { FileSections } from '../context/files/file-sections.ts'
import { isOwn } from '../domain/authorship.ts'
import type { SearchFilters } from '../domain/search-query.ts'
import type { Indexer } from '../search/indexer.ts'
import type { SearchCalls } from '../search/search-thread.ts'
import type { Store } from '../store/port.ts'
import { KEEP_OTHERS } from '../store/recovery/backup.ts'
import type { ForgetResult } from '../store/search-port.ts'
import type { StreamedChange, StreamItem } from './actors/stream.ts'
import type { Supervisor } from './actors/supervisor.ts'
import type { RenderedContextCache } from './rendered-context-cache.ts'

export interface ForgetRequest {
  /** Of observations. */
  ids: readonly number[]
  /** Null where ids are given. */
  filters: SearchFilters | null
  /** Also what may say the same: prompts and summaries of the turns, linked observations. */
  related: boolean
  /** False: nothing is erased, the report says what would be. */
  confirm: boolean
}

/** A file that may still contain what was forgotten. */
export interface HeldCopy {
  file: string
  at: number
  /** `daily`, `manual`, `migration`, …; `damaged` for a database that was set aside. */
  reason: string
  /** It is deleted after so many more backups for the same reason; null: never. */
  deletedAfter: number | null
}

export interface ForgetReport
  extends Pick<
    ForgetResult,
    'dryRun' | 'observations' | 'summaries' | 'prompts' | 'messages' | 'passages' | 'ids' | 'missing' | 'related'
  > {
  copies: HeldCopy[]
  /** Other people whose observations are among them; absent: nobody. They stay on other machines. */
  others?: { author: string; observations: number }[]
}

interface ForgettingOptions {
  store: Store
  sessions: Pick<Supervisor, 'whileForgetting' | 'eraseSession'>
  search: () => Promise<Pick<SearchCalls, 'observations' | 'forget'>>
  indexer: Pick<Indexer, 'wake'>
  contextCache: Pick<RenderedContextCache, 'changed' | 'flush'>
  files?: Pick<FileSections, 'changed' | 'flush'>
  publish?: (item: StreamItem) => void
  /** Number of daily backups that are kept. */
  keepBackups: () => number
  /** The name of this machine's user in a team; null: there is none. */
  me?: () => string | null
  now?: () => number
}

/** More projects than anyone has. */
const MAX_PROJECTS = 10_000
const NOTHING_RELATED = { observations: [], summaries: [], prompts: [] }

export class Forgetting {
  readonly #options: ForgettingOptions
  readonly #now: () => number

  constructor(options: ForgettingOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  async forget({ ids, filters, related, confirm }: ForgetRequest): Promise<ForgetReport> {
    const { store, sessions } = this.#options
    const request = { ids, filters, related, at: this.#now() }
    const planned = await store.forget({ ...request, dryRun: true })
    const others = await this.#othersAmong(planned.ids)
    if (!confirm) return { ...this.#report(planned), ...others }
    const projects = await this.#projectsWith(planned.ids, filters)
    const gone = await sessions.whileForgetting(planned.inbox, () => store.forget({ ...request, dryRun: false }))
    // The machines of the sessions have dropped them before.
    const { messages, passages } = planned
    this.#publish(gone.seq, { change: 'forgotten', ids: gone.ids, summaries: gone.summaries, prompts: gone.prompts })
    await this.#updateDerivedData(gone.ids, projects)
    return { ...this.#report(gone), ...others, messages, passages }
  }

  async #othersAmong(ids: readonly number[]): Promise<Pick<ForgetReport, 'others'>> {
    const me = this.#options.me?.() ?? null
    const others = (await this.#options.store.authorsOf(ids)).filter((one) => !isOwn(one, me))
    return others.length === 0 ? {} : { others }
  }

  /** Erases a session with everything that it left behind. Null if it does not exist. No model is called. */
  async eraseSession(session: string): Promise<ForgetReport | null> {
    const { store, sessions } = this.#options
    let erased: Awaited<ReturnType<Store['eraseSession']>> = null
    await sessions.eraseSession(session, async () => {
      erased = await store.eraseSession(session, this.#now())
    })
    return erased === null ? null : await this.#afterErasing(session, erased)
  }

  async #afterErasing(
    session: string,
    erased: NonNullable<Awaited<ReturnType<Store['eraseSession']>>>,
  ): Promise<ForgetReport> {
    this.#publish(erased.seq, { change: 'erased', session })
    await this.#updateDerivedData(erased.ids, [erased.project])
    return this.#report({ ...erased, dryRun: false, missing: [], related: NOTHING_RELATED })
  }

  /** Memories were erased because a member of the team forgot them: the rows are gone, the rest follows. */
  async erasedByTeam(ids: readonly number[], projects: readonly string[]): Promise<void> {
    await this.#updateDerivedData(ids, projects)
  }

  /** The rendered context goes first: it does not need the search thread, which may fail. */
  async #updateDerivedData(ids: readonly number[], projects: readonly string[]): Promise<void> {
    const { contextCache, files, indexer, search } = this.#options
    for (const project of projects) {
      contextCache.changed(project)
      files?.changed(project)
    }
    await contextCache.flush()
    await files?.flush()
    indexer.wake()
    await (await search()).forget(ids)
  }

  #report(result: Omit<ForgetReport, 'copies'> & Pick<ForgetResult, 'copies'>): ForgetReport {
    const { dryRun, observations, summaries, prompts, messages, passages, ids, missing, related, copies } = result
    const report = { dryRun, observations, summaries, prompts, messages, passages, ids, missing, related }
    return {
      ...report,
      copies: copies.map((copy, n) => ({ ...copy, deletedAfter: this.#deletedAfter(copy, copies.slice(0, n)) })),
    }
  }

  /** Backups are rotated by number, not by date. `before`: the newer copies. */
  #deletedAfter({ reason }: ForgetResult['copies'][number], before: ForgetResult['copies']): number | null {
    if (reason === 'damaged') return null
    const keep = Math.max(1, reason === 'daily' ? this.#options.keepBackups() : KEEP_OTHERS)
    const newer = before.filter((other) => other.reason === reason).length
    return Math.max(1, keep - newer)
  }

  /** `seq` null: nothing has changed. */
  #publish(seq: number | null, change: StreamedChange): void {
    if (seq !== null) this.#options.publish?.({ type: 'change', seq, at: this.#now(), ...change })
  }

  /** Projects whose rendered context may contain the observations, or what a filter matches. */
  async #projectsWith(ids: readonly number[], filters: SearchFilters | null): Promise<string[]> {
    if (filters?.project != null) return [filters.project]
    if (filters !== null) return (await this.#options.store.projects({ limit: MAX_PROJECTS })).map(({ key }) => key)
    if (ids.length === 0) return []
    const observations = await (await this.#options.search()).observations(ids)
    return [...new Set(observations.map(({ project }) => project))]
  }
}
