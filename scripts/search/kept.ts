/** Fills a store with closed sessions, many at once, through its commits: what search finds is the program's own index. */
import { newContext } from '../../machines/session/context.ts'
import { SESSION_MACHINE_VERSION } from '../../machines/session/machine.ts'
import { stateName, writeSnapshot } from '../../machines/session/snapshot.ts'
import { contentHash } from '../../src/memory/content-hash.ts'
import { NO_USAGE, type ObservationDraft } from '../../src/memory/observation.ts'
import type { Project } from '../../src/memory/project.ts'
import type { Commit } from '../../src/store/commit.ts'
import type { Store } from '../../src/store/port.ts'

export interface ClosedSession {
  id: string
  project: Project
  observations: readonly ObservationDraft[]
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

function commitOf({ id, project, observations, at }: ClosedSession): Commit {
  const context = { ...newContext(at), ended: true, outcome: 'completed' as const }
  return {
    session: id,
    revision: 1,
    at,
    state: {
      project,
      client: 'claude-mem',
      cwd: project.name,
      transcriptPath: null,
      status: 'completed',
      state: stateName('closed'),
      snapshot: writeSnapshot('closed', context),
      machineVersion: SESSION_MACHINE_VERSION,
      wakeAt: null,
      effect: null,
      waiting: null,
      prompts: context.prompt,
      generation: context.generation,
      contextTokens: 0,
      usage: NO_USAGE,
    },
    events: [],
    prompts: [],
    inbox: [],
    observations: observations.map((draft, i) => ({
      draft,
      sources: [],
      promptNumber: 1,
      contentHash: contentHash(draft),
      promptVersion: null,
      model: null,
      createdAt: at + i * STEP_MS,
    })),
    summaries: [],
    turns: [],
    calls: [],
    seen: [],
    trace: [],
  }
}
