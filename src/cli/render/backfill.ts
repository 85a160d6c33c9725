/** `claude-mem backfill` for people. */
import type { Estimate } from '../../backfill/estimate.ts'
import type { Problem } from '../../backfill/find.ts'
import { type PlannedSession, SKIP_REASONS, type SkippedSession, type SkipReason } from '../../backfill/plan.ts'
import type { Progress } from '../../backfill/run.ts'
import type { SurveyProgress } from '../../backfill/survey.ts'
import { money, tokens } from '../amounts.ts'
import { bar } from '../bar.ts'
import type { Look } from '../style.ts'
import { table } from '../table.ts'
import { clean, counted, padEnd } from '../text.ts'
import { duration, minute } from '../times.ts'

export interface ObserverName {
  provider: string
  /** Null: no model is asked. */
  model: string | null
}

export interface ProjectPart {
  name: string
  key: string
  sessions: number
  toolUses: number
  /** Epoch ms. */
  from: number
  to: number
}

export interface BackfillView {
  since: number | null
  projects: ProjectPart[]
  skipped: Partial<Record<SkipReason, number>>
  problems: Problem[]
  badLines: number
  observer: ObserverName
  /** Null where no model is asked. */
  estimate: Estimate | null
  /** US dollars a day. */
  budget: number
}

export interface Done {
  sessions: number
  toolUses: number
  /** Events that were not known before. */
  events: number
  observations: number
  summaries: number
  failed: Progress['failed']
  /** Sessions that the next run takes up. */
  left: number
  /** Why it ended early, where nobody asked for it. */
  error: string | null
}

const BAR_COLUMNS = 24
/** More would hide the rest. */
const SHOWN_PROBLEMS = 10

/** The project that was worked on last comes first. */
export function projectsOf(sessions: readonly PlannedSession[]): ProjectPart[] {
  const parts = new Map<string, ProjectPart>()
  for (const { project, toolUses, from, to } of sessions) {
    const part = parts.get(project.key) ?? { ...project, sessions: 0, toolUses: 0, from, to }
    part.sessions += 1
    part.toolUses += toolUses
    part.from = Math.min(part.from, from)
    part.to = Math.max(part.to, to)
    parts.set(project.key, part)
  }
  return [...parts.values()]
}

export function skippedOf(skipped: readonly SkippedSession[]): BackfillView['skipped'] {
  const counts: BackfillView['skipped'] = {}
  for (const { reason } of skipped) counts[reason] = (counts[reason] ?? 0) + 1
  return counts
}

export function previewLines(view: BackfillView, look: Look): string[] {
  const { projects, estimate } = view
  const nothing = 'No session of the past would be read in'
  return [
    ...(projects.length === 0 ? [nothing + sinceText(view)] : projectTable(projects, look)),
    ...(estimate === null || projects.length === 0 ? [] : ['', costText(view, estimate)]),
    ...leftOutLines(view, look),
  ]
}

export function estimateLines(view: BackfillView, look: Look): string[] {
  const { projects, estimate } = view
  return [...projectTable(projects, look), '', ...(estimate === null ? [] : [costText(view, estimate)])]
}

function projectTable(projects: readonly ProjectPart[], look: Look): string[] {
  const sum = (count: (part: ProjectPart) => number) => projects.reduce((total, part) => total + count(part), 0)
  return [
    ...table(
      [
        { title: 'project', narrow: 'cut' },
        { title: 'sessions', align: 'right' },
        { title: 'tool uses', align: 'right' },
        { title: 'from' },
        { title: 'to' },
      ],
      projects.map(({ name, sessions, toolUses, from, to }) => [
        name,
        String(sessions),
        String(toolUses),
        minute(from),
        minute(to),
      ]),
      look,
    ),
    look.style.bold(
      `${counted(
        sum((part) => part.sessions),
        'session',
      )}, ${counted(
        sum((part) => part.toolUses),
        'tool use',
      )}`,
    ),
  ]
}

function costText({ observer: { provider, model }, budget }: BackfillView, { tokens: count, cost }: Estimate): string {
  const who = clean(`${provider} (${model})`)
  const tokenText = `about ${tokens(count)} tokens`
  if (provider === 'claude-code') return `${who} would observe them: ${tokenText} of your subscription`
  const price = cost === null ? 'nobody knows its price' : `about ${money(cost)}`
  const past = cost !== null && cost > budget ? `; past ${money(budget)} a day it goes on without the model` : ''
  return `${who} would observe them: ${tokenText}, ${price}${past}`
}

function leftOutLines({ skipped, problems, badLines }: BackfillView, look: Look): string[] {
  const { dim, yellow } = look.style
  const reasons = (Object.keys(SKIP_REASONS) as SkipReason[]).flatMap((reason) => {
    const count = skipped[reason]
    return count === undefined ? [] : [dim(`  left out: ${counted(count, 'session')}, ${SKIP_REASONS[reason]}`)]
  })
  const lines =
    badLines > 0 ? [dim(`  passed over: ${counted(badLines, 'line')} that cannot be read or were cut off`)] : []
  const shown = problems
    .slice(0, SHOWN_PROBLEMS)
    .map(({ file, reason }) => yellow(`! ${clean(file)}: ${clean(reason)}`))
  const more = problems.length - SHOWN_PROBLEMS
  const all = [...reasons, ...lines, ...shown, ...(more > 0 ? [yellow(`! and ${more} more`)] : [])]
  return all.length === 0 ? [] : ['', ...all]
}

export function doneLines(done: Done, view: BackfillView, look: Look): string[] {
  const { bold, green, yellow } = look.style
  const { sessions, toolUses, observations, summaries, failed, left, error } = done
  const nothing = sessions === 0 && left === 0 && failed.length === 0
  const told = nothing
    ? `Nothing new to read in${sinceText(view)}`
    : `${green('✓')} ${bold(`${counted(sessions, 'session')} read in`)}: ${counted(toolUses, 'tool use')}, ` +
      `${counted(observations, 'observation')}, ${summaries === 1 ? '1 summary' : `${summaries} summaries`}`
  return [
    told,
    ...failed.map(({ session, reason }) => yellow(`! session ${clean(session)}: ${clean(reason)}`)),
    ...(error === null ? [] : [yellow(`! ${clean(error)}`)]),
    ...(left === 0 ? [] : [`${counted(left, 'session')} left; to go on, run the same again`]),
    ...leftOutLines(view, look),
  ]
}

function sinceText({ since }: BackfillView): string {
  return since === null ? '' : ` since ${minute(since)}; --since goes further back`
}

export function surveyLine({ files, ofFiles, bytes, ofBytes }: SurveyProgress): string {
  return `Looking through transcripts ▕${padEnd(bar(bytes, ofBytes, BAR_COLUMNS), BAR_COLUMNS)}▏ ${files} of ${ofFiles}`
}

export function progressLine(
  { done, failed, toolUses, waiting }: Progress,
  total: { sessions: number; toolUses: number },
  elapsedMs: number,
): string {
  const finished = done + failed.length
  // A session has some work besides its tool uses.
  const part = toolUses + finished
  const whole = total.toolUses + total.sessions
  const drawn = padEnd(bar(part, whole, BAR_COLUMNS), BAR_COLUMNS)
  const leftMs = part > 0 ? (elapsedMs * Math.max(0, whole - part)) / part : null
  const left = waiting === null ? (leftMs === null ? '' : `, ${duration(leftMs)} left`) : `, waits: ${clean(waiting)}`
  return `▕${drawn}▏ ${finished} of ${counted(total.sessions, 'session')}, ${toolUses} of ${counted(total.toolUses, 'tool use')}${left}`
}
