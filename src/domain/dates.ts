/** Dates and times in the user's time zone: parsing what people write, day boundaries, and texts. */

/** Largest epoch time that a Date can hold, in ms. */
export const MAX_EPOCH_MS = 8_640_000_000_000_000
export const DAY_MS = 86_400_000

export const DATE_FORMS = 'a date or time such as 2026-11-01 or 2026-11-01T14:30, 12h, 7d, 2w, today or yesterday'

const HOUR_MS = 3_600_000
const UNIT_MS = new Map([
  ['h', HOUR_MS],
  ['d', 24 * HOUR_MS],
  ['w', 7 * 24 * HOUR_MS],
])

const BACK = /^(\d{1,5})\s?([hdw])$/
const EPOCH_MS = /^\d{12,14}$/
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const TIME = /^(\d{4})-(\d{2})-(\d{2})[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2})?$/

/**
 * Epoch ms; null if the text is none of `DATE_FORMS`. A whole day means its first millisecond for `start` and its last
 * one for `end`, because both ends of a filter are inclusive.
 */
export function parseMoment(text: string, edge: 'start' | 'end', now: number): number | null {
  const given = text.trim().toLowerCase()
  if (given === 'today') return dayEdge(now, edge)
  if (given === 'yesterday') return dayEdge(startOfDay(now) - 1, edge)
  const back = BACK.exec(given)
  if (back !== null) return now - Number(back[1]) * (UNIT_MS.get(back[2] ?? '') ?? 0)
  if (EPOCH_MS.test(given)) return Number(given)
  const date = DATE.exec(given)
  if (date !== null) {
    const day = calendarDay(date)
    return day === null ? null : dayEdge(day, edge)
  }
  const time = TIME.exec(given.toUpperCase())
  if (time === null || calendarDay(time) === null) return null
  const at = new Date(given.toUpperCase().replace(' ', 'T')).getTime()
  return Number.isNaN(at) ? null : at
}

/** Midnight of that date, epoch ms; null for a date that does not exist, such as February 30. */
function calendarDay([, year, month, day]: RegExpExecArray): number | null {
  const date = new Date(Number(year), Number(month) - 1, Number(day))
  date.setFullYear(Number(year))
  return date.getMonth() === Number(month) - 1 && date.getDate() === Number(day) ? date.getTime() : null
}

/** Calculated with the calendar: a day has 23 or 25 hours when clocks change. */
function dayEdge(at: number, edge: 'start' | 'end'): number {
  return edge === 'start' ? startOfDay(at) : endOfDay(at) - 1
}

/** Epoch ms of the midnight before `at`. */
export function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0)
}

/** Epoch ms of the midnight after `at`. */
export function endOfDay(at: number): number {
  const day = new Date(at)
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1).getTime()
}

/** Not from the locale: the context of a session must not depend on it. */
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `Nov 16, 2026` */
export function formatFullDay(at: number): string {
  const date = new Date(at)
  return `${MONTHS[date.getMonth()]} ${date.getDate()}, ${date.getFullYear()}`
}

/** `Nov 16`; with the year if it differs from the year of `now`. */
export function formatDay(at: number, now: number): string {
  const date = new Date(at)
  if (date.getFullYear() !== new Date(now).getFullYear()) return formatFullDay(at)
  return `${MONTHS[date.getMonth()]} ${date.getDate()}`
}

/** `2026-11-16`; like all of these in the time zone of the machine. */
export function formatDate(at: number): string {
  const date = new Date(at)
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`
}

/** `14:30` */
export function formatTime(at: number): string {
  const date = new Date(at)
  return `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`
}

/** `14:30:05` */
export function formatTimeWithSeconds(at: number): string {
  return `${formatTime(at)}:${twoDigits(new Date(at).getSeconds())}`
}

/** `2026-11-16 14:30` */
export function formatDateTime(at: number): string {
  return `${formatDate(at)} ${formatTime(at)}`
}

/** `+01:00`: the machine's offset from UTC at that time. */
export function utcOffset(at: number): string {
  const ahead = -new Date(at).getTimezoneOffset()
  const minutes = Math.abs(ahead)
  return `${ahead < 0 ? '-' : '+'}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0')
}
