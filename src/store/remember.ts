/** A memory that somebody writes down by hand: an observation like any other, in a session of its project's own. */
import { createHash } from 'node:crypto'
import { MemError } from '../errors.ts'
import { contentHash } from '../memory/content-hash.ts'
import { estimateTokens, type Observation, type ObservationDraft, type ObservationType } from '../memory/observation.ts'
import type { Project } from '../memory/project.ts'
import { closedState } from './closed-session.ts'
import { type Commit, type CommitResult, emptyCommit } from './commit.ts'
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

/** A field that is not given stays as it was. */
export interface Correction {
  kind?: ObservationType
  title?: string
  text?: string
  facts?: readonly string[]
  concepts?: readonly string[]
}

/** What an observation should have said: the same in other words, with the same cost behind it. */
export function correctedDraft(
  { id, ...old }: Observation,
  { kind, title, text, facts, concepts }: Correction,
): ObservationDraft {
  const { subtitle, filesRead, filesModified, functionsChanged, agent, discoveryTokens, discoveryEstimated } = old
  const draft: ObservationDraft = {
    type: kind ?? old.type,
    title: title ?? old.title,
    subtitle,
    narrative: text ?? old.narrative,
    facts: [...(facts ?? old.facts)],
    concepts: [...(concepts ?? old.concepts)],
    filesRead,
    filesModified,
    functionsChanged,
    agent,
    discoveryTokens,
    discoveryEstimated,
    sources: [],
    supersedes: [id],
  }
  if (says(draft) === says(old)) throw new MemError('bad_request', `observation ${id} says that already`)
  return draft
}

function says({ type, title, narrative, facts, concepts }: ObservationDraft): string {
  return JSON.stringify([type, title, narrative, facts, concepts])
}

/** What was written down, and as what: those who follow the stream are told. */
export interface Remembered {
  id: number
  commit: Commit
  result: CommitResult & { ok: true }
}

/** `cwd`: where it was written. What it supersedes is of the same project. */
export async function remember(
  store: Pick<Store, 'session' | 'commit'>,
  draft: ObservationDraft,
  project: Project,
  cwd: string,
  at: number,
): Promise<Remembered> {
  const session = rememberedSession(project)
  for (let tries = 1; ; tries += 1) {
    const revision = ((await store.session(session))?.revision ?? 0) + 1
    const commit = rememberingCommit(session, revision, draft, project, cwd, at)
    const [result] = await store.commit([commit])
    if (result?.ok === true) {
      const [id] = result.observationIds
      if (id !== undefined) return { id, commit, result }
    }
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
  const replaced = draft.supersedes ?? []
  const reason = replaced.length === 0 ? 'written by hand' : `written by hand, in place of ${replaced.join(', ')}`
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
        links: replaced.map((to) => ({ to, kind: 'supersedes', by: 'person' })),
      },
    ],
    trace: [{ at, event: 'REMEMBER', eventId: null, from: 'closed', to: 'closed', reason, effectId: null }],
  }
}
