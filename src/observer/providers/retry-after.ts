/** When a provider may be called again: from HTTP headers and bodies, and from the texts of Claude Code. */

/** Upper limit of a wait: limits are raised and keys changed in the meantime, so a retry after an hour is worthwhile. */
const MAX_RETRY_AFTER_MS = 3_600_000
const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60

/** Rate limit headers of OpenAI-compatible servers; the longest wait counts. */
const RESET_HEADERS = ['x-ratelimit-reset', 'x-ratelimit-reset-requests', 'x-ratelimit-reset-tokens']

export interface HttpReply {
  status: number
  headers: Headers
  text: string
}

/** Null: the reply names no wait, or a wait of zero, which did not help the failed call. */
export function retryAfterMs(reply: HttpReply, now: number): number | null {
  return boundedWait(waitFromHeaders(reply.headers, now) ?? waitFromRetryInfo(reply.text) ?? waitFromResets(reply, now))
}

/**
 * How long Claude Code's usage limit lasts; null if it does not say. `resetsAt` (epoch ms) comes from newer versions of
 * the client; older ones have the time only in `text`.
 */
export function usageLimitWaitMs(resetsAt: number | null, text: string, now: number): number | null {
  return boundedWait(resetsAt === null ? waitFromText(text, now) : resetsAt - now)
}

function boundedWait(wait: number | null): number | null {
  return wait !== null && wait > 0 ? Math.min(Math.ceil(wait), MAX_RETRY_AFTER_MS) : null
}

function waitFromHeaders(headers: Headers, now: number): number | null {
  const ms = parseNumber(headers.get('retry-after-ms'))
  if (ms !== null) return ms
  const value = headers.get('retry-after')
  const seconds = parseNumber(value)
  if (seconds !== null) return seconds * 1_000
  const date = value === null ? Number.NaN : Date.parse(value)
  return Number.isNaN(date) ? null : date - now
}

/** Gemini: `google.rpc.RetryInfo` in the error details, `"retryDelay": "17s"`. */
function waitFromRetryInfo(text: string): number | null {
  return parseDuration(/"retryDelay"\s*:\s*"([^"]{1,32})"/.exec(text)?.[1] ?? null)
}

function waitFromResets({ status, headers, text }: HttpReply, now: number): number | null {
  if (status !== 429) return null
  // OpenRouter repeats the provider's headers in the body and does not always send them as headers.
  const inBody = /"x-ratelimit-reset"\s*:\s*"?(\d{1,16})/i.exec(text)?.[1] ?? null
  const waits = [...RESET_HEADERS.map((name) => headers.get(name)), inBody]
    .map((value) => parseReset(value, now))
    .filter((wait) => wait !== null)
  return waits.length === 0 ? null : Math.max(...waits)
}

/** Servers use epoch milliseconds, epoch seconds, seconds from now, or a duration. */
function parseReset(value: string | null, now: number): number | null {
  const number = parseNumber(value)
  if (number === null) return parseDuration(value)
  if (number > 1e12) return number - now
  if (number > 1e9) return number * 1_000 - now
  return number * 1_000
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Longer than any duration of a header. */
const MAX_DURATION_CHARS = 64

/** `20ms`, `6m0s`, `2m59.56s`. */
function parseDuration(value: string | null): number | null {
  if (value === null || value.length > MAX_DURATION_CHARS || !/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(value))
    return null
  let total = 0
  for (const [, amount, unit] of value.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)) {
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0)
  }
  return total
}

function parseNumber(value: string | null): number | null {
  return value !== null && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : null
}

/** `resets 5:20am (UTC)`; `limit reached|1794806432` before version 2.0. */
const RESET_CLOCK = /resets (?:at )?(\d{1,2})(?::(\d{2}))? ?(am|pm)(?: \(([\w+/-]+)\))?/i
const RESET_EPOCH_SECONDS = /limit reached\|(\d{10})\b/
/** With a date before the hour, the reset is days away. */
const RESET_DATE = /resets (?:on )?[A-Z][a-z]{2,8} \d/

function waitFromText(text: string, now: number): number | null {
  const epoch = RESET_EPOCH_SECONDS.exec(text)?.[1]
  if (epoch !== undefined) return Number(epoch) * 1_000 - now
  if (RESET_DATE.test(text)) return MAX_RETRY_AFTER_MS
  const [, hour, minute = '0', half = '', zone] = RESET_CLOCK.exec(text) ?? []
  if (hour === undefined) return null
  const reset = ((Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)) * 60 + Number(minute)
  const current = minuteOfDay(now, zone)
  return current === null ? null : ((reset - current + DAY_MINUTES) % DAY_MINUTES) * MINUTE_MS
}

/** Null if this machine does not know the time zone. */
function minuteOfDay(now: number, timeZone: string | undefined): number | null {
  try {
    const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
    const [hour = 0, minute = 0] = format.format(now).split(':').map(Number)
    return hour * 60 + minute
  } catch {
    return null
  }
}
