/** Times and amounts as people read them, in their own language. */
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'narrow' })
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const dayName = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' })
const shortDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })

export function ago(at: number, now: number): string {
  const ms = at - now
  const size = Math.abs(ms)
  if (size < 5 * SECOND) return 'just now'
  if (size < MINUTE) return relative.format(Math.round(ms / SECOND), 'second')
  if (size < HOUR) return relative.format(Math.round(ms / MINUTE), 'minute')
  if (size < DAY) return relative.format(Math.round(ms / HOUR), 'hour')
  if (size < 30 * DAY) return relative.format(Math.round(ms / DAY), 'day')
  return shortDay.format(at)
}

export const clockTime = (at: number) => clock.format(at)
export const exactTime = (at: number) => exact.format(at)
export const dayOf = (at: number) => dayName.format(at)
export const shortDayOf = (at: number) => shortDay.format(at)

export function duration(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`
  if (ms < MINUTE) return `${(ms / SECOND).toFixed(1)} s`
  if (ms < HOUR) return `${Math.round(ms / MINUTE)} min`
  return `${(ms / HOUR).toFixed(1)} h`
}

const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const whole = new Intl.NumberFormat(undefined)

export const short = (n: number) => compact.format(n)
export const count = (n: number) => whole.format(n)

/** `1 session`, `2,000 sessions`. */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`
}

export function money(usd: number): string {
  if (usd === 0) return '$0'
  return usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`
}
