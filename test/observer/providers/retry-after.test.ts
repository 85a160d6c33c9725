import { describe, expect, test } from 'vitest'
import { retryAfterMs } from '../../../src/observer/providers/retry-after.ts'

const NOW = Date.parse('2026-11-12T08:00:00Z')
const wait = (headers: Record<string, string>, text = '', status = 429) =>
  retryAfterMs({ status, headers: new Headers(headers), text }, NOW)

describe('retry-after', () => {
  test.each<[Record<string, string>, number | null]>([
    [{}, null],
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': '0' }, null],
    [{ 'retry-after': '-3' }, null],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '86400' }, 3_600_000],
    [{ 'retry-after': '9'.repeat(400) }, 3_600_000],
    [{ 'retry-after': 'Thu, 12 Nov 2026 08:01:00 GMT' }, 60_000],
    [{ 'retry-after': 'Thu, 12 Nov 2026 07:00:00 GMT' }, null],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'x-ratelimit-reset': String(NOW + 5_000) }, 5_000],
    [{ 'x-ratelimit-reset': String(NOW / 1_000 + 5) }, 5_000],
    [{ 'x-ratelimit-reset': '5' }, 5_000],
    [{ 'x-ratelimit-reset-requests': '20ms', 'x-ratelimit-reset-tokens': '6m0s' }, 360_000],
    [{ 'x-ratelimit-reset-tokens': '2m59.56s' }, 179_560],
    [{ 'x-ratelimit-reset-tokens': 'm' }, null],
  ])('%o waits %s ms', (headers, expected) => {
    expect(wait(headers)).toBe(expected)
  })

  test('a rate limit reset counts only with status 429', () => {
    expect(wait({ 'x-ratelimit-reset': '5' }, '', 500)).toBeNull()
  })

  test('the wait of Gemini and OpenRouter is in the body', () => {
    const retryInfo = {
      error: { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '17s' }] },
    }
    expect(wait({}, JSON.stringify(retryInfo))).toBe(17_000)
    expect(wait({}, '{"retryDelay": "38.4s"}')).toBe(38_400)
    const metadata = { headers: { 'X-RateLimit-Reset': String(NOW + 2_000) } }
    expect(wait({}, JSON.stringify({ error: { metadata } }))).toBe(2_000)
  })
})
