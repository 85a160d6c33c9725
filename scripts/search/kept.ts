/** Fills a store with closed sessions, many at once, through its commits: what search finds is the program's own index. */
import { contentHash } from '../../src/memory/content-hash.ts'
import type { ObservationDraft, SummaryDraft } from '../../src/memory/observation.ts'
import type { Project } from '../../src/memory/project.ts'
import { closedState } from '../../src/store/closed-session.ts'
import { type Commit, emptyCommit } from '../../src/store/commit.ts'
import type { Store } from '../../src/store/port.ts'

export interface ClosedSession {
  id: string
  project: Project
  observations: readonly ObservationDraft[]
  /** Of its one turn. */
  summary?: SummaryDraft
  /** Epoch ms of its first observation. */
  at: number
}

/** Between two observations of a session, in ms. */
const STEP_MS = 60_000

/** The sessions share one transaction. */
export async function keepSessions(store: Store, sessions: readonly ClosedSession[]): Promise<void> {
  for (const result of await store.commit(sessions.map(commitOf))) {
    if (!result.ok) throw new Error(`a session could not be kept: ${JSON.stringify(result)}`)
  }
}

function commitOf({ id, project, observations, summary, at }: ClosedSession): Commit {
  return {
    ...emptyCommit(id, 1, at),
    state: closedState({ project, client: 'claude-mem', cwd: project.name, heardAt: at }),
    observations: observations.map((draft, i) => ({
      draft,
      sources: [],
      promptNumber: 1,
      contentHash: contentHash(draft),
      promptVersion: null,
      model: null,
      createdAt: at + i * STEP_MS,
    })),
    summaries:
      summary === undefined
        ? []
        : [{ draft: summary, promptNumber: 1, model: null, createdAt: at + observations.length * STEP_MS }],
  }
}
