/** Times and sizes for people. Programs get epoch milliseconds and bytes. */
export { bytes } from '../memory/counts.ts'

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** The two largest units below a day's length tell enough: `2 h 5 min`, `40 s`. */
export function duration(ms: number): string {
  const at = UNITS.findIndex(([, size]) => ms >= size)
  const unit = UNITS[at]
  if (unit === undefined) return `${Math.max(0, Math.round(ms))} ms`
  const [name, size] = unit
  const whole = Math.floor(ms / size)
  const next = UNITS[at + 1]
  const rest = next === undefined || name === 'min' ? 0 : Math.floor((ms % size) / next[1])
  return next === undefined || rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${next[0]}`
}

/** `ago(now)` within a second is now: clocks of two processes are not read at the same moment. */
export function ago(at: number, now: number): string {
  const passed = now - at
  if (Math.abs(passed) < 1_000) return 'now'
  return passed > 0 ? `${coarse(passed)} ago` : `in ${coarse(-passed)}`
}

/** When something is due, and how late it is. */
export function due(at: number, now: number): string {
  return at >= now ? `in ${coarse(at - now)}` : `${coarse(now - at)} overdue`
}

function coarse(ms: number): string {
  const unit = UNITS.find(([, size]) => ms >= size)
  return unit === undefined ? '0 s' : `${Math.floor(ms / unit[1])} ${unit[0]}`
}

/** `2026-11-16 14:30` */
export function minute(at: number): string {
  const date = new Date(at)
  return `${dayText(date)} ${two(date.getHours())}:${two(date.getMinutes())}`
}

/** `12:30:05`, with the date in front when it is not today's. */
export function clockTime(at: number, now: number): string {
  const date = new Date(at)
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
  return date.toDateString() === new Date(now).toDateString() ? time : `${dayText(date)} ${time}`
}

function dayText(date: Date): string {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

function two(number: number): string {
  return String(number).padStart(2, '0')
}
