/** Which sessions of the past are sent, in which order, and why the others are not. */
import { isExcluded } from '../hook/excluded.ts'
import type { AskedSession, ReportedSession } from '../memory/reported.ts'
import type { Problem } from './find.ts'
import type { Survey, SurveyedSession } from './survey.ts'

export const SKIP_REASONS = {
  hooks: 'hooks reported them',
  read: 'read before',
  open: 'still being written',
  excluded: 'in an excluded project',
  own: "the observer's own",
  copied: 'part of a session that was resumed from it',
  empty: 'nothing happened in them',
} as const
export type SkipReason = keyof typeof SKIP_REASONS

export interface PlannedSession extends SurveyedSession {
  /** An earlier run was stopped in the middle of it, or it went on since. */
  begun: boolean
}

export interface SkippedSession {
  session: string
  file: string
  reason: SkipReason
}

export interface Plan {
  /** Newest first. */
  sessions: PlannedSession[]
  skipped: SkippedSession[]
  problems: Problem[]
  badLines: number
}

export interface PlanOptions {
  now: number
  dataDir: string
  /** A key or a name; null: all. */
  project: string | null
  reported(sessions: readonly AskedSession[]): Promise<readonly ReportedSession[]>
}

/** A turn may think for some minutes between two lines, in ms. */
const STILL_OPEN_MS = 10 * 60_000
/** Sessions asked about at once. */
const ASK_AT_ONCE = 500

export async function planOf({ sessions, problems, badLines }: Survey, options: PlanOptions): Promise<Plan> {
  const { project } = options
  const inProject = ({ project: { key, name } }: SurveyedSession) =>
    project === null || key === project || name === project
  const unique = withoutTwins(sessions.filter(inProject)).sort(
    (a, b) => b.to - a.to || (a.session < b.session ? -1 : 1),
  )
  const known = await askAbout(unique, options)
  // Hooks reported a resumed session only from its resumption on: what it is a copy of is still wanted.
  const copies = copiesAmong(unique.filter(({ session }) => known.get(session)?.hooks !== true))
  const plan: Plan = { sessions: [], skipped: [], problems, badLines }
  for (const session of unique) {
    const before = known.get(session.session)
    const reason = reasonToSkip(session, before, copies, options)
    if (reason === null) plan.sessions.push({ ...session, begun: before !== undefined })
    else plan.skipped.push({ session: session.session, file: session.file, reason })
  }
  return plan
}

function reasonToSkip(
  session: SurveyedSession,
  known: ReportedSession | undefined,
  copies: ReadonlySet<string>,
  { now, dataDir }: PlanOptions,
): SkipReason | null {
  if (session.excluded) return 'excluded'
  // Its calls leave no transcript, as far as the client obeys.
  if (isExcluded(session.cwd, session.project, [dataDir])) return 'own'
  if (known?.hooks === true) return 'hooks'
  if (known?.finished === true) return 'read'
  if (session.prompts + session.toolUses === 0) return 'empty'
  if (copies.has(session.session)) return 'copied'
  if (now - session.to < STILL_OPEN_MS) return 'open'
  return null
}

/** A session that lies in two files is read from the one that has more of it. */
function withoutTwins(sessions: readonly SurveyedSession[]): SurveyedSession[] {
  const best = new Map<string, SurveyedSession>()
  for (const session of sessions) {
    const other = best.get(session.session)
    if (other === undefined || hasMore(session, other)) best.set(session.session, session)
  }
  return [...best.values()]
}

/** Older clients resume a session under another id, in a file that begins with a copy of it. */
function copiesAmong(sessions: readonly SurveyedSession[]): Set<string> {
  const longest = new Map<string, SurveyedSession>()
  const copies = new Set<string>()
  for (const session of sessions) {
    if (session.firstToolUse === null) continue
    const other = longest.get(session.firstToolUse)
    if (other === undefined) longest.set(session.firstToolUse, session)
    else if (hasMore(session, other)) {
      longest.set(session.firstToolUse, session)
      copies.add(other.session)
    } else copies.add(session.session)
  }
  return copies
}

function hasMore(a: SurveyedSession, b: SurveyedSession): boolean {
  if (a.toolUses !== b.toolUses) return a.toolUses > b.toolUses
  return a.prompts === b.prompts ? a.to > b.to : a.prompts > b.prompts
}

async function askAbout(
  sessions: readonly SurveyedSession[],
  { reported }: PlanOptions,
): Promise<Map<string, ReportedSession>> {
  const known = new Map<string, ReportedSession>()
  for (let at = 0; at < sessions.length; at += ASK_AT_ONCE) {
    const asked = sessions.slice(at, at + ASK_AT_ONCE).map(({ session, end }) => ({ session, end }))
    for (const answer of await reported(asked)) known.set(answer.session, answer)
  }
  return known
}
