/** A memory that somebody writes down by hand: an observation like any other, in a session of its project's own. */
import { createHash } from 'node:crypto'
import { MemError } from '../errors.ts'
import { contentHash } from '../memory/content-hash.ts'
import { estimateTokens, type ObservationDraft, type ObservationType } from '../memory/observation.ts'
import type { Project } from '../memory/project.ts'
import { closedState } from './closed-session.ts'
import { type Commit, emptyCommit } from './commit.ts'
import type { Store } from './port.ts'

export interface Note {
  kind: ObservationType
  title: string | null
  text: string
  concepts: readonly string[]
  files: readonly string[]
}

/** Two people at once are two tries; more than this is not a race any more. */
const MAX_TRIES = 10

/** What somebody wrote, as an observation. */
export function noteDraft({ kind, title, text, concepts, files }: Note): ObservationDraft {
  return {
    type: kind,
    title,
    subtitle: null,
    narrative: text,
    facts: [],
    concepts: [...concepts],
    filesRead: [...files],
    filesModified: [],
    functionsChanged: [],
    agent: null,
    discoveryTokens: estimateTokens(text),
    discoveryEstimated: true,
    sources: [],
  }
}

/** Returns the observation's id. `cwd`: where it was written. */
export async function remember(
  store: Pick<Store, 'session' | 'commit'>,
  draft: ObservationDraft,
  project: Project,
  cwd: string,
  at: number,
): Promise<number> {
  const session = rememberedSession(project)
  for (let tries = 1; ; tries += 1) {
    const revision = ((await store.session(session))?.revision ?? 0) + 1
    const [result] = await store.commit([rememberingCommit(session, revision, draft, project, cwd, at)])
    const id = result?.ok === true ? result.observationIds[0] : undefined
    if (id !== undefined) return id
    const stale = result?.ok === false && result.why === 'stale'
    if (stale && tries < MAX_TRIES) continue
    const why = result?.ok === false && 'message' in result ? result.message : 'the store gave no reason'
    throw new MemError('storage', `It could not be remembered (${why}). Try again.`, { retryable: stale })
  }
}

/** One a project, closed from its first moment: no observer ever reads it. */
export function rememberedSession(project: Project): string {
  return `remember:${createHash('sha256').update(project.key).digest('hex').slice(0, 16)}`
}

function rememberingCommit(
  session: string,
  revision: number,
  draft: ObservationDraft,
  project: Project,
  cwd: string,
  at: number,
): Commit {
  return {
    ...emptyCommit(session, revision, at),
    state: closedState({ project, client: 'claude-mem', cwd, heardAt: at }),
    observations: [
      {
        draft,
        sources: draft.sources,
        promptNumber: 0,
        contentHash: contentHash(draft),
        promptVersion: null,
        model: null,
        createdAt: at,
      },
    ],
    trace: [
      { at, event: 'REMEMBER', eventId: null, from: 'closed', to: 'closed', reason: 'written by hand', effectId: null },
    ],
  }
}
