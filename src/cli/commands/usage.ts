import { loadSettings } from '../../settings.ts'
import { USAGE_KEYS } from '../../store/accounting.ts'
import { MAX_USAGE_DAYS } from '../../store/usage-view.ts'
import { command, jsonOption } from '../command.ts'
import { oneOf, wholeNumber } from '../failure.ts'

export const usage = command({
  usage: 'usage',
  group: 'See what it does',
  summary: 'What models cost: by day, project, session or model, and what is left of today',
  about:
    'Adds up every call that was made to a model. IN is what was sent and not cached before, CACHED what the provider had ' +
    'from an earlier call (about a tenth of the price), OUT what it answered, OBS the observations that came of it. ' +
    'Money is what the provider said, or our price list, which CLAUDE_MEM_PRICES corrects. Past the daily budget ' +
    '(CLAUDE_MEM_DAILY_BUDGET_USD, _TOKENS) the observer goes on offline until midnight. Works without a daemon too.',
  examples: [
    ['claude-mem usage', 'the last 30 days, day by day'],
    ['claude-mem usage --by project --days 7', 'which projects cost most this week'],
    ['claude-mem usage --by model', 'which models were used, and at what price'],
    ['claude-mem config set daily-budget-usd 1', 'spend at most a dollar a day'],
    ['claude-mem usage --by session --json | jq .rows', 'for programs: whole tokens and dollars'],
  ],
  positionals: {},
  options: {
    by: { type: 'string', requiresArg: true, describe: USAGE_KEYS.join(', '), default: 'day' },
    days: {
      type: 'number',
      requiresArg: true,
      describe: "Days added up, with today's",
      default: 30,
      coerce: wholeNumber('--days', 1, MAX_USAGE_DAYS),
    },
    limit: {
      type: 'number',
      requiresArg: true,
      alias: 'n',
      describe: 'Projects, sessions or models shown',
      default: 20,
      coerce: wholeNumber('--limit', 1, 10_000),
    },
    json: jsonOption,
  },
  run: async ({ by, days, limit, json }, cli) => {
    const key = oneOf('value for --by', by, USAGE_KEYS)
    const { withReader } = await import('../reader.ts')
    const { view, running } = await withReader(cli.paths, async (reader) => ({
      view: await reader.usage(key, days),
      running: reader.daemon !== null,
    }))
    const { values } = loadSettings(cli.paths.dataDir, cli.env)
    const budget = { usd: values.CLAUDE_MEM_DAILY_BUDGET_USD, tokens: values.CLAUDE_MEM_DAILY_BUDGET_TOKENS }
    if (json === true) {
      cli.printJson({ running, ...view, budget })
      return 0
    }
    const { usageLines } = await import('../render/usage.ts')
    cli.print(...usageLines(view, days, limit, budget, cli.look()))
    return 0
  },
})
