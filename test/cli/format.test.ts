import { describe, expect, it } from 'vitest'
import { formatAgo, formatClockTime, formatDue, formatDuration } from '../../src/cli/format.ts'
import { formatBytes } from '../../src/lib/format.ts'

const NOW = new Date(2026, 4, 17, 12, 0, 0).getTime()

describe('format', () => {
  it('durations', () => {
    expect(formatDuration(400)).toBe('400 ms')
    expect(formatDuration(59_999)).toBe('59 s')
    expect(formatDuration(65_000)).toBe('1 min')
    expect(formatDuration(2 * 3_600_000 + 5 * 60_000)).toBe('2 h 5 min')
    expect(formatDuration(3 * 86_400_000)).toBe('3 d')
  })

  it('relative times in the past and the future', () => {
    expect(formatAgo(NOW - 300, NOW)).toBe('now')
    expect(formatAgo(NOW - 90_000, NOW)).toBe('1 min ago')
    expect(formatAgo(NOW + 5_000, NOW)).toBe('in 5 s')
    expect(formatDue(NOW + 120_000, NOW)).toBe('in 2 min')
    expect(formatDue(NOW - 3_000, NOW)).toBe('3 s overdue')
  })

  it('clock times with the date unless it is today', () => {
    expect(formatClockTime(NOW - 1_000, NOW)).toBe('11:59:59')
    expect(formatClockTime(NOW - 86_400_000, NOW)).toBe('2026-05-16 12:00:00')
  })

  it('sizes in bytes', () => {
    expect([0, 1023, 1536, 20 * 1024, 5 * 1024 ** 2, 3 * 1024 ** 3].map(formatBytes)).toEqual([
      '0 B',
      '1023 B',
      '1.5 KB',
      '20 KB',
      '5.0 MB',
      '3.0 GB',
    ])
  })
})
