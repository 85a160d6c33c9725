/** The memory as the daemon keeps it: rows in the store, questions to the search thread, the rest derived behind them. */
import { commitNews, type MemoryChange, type StreamItem } from '../actors/stream.ts'
import type { FileProjections } from '../context/files/projections.ts'
import type { ContextKeeper } from '../context/keeper.ts'
import { MemError } from '../errors.ts'
import type { ObservationDraft, Summary } from '../memory/observation.ts'
import type { Project } from '../memory/project.ts'
import type { SearchCalls } from '../search/client.ts'
import type { Indexer, IndexProgress } from '../search/indexer.ts'
import type { SearchAnswer, SearchRequest } from '../search/query.ts'
import type { Store } from '../store/port.ts'
import { correctedDraft, noteDraft, remember } from '../store/remember.ts'
import type {
  CorrectRequest,
  ForgetReport,
  ForgetRequest,
  Memory,
  MemoryStats,
  ObservationView,
  ReindexPart,
  RememberRequest,
  SummaryFilter,
  Timeline,
  TimelineRequest,
} from './memory.ts'
import { statsOf } from './memory-stats.ts'
import { timelineOf } from './timeline.ts'

export interface LiveMemoryOptions {
  store: Store
  search: () => Promise<SearchCalls>
  indexer: Indexer
  keeper: ContextKeeper
  /** What shows the memory elsewhere, and must not show what was forgotten. */
  files?: Pick<FileProjections, 'changed' | 'flush'>
  /** The key under which a project's memory is kept. */
  keyOf?: (project: string) => string
  /** Tells those who follow what has changed. */
  publish?: (item: StreamItem) => void
  /** Days for which a daily backup is kept. */
  keepBackups: () => number
  now?: () => number
}

const DAY_MS = 86_400_000
/** More than anybody has. */
const MAX_PROJECTS = 10_000

export class LiveMemory implements Memory {
  readonly #options: LiveMemoryOptions
  readonly #now: () => number

  constructor(options: LiveMemoryOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
  }

  async search(request: SearchRequest): Promise<SearchAnswer> {
    return await (await this.#options.search()).search(request)
  }

  async observations(ids: readonly number[]): Promise<{ observations: ObservationView[]; missing: number[] }> {
    const observations = await (await this.#options.search()).observations(ids)
    const there = new Set(observations.map(({ id }) => id))
    return { observations, missing: ids.filter((id) => !there.has(id)) }
  }

  async timeline(request: TimelineRequest): Promise<Timeline> {
    return await timelineOf(await this.#options.search(), request)
  }

  async summaries({ session, project, limit }: SummaryFilter): Promise<Summary[]> {
    return await this.#options.store.summaries({
      limit,
      ...(session === null ? {} : { session }),
      ...(project === null ? {} : { project }),
    })
  }

  async stats(project: string | null): Promise<MemoryStats> {
    return await statsOf(this.#options.store, await this.#options.search(), project, this.#now())
  }

  async remember({ project, cwd, ...note }: RememberRequest): Promise<{ id: number }> {
    return { id: await this.#writeDown(noteDraft(note), project, cwd) }
  }

  async correct({ observation, ...correction }: CorrectRequest): Promise<{ id: number }> {
    const { observations } = await this.observations([observation])
    const [old] = observations
    if (old === undefined) throw new MemError('not_found', `there is no observation ${observation}`)
    const id = await this.#writeDown(correctedDraft(old, correction), { key: old.project, name: old.projectName }, '')
    if (old.pinned) {
      await this.pin([id], true)
      await this.pin([old.id], false)
    }
    return { id }
  }

  async forget({ ids, filters, confirm }: ForgetRequest): Promise<ForgetReport> {
    const { store, keepBackups } = this.#options
    const projects = await this.#projectsOf(ids)
    const gone = await store.forget({ ids, filters, dryRun: !confirm, at: this.#now() })
    const { summaries, prompts } = gone
    this.#tell(gone.seq, { change: 'forgotten', ids: gone.ids, summaries, prompts })
    const oldest = Math.max(0, ...gone.backups.map(({ at }) => at))
    const report: ForgetReport = {
      dryRun: gone.dryRun,
      observations: gone.observations,
      summaries: gone.summaries,
      prompts: gone.prompts,
      ids: gone.ids,
      missing: gone.missing,
      backupsUntil: gone.backups.length === 0 ? null : oldest + keepBackups() * DAY_MS,
    }
    if (!confirm) return report
    // What a session starts with must not hold it any more: that goes first, and does not need the search.
    for (const project of filters === null ? projects : await this.#rendered(filters.project)) this.#changed(project)
    await this.#options.keeper.flush()
    await this.#options.files?.flush()
    this.#options.indexer.wake()
    await (await this.#options.search()).forget(gone.ids)
    return report
  }

  async pin(ids: readonly number[], on: boolean): Promise<{ changed: number; missing: number[] }> {
    const projects = await this.#projectsOf(ids)
    const { changed, missing, seq } = await this.#options.store.pin(ids, on, this.#now())
    const gone = new Set(missing)
    this.#tell(seq, { change: 'pinned', ids: ids.filter((id) => !gone.has(id)), on })
    for (const project of projects) this.#changed(project)
    return { changed, missing }
  }

  async link(from: number, to: number, kind: 'supersedes', on: boolean): Promise<void> {
    const { store } = this.#options
    const { observations, missing } = await this.observations([from, to])
    if (missing.length > 0) throw new MemError('not_found', `there is no observation ${missing.join(', ')}`)
    const { seq } = on
      ? await store.link({ from, to, kind, by: 'person', at: this.#now() })
      : await store.unlink(from, to, kind)
    this.#tell(seq, { change: 'linked', from, to, on })
    for (const { project } of observations) this.#changed(project)
  }

  async reindex(what: ReindexPart): Promise<void> {
    const { store, indexer } = this.#options
    if (what !== 'vectors') await store.rebuildSearch()
    if (what !== 'lexical') {
      while ((await store.dropEmbeddings(null)) > 0);
      await (await this.#options.search()).reset()
    }
    indexer.startOver()
  }

  indexing(): IndexProgress | null {
    return this.#options.indexer.progress
  }

  /** `seq` null: nothing has changed. */
  #tell(seq: number | null, change: MemoryChange): void {
    if (seq !== null) this.#options.publish?.({ type: 'change', seq, at: this.#now(), ...change })
  }

  async #writeDown(draft: ObservationDraft, project: Project, cwd: string): Promise<number> {
    const { store, publish } = this.#options
    const { id, commit, result } = await remember(store, draft, project, cwd, this.#now())
    // As the store filed it.
    const filed = { ...project, key: this.#options.keyOf?.(project.key) ?? project.key }
    const state = { ...commit.state, project: filed }
    publish?.(commitNews({ ...commit, state }, result, { pending: 0, failed: 0 }))
    this.#changed(filed.key)
    return id
  }

  #changed(project: string): void {
    this.#options.keeper.changed(project)
    this.#options.files?.changed(project)
    this.#options.indexer.wake()
  }

  /** Projects whose rendered memory may hold what a filter took. */
  async #rendered(project: string | null): Promise<string[]> {
    if (project !== null) return [project]
    return (await this.#options.store.projects({ limit: MAX_PROJECTS })).map(({ key }) => key)
  }

  async #projectsOf(ids: readonly number[]): Promise<string[]> {
    const { observations } = await this.observations(ids)
    return [...new Set(observations.map(({ project }) => project))]
  }
}
