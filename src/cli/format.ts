/** Formats times, durations, money and counts as text. JSON output has epoch milliseconds, US dollars and numbers instead. */
import { formatDate, formatTimeWithSeconds } from '../domain/dates.ts'
import { pluralize } from '../lib/format.ts'

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** The largest unit and, above minutes, the next one: `2 h 5 min`, `40 s`, `120 ms`. */
export function formatDuration(ms: number): string {
  const at = UNITS.findIndex(([, size]) => ms >= size)
  const unit = UNITS[at]
  if (unit === undefined) return `${Math.max(0, Math.round(ms))} ms`
  const [name, size] = unit
  const whole = Math.floor(ms / size)
  const next = UNITS[at + 1]
  const rest = next === undefined || name === 'min' ? 0 : Math.floor((ms % size) / next[1])
  return next === undefined || rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${next[0]}`
}

/** `2 min ago`. Less than a second is `now`, because the clocks of two processes are not read at the same moment. */
export function formatAgo(at: number, now: number): string {
  const passed = now - at
  if (Math.abs(passed) < 1_000) return 'now'
  return passed > 0 ? `${largestUnit(passed)} ago` : `in ${largestUnit(-passed)}`
}

/** `in 2 min`, or `2 min overdue`. */
export function formatDue(at: number, now: number): string {
  return at >= now ? `in ${largestUnit(at - now)}` : `${largestUnit(now - at)} overdue`
}

function largestUnit(ms: number): string {
  const unit = UNITS.find(([, size]) => ms >= size)
  return unit === undefined ? '0 s' : `${Math.floor(ms / unit[1])} ${unit[0]}`
}

/** `12:30:05`, with the date before it unless it is today. */
export function formatClockTime(at: number, now: number): string {
  const time = formatTimeWithSeconds(at)
  return new Date(at).toDateString() === new Date(now).toDateString() ? time : `${formatDate(at)} ${time}`
}

/** Calls cost fractions of a cent: the smaller the sum, the more decimals. */
export function formatMoney(dollars: number): string {
  if (dollars === 0) return '$0'
  if (dollars < 0.0001) return '<$0.0001'
  return `$${dollars.toFixed(dollars < 0.01 ? 4 : dollars < 1 ? 3 : 2)}`
}

/** `+ ?` if the price of some calls is unknown. */
export function formatKnownCost({ cost, unpriced }: { cost: number; unpriced: number }): string {
  if (unpriced === 0) return formatMoney(cost)
  return cost === 0 ? '?' : `${formatMoney(cost)} + ?`
}

type MemoryCounts = Record<'observations' | 'summaries' | 'prompts', number> &
  Partial<Record<'passages' | 'sessions' | 'links' | 'pins', number>>

/** `12 observations, 1 summary`; zeros are left out. */
export function memoryCountsText(counts: MemoryCounts): string {
  const text = (name: keyof MemoryCounts) => {
    const count = counts[name] ?? 0
    if (count === 0) return []
    return name === 'summaries' ? [summariesText(count)] : [pluralize(count, name.slice(0, -1))]
  }
  const names = ['observations', 'summaries', 'prompts', 'passages', 'sessions', 'links', 'pins'] as const
  return names.flatMap(text).join(', ') || 'nothing'
}

export function summariesText(count: number): string {
  return count === 1 ? '1 summary' : `${count} summaries`
}
