/** When a used-up allowance comes back, as the client says it. */

/** Asked again after an hour all the same: subscriptions are changed, and limits lifted, in between. */
const MAX_WAIT_MS = 3_600_000
const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60

/** Null: it does not say. `resetsAt` in epoch ms, from a client that says it exactly; older ones have it in words only. */
export function waitFor(resetsAt: number | null, words: string, now: number): number | null {
  const wait = resetsAt === null ? waitInWords(words, now) : resetsAt - now
  return wait === null || wait <= 0 ? null : Math.min(Math.ceil(wait), MAX_WAIT_MS)
}

/** `resets 5:20am (UTC)`; `limit reached|1794806432` before 2.0. A date before the hour is days away. */
const CLOCK = /resets (?:at )?(\d{1,2})(?::(\d{2}))? ?(am|pm)(?: \(([\w+/-]+)\))?/i
const EPOCH_SECONDS = /limit reached\|(\d{10})\b/
const DATED = /resets (?:on )?[A-Z][a-z]{2,8} \d/

function waitInWords(words: string, now: number): number | null {
  const epoch = EPOCH_SECONDS.exec(words)?.[1]
  if (epoch !== undefined) return Number(epoch) * 1_000 - now
  if (DATED.test(words)) return MAX_WAIT_MS
  const [, hour, minute = '0', half = '', zone] = CLOCK.exec(words) ?? []
  if (hour === undefined) return null
  const wanted = ((Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)) * 60 + Number(minute)
  const current = minuteOfDay(now, zone)
  return current === null ? null : ((wanted - current + DAY_MINUTES) % DAY_MINUTES) * MINUTE_MS
}

function minuteOfDay(now: number, timeZone: string | undefined): number | null {
  try {
    const parts = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
    const [hour = 0, minute = 0] = parts.format(now).split(':').map(Number)
    return hour * 60 + minute
  } catch {
    // A zone that this machine does not know.
    return null
  }
}
