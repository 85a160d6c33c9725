/** Runs a backfill: survey of the transcripts, cost estimate, confirmation, progress, Ctrl-C, restarts of the daemon. */
import { homedir } from 'node:os'
import type { Call } from '../api/index.ts'
import { errorMessage } from '../lib/errors.ts'
import { modelPrice } from '../observer/prices.ts'
import { chooseProvider, readProviderEnvironment } from '../observer/provider-choice.ts'
import { loadSettings, type Settings } from '../settings/settings.ts'
import { claudeConfigDirectory } from '../setup/install/clients/claude-code.ts'
import { type BackfillPlan, estimateCost, planBackfill } from '../transfer/backfill/plan.ts'
import { type BackfillProgress, isDaemonGone, newBackfillProgress, runBackfill } from '../transfer/backfill/run.ts'
import {
  findTranscripts,
  namedTranscripts,
  surveyTranscripts,
  type TranscriptSurvey,
} from '../transfer/backfill/survey.ts'
import { type Cli, confirmChange } from './cli.ts'
import { EXIT_FAILED } from './command.ts'
import { fetchDaemonStatus } from './daemon-process.ts'
import { withDaemon, withMemory } from './memory-client.ts'
import { throttled } from './progress.ts'
import {
  type BackfillObserver,
  type BackfillResult,
  type BackfillView,
  backfillEstimateLines,
  backfillPreviewLines,
  backfillProgressLine,
  backfillResultLines,
  countSkipped,
  sessionsByProject,
  surveyProgressLine,
} from './render/backfill.ts'

interface BackfillRequest {
  /** Empty: all transcripts of Claude Code. */
  files: string[]
  /** Null: of any age. */
  since: number | null
  /** Null: all projects. */
  project: string | null
  yes: boolean
  json: boolean
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
  const survey = await surveyFiles(request, settings, cli)
  const status = await fetchDaemonStatus(cli.paths)
  const plan = await withMemory(cli, (call) => planSessions(survey, request, call, cli))
  const view = backfillView(plan, status ?? (await configuredObserver(cli)), request, settings)
  printPreview(view, request, cli)
  return plan.problems.length > 0 ? EXIT_FAILED : 0
}

/** Resolves with the exit code. */
export async function backfill(request: BackfillRequest, cli: Cli): Promise<number> {
  const { values: settings } = loadSettings(cli.paths.dataDir, cli.env)
  const survey = await surveyFiles(request, settings, cli)
  return await withDaemon(cli, async (client) => {
    const plan = await planSessions(survey, request, (name, ...args) => client.call(name, ...args), cli)
    const { status } = await client.call('status')
    const view = backfillView(plan, status, request, settings)
    if (!(await confirmCost(view, request, cli))) return EXIT_FAILED
    const result = await runPlan(plan, settings, request.json, cli)
    if (request.json) cli.printJson({ dryRun: false, ...result, skipped: view.skipped, problems: view.problems })
    else cli.print(...backfillResultLines(result, view, cli.display()))
    const isComplete = result.failed.length + view.problems.length + result.left === 0 && result.error === null
    return isComplete ? 0 : EXIT_FAILED
  })
}

async function surveyFiles({ files, since }: BackfillRequest, settings: Settings, cli: Cli): Promise<TranscriptSurvey> {
  const named = files.length > 0
  const found = named ? namedTranscripts(files) : findTranscripts(claudeConfigDirectory(cli.env, homedir()))
  const progress = (done: Parameters<typeof surveyProgressLine>[0]) => cli.progress(surveyProgressLine(done))
  return await surveyTranscripts(found, { settings, since, named, progress }).finally(() => cli.progress(''))
}

async function planSessions(
  survey: TranscriptSurvey,
  { project }: BackfillRequest,
  call: Call,
  cli: Cli,
): Promise<BackfillPlan> {
  return await planBackfill(survey, {
    project,
    now: cli.display().now,
    dataDir: cli.paths.dataDir,
    reported: async (sessions) => (await call('reported', { sessions })).sessions,
  })
}

/** The observer that a daemon would use. */
async function configuredObserver(cli: Cli): Promise<BackfillObserver> {
  const loaded = loadSettings(cli.paths.dataDir, cli.env)
  const { provider, config } = chooseProvider(loaded, await readProviderEnvironment(cli.env))
  return { provider, model: config?.model ?? null }
}

function backfillView(
  { sessions, skipped, problems, badLines }: BackfillPlan,
  { provider, model }: BackfillObserver,
  { since }: BackfillRequest,
  settings: Settings,
): BackfillView {
  return {
    since,
    projects: sessionsByProject(sessions),
    skipped: countSkipped(skipped),
    problems,
    badLines,
    observer: { provider, model },
    estimate: model === null ? null : estimateCost(sessions, modelPrice(model, settings.CLAUDE_MEM_PRICES)),
    budget: settings.CLAUDE_MEM_DAILY_BUDGET_USD,
  }
}

function printPreview(view: BackfillView, { json }: BackfillRequest, cli: Cli): void {
  if (json) cli.printJson({ dryRun: true, ...view })
  else cli.print(...backfillPreviewLines(view, cli.display()))
}

/** Only if a model would be called. Without a terminal the answer is no. */
async function confirmCost(view: BackfillView, request: BackfillRequest, cli: Cli): Promise<boolean> {
  if (view.projects.length === 0 || view.estimate === null || request.yes) return true
  if (cli.interactive) cli.print(...backfillEstimateLines(view, cli.display()))
  else printPreview(view, request, cli)
  return await confirmChange(cli, 'Have it observed?', 'Nothing was read in', { reason: 'a model would be called' })
}

async function runPlan(plan: BackfillPlan, settings: Settings, quiet: boolean, cli: Cli): Promise<BackfillResult> {
  const progress = newBackfillProgress(plan.sessions)
  const total = {
    sessions: plan.sessions.length,
    toolUses: plan.sessions.reduce((sum, { toolUses }) => sum + toolUses, 0),
  }
  const onProgress = throttled(cli.interactive ? BAR_INTERVAL_MS : LINE_INTERVAL_MS, (elapsedMs) => {
    const line = backfillProgressLine(progress, total, elapsedMs)
    if (cli.interactive) cli.progress(line)
    else if (!quiet) cli.printStderr(line)
  })
  const error = await withStopSignal(cli, (stop) => runWithReconnects(progress, { settings, stop, onProgress }, cli))
  return {
    sessions: progress.done,
    toolUses: progress.toolUses,
    events: progress.fresh,
    observations: progress.observations,
    summaries: progress.summaries,
    failed: progress.failed,
    left: progress.left.length,
    error: error === null ? null : errorMessage(error),
  }
}

/** Connects again if the daemon is restarted. Resolves with the error that ended it, or null. */
async function runWithReconnects(
  progress: BackfillProgress,
  options: { settings: Settings; stop: AbortSignal; onProgress: () => void },
  cli: Cli,
): Promise<unknown> {
  let lost = 0
  for (let finished = 0; ; finished = progress.done + progress.failed.length) {
    try {
      await withDaemon(cli, (client) => runBackfill(progress, { ...options, client }))
      return null
    } catch (error) {
      lost = progress.done + progress.failed.length > finished ? 1 : lost + 1
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
