/** `claude-mem usage` for people: a table with a bar beside each row, what it comes to, and what is left of today. */
import { type Spending, type UsageKey, type UsageRow, weighedTokens } from '../../store/accounting.ts'
import type { UsageView } from '../../store/usage-view.ts'
import { knownMoney, money, tokens } from '../amounts.ts'
import { bar } from '../bar.ts'
import type { Look } from '../style.ts'
import { type Cell, type Column, fields, table } from '../table.ts'
import { clean, widthOf } from '../text.ts'
import { shortIds } from './sessions.ts'

export interface DailyBudget {
  usd: number
  tokens: number
}

/** A bar needs this much room to say anything, and more than the other makes it no clearer. */
const LEAST_BAR = 6
const WIDEST_BAR = 30

export function usageLines(view: UsageView, days: number, limit: number, budget: DailyBudget, look: Look): string[] {
  const { style } = look
  if (view.total.calls === 0) {
    return [
      `Nothing was sent to a model ${periodOf(days)}.`,
      style.dim('Without a model the observer works offline, which costs nothing. To set one up: claude-mem providers'),
    ]
  }
  const rows = view.by === 'day' ? view.rows : view.rows.slice(0, limit)
  const left = view.rows.length - rows.length
  return [
    style.bold(`What models cost ${periodOf(days)}`),
    '',
    ...usageTable(view, rows, look),
    ...(left > 0 ? [style.dim(`and ${left} more: --limit N`)] : []),
    '',
    ...fields([...todayFields(view, budget, look), ...perObservation(view.total)], look),
    ...hints(view, look),
  ]
}

function periodOf(days: number): string {
  return days === 1 ? 'today' : `in the last ${days} days`
}

const LABELS: Record<UsageKey, Column[]> = {
  day: [{ title: 'DAY' }],
  project: [{ title: 'PROJECT', narrow: 'cut' }],
  session: [{ title: 'SESSION' }, { title: 'PROJECT', narrow: 'cut' }],
  model: [{ title: 'MODEL', narrow: 'cut' }, { title: 'PROVIDER' }],
}

const NUMBERS: Column[] = ['CALLS', 'FAILED', 'IN', 'CACHED', 'OUT', 'OBS', 'COST'].map((title) => ({
  title,
  align: 'right',
}))

function usageTable({ by, total, unpriced }: UsageView, rows: readonly UsageRow[], look: Look): string[] {
  const columns = [...LABELS[by], ...NUMBERS]
  const labels = labelsOf(by, rows)
  const cells = rows.map((row, i): Cell[] => [...(labels[i] ?? []), ...numbers(row, look)])
  const totals: Cell[] = ['total', ...LABELS[by].slice(1).map(() => ''), ...numbers(total, look)]
  const room = barRoom(columns, [...cells, totals], look)
  if (room === 0) return table(columns, [...cells, totals], look)
  // Where a price is missing only tokens can be compared.
  const sized = unpriced.length === 0 ? ({ cost }: Spending) => cost : ({ usage }: Spending) => weighedTokens(usage)
  const most = Math.max(...rows.map(sized))
  const drawn = rows.map((row, i): Cell[] => [
    ...(cells[i] ?? []),
    { text: bar(sized(row), most, room), paint: look.style.cyan },
  ])
  return table([...columns, { title: unpriced.length === 0 ? '' : 'TOKENS' }], [...drawn, [...totals, '']], look)
}

/** What the table leaves of the terminal's width. */
function barRoom(columns: readonly Column[], cells: readonly Cell[][], look: Look): number {
  if (look.columns === null) return WIDEST_BAR
  const plain = cells.map((row) => row.map((cell) => (typeof cell === 'string' ? cell : cell.text)))
  const lines = table(columns, plain, { ...look, style: { ...look.style, dim: (text) => text }, columns: null })
  const room = look.columns - Math.max(...lines.map(widthOf)) - 2
  return room < LEAST_BAR ? 0 : Math.min(room, WIDEST_BAR)
}

function labelsOf(by: UsageKey, rows: readonly UsageRow[]): string[][] {
  switch (by) {
    case 'day':
      return rows.map(({ at }) => [dayName(at)])
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

function dayName(start: number): string {
  const day = new Date(start)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${WEEKDAYS[day.getDay()]} ${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`
}

function numbers(spending: Spending, { style }: Look): Cell[] {
  const { calls, failed, usage, observations } = spending
  if (calls === 0) return ['', '', '', '', '', '', '']
  return [
    String(calls),
    failed === 0 ? '0' : { text: String(failed), paint: style.red },
    tokens(usage.input + usage.cacheWrite),
    tokens(usage.cacheRead),
    tokens(usage.output),
    String(observations),
    knownMoney(spending),
  ]
}

function todayFields({ today }: UsageView, budget: DailyBudget, { style }: Look): [string, string][] {
  const used = weighedTokens(today.usage)
  const part = Math.max(share(today.cost, budget.usd), share(used, budget.tokens))
  const paint = part >= 1 ? style.red : part >= 0.8 ? style.yellow : style.green
  const spent = `${money(today.cost)} of ${money(budget.usd)}, ${tokens(used)} of ${tokens(budget.tokens)} tokens`
  const gone = part >= 1 ? '; the observer goes on offline until midnight' : ''
  return [['today', `${paint(`${Math.floor(part * 100)} % of the budget`)}: ${spent}${gone}`]]
}

/** A budget of nothing is used up before anything was spent. */
function share(used: number, limit: number): number {
  return limit === 0 ? 1 : used / limit
}

function perObservation({ observations, usage, cost, unpriced }: Spending): [string, string][] {
  if (observations === 0) return []
  const each = tokens(weighedTokens(usage) / observations)
  const price = unpriced === 0 ? `${money(cost / observations)}, ` : ''
  return [['per observation', `${price}${each} tokens (cache reads at a tenth)`]]
}

function hints({ unpriced }: UsageView, { style }: Look): string[] {
  if (unpriced.length === 0) return []
  const models = [...new Set(unpriced)].map(clean)
  return [
    '',
    ...models.map((model) =>
      style.yellow(`no price is known for ${model}: claude-mem config set prices ${model}=INPUT/OUTPUT`),
    ),
    style.dim('in US dollars for a million tokens; several models with commas between them'),
  ]
}
