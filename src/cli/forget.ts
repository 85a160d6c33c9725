/** Runs `claude-mem forget`: shows what would be removed, asks, removes it, and with --everywhere cleans all copies. */
import type { ForgetReport } from '../daemon/forgetting.ts'
import type { CleanedCopies } from '../daemon/forgotten-copies.ts'
import type { SearchFilters } from '../domain/search-query.ts'
import type { DaemonClient } from '../transport/client.ts'
import { type Cli, confirmChange, printResult } from './cli.ts'
import { EXIT_FAILED } from './command.ts'
import { progressBar } from './progress.ts'
import { cleanedLines, forgetPreviewLines, forgetResultLines, forgottenText, relatedText } from './render/forgotten.ts'
import { reportMissing } from './render/observation.ts'

export interface ForgetSelection {
  ids: number[]
  /** Null where ids are given, and where nothing more is forgotten: --everywhere alone. */
  filters: SearchFilters | null
  related: boolean
  everywhere: boolean
  yes: boolean
}

/** Observations listed before the confirmation. */
const SHOWN_OBSERVATIONS = 10
/** A whole project may have tens of thousands of memories, each with its copies. */
const FORGET_TIMEOUT_MS = 600_000
/** Rewriting many large backups on a slow disk. */
const EVERYWHERE_TIMEOUT_MS = 6 * 3_600_000
const PROGRESS_MS = 500

/** Resolves with the exit code. */
export async function runForget(selection: ForgetSelection, client: DaemonClient, cli: Cli): Promise<number> {
  const { ids, filters, everywhere, yes } = selection
  if (ids.length === 0 && filters === null) return await forgetEverywhere(null, client, yes, cli)
  const request = async (confirm: boolean, related: boolean): Promise<ForgetReport> =>
    (await client.call('forget', { ids, ...filters, related, confirm }, FORGET_TIMEOUT_MS)).report
  const planned = await request(false, selection.related)
  const exitCode = reportMissing(planned.missing, cli)
  if (cli.json && !yes) {
    cli.printJson(planned)
    return exitCode
  }
  if (forgottenText(planned) === 'nothing') {
    if (everywhere) return (await forgetEverywhere(null, client, yes, cli)) || exitCode
    printResult(cli, { ...planned, dryRun: false }, () => 'There is nothing to forget')
    return exitCode
  }
  if (!cli.json) {
    const observationsOnly = filters !== null && filters.kinds.join() === 'observation'
    const some = await firstObservations(planned, client)
    cli.print(...forgetPreviewLines({ report: planned, some, observationsOnly }, cli.display()))
  }
  const related = selection.related || (!yes && (await confirmRelated(planned, cli)))
  const chosen = related === selection.related ? planned : await request(false, related)
  if (!yes && !(await confirmChange(cli, `Forget ${forgottenText(chosen)} permanently?`, 'Nothing was forgotten'))) {
    return cli.interactive ? EXIT_FAILED : exitCode
  }
  const report = await request(true, related)
  if (everywhere) return (await forgetEverywhere(report, client, true, cli)) || exitCode
  printResult(cli, report, () => forgetResultLines(report, cli.display()))
  return exitCode
}

/** Only on a terminal; scripts pass --with-related. */
async function confirmRelated({ related }: ForgetReport, cli: Cli): Promise<boolean> {
  const text = relatedText(related)
  return text !== '' && cli.interactive && (await cli.confirm(`Forget these too: ${text}?`))
}

async function firstObservations(report: ForgetReport, client: DaemonClient) {
  const ids = report.ids.slice(0, SHOWN_OBSERVATIONS)
  return ids.length === 0 ? [] : (await client.call('observations', { ids })).observations
}

/** `report`: of what was forgotten before; null: only what was forgotten earlier is removed from the copies. */
async function forgetEverywhere(
  report: ForgetReport | null,
  client: DaemonClient,
  yes: boolean,
  cli: Cli,
): Promise<number> {
  const question = 'Remove everything that was forgotten from backups, set-aside files and logs?'
  if (!yes && !(await confirmChange(cli, question, 'Nothing was changed'))) return EXIT_FAILED
  const cleaned = await cleanWithProgress(client, cli)
  printResult(cli, { ...(report ?? {}), cleaned }, () => [
    // The copies that the report names are clean now.
    ...(report === null ? [] : forgetResultLines({ ...report, copies: [] }, cli.display())),
    ...cleanedLines(cleaned, cli.display()),
  ])
  return cleaned.failed.length > 0 ? EXIT_FAILED : 0
}

async function cleanWithProgress(client: DaemonClient, cli: Cli): Promise<CleanedCopies> {
  const timer = setInterval(() => {
    void client.call('forgetting').then(
      ({ progress }) => {
        if (progress === null) return
        const { done, total, file } = progress
        cli.progress(`${progressBar(done, total)} ${done} of ${total}, ${file}`)
      },
      () => undefined,
    )
  }, PROGRESS_MS)
  try {
    return (await client.call('forget_everywhere', {}, EVERYWHERE_TIMEOUT_MS)).cleaned
  } finally {
    clearInterval(timer)
    cli.progress('')
  }
}
