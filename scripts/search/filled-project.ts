/** A memory of a given size in one project: that of its data directory, where the benchmarks run their hooks. */
import type { ObservationDraft, SummaryDraft } from '../../src/domain/observation.ts'
import { type Project, projectOfDirectory } from '../../src/domain/project.ts'
import { STATIC_EMBEDDER_NAME } from '../../src/search/embedders/static.ts'
import type { Store } from '../../src/store/port.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { makeSandbox, type Sandbox } from '../lib/sandbox.ts'
import { type Corpus, keepSessions } from './corpus.ts'

const OBSERVATIONS_EACH = 20
const SESSIONS_AT_ONCE = 20
/** Time between the starts of two sessions, in ms. */
const SESSION_MS = 3_600_000
/** Typical cost of an observation of the recorded sessions, in tokens. */
const DISCOVERY_TOKENS = 1_500
/** Rows that are indexed at once. */
const INDEXED_AT_ONCE = 500
const PAGE = 1_000

export interface FilledPlace {
  sandbox?: Sandbox
  project?: Project
}

/** `sandbox` and `project`: a new one, and that of its directory. */
export async function fillProject(
  size: number,
  corpus: Corpus,
  progress: (text: string) => void,
  { sandbox = makeSandbox('bench-context'), project = projectOfDirectory(sandbox.paths.dataDir) }: FilledPlace = {},
): Promise<Sandbox> {
  const store = await openLocalStore({ databaseFile: sandbox.paths.database, backupsDir: sandbox.paths.backups })
  const sessions = Math.ceil(size / OBSERVATIONS_EACH)
  const firstAt = Date.now() - sessions * SESSION_MS
  for (let kept = 0; kept < sessions; kept += SESSIONS_AT_ONCE) {
    progress(`${size}: ${kept * OBSERVATIONS_EACH} observations kept`)
    const ids = Array.from({ length: Math.min(SESSIONS_AT_ONCE, sessions - kept) }, (_, i) => kept + i)
    await keepSessions(
      store,
      ids.map((n) => {
        const drafts = corpus.session(Math.min(OBSERVATIONS_EACH, size - n * OBSERVATIONS_EACH), true)
        const observations = drafts.map((draft) => ({ ...draft, discoveryTokens: DISCOVERY_TOKENS }))
        return { id: `session-${n}`, project, observations, summary: summaryOf(drafts), at: firstAt + n * SESSION_MS }
      }),
    )
  }
  await index(store, size, progress)
  await store.close()
  return sandbox
}

function summaryOf(drafts: readonly ObservationDraft[]): SummaryDraft {
  const sentence = (n: number) => drafts[n]?.narrative?.slice(0, 200) ?? null
  return {
    request: drafts[0]?.title ?? null,
    investigated: null,
    learned: sentence(1),
    completed: sentence(2),
    nextSteps: sentence(3),
    notes: null,
    filesRead: [],
    filesEdited: [],
  }
}

/** So that the measured daemon has nothing left to index. A context needs no vectors. */
async function index(store: Store, size: number, progress: (text: string) => void): Promise<void> {
  for (let state = await store.indexState(); state.done < state.total; ) {
    state = await store.indexNext(INDEXED_AT_ONCE)
    progress(`${size}: ${state.done} of ${state.total} indexed`)
  }
  for (let after: number | null = 0; after !== null; ) {
    const page = await store.missingEmbeddings(STATIC_EMBEDDER_NAME, after, PAGE)
    const none = page.observations.map(({ id }) => ({
      observationId: id,
      fragment: 'narrative' as const,
      embedder: STATIC_EMBEDDER_NAME,
      vector: null,
    }))
    await store.putEmbeddings(none)
    after = page.next
  }
}
