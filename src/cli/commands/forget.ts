import type { ChannelClient } from '../../channel/client.ts'
import type { ForgetReport, ForgetRequest } from '../../channel/memory.ts'
import { MAX_IDS } from '../../channel/memory-limits.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { withDaemon } from '../daemon-client.ts'
import { EXIT_FAILED, UsageError } from '../failure.ts'
import { type FilterArgs, filterOptions, filtersOf, isFiltered } from '../filters.ts'
import { idsOf } from '../ids.ts'

/** Shown before anything goes: enough to see that it is the right thing. */
const SHOWN = 10

export const forget = command({
  usage: 'forget [id..]',
  takesRest: true,
  group: 'Use the memory',
  summary: 'Remove memories for good; shows what would go first',
  about:
    'Removes observations by id, or whatever passes the filters (--kind all takes summaries and prompts too), and every ' +
    'copy of them: text, index, vectors, rendered context, kept payloads, what the observer said. It shows first what would ' +
    'go and asks; --yes does it without asking. Backups that were made before still hold it; the answer says until when. ' +
    'Starts the daemon if none runs.',
  examples: [
    ['claude-mem forget 12 15', 'what would go; then it asks'],
    ['claude-mem forget --session 5f1c --kind all', 'everything that a session left behind'],
    ['claude-mem forget --file secrets/ --project all --yes', 'without asking'],
  ],
  positionals: {},
  options: {
    ...filterOptions,
    yes: { type: 'boolean', alias: 'y', describe: 'Do it, do not ask' },
    json: jsonOption,
  },
  run: async ({ rest, yes, json, ...filters }, cli) => {
    const what = askedFor(rest, filters, cli)
    return await withDaemon(cli, (client) => forgetIt(what, client, yes === true, json === true, cli))
  },
})

type What = Omit<ForgetRequest, 'confirm'>

function askedFor(rest: readonly string[], args: FilterArgs, cli: Cli): What {
  const ids = idsOf(rest)
  if (ids.length > MAX_IDS) throw new UsageError(`forget takes at most ${MAX_IDS} ids at once`)
  const filtered = isFiltered(args)
  if (ids.length > 0 && filtered) throw new UsageError('forget takes ids or filters, not both')
  if (ids.length > 0) return { ids, filters: null }
  if (!filtered) throw new UsageError('say what to forget: ids, or filters such as --session or --file')
  const { now } = cli.look()
  const filters = filtersOf(args, cli.env, now)
  // What comes in between the question and the answer was not asked about.
  return { ids: [], filters: { ...filters, until: Math.min(filters.until ?? now, now) } }
}

async function forgetIt(what: What, client: ChannelClient, yes: boolean, json: boolean, cli: Cli): Promise<number> {
  const { amountText, forgottenLines, missingText } = await import('../render/forgotten.ts')
  const planned = await ask(what, false, client)
  const failed = planned.missing.length > 0 ? EXIT_FAILED : 0
  if (failed !== 0) cli.tell(`claude-mem: ${missingText(planned.missing)}`)
  if (json && !yes) {
    cli.printJson(planned)
    return failed
  }
  if (amountText(planned) === 'nothing') {
    if (json) cli.printJson({ ...planned, dryRun: false })
    else cli.print('There is nothing to forget')
    return failed
  }
  if (!json) await showPlan(what, planned, client, cli)
  if (!yes && !(await agreed(planned, cli))) return cli.interactive ? EXIT_FAILED : failed
  const report = await ask(what, true, client)
  if (json) cli.printJson(report)
  else cli.print(...forgottenLines(report, cli.look()))
  return failed
}

async function ask({ ids, filters }: What, confirm: boolean, client: ChannelClient): Promise<ForgetReport> {
  const body = { type: 'forget', ids, confirm, ...(filters === null ? {} : { filters }) } as const
  return (await client.request('forgotten', body, FORGET_MS)).report
}

/** A whole project may hold tens of thousands, each with its copies. */
const FORGET_MS = 600_000

async function showPlan({ filters }: What, report: ForgetReport, client: ChannelClient, cli: Cli): Promise<void> {
  const ids = report.ids.slice(0, SHOWN)
  const observations =
    ids.length === 0 ? [] : (await client.request('observations', { type: 'observations', ids })).observations
  const { wouldForgetLines } = await import('../render/forgotten.ts')
  const observationsOnly = filters !== null && filters.kinds.length === 1 && filters.kinds[0] === 'observation'
  cli.print(...wouldForgetLines({ report, some: observations, observationsOnly }, cli.look()))
}

async function agreed(report: ForgetReport, cli: Cli): Promise<boolean> {
  if (!cli.interactive) {
    cli.tell('Nothing was forgotten: say --yes if you mean it')
    return false
  }
  const { amountText } = await import('../render/forgotten.ts')
  const yes = await cli.confirm(`Forget ${amountText(report)} for good?`)
  if (!yes) cli.tell('Nothing was forgotten')
  return yes
}
