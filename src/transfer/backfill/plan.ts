/** Which past sessions a backfill sends, in which order, why the others are skipped, and what it would cost. */

import type { TranscriptEnd, TranscriptImportState } from '../../domain/event.ts'
import { isExcluded, type Project } from '../../domain/project.ts'
import type { TranscriptProblem } from '../transcripts/reader.ts'
import type { SubagentThread, SurveyedSession, TranscriptSurvey } from './survey.ts'

export const SKIP_REASONS = {
  hooks: 'reported by hooks',
  read: 'imported before',
  forgotten: 'forgotten, not read again (--forgotten reads them)',
  open: 'still being written',
  excluded: 'in an excluded project',
  own: 'sessions of the observer itself',
  copied: 'part of a session that was resumed from it',
  empty: 'without prompts and tool uses',
} as const
export type SkipReason = keyof typeof SKIP_REASONS

export interface PlannedSession extends SurveyedSession {
  /** The user erased it: its tombstone is removed before it is sent. */
  forgotten: boolean
  /** Partly imported: an earlier run was interrupted, or the session was continued since. */
  begun: boolean
}

export interface SkippedSession {
  session: string
  file: string
  reason: SkipReason
}

export interface BackfillPlan {
  /** Newest first. */
  sessions: PlannedSession[]
  skipped: SkippedSession[]
  /** Files that are not read: the session that started the subagent has its task and result. */
  threads: SubagentThread[]
  problems: TranscriptProblem[]
  badLines: number
}

/** `merged`: keys of directories that belong to it. */
type ProjectWithPlaces = Project & { merged: readonly string[] }

export interface BackfillPlanOptions {
  now: number
  dataDir: string
  /** A key or a name; null: all. */
  project: string | null
  /** Projects of the memory. */
  projects?: readonly ProjectWithPlaces[]
  /** Read sessions that the user erased. */
  forgotten: boolean
  reported(sessions: readonly TranscriptEnd[]): Promise<readonly TranscriptImportState[]>
}

/** A session is still open if its last line is newer than this (ms): a turn may take minutes between two lines. */
const STILL_OPEN_MS = 10 * 60_000
/** Sessions per `reported` request. */
const REPORTED_BATCH = 500

export async function planBackfill(survey: TranscriptSurvey, options: BackfillPlanOptions): Promise<BackfillPlan> {
  const { project: given, projects = [] } = options
  const homes = projectHomes(projects)
  const wanted = given === null ? null : (homes.get(given)?.key ?? given)
  const sessions = survey.sessions.flatMap((session) => {
    const project = homes.get(session.project.key) ?? session.project
    const isWanted = wanted === null || [project.key, project.name, session.project.name].includes(wanted)
    return isWanted ? [{ ...session, project }] : []
  })
  // A session in two files is read from the one that has more of it.
  const unique = longestByKey(sessions, ({ session }) => session).sort(
    (a, b) => b.to - a.to || (a.session < b.session ? -1 : 1),
  )
  const known = await findReported(unique, options)
  // A resumed session that hooks reported has only the part after the resume, so its original is still sent.
  const copies = findCopies(unique.filter(({ session }) => known.get(session)?.hooks !== true))
  const erased = new Set(unique.filter(({ session }) => known.get(session)?.forgotten === true).map(beginning))
  erased.delete(null)
  const { problems, badLines } = survey
  const threads = wanted === null ? survey.threads : []
  const plan: BackfillPlan = { sessions: [], skipped: [], threads, problems, badLines }
  for (const session of unique) {
    const before = known.get(session.session)
    // A session that was resumed from an erased one begins with a copy of it.
    const forgotten = before?.forgotten === true || erased.has(beginning(session))
    const reason = forgotten && !options.forgotten ? 'forgotten' : reasonToSkip(session, before, copies, options)
    const begun = before !== undefined && (before.hooks || before.transcript)
    if (reason === null) plan.sessions.push({ ...session, forgotten, begun })
    else plan.skipped.push({ session: session.session, file: session.file, reason })
  }
  return plan
}

/** The project to which each key belongs. */
export function projectHomes(projects: readonly ProjectWithPlaces[]): Map<string, Project> {
  return new Map(projects.flatMap(({ key, name, merged }) => [key, ...merged].map((place) => [place, { key, name }])))
}

function reasonToSkip(
  session: SurveyedSession,
  known: TranscriptImportState | undefined,
  copies: ReadonlySet<string>,
  { now, dataDir }: BackfillPlanOptions,
): SkipReason | null {
  if (session.excluded) return 'excluded'
  // The observer's sessions normally write no transcript.
  if (isExcluded(session.cwd, session.project, [dataDir])) return 'own'
  if (known?.hooks === true) return 'hooks'
  if (known?.finished === true) return 'read'
  if (session.prompts + session.toolUses === 0) return 'empty'
  if (copies.has(session.session)) return 'copied'
  if (now - session.to < STILL_OPEN_MS) return 'open'
  return null
}

/** Sessions with the same one begin with the same tool use. Null: it has none. */
function beginning({ client, firstToolUse }: SurveyedSession): string | null {
  return firstToolUse === null ? null : `${client}:${firstToolUse}`
}

/** Older clients resume a session under another id, in a file that begins with a copy of it. */
function findCopies(sessions: readonly SurveyedSession[]): Set<string> {
  const longest = new Set(longestByKey(sessions, beginning))
  const copies = sessions.filter((session) => session.firstToolUse !== null && !longest.has(session))
  return new Set(copies.map(({ session }) => session))
}

/** Of sessions with the same key the one that has most; sessions without a key are left out. */
function longestByKey(
  sessions: readonly SurveyedSession[],
  keyOf: (session: SurveyedSession) => string | null,
): SurveyedSession[] {
  const longest = new Map<string, SurveyedSession>()
  for (const session of sessions) {
    const key = keyOf(session)
    if (key === null) continue
    const other = longest.get(key)
    if (other === undefined || hasMore(session, other)) longest.set(key, session)
  }
  return [...longest.values()]
}

function hasMore(a: SurveyedSession, b: SurveyedSession): boolean {
  if (a.toolUses !== b.toolUses) return a.toolUses > b.toolUses
  return a.prompts === b.prompts ? a.to > b.to : a.prompts > b.prompts
}

async function findReported(
  sessions: readonly SurveyedSession[],
  { reported }: BackfillPlanOptions,
): Promise<Map<string, TranscriptImportState>> {
  const known = new Map<string, TranscriptImportState>()
  for (let from = 0; from < sessions.length; from += REPORTED_BATCH) {
    const batch = sessions.slice(from, from + REPORTED_BATCH).map(({ session, end }) => ({ session, end }))
    for (const answer of await reported(batch)) known.set(answer.session, answer)
  }
  return known
}

/**
 * Tokens per tool use, measured by `npm run bench -- tokens` on a session of 300: input as billed (cache reads at a
 * tenth), and output. Real tokenizers count code somewhat higher.
 */
const INPUT_PER_TOOL_USE = 713
const OUTPUT_PER_TOOL_USE = 51

export interface CostEstimate {
  sessions: number
  toolUses: number
  /** Input as billed, and output. */
  tokens: number
  /** US dollars; null if the model's price is unknown. */
  cost: number | null
}

/** `price`: US dollars for a million tokens. */
export function estimateCost(
  sessions: readonly { toolUses: number }[],
  price: { input: number; output: number } | null,
): CostEstimate {
  const toolUses = sessions.reduce((sum, session) => sum + session.toolUses, 0)
  const input = toolUses * INPUT_PER_TOOL_USE
  const output = toolUses * OUTPUT_PER_TOOL_USE
  return {
    sessions: sessions.length,
    toolUses,
    tokens: input + output,
    cost: price === null ? null : (input * price.input + output * price.output) / 1_000_000,
  }
}
