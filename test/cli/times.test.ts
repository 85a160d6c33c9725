import { describe, expect, it } from 'vitest'
import { ago, bytes, clockTime, due, duration } from '../../src/cli/times.ts'

const NOW = new Date(2026, 4, 17, 12, 0, 0).getTime()

describe('times for people', () => {
  it('say how long something takes', () => {
    expect(duration(400)).toBe('400 ms')
    expect(duration(59_999)).toBe('59 s')
    expect(duration(65_000)).toBe('1 min')
    expect(duration(2 * 3_600_000 + 5 * 60_000)).toBe('2 h 5 min')
    expect(duration(3 * 86_400_000)).toBe('3 d')
  })

  it('say how long ago or how soon', () => {
    expect(ago(NOW - 300, NOW)).toBe('now')
    expect(ago(NOW - 90_000, NOW)).toBe('1 min ago')
    expect(ago(NOW + 5_000, NOW)).toBe('in 5 s')
    expect(due(NOW + 120_000, NOW)).toBe('in 2 min')
    expect(due(NOW - 3_000, NOW)).toBe('3 s overdue')
  })

  it('name the day when it is not today', () => {
    expect(clockTime(NOW - 1_000, NOW)).toBe('11:59:59')
    expect(clockTime(NOW - 86_400_000, NOW)).toBe('2026-05-16 12:00:00')
  })

  it('round sizes', () => {
    expect([0, 1023, 1536, 20 * 1024, 5 * 1024 ** 2, 3 * 1024 ** 3].map(bytes)).toEqual([
      '0 B',
      '1023 B',
      '1.5 KB',
      '20 KB',
      '5.0 MB',
      '3.0 GB',
    ])
  })
})
