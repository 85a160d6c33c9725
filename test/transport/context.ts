/** A daemon context over the harness of the actors: a real store, and search by words in this thread. */
import { dirname, join } from 'node:path'
import type { DaemonContext, DaemonProcess, SearchReader } from '../../src/api/context.ts'
import { EventIntake } from '../../src/daemon/event-intake.ts'
import { Forgetting } from '../../src/daemon/forgetting.ts'
import { ForgottenCopies } from '../../src/daemon/forgotten-copies.ts'
import { MemoryChanges } from '../../src/daemon/memory-changes.ts'
import { Projects } from '../../src/daemon/projects.ts'
import { RenderedContextCache } from '../../src/daemon/rendered-context-cache.ts'
import { dataPaths, type Paths } from '../../src/lib/paths.ts'
import { SearchEngine } from '../../src/search/engine.ts'
import type { IndexerProgress } from '../../src/search/indexer.ts'
import { searchOptions } from '../../src/search/search-thread.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import type { Store } from '../../src/store/port.ts'
import { CONTEXT_SETTINGS } from '../context/samples.ts'
import type { Harness } from '../daemon/actors/harness.ts'

/** Backups of these tests are kept for a week. */
const KEEP_BACKUPS = 7

export interface TestContext extends DaemonContext {
  close(): Promise<void>
}

type Overrides = Partial<Omit<DaemonContext, 'process'>> & {
  process?: Partial<DaemonProcess>
  contextCache?: RenderedContextCache
}

export function testContext(
  h: Harness,
  paths: Paths,
  { process: own, contextCache: given, ...over }: Overrides = {},
): TestContext {
  const { store, supervisor } = h
  const now = over.now ?? Date.now
  const search = wordSearch(join(h.directory, 'db.sqlite'))
  const projects = over.projects ?? new Projects({ store })
  const keyOf = (project: string) => projects.keyOf(project)
  const contextCache =
    given ??
    new RenderedContextCache({
      reader: store,
      directory: paths.context,
      settings: () => CONTEXT_SETTINGS,
      notice: () => undefined,
    })
  const indexer = testIndexer(store)
  return {
    reader: store,
    store,
    supervisor,
    search: search.open,
    now,
    team: null,
    me: () => null,
    previewContext: (project, overrides) => contextCache.preview(project, overrides),
    events: new EventIntake({
      supervisor,
      contextCache,
      recall: null,
      keyOf,
      question: (project) => projects.directories.takeQuestion(project),
    }),
    memory: new MemoryChanges({
      store,
      search: async () => ({ ...(await search.open()), reset: async () => undefined }),
      indexer,
      contextCache,
      keyOf,
      publish: (item) => supervisor.publish(item),
      now,
    }),
    forgetting: new Forgetting({
      store,
      sessions: supervisor,
      search: async () => ({ ...(await search.open()), forget: async () => undefined }),
      indexer,
      contextCache,
      publish: (item) => supervisor.publish(item),
      keepBackups: () => KEEP_BACKUPS,
      now,
    }),
    forgottenCopies: new ForgottenCopies({
      store,
      paths: { ...paths, database: join(h.directory, 'db.sqlite') },
      renderContexts: async () => {
        for (const { key } of await store.projects({})) contextCache.changed(key)
        await contextCache.flush()
      },
    }),
    projects,
    files: null,
    settings: null,
    ...over,
    process: {
      dataDir: paths.dataDir,
      socket: paths.socket,
      port: () => null,
      provider: () => ({ name: 'plain', model: null }),
      budget: () => null,
      spooled: () => 0,
      queueTrend: () => 'steady',
      queueAlert: () => null,
      keepBackups: () => 3,
      settleTimeoutMs: () => 5_000,
      limitsAgents: () => false,
      stop: () => undefined,
      ...own,
    },
    close: search.close,
  }
}

/** Opened with the first use: a test may not have written its database before. */
function wordSearch(database: string): { open: () => Promise<SearchReader>; close: () => Promise<void> } {
  let opening: Promise<SearchEngine> | null = null
  const paths = { ...dataPaths(dirname(database)), database }
  const engine = () => {
    opening ??= SearchEngine.open({
      ...searchOptions(loadSettings(paths.dataDir, {}).values, paths),
      embedder: null,
      log: () => undefined,
    })
    return opening
  }
  return {
    open: async () => {
      const opened = await engine()
      const { reader } = opened
      return {
        search: (request) => opened.search(request),
        observations: async (ids) => reader.observations(ids),
        loadMemories: async (rows) => reader.loadMemories(rows),
        around: async (...args) => reader.around(...args),
        listFiltered: async (...args) => reader.listFiltered(...args),
        evidence: async (...args) => reader.evidence(...args),
        passagesAround: async (...args) => reader.passagesAround(...args),
        counts: async (project) => reader.counts(project, null),
        state: async () => opened.state(),
      }
    },
    close: async () => (await opening)?.close(),
  }
}

/** Indexes words as the daemon's indexer does, ten rows at a time. */
function testIndexer(store: Store) {
  let progress: IndexerProgress | null = null
  const index = async () => {
    for (;;) {
      const { done, total } = await store.indexNext(10)
      if (done >= total) break
      progress = { what: 'lexical', done, total, embedder: null }
    }
    progress = null
  }
  return {
    wake: () => undefined,
    startOver: () => {
      progress = { what: 'lexical', done: 0, total: 1, embedder: null }
      void index()
    },
    get progress() {
      return progress
    },
  }
}
