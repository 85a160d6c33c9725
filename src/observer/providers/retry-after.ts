/** When a provider wants to be asked again, in whatever way it says so. */

/** A provider that asks for more is asked in an hour all the same: quotas are raised, and keys changed, in between. */
const MAX_WAIT_MS = 3_600_000

/** What OpenAI-compatible servers send with a 429; the slowest one counts. */
const RESETS = ['x-ratelimit-reset', 'x-ratelimit-reset-requests', 'x-ratelimit-reset-tokens']

export interface Said {
  status: number
  headers: Headers
  /** The body's text. */
  text: string
}

/** Null: it does not say, or says "at once", which is what made it fail. */
export function retryAfterMs(said: Said, now: number): number | null {
  const wait = fromHeaders(said.headers, now) ?? fromRetryInfo(said.text) ?? fromResets(said, now)
  return wait !== null && wait > 0 ? Math.min(Math.ceil(wait), MAX_WAIT_MS) : null
}

function fromHeaders(headers: Headers, now: number): number | null {
  const ms = numberIn(headers.get('retry-after-ms'))
  if (ms !== null) return ms
  const value = headers.get('retry-after')
  const seconds = numberIn(value)
  if (seconds !== null) return seconds * 1_000
  const date = value === null ? Number.NaN : Date.parse(value)
  return Number.isNaN(date) ? null : date - now
}

/** Gemini: `google.rpc.RetryInfo` among the details of the error, `"retryDelay": "17s"`. */
function fromRetryInfo(text: string): number | null {
  return durationIn(/"retryDelay"\s*:\s*"([^"]{1,32})"/.exec(text)?.[1] ?? null)
}

function fromResets({ status, headers, text }: Said, now: number): number | null {
  if (status !== 429) return null
  // OpenRouter repeats the headers in the body, where its own gateway does not send them.
  const inBody = /"x-ratelimit-reset"\s*:\s*"?(\d{1,16})/i.exec(text)?.[1] ?? null
  const waits = [...RESETS.map((name) => headers.get(name)), inBody]
    .map((value) => untilReset(value, now))
    .filter((wait) => wait !== null)
  return waits.length === 0 ? null : Math.max(...waits)
}

/** Epoch milliseconds, epoch seconds, seconds from now, or a duration: every server has its own. */
function untilReset(value: string | null, now: number): number | null {
  const number = numberIn(value)
  if (number === null) return durationIn(value)
  if (number > 1e12) return number - now
  if (number > 1e9) return number * 1_000 - now
  return number * 1_000
}

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `20ms`, `6m0s`, `2m59.56s`. */
function durationIn(value: string | null): number | null {
  if (value === null || !/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(value)) return null
  let total = 0
  for (const [, amount, unit] of value.matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])/g)) {
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0)
  }
  return total
}

function numberIn(value: string | null): number | null {
  return value !== null && /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : null
}
