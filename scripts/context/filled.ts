/** A memory of a given size, all of it one project: that of the directory in which the bench runs its hooks. */
import type { ObservationDraft, SummaryDraft } from '../../src/memory/observation.ts'
import { projectOf } from '../../src/memory/project.ts'
import { STATIC_NAME } from '../../src/search/embedders/static.ts'
import type { Store } from '../../src/store/port.ts'
import { openLocalStore } from '../../src/store/sqlite/local.ts'
import { makePlace, type Place } from '../lib/place.ts'
import type { Corpus } from '../search/corpus.ts'
import { keepSessions } from '../search/kept.ts'

const OBSERVATIONS_EACH = 20
const SESSIONS_AT_ONCE = 20
/** Between the starts of two sessions, in ms. */
const SESSION_MS = 3_600_000
/** What an observation of the recorded sessions cost to learn, about. */
const DISCOVERY_TOKENS = 1_500
/** Rows indexed in one go. */
const INDEXED_AT_ONCE = 500
const PAGE = 1_000

export async function fill(size: number, corpus: Corpus, progress: (text: string) => void): Promise<Place> {
  const place = makePlace('bench-context')
  const store = await openLocalStore({ databaseFile: place.paths.database, backupsDir: place.paths.backups })
  const project = projectOf(place.paths.dataDir)
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
  return place
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

/** A daemon that starts on it has nothing left to take in, and is measured at rest. Vectors have no part in a context. */
async function index(store: Store, size: number, progress: (text: string) => void): Promise<void> {
  for (let state = await store.indexState(); state.done < state.total; ) {
    state = await store.indexNext(INDEXED_AT_ONCE)
    progress(`${size}: ${state.done} of ${state.total} indexed`)
  }
  for (let after: number | null = 0; after !== null; ) {
    const page = await store.missingEmbeddings(STATIC_NAME, after, PAGE)
    const none = page.observations.map(({ id }) => ({
      observationId: id,
      fragment: 'narrative' as const,
      embedder: STATIC_NAME,
      vector: null,
    }))
    await store.putEmbeddings(none)
    after = page.next
  }
}
