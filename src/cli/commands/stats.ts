/** Commands that print sums: `stats` counts memories, `usage` adds up what models cost. */
import { loadSettings } from '../../settings/settings.ts'
import { USAGE_KEYS } from '../../store/port.ts'
import { INPUT_LIMITS, limitOption, numberOption, oneOf } from '../arguments.ts'
import { defineCommand, jsonOption, stringOption } from '../command.ts'
import { parseProjectOrAll, projectOption } from '../filters.ts'
import { callMemory } from '../memory-client.ts'

const MAX_USAGE_ROWS = 10_000

export const statsCommand = defineCommand({
  usage: 'stats',
  group: 'Use the memory',
  summary: 'How much is remembered: by type, month and project, and how much of it is indexed',
  about:
    'Counts what is remembered, and how much of it can be found by words and, with the current embedder, by meaning. ' +
    'Works without a daemon too.',
  examples: [
    ['claude-mem stats', 'all projects'],
    ['claude-mem stats --project .', 'the current one'],
    ['claude-mem stats --json | jq .types', 'for programs'],
  ],
  options: {
    project: { ...projectOption, describe: 'Project name, key or path; default: all' },
    json: jsonOption,
  },
  run: async ({ project, json }, cli) => {
    const input = { project: parseProjectOrAll(project ?? 'all', cli.env) }
    const { stats, running } = await callMemory(cli, 'memory_stats', input)
    if (json) return cli.printJson({ running, ...stats })
    const { memoryStatsLines } = await import('../render/stats.ts')
    cli.print(...memoryStatsLines(stats, cli.display()))
  },
})

export const usageCommand = defineCommand({
  usage: 'usage',
  group: 'See what it does',
  summary: 'What models cost: by day, project, session or model, and what is left of today',
  about:
    'Adds up all calls to models. IN is what was sent and not cached before, CACHED what the provider had from an earlier ' +
    'call (about a tenth of the price), OUT what it answered, OBS the observations that were made. Costs are those that the ' +
    'provider reports, or follow from our price list, which CLAUDE_MEM_PRICES corrects. Above the daily budget ' +
    '(CLAUDE_MEM_DAILY_BUDGET_USD, _TOKENS) the observer works offline until midnight. Works without a daemon too.',
  examples: [
    ['claude-mem usage', 'the last 30 days, day by day'],
    ['claude-mem usage --by project --days 7', 'which projects cost most this week'],
    ['claude-mem usage --by model', 'which models were used, and at what price'],
    ['claude-mem config set daily-budget-usd 1', 'spend at most a dollar a day'],
    ['claude-mem usage --by session --json | jq .rows', 'for programs: exact tokens and dollars'],
  ],
  options: {
    by: { ...stringOption(USAGE_KEYS.join(', ')), default: 'day' },
    days: { ...numberOption('days', 'Days added up, including today', 1, INPUT_LIMITS.MAX_USAGE_DAYS), default: 30 },
    limit: limitOption('Projects, sessions or models shown', 20, MAX_USAGE_ROWS),
    json: jsonOption,
  },
  run: async ({ by, days, limit, json }, cli) => {
    const key = oneOf('value for --by', by, USAGE_KEYS)
    const { usage, running } = await callMemory(cli, 'usage', { by: key, days })
    const { values } = loadSettings(cli.paths.dataDir, cli.env)
    const budget = { usd: values.CLAUDE_MEM_DAILY_BUDGET_USD, tokens: values.CLAUDE_MEM_DAILY_BUDGET_TOKENS }
    if (json) return cli.printJson({ running, ...usage, budget })
    const { usageLines } = await import('../render/stats.ts')
    cli.print(...usageLines(usage, { days, limit, budget }, cli.display()))
  },
})
