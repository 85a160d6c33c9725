/** A memory over a real store: words alone, straight from its file. What ranks by meaning is tested with the daemon. */
import { dirname } from 'node:path'
import type { IndexProgress, Memory } from '../../src/channel/memory.ts'
import { type FileMemory, openFileMemory } from '../../src/cli/file-memory.ts'
import { MemError } from '../../src/errors.ts'
import { pathsOf } from '../../src/paths.ts'
import { searchOptions } from '../../src/search/options.ts'
import { loadSettings } from '../../src/settings.ts'
import type { Store } from '../../src/store/port.ts'
import { correctedDraft, noteDraft, remember } from '../../src/store/remember.ts'
import { DAY_MS } from '../store/samples.ts'

/** Backups of these tests go after a week. */
const KEPT_MS = 7 * DAY_MS

export interface StoreMemory extends Memory {
  /** What was asked to be made again. */
  readonly reindexed: string[]
  close(): Promise<void>
}

export function storeMemory(store: Store, databaseFile: string): StoreMemory {
  let opened: Promise<FileMemory> | null = null
  const paths = { ...pathsOf(dirname(databaseFile)), database: databaseFile }
  const options = searchOptions(loadSettings(paths.dataDir, {}).values, paths)
  const file = () => (opened ??= openFileMemory(options, store))
  let progress: IndexProgress | null = null
  const reindexed: string[] = []
  const index = async () => {
    for (;;) {
      const { done, total } = await store.indexNext(10)
      if (done >= total) break
      progress = { what: 'lexical', done, total, embedder: null }
    }
    progress = null
  }
  return {
    reindexed,
    search: async (request) => await (await file()).search(request),
    observations: async (ids) => await (await file()).observations(ids),
    timeline: async (request) => await (await file()).timeline(request),
    summaries: async (filter) => await (await file()).summaries(filter),
    stats: async (project) => await (await file()).stats(project),
    remember: async ({ project, cwd, ...note }) => ({
      id: (await remember(store, noteDraft(note), project, cwd, Date.now())).id,
    }),
    correct: async ({ observation, ...correction }) => {
      const [old] = (await (await file()).observations([observation])).observations
      if (old === undefined) throw new MemError('not_found', `there is no observation ${observation}`)
      const project = { key: old.project, name: old.projectName }
      return { id: (await remember(store, correctedDraft(old, correction), project, '', Date.now())).id }
    },
    forget: async ({ ids, filters, confirm }) => {
      const gone = await store.forget({ ids, filters, dryRun: !confirm, at: Date.now() })
      const { dryRun, observations, summaries, prompts, missing, backups } = gone
      const last = Math.max(...backups.map(({ at }) => at))
      const backupsUntil = backups.length === 0 ? null : last + KEPT_MS
      return { dryRun, observations, summaries, prompts, ids: gone.ids, missing, backupsUntil }
    },
    pin: async (ids, on) => {
      const { changed, missing } = await store.pin(ids, on, Date.now())
      return { changed, missing }
    },
    link: async (from, to, kind, on) => {
      if (on) await store.link({ from, to, kind, by: 'person', at: Date.now() })
      else await store.unlink(from, to, kind)
    },
    reindex: async (what) => {
      reindexed.push(what)
      const { done, total } = await store.rebuildSearch()
      progress = { what: 'lexical', done, total, embedder: null }
      void index()
    },
    indexing: () => progress,
    close: async () => (await opened)?.close(),
  }
}
