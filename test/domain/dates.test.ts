import { afterEach, describe, expect, test } from 'vitest'
import { parseMoment } from '../../src/domain/dates.ts'

const NOW = new Date(2026, 10, 16, 15, 30).getTime()
const HOUR = 3_600_000

describe('a moment', () => {
  test.each([
    ['12h', NOW - 12 * HOUR],
    ['7d', NOW - 7 * 24 * HOUR],
    ['2w', NOW - 14 * 24 * HOUR],
    ['today', new Date(2026, 10, 16).getTime()],
    ['Yesterday', new Date(2026, 10, 15).getTime()],
    ['2026-11-01', new Date(2026, 10, 1).getTime()],
    ['2024-02-29', new Date(2024, 1, 29).getTime()],
    ['2026-11-01T14:30', new Date(2026, 10, 1, 14, 30).getTime()],
    ['2026-11-01 14:30:05', new Date(2026, 10, 1, 14, 30, 5).getTime()],
    ['2026-11-01T14:30Z', Date.UTC(2026, 10, 1, 14, 30)],
    ['2026-11-01T14:30:00+02:00', Date.UTC(2026, 10, 1, 12, 30)],
    ['1794312000000', 1_794_312_000_000],
  ])('%s is understood', (text, at) => expect(parseMoment(text, 'start', NOW)).toBe(at))

  test.each([
    '',
    ' ',
    'soon',
    '7',
    '7m',
    '-7d',
    '7.5d',
    '999999d',
    '2026',
    '2026-11',
    '2026-13-01',
    '2026-02-30',
    '2025-02-29',
    '11/01/2026',
    '2026-11-01T25:00',
    '2026-11-01T14',
    '2026-02-30T10:00',
    "2026-11-01'; --",
    'x'.repeat(10_000),
  ])('%j is not', (text) => expect(parseMoment(text, 'start', NOW)).toBeNull())
})

describe('the end of a day', () => {
  const zone = process.env.TZ
  afterEach(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })

  test('is its last moment', () => {
    expect(parseMoment('2026-11-01', 'end', NOW)).toBe(new Date(2026, 10, 2).getTime() - 1)
    expect(parseMoment('today', 'end', NOW)).toBe(new Date(2026, 10, 17).getTime() - 1)
    expect(parseMoment('2026-11-01T14:30', 'end', NOW)).toBe(new Date(2026, 10, 1, 14, 30).getTime())
  })

  test('comes after 23 or 25 hours where clocks change', () => {
    process.env.TZ = 'Europe/Berlin'
    const hours = (day: string) =>
      ((parseMoment(day, 'end', NOW) ?? 0) + 1 - (parseMoment(day, 'start', NOW) ?? 0)) / HOUR
    expect([hours('2026-03-29'), hours('2026-10-25'), hours('2026-11-16')]).toEqual([23, 25, 24])
  })
})
