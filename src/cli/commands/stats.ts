/** Commands that print sums: `stats` counts memories, `usage` adds up what models cost. */

import type { MemoryStats } from '../../api/operations/memory.ts'
import type { UsageView } from '../../api/operations/sessions.ts'
import { TYPE_ICONS } from '../../context/lines.ts'
import { formatDate, formatDateTime } from '../../domain/dates.ts'
import { OBSERVATION_TYPES } from '../../domain/observation.ts'
import { formatBytes, formatCount, pluralize } from '../../lib/format.ts'
import { loadSettings } from '../../settings/settings.ts'
import { USAGE_KEYS, type UsageKey, type UsageSums, type UsageTotals, weightedTokens } from '../../store/port.ts'
import { INPUT_LIMITS, limitOption, numberOption, oneOf } from '../arguments.ts'
import { printResult } from '../cli.ts'
import { defineCommand, stringOption } from '../command.ts'
import { parseProjectOrAll, projectOption } from '../filters.ts'
import { formatKnownCost, formatMoney, summariesText } from '../format.ts'
import { callMemory } from '../memory-client.ts'
import { drawBar } from '../progress.ts'
import { shortIds } from '../render/sessions.ts'
import type { Display } from '../style.ts'
import {
  cutColumn,
  type Field,
  fieldLines,
  rightColumn,
  type TableCell,
  type TableColumn,
  tableLines,
} from '../table.ts'
import { displayWidth, terminalSafe } from '../text.ts'

const MAX_USAGE_ROWS = 10_000

export const statsCommand = defineCommand({
  usage: 'stats',
  group: 'Memory',
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
  },
  run: async ({ project }, cli) => {
    const input = { project: parseProjectOrAll(project ?? 'all', cli.env) }
    const { stats, running } = await callMemory(cli, 'memory_stats', input)
    printResult(cli, { running, ...stats }, () => memoryStatsLines(stats, cli.display()))
  },
})

export const usageCommand = defineCommand({
  usage: 'usage',
  group: 'Inspect',
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
  },
  run: async ({ by, days, limit }, cli) => {
    const key = oneOf('value for --by', by, USAGE_KEYS)
    const { usage, running } = await callMemory(cli, 'usage', { by: key, days })
    const { values } = loadSettings(cli.paths.dataDir, cli.env)
    const budget = { usd: values.CLAUDE_MEM_DAILY_BUDGET_USD, tokens: values.CLAUDE_MEM_DAILY_BUDGET_TOKENS }
    printResult(cli, { running, ...usage, budget }, () => usageLines(usage, { days, limit, budget }, cli.display()))
  },
})

const BAR_COLUMNS = 24
/** `--json` lists all of them. */
const SHOWN_PROJECTS = 15
/** Two years. */
const SHOWN_MONTHS = 24

export function memoryStatsLines(stats: MemoryStats, display: Display): string[] {
  const { style } = display
  const { project, observations, projects } = stats
  const name = project === null ? 'all projects' : terminalSafe(project.name || project.key)
  if (observations + stats.summaries + stats.prompts === 0) {
    return [`Nothing is remembered of ${name} yet.`, style.dim('For all projects: claude-mem stats --project all')]
  }
  const types = OBSERVATION_TYPES.map((type) => [`${TYPE_ICONS[type]} ${type}`, stats.types[type]] as const)
  const months = stats.months.slice(-SHOWN_MONTHS).map(({ month, observations }) => [month, observations] as const)
  return [
    style.bold(`What is remembered of ${name}`),
    ...fieldLines([...countFields(stats), ...indexFields(stats.index, display)], display),
    '',
    ...barTable('TYPE', types, display),
    '',
    ...barTable('MONTH', months, display),
    ...(project === null ? ['', ...projectLines(projects, display)] : []),
  ]
}

function countFields(stats: MemoryStats): Field[] {
  const { observations, summaries, prompts, passages, sessions, oldestAt, newestAt, pinned, links } = stats
  const period =
    oldestAt === null || newestAt === null ? '' : `, ${formatDateTime(oldestAt)} to ${formatDateTime(newestAt)}`
  const repeats = `${links.repeats} nearly the same as an earlier one`
  return [
    ['observations', `${observations}${period}`],
    ['others', `${summariesText(summaries)}, ${pluralize(prompts, 'prompt')} of ${pluralize(sessions, 'session')}`],
    ['marked', `${pinned} pinned, ${links.supersedes} replaced by newer ones, ${repeats}`],
    ['passages', `${passages.count}, about ${formatBytes(passages.bytes)} with their search index`],
    ['database', formatBytes(stats.databaseBytes)],
  ]
}

function indexFields({ lexical, vectors, embedder, method }: MemoryStats['index'], { style }: Display): Field[] {
  const indexed = ({ done, total }: { done: number; total: number }) =>
    done >= total ? style.green(`all ${total} can be found`) : style.yellow(`${done} of ${total} can be found`)
  const how = method === null ? 'not searched now' : `${method} search`
  const size = `${pluralize(vectors.fragments, 'vector')}, ${formatBytes(vectors.bytes)}, ${how}`
  return [
    ['by words', indexed(lexical)],
    ['by meaning', `${indexed(vectors)}; ${size}`],
    ['embedder', embedder === null ? style.yellow('none yet: search by words only') : embedderText(embedder)],
  ]
}

function embedderText({ name, dimensions }: { name: string; dimensions: number }): string {
  return `${terminalSafe(name)}, ${dimensions} dimensions`
}

function projectLines(projects: MemoryStats['projects'], display: Display): string[] {
  const rows = projects
    .slice(0, SHOWN_PROJECTS)
    .map(({ key, name, observations }) => [name || key, observations] as const)
  const more = projects.length - rows.length
  return [...barTable('PROJECT', rows, display), ...(more > 0 ? [display.style.dim(`and ${more} more: --json`)] : [])]
}

/** A row with a bar for each label. */
function barTable(
  title: string,
  rows: readonly (readonly [label: string, count: number])[],
  display: Display,
): string[] {
  const max = Math.max(0, ...rows.map(([, count]) => count))
  const columns = [cutColumn(title), rightColumn('OBSERVATIONS'), '']
  const cells = rows.map(([label, count]) => [
    label,
    String(count),
    { text: drawBar(count, max, BAR_COLUMNS), paint: display.style.cyan },
  ])
  return tableLines(columns, cells, display)
}

/** Limits for a day. */
export interface UsageBudget {
  usd: number
  tokens: number
}

/** A narrower bar is left out; a wider one shows nothing more. */
const MIN_BAR_COLUMNS = 6
const MAX_BAR_COLUMNS = 30
/** Part of the budget from which it is printed as a warning. */
const WARN_BUDGET_PART = 0.8

export function usageLines(
  view: UsageView,
  { days, limit, budget }: { days: number; limit: number; budget: UsageBudget },
  display: Display,
): string[] {
  const { style } = display
  const period = days === 1 ? 'today' : `in the last ${days} days`
  if (view.total.calls === 0) {
    return [
      `Nothing was sent to a model ${period}.`,
      style.dim('Without a model the observer works offline, which costs nothing. To set one up: claude-mem providers'),
    ]
  }
  const rows = view.by === 'day' ? view.rows : view.rows.slice(0, limit)
  const more = view.rows.length - rows.length
  return [
    style.bold(`What models cost ${period}`),
    '',
    ...usageTable(view, rows, display),
    ...(more > 0 ? [style.dim(`and ${more} more: --limit N`)] : []),
    '',
    ...fieldLines([budgetField(view.today, budget, display), perObservationField(view.total)], display),
    ...unpricedLines(view.unpriced, display),
  ]
}

const LABEL_COLUMNS: Record<UsageKey, TableColumn[]> = {
  day: ['DAY'],
  project: [cutColumn('PROJECT')],
  session: ['SESSION', cutColumn('PROJECT')],
  model: [cutColumn('MODEL'), 'PROVIDER'],
}

const NUMBER_COLUMNS = ['CALLS', 'FAILED', 'IN', 'CACHED', 'OUT', 'OBS', 'COST'].map(rightColumn)

function usageTable({ by, total, unpriced }: UsageView, rows: readonly UsageTotals[], display: Display): string[] {
  const columns = [...LABEL_COLUMNS[by], ...NUMBER_COLUMNS]
  const labels = rowLabels(by, rows)
  const cells = rows.map((row, i): TableCell[] => [...(labels[i] ?? []), ...numberCells(row, display)])
  const totals: TableCell[] = ['total', ...LABEL_COLUMNS[by].slice(1).map(() => ''), ...numberCells(total, display)]
  const barColumns = freeColumns(columns, [...cells, totals], display)
  if (barColumns === 0) return tableLines(columns, [...cells, totals], display)
  // If a price is missing, only tokens can be compared.
  const size = unpriced.length === 0 ? ({ cost }: UsageSums) => cost : ({ usage }: UsageSums) => weightedTokens(usage)
  const max = Math.max(...rows.map(size))
  const withBars = rows.map((row, i): TableCell[] => [
    ...(cells[i] ?? []),
    { text: drawBar(size(row), max, barColumns), paint: display.style.cyan },
  ])
  return tableLines([...columns, unpriced.length === 0 ? '' : 'TOKENS'], [...withBars, [...totals, '']], display)
}

/** Columns of the terminal that the table leaves for bars. */
function freeColumns(columns: readonly TableColumn[], cells: readonly TableCell[][], display: Display): number {
  if (display.columns === null) return MAX_BAR_COLUMNS
  const plain = cells.map((row) => row.map((cell) => (typeof cell === 'string' ? cell : cell.text)))
  const style = { ...display.style, dim: (text: string) => text }
  const lines = tableLines(columns, plain, { ...display, style, columns: null })
  const free = display.columns - Math.max(...lines.map(displayWidth)) - 2
  return free < MIN_BAR_COLUMNS ? 0 : Math.min(free, MAX_BAR_COLUMNS)
}

function rowLabels(by: UsageKey, rows: readonly UsageTotals[]): string[][] {
  switch (by) {
    case 'day':
      return rows.map(({ at }) => [`${WEEKDAYS[new Date(at).getDay()]} ${formatDate(at)}`])
    case 'project':
      return rows.map(({ key, name }) => [name === null || name === '' ? key : name])
    case 'session': {
      const short = shortIds(rows.map(({ key }) => key))
      return rows.map(({ key, name }, i) => [key === '' ? 'erased' : (short[i] ?? key), name ?? ''])
    }
    case 'model':
      return rows.map(({ key, name }) => [key, name ?? ''])
  }
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

function numberCells(sums: UsageSums, { style }: Display): TableCell[] {
  const { calls, failed, usage, observations } = sums
  if (calls === 0) return NUMBER_COLUMNS.map(() => '')
  return [
    String(calls),
    failed === 0 ? '0' : { text: String(failed), paint: style.red },
    formatCount(usage.input + usage.cacheWrite),
    formatCount(usage.cacheRead),
    formatCount(usage.output),
    String(observations),
    formatKnownCost(sums),
  ]
}

function budgetField({ usage, cost }: UsageView['today'], budget: UsageBudget, { style }: Display): Field {
  const used = weightedTokens(usage)
  // A budget of zero is used up before anything is spent.
  const part = Math.max(
    ...[[cost, budget.usd] as const, [used, budget.tokens] as const].map(([n, max]) => (max === 0 ? 1 : n / max)),
  )
  const paint = part >= 1 ? style.red : part >= WARN_BUDGET_PART ? style.yellow : style.green
  const spent = `${formatMoney(cost)} of ${formatMoney(budget.usd)}, ${formatCount(used)} of ${formatCount(budget.tokens)} tokens`
  const effect = part >= 1 ? '; the observer works offline until midnight' : ''
  return ['today', `${paint(`${Math.floor(part * 100)} % of the budget`)}: ${spent}${effect}`]
}

function perObservationField({ observations, usage, cost, unpriced }: UsageSums): Field {
  if (observations === 0) return ['per observation', null]
  const tokens = formatCount(weightedTokens(usage) / observations)
  const price = unpriced === 0 ? `${formatMoney(cost / observations)}, ` : ''
  return ['per observation', `${price}${tokens} tokens (cache reads at a tenth)`]
}

function unpricedLines(unpriced: UsageView['unpriced'], { style }: Display): string[] {
  if (unpriced.length === 0) return []
  const models = [...new Set(unpriced)].map(terminalSafe)
  return [
    '',
    ...models.map((model) =>
      style.yellow(`the price of ${model} is unknown: claude-mem config set prices ${model}=INPUT/OUTPUT`),
    ),
    style.dim('in US dollars for a million tokens; several models separated by commas'),
  ]
}
