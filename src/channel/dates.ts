/** Moments as people write them, in their own zone. */

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
 * Epoch ms, null where it is none of `DATE_FORMS`. A whole day is its first moment for a `start` and its last for an
 * `end`: both ends of a filter are included.
 */
export function momentOf(text: string, edge: 'start' | 'end', now: number): number | null {
  const given = text.trim().toLowerCase()
  if (given === 'today') return edgeOf(dayBefore(now, 0), edge)
  if (given === 'yesterday') return edgeOf(dayBefore(now, 1), edge)
  const back = BACK.exec(given)
  if (back !== null) return now - Number(back[1]) * (UNIT_MS.get(back[2] ?? '') ?? 0)
  if (EPOCH_MS.test(given)) return Number(given)
  const date = DATE.exec(given)
  if (date !== null) {
    const day = dayThere(date)
    return day === null ? null : edgeOf(day, edge)
  }
  const time = TIME.exec(given.toUpperCase())
  if (time === null || dayThere(time) === null) return null
  const at = new Date(given.toUpperCase().replace(' ', 'T')).getTime()
  return Number.isNaN(at) ? null : at
}

/** Its midnight; null for a day that no calendar has, such as February 30. */
function dayThere([, year, month, day]: RegExpExecArray): Date | null {
  const date = new Date(Number(year), Number(month) - 1, Number(day))
  date.setFullYear(Number(year))
  return date.getMonth() === Number(month) - 1 && date.getDate() === Number(day) ? date : null
}

function dayBefore(now: number, days: number): Date {
  const date = new Date(now)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() - days)
}

/** A day is 23 or 25 hours long where clocks change. */
function edgeOf(day: Date, edge: 'start' | 'end'): number {
  if (edge === 'start') return day.getTime()
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1).getTime() - 1
}
