/** Runs a backfill: survey of the transcripts, cost estimate, confirmation, progress, Ctrl-C, restarts of the daemon. */

import { homedir } from 'node:os'
import type { Call } from '../api/index.ts'
import type { DaemonStatus } from '../api/operations/daemon.ts'
import type { ProjectView } from '../daemon/project-views.ts'
import { formatDateTime } from '../domain/dates.ts'
import type { Project } from '../domain/project.ts'
import { errorMessage } from '../lib/errors.ts'
import { formatCount, pluralize } from '../lib/format.ts'
import { modelPrice } from '../observer/prices.ts'
import { chooseProvider, readProviderEnvironment } from '../observer/provider-choice.ts'
import { loadSettings, type Settings } from '../settings/settings.ts'
import {
  type BackfillPlan,
  type CostEstimate,
  estimateCost,
  type PlannedSession,
  planBackfill,
  projectHomes,
  SKIP_REASONS,
  type SkippedSession,
  type SkipReason,
} from '../transfer/backfill/plan.ts'
import { type BackfillProgress, isDaemonGone, newBackfillProgress, runBackfill } from '../transfer/backfill/run.ts'
import { type SurveyProgress, surveyTranscripts, type TranscriptSurvey } from '../transfer/backfill/survey.ts'
import { findAllTranscripts, namedTranscripts } from '../transfer/transcripts/readers.ts'
import { type Cli, confirmChange, printResult } from './cli.ts'
import { EXIT_FAILED } from './command.ts'
import { fetchDaemonStatus } from './daemon-process.ts'
import { formatMoney, summariesText } from './format.ts'
import { withDaemon, withMemory } from './memory-client.ts'
import { progressBar, remainingText, throttled } from './progress.ts'
import type { Display } from './style.ts'
import { cutColumn, rightColumn, tableLines } from './table.ts'
import { terminalSafe } from './text.ts'

interface BackfillRequest {
  /** Empty: all transcripts of the clients. */
  files: string[]
  /** Null: all clients. */
  clients: string[] | null
  /** Null: of any age. */
  since: number | null
  /** Null: all projects. */
  project: string | null
  /** Also sessions that were erased. */
  forgotten: boolean
  yes: boolean
}

/** Time between two progress updates, on a terminal and as lines of a log. */
const BAR_INTERVAL_MS = 100
const LINE_INTERVAL_MS = 10_000
/** Lost connections without progress in between before the backfill gives up. */
const MAX_LOST_CONNECTIONS = 3
const EXIT_INTERRUPTED = 130

/** `--dry-run`: starts no daemon. Resolves with the exit code. */
export async function previewBackfill(request: BackfillRequest, cli: Cli): Promise<number> {
  const { values: settings } = loadSettings(cli.paths.dataDir, cli.env)
  const { survey, projects } = await surveyFiles(request, settings, cli)
  const status = await fetchDaemonStatus(cli.paths)
  const plan = await withMemory(cli, (call) => planSessions(survey, projects, request, call, cli))
  const view = backfillView(plan, status ?? (await configuredObserver(cli)), request, settings)
  printPreview(view, cli)
  return plan.problems.length > 0 ? EXIT_FAILED : 0
}

/** Resolves with the exit code. */
export async function backfill(request: BackfillRequest, cli: Cli): Promise<number> {
  const { values: settings } = loadSettings(cli.paths.dataDir, cli.env)
  const { survey, projects } = await surveyFiles(request, settings, cli)
  return await withDaemon(cli, async (client) => {
    const plan = await planSessions(survey, projects, request, (name, ...args) => client.call(name, ...args), cli)
    const { status } = await client.call('status')
    const view = backfillView(plan, status, request, settings)
    if (!(await confirmCost(view, request, cli))) return EXIT_FAILED
    const result = await runPlan(plan, settings, cli)
    const { skipped, threads, problems } = view
    printResult(cli, { dryRun: false, ...result, skipped, threads, problems }, () =>
      backfillResultLines(result, view, cli.display()),
    )
    const isComplete = result.failed.length + view.problems.length + result.left === 0 && result.error === null
    return isComplete ? 0 : EXIT_FAILED
  })
}

async function surveyFiles(
  { files, since, clients }: BackfillRequest,
  settings: Settings,
  cli: Cli,
): Promise<{ survey: TranscriptSurvey; projects: ProjectView[] }> {
  const { projects } = await withMemory(cli, (call) => call('projects'))
  const named = files.length > 0
  const found = named ? namedTranscripts(files) : findAllTranscripts({ env: cli.env, home: homedir() }, clients)
  const known = projects.flatMap(({ key, merged }) => [key, ...merged])
  const progress = (done: SurveyProgress) => cli.progress(surveyProgressLine(done))
  const survey = await surveyTranscripts(found, { settings, since, named, known, progress }).finally(() =>
    cli.progress(''),
  )
  return { survey, projects }
}

async function planSessions(
  survey: TranscriptSurvey,
  projects: readonly ProjectView[],
  { project, forgotten }: BackfillRequest,
  call: Call,
  cli: Cli,
): Promise<BackfillPlan> {
  return await planBackfill(survey, {
    project,
    projects,
    forgotten,
    now: cli.display().now,
    dataDir: cli.paths.dataDir,
    reported: async (sessions) => (await call('reported', { sessions })).sessions,
  })
}

/** The observer that a daemon would use. */
async function configuredObserver(cli: Cli) {
  const loaded = loadSettings(cli.paths.dataDir, cli.env)
  const { provider, config } = chooseProvider(loaded, await readProviderEnvironment(cli.env))
  return { provider, model: config?.model ?? null }
}

function backfillView(
  { sessions, skipped, threads, problems, badLines }: BackfillPlan,
  { provider, model }: Pick<DaemonStatus, 'provider' | 'model'>,
  { since }: BackfillRequest,
  settings: Settings,
) {
  return {
    since,
    projects: sessionsByProject(sessions),
    skipped: countSkipped(skipped),
    threads,
    problems,
    badLines,
    observer: { provider, model },
    /** Null: no model is called. */
    estimate: model === null ? null : estimateCost(sessions, modelPrice(model, settings.CLAUDE_MEM_PRICES)),
    /** US dollars per day. */
    budget: settings.CLAUDE_MEM_DAILY_BUDGET_USD,
  }
}
type BackfillView = ReturnType<typeof backfillView>

function printPreview(view: BackfillView, cli: Cli): void {
  printResult(cli, { dryRun: true, ...view }, () => backfillPreviewLines(view, cli.display()))
}

/** Only if a model would be called. Without a terminal the answer is no. */
async function confirmCost(view: BackfillView, request: BackfillRequest, cli: Cli): Promise<boolean> {
  if (view.projects.length === 0 || view.estimate === null || request.yes) return true
  if (cli.interactive) cli.print(...backfillEstimateLines(view, cli.display()))
  else printPreview(view, cli)
  return await confirmChange(cli, 'Read these sessions and call the model?', 'Nothing was read', {
    reason: 'a model would be called',
  })
}

async function runPlan(plan: BackfillPlan, settings: Settings, cli: Cli) {
  const progress = newBackfillProgress(plan.sessions)
  const total = {
    sessions: plan.sessions.length,
    toolUses: plan.sessions.reduce((sum, { toolUses }) => sum + toolUses, 0),
  }
  const onProgress = throttled(cli.interactive ? BAR_INTERVAL_MS : LINE_INTERVAL_MS, (elapsedMs) => {
    const line = backfillProgressLine(progress, total, elapsedMs)
    if (cli.interactive) cli.progress(line)
    else if (!cli.json) cli.printStderr(line)
  })
  const error = await withStopSignal(cli, (stop) => runWithReconnects(progress, { settings, stop, onProgress }, cli))
  // Of a clone that was new, the daemon has decided in the meantime to which repository it belongs.
  const homes = projectHomes((await withMemory(cli, (call) => call('projects'))).projects)
  return {
    sessions: progress.done.length,
    projects: sessionsByProject(
      progress.done.map((session) => ({ ...session, project: homes.get(session.project.key) ?? session.project })),
    ),
    toolUses: progress.toolUses,
    events: progress.fresh,
    observations: progress.observations,
    summaries: progress.summaries,
    failed: progress.failed,
    left: progress.left.length,
    /** Why it ended early; null also after Ctrl-C. */
    error: error === null ? null : errorMessage(error),
  }
}
type BackfillResult = Awaited<ReturnType<typeof runPlan>>

/** Connects again if the daemon is restarted. Resolves with the error that ended it, or null. */
async function runWithReconnects(
  progress: BackfillProgress,
  options: { settings: Settings; stop: AbortSignal; onProgress: () => void },
  cli: Cli,
): Promise<unknown> {
  let lost = 0
  for (let finished = 0; ; finished = progress.done.length + progress.failed.length) {
    try {
      await withDaemon(cli, (client) => runBackfill(progress, { ...options, client }))
      return null
    } catch (error) {
      lost = progress.done.length + progress.failed.length > finished ? 1 : lost + 1
      if (!isDaemonGone(error) || lost >= MAX_LOST_CONNECTIONS || options.stop.aborted) return error
    }
  }
}

/** The first Ctrl-C lets the current sessions finish; the second exits at once. The next run repeats what is missing. */
async function withStopSignal<T>(cli: Cli, run: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const stop = () => {
    cli.progress('')
    if (controller.signal.aborted) process.exit(EXIT_INTERRUPTED)
    cli.printStderr('Ends after the current sessions; press Ctrl-C again to end now. Nothing is lost either way')
    controller.abort()
  }
  process.on('SIGINT', stop).on('SIGTERM', stop)
  try {
    return await run(controller.signal)
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    cli.progress('')
  }
}

/** Of subagents' threads, and of problems. */
const SHOWN_LINES = 10

/** The last used project comes first, because the sessions are sorted. */
function sessionsByProject(sessions: readonly PlannedSession[]) {
  const projects = new Map<string, Project & Record<'sessions' | 'toolUses' | 'from' | 'to', number>>()
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

function countSkipped(skipped: readonly SkippedSession[]) {
  const counts: Partial<Record<SkipReason, number>> = {}
  for (const { reason } of skipped) counts[reason] = (counts[reason] ?? 0) + 1
  return counts
}

function backfillPreviewLines(view: BackfillView, display: Display): string[] {
  const empty = [`No past session would be read${sinceText(view)}`]
  return [
    ...(view.projects.length === 0 ? empty : backfillEstimateLines(view, display)),
    ...skippedLines(view, display),
  ]
}

function backfillEstimateLines(view: BackfillView, display: Display): string[] {
  const { projects, estimate } = view
  const sessions = projects.reduce((sum, project) => sum + project.sessions, 0)
  const toolUses = projects.reduce((sum, project) => sum + project.toolUses, 0)
  return [
    ...projectLines(projects, display),
    display.style.bold(`${pluralize(sessions, 'session')}, ${pluralize(toolUses, 'tool use')}`),
    ...(estimate === null ? [] : ['', costText(view, estimate)]),
  ]
}

function projectLines(projects: BackfillView['projects'], display: Display): string[] {
  const rows = projects.map(({ name, sessions, toolUses, from, to }) => [
    name,
    String(sessions),
    String(toolUses),
    formatDateTime(from),
    formatDateTime(to),
  ])
  const columns = [cutColumn('project'), rightColumn('sessions'), rightColumn('tool uses'), 'from', 'to']
  return tableLines(columns, rows, display)
}

function costText({ observer: { provider, model }, budget }: BackfillView, { tokens, cost }: CostEstimate): string {
  const estimate = `${terminalSafe(`${provider} (${model})`)} would observe them: about ${formatCount(tokens)} tokens`
  if (provider === 'claude-code') return `${estimate} of your subscription`
  if (cost === null) return `${estimate}, the price is unknown`
  const overBudget = cost > budget ? `; above ${formatMoney(budget)} a day it continues without the model` : ''
  return `${estimate}, about ${formatMoney(cost)}${overBudget}`
}

function skippedLines({ skipped, threads, problems, badLines }: BackfillView, { style }: Display): string[] {
  const reasons = (Object.keys(SKIP_REASONS) as SkipReason[]).flatMap((reason) => {
    const count = skipped[reason]
    return count === undefined ? [] : [`  skipped: ${pluralize(count, 'session')}, ${SKIP_REASONS[reason]}`]
  })
  const bad = badLines > 0 ? [`  skipped: ${pluralize(badLines, 'line')} that cannot be read or were truncated`] : []
  const subagents = shortList(
    threads.map(({ file, session }) => `  skipped: ${terminalSafe(`subagent's thread of ${session}: ${file}`)}`),
    "subagents' threads",
  )
  const warnings = shortList(
    problems.map(({ file, reason }) => `! ${terminalSafe(`${file}: ${reason}`)}`),
    'problems',
  )
  const lines = [...[...reasons, ...bad, ...subagents].map(style.dim), ...warnings.map(style.yellow)]
  return lines.length === 0 ? [] : ['', ...lines]
}

function shortList(lines: readonly string[], what: string): string[] {
  const more = lines.length - SHOWN_LINES
  return more > 0 ? [...lines.slice(0, SHOWN_LINES), `  and ${more} more ${what} (--json lists all)`] : [...lines]
}

function backfillResultLines(result: BackfillResult, view: BackfillView, display: Display): string[] {
  const { bold, green, yellow } = display.style
  const { sessions, toolUses, observations, summaries, failed, left, error } = result
  const isEmpty = sessions === 0 && left === 0 && failed.length === 0
  const counts = `${pluralize(toolUses, 'tool use')}, ${pluralize(observations, 'observation')}, ${summariesText(summaries)}`
  return [
    isEmpty
      ? `Nothing new to read${sinceText(view)}`
      : `${green('✓')} ${bold(`${pluralize(sessions, 'session')} read`)}: ${counts}`,
    ...(sessions === 0 ? [] : ['', ...projectLines(result.projects, display)]),
    ...failed.map(({ session, reason }) => yellow(`! session ${terminalSafe(session)}: ${terminalSafe(reason)}`)),
    ...(error === null ? [] : [yellow(`! ${terminalSafe(error)}`)]),
    ...(left === 0 ? [] : [`${pluralize(left, 'session')} left; run the same command again to continue`]),
    ...skippedLines(view, display),
  ]
}

function sinceText({ since }: BackfillView): string {
  return since === null ? '' : ` since ${formatDateTime(since)}; --since reads older ones`
}

function surveyProgressLine({ files, ofFiles, bytes, ofBytes }: SurveyProgress): string {
  return `Reading transcripts ${progressBar(bytes, ofBytes)} ${files} of ${ofFiles}`
}

function backfillProgressLine(
  { done, failed, toolUses, waiting }: BackfillProgress,
  total: { sessions: number; toolUses: number },
  elapsedMs: number,
): string {
  const finished = done.length + failed.length
  // Each session counts like one more tool use, for its summary.
  const [part, whole] = [toolUses + finished, total.toolUses + total.sessions]
  const state = waiting === null ? remainingText(part, whole, elapsedMs) : `, waiting: ${terminalSafe(waiting)}`
  const sessions = `${finished} of ${pluralize(total.sessions, 'session')}`
  return `${progressBar(part, whole)} ${sessions}, ${toolUses} of ${pluralize(total.toolUses, 'tool use')}${state}`
}
