/** Prints `claude-mem backfill`: preview, cost estimate, progress and result. */

import { formatCount, pluralize } from '../../lib/format.ts'
import {
  type CostEstimate,
  type PlannedSession,
  SKIP_REASONS,
  type SkippedSession,
  type SkipReason,
} from '../../transfer/backfill/plan.ts'
import type { BackfillProgress } from '../../transfer/backfill/run.ts'
import type { SurveyProgress, TranscriptProblem } from '../../transfer/backfill/survey.ts'
import { formatDateTime, formatMoney, summariesText } from '../format.ts'
import { progressBar, remainingText } from '../progress.ts'
import type { Display } from '../style.ts'
import { cutColumn, rightColumn, tableLines } from '../table.ts'
import { sanitize } from '../text.ts'

export interface BackfillObserver {
  provider: string
  /** Null: no model is called. */
  model: string | null
}

interface BackfillProject {
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
  projects: BackfillProject[]
  skipped: Partial<Record<SkipReason, number>>
  problems: TranscriptProblem[]
  badLines: number
  observer: BackfillObserver
  /** Null: no model is called. */
  estimate: CostEstimate | null
  /** US dollars per day. */
  budget: number
}

export interface BackfillResult {
  sessions: number
  toolUses: number
  /** New events. */
  events: number
  observations: number
  summaries: number
  failed: BackfillProgress['failed']
  /** Sessions that are left for the next run. */
  left: number
  /** Why it ended early; null also after Ctrl-C. */
  error: string | null
}

/** `--json` lists all problems. */
const SHOWN_PROBLEMS = 10

/** The last used project comes first, because the sessions are sorted. */
export function sessionsByProject(sessions: readonly PlannedSession[]): BackfillProject[] {
  const projects = new Map<string, BackfillProject>()
  for (const { project, toolUses, from, to } of sessions) {
    const entry = projects.get(project.key) ?? { ...project, sessions: 0, toolUses: 0, from, to }
    entry.sessions += 1
    entry.toolUses += toolUses
    entry.from = Math.min(entry.from, from)
    entry.to = Math.max(entry.to, to)
    projects.set(project.key, entry)
  }
  return [...projects.values()]
}

export function countSkipped(skipped: readonly SkippedSession[]): BackfillView['skipped'] {
  const counts: BackfillView['skipped'] = {}
  for (const { reason } of skipped) counts[reason] = (counts[reason] ?? 0) + 1
  return counts
}

export function backfillPreviewLines(view: BackfillView, display: Display): string[] {
  const empty = [`No past session would be read in${sinceText(view)}`]
  return [
    ...(view.projects.length === 0 ? empty : backfillEstimateLines(view, display)),
    ...skippedLines(view, display),
  ]
}

export function backfillEstimateLines(view: BackfillView, display: Display): string[] {
  const { projects, estimate } = view
  const rows = projects.map(({ name, sessions, toolUses, from, to }) => [
    name,
    String(sessions),
    String(toolUses),
    formatDateTime(from),
    formatDateTime(to),
  ])
  const columns = [cutColumn('project'), rightColumn('sessions'), rightColumn('tool uses'), 'from', 'to']
  const sessions = projects.reduce((sum, project) => sum + project.sessions, 0)
  const toolUses = projects.reduce((sum, project) => sum + project.toolUses, 0)
  return [
    ...tableLines(columns, rows, display),
    display.style.bold(`${pluralize(sessions, 'session')}, ${pluralize(toolUses, 'tool use')}`),
    ...(estimate === null ? [] : ['', costText(view, estimate)]),
  ]
}

function costText({ observer: { provider, model }, budget }: BackfillView, { tokens, cost }: CostEstimate): string {
  const estimate = `${sanitize(`${provider} (${model})`)} would observe them: about ${formatCount(tokens)} tokens`
  if (provider === 'claude-code') return `${estimate} of your subscription`
  if (cost === null) return `${estimate}, the price is unknown`
  const overBudget = cost > budget ? `; above ${formatMoney(budget)} a day it continues without the model` : ''
  return `${estimate}, about ${formatMoney(cost)}${overBudget}`
}

function skippedLines({ skipped, problems, badLines }: BackfillView, { style }: Display): string[] {
  const reasons = (Object.keys(SKIP_REASONS) as SkipReason[]).flatMap((reason) => {
    const count = skipped[reason]
    return count === undefined ? [] : [`  skipped: ${pluralize(count, 'session')}, ${SKIP_REASONS[reason]}`]
  })
  const bad = badLines > 0 ? [`  skipped: ${pluralize(badLines, 'line')} that cannot be read or were truncated`] : []
  const more = problems.length - SHOWN_PROBLEMS
  const warnings = [
    ...problems.slice(0, SHOWN_PROBLEMS).map(({ file, reason }) => `! ${sanitize(file)}: ${sanitize(reason)}`),
    ...(more > 0 ? [`! and ${more} more`] : []),
  ]
  const lines = [...[...reasons, ...bad].map(style.dim), ...warnings.map(style.yellow)]
  return lines.length === 0 ? [] : ['', ...lines]
}

export function backfillResultLines(result: BackfillResult, view: BackfillView, display: Display): string[] {
  const { bold, green, yellow } = display.style
  const { sessions, toolUses, observations, summaries, failed, left, error } = result
  const isEmpty = sessions === 0 && left === 0 && failed.length === 0
  const counts = `${pluralize(toolUses, 'tool use')}, ${pluralize(observations, 'observation')}, ${summariesText(summaries)}`
  return [
    isEmpty
      ? `Nothing new to read in${sinceText(view)}`
      : `${green('✓')} ${bold(`${pluralize(sessions, 'session')} read in`)}: ${counts}`,
    ...failed.map(({ session, reason }) => yellow(`! session ${sanitize(session)}: ${sanitize(reason)}`)),
    ...(error === null ? [] : [yellow(`! ${sanitize(error)}`)]),
    ...(left === 0 ? [] : [`${pluralize(left, 'session')} left; run the same command again to continue`]),
    ...skippedLines(view, display),
  ]
}

function sinceText({ since }: BackfillView): string {
  return since === null ? '' : ` since ${formatDateTime(since)}; --since reads older ones`
}

export function surveyProgressLine({ files, ofFiles, bytes, ofBytes }: SurveyProgress): string {
  return `Reading transcripts ${progressBar(bytes, ofBytes)} ${files} of ${ofFiles}`
}

export function backfillProgressLine(
  { done, failed, toolUses, waiting }: BackfillProgress,
  total: { sessions: number; toolUses: number },
  elapsedMs: number,
): string {
  const finished = done + failed.length
  // Each session counts like one more tool use, for its summary.
  const [part, whole] = [toolUses + finished, total.toolUses + total.sessions]
  const state = waiting === null ? remainingText(part, whole, elapsedMs) : `, waiting: ${sanitize(waiting)}`
  const sessions = `${finished} of ${pluralize(total.sessions, 'session')}`
  return `${progressBar(part, whole)} ${sessions}, ${toolUses} of ${pluralize(total.toolUses, 'tool use')}${state}`
}
