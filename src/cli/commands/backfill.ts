import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { Estimate } from '../../backfill/estimate.ts'
import type { Plan } from '../../backfill/plan.ts'
import type { Survey } from '../../backfill/survey.ts'
import { DATE_FORMS, momentOf } from '../../channel/dates.ts'
import { MemError } from '../../errors.ts'
import type { AskedSession, ReportedSession } from '../../memory/reported.ts'
import { loadSettings, type Settings } from '../../settings.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { withDaemon } from '../daemon-client.ts'
import { EXIT_FAILED, UsageError } from '../failure.ts'
import { projectOrAll } from '../project.ts'
import type { BackfillView, ObserverName } from '../render/backfill.ts'

export const backfill = command({
  usage: 'backfill [file..]',
  takesRest: true,
  group: 'Connect it',
  summary: 'Read the transcripts of past sessions: the memory begins before its installation',
  about:
    "Reads Claude Code's transcripts of the past 30 days (~/.claude/projects, or in CLAUDE_CONFIG_DIR), newest session first, " +
    'and has them observed as if their hooks had reported them then. Sessions that hooks reported, that were read before or ' +
    'that are still being written are left alone: run it as often as you like. Where a model observes, it says first what that ' +
    'may cost and asks; --yes does it without asking. Ctrl-C ends it after the sessions under way; the next run goes on. ' +
    'Starts the daemon if none runs.',
  examples: [
    ['claude-mem backfill --dry-run', 'what would be read'],
    ['claude-mem backfill', 'the past 30 days'],
    ['claude-mem backfill --since 2026-01-01 --project shop', 'one project, from a day on'],
    ['claude-mem backfill old/*.jsonl', 'these transcripts, however old'],
  ],
  positionals: {},
  options: {
    since: { type: 'string', requiresArg: true, describe: 'Sessions that went on after: 30d, 2w, 2026-11-01' },
    project: { type: 'string', requiresArg: true, alias: 'p', describe: 'Its name, key or path; default: all' },
    'dry-run': { type: 'boolean', describe: 'Say what would be read, and read nothing in' },
    yes: { type: 'boolean', alias: 'y', describe: 'Do it, do not ask what it may cost' },
    json: jsonOption,
  },
  run: async ({ rest, since, project, 'dry-run': dryRun, yes, json }, cli) => {
    const asked: Asked = {
      files: rest.map((file) => resolve(file)),
      since: sinceOf(since, rest.length > 0, cli.look().now),
      project: projectOrAll(project ?? 'all', cli.env),
      yes: yes === true,
      json: json === true,
    }
    const { values: settings } = loadSettings(cli.paths.dataDir, cli.env)
    const surveyed = await look(asked, settings, cli)
    if (dryRun === true) return await preview(surveyed, asked, settings, cli)
    return await withDaemon(cli, async (client) => {
      const { planOf } = await import('../../backfill/plan.ts')
      const reported = async (sessions: readonly AskedSession[]) =>
        (await client.request('reported', { type: 'reported', sessions })).sessions
      const plan = await planOf(surveyed, { ...placeOf(asked, cli), reported })
      const { status } = await client.request('status', { type: 'status' })
      return await agreedAndDone(plan, { provider: status.provider, model: status.model }, asked, settings, cli)
    })
  },
})

interface Asked {
  files: string[]
  since: number | null
  project: string | null
  yes: boolean
  json: boolean
}

const DEFAULT_SINCE = '30d'

/** Files that somebody names are read however old they are. */
function sinceOf(given: string | undefined, named: boolean, now: number): number | null {
  if (given === undefined && named) return null
  const at = momentOf(given ?? DEFAULT_SINCE, 'start', now)
  if (at === null) throw new UsageError(`--since "${given}" is no date; it is ${DATE_FORMS}`)
  return at
}

const placeOf = ({ project }: Asked, cli: Cli) => ({ project, now: cli.look().now, dataDir: cli.paths.dataDir })

async function look({ files, since }: Asked, settings: Settings, cli: Cli): Promise<Survey> {
  const [{ findTranscripts, namedTranscripts }, { survey }, { claudeConfigDirectory }, { surveyLine }] =
    await Promise.all([
      import('../../backfill/find.ts'),
      import('../../backfill/survey.ts'),
      import('../../install/clients/claude-code.ts'),
      import('../render/backfill.ts'),
    ])
  const named = files.length > 0
  const found = named ? namedTranscripts(files) : findTranscripts(claudeConfigDirectory(cli.env, homedir()))
  let shown = ''
  const progress = (done: Parameters<typeof surveyLine>[0]) => {
    const line = surveyLine(done)
    if (line !== shown) cli.progress(line)
    shown = line
  }
  return await survey(found, { settings, since, named, progress }).finally(() => cli.progress(''))
}

/** Starts nothing: without a daemon the database file is asked. */
async function preview(surveyed: Survey, asked: Asked, settings: Settings, cli: Cli): Promise<number> {
  const { planOf } = await import('../../backfill/plan.ts')
  const { previewLines } = await import('../render/backfill.ts')
  const { askStatus } = await import('../daemon-process.ts')
  const status = await askStatus(cli.paths)
  const plan = await planOf(surveyed, { ...placeOf(asked, cli), reported: (sessions) => reportedBy(sessions, cli) })
  const observer = status ?? (await configuredObserver(cli))
  const view = await viewOf(plan, observer, asked, settings)
  if (asked.json) cli.printJson({ dryRun: true, ...view })
  else cli.print(...previewLines(view, cli.look()))
  return plan.problems.length > 0 ? EXIT_FAILED : 0
}

async function reportedBy(sessions: readonly AskedSession[], cli: Cli): Promise<ReportedSession[]> {
  const { connectIfRunning } = await import('../reader.ts')
  const client = await connectIfRunning(cli.paths)
  if (client !== null) {
    try {
      return (await client.request('reported', { type: 'reported', sessions })).sessions
    } finally {
      client.close()
    }
  }
  const { SqliteReader } = await import('../../store/sqlite/reader.ts')
  try {
    const reader = await SqliteReader.open(cli.paths.database)
    return await reader.reported(sessions).finally(() => reader.close())
  } catch (error) {
    // No memory yet: nothing is known.
    if (error instanceof MemError && error.code === 'not_found') return []
    throw error
  }
}

async function configuredObserver(cli: Cli): Promise<ObserverName> {
  const { chooseProvider, surroundingsOf } = await import('../../observer/choose.ts')
  const { provider, setUp } = chooseProvider(loadSettings(cli.paths.dataDir, cli.env), await surroundingsOf(cli.env))
  return { provider, model: setUp?.model ?? null }
}

async function viewOf(
  plan: Plan,
  { provider, model }: ObserverName,
  { since }: Asked,
  settings: Settings,
): Promise<BackfillView> {
  const { projectsOf, skippedOf } = await import('../render/backfill.ts')
  return {
    since,
    projects: projectsOf(plan.sessions),
    skipped: skippedOf(plan.skipped),
    problems: plan.problems,
    badLines: plan.badLines,
    observer: { provider, model },
    estimate: model === null ? null : await estimated(plan, model, settings),
    budget: settings.CLAUDE_MEM_DAILY_BUDGET_USD,
  }
}

async function estimated(plan: Plan, model: string, settings: Settings): Promise<Estimate> {
  const [{ estimateOf }, { priceOf }] = await Promise.all([
    import('../../backfill/estimate.ts'),
    import('../../observer/prices.ts'),
  ])
  return estimateOf(plan.sessions, priceOf(model, settings.CLAUDE_MEM_PRICES))
}

async function agreedAndDone(
  plan: Plan,
  observer: ObserverName,
  asked: Asked,
  settings: Settings,
  cli: Cli,
): Promise<number> {
  const { carryOut } = await import('../backfill.ts')
  const { doneLines, estimateLines, previewLines } = await import('../render/backfill.ts')
  const view = await viewOf(plan, observer, asked, settings)
  const { estimate } = view
  if (plan.sessions.length > 0 && estimate !== null && !asked.yes) {
    if (!cli.interactive) {
      if (asked.json) cli.printJson({ dryRun: true, ...view })
      else cli.print(...previewLines(view, cli.look()))
      cli.tell('Nothing was read in: a model would be asked; say --yes if you mean it')
      return EXIT_FAILED
    }
    cli.print(...estimateLines(view, cli.look()))
    if (!(await cli.confirm('Have it observed?'))) {
      cli.tell('Nothing was read in')
      return EXIT_FAILED
    }
  }
  const done = await carryOut(plan, settings, asked.json, cli)
  if (asked.json) cli.printJson({ dryRun: false, ...done, skipped: view.skipped, problems: view.problems })
  else cli.print(...doneLines(done, view, cli.look()))
  const failed = done.failed.length + view.problems.length + done.left > 0
  return failed || done.error !== null ? EXIT_FAILED : 0
}
