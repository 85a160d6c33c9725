/** The statistics of the soak (`npm run bench -- soak`): a leak is found, noise and restarts are not called one. */
import { describe, expect, test } from 'vitest'
import { Random } from '../scripts/lib/random.ts'
import { isFlat, type Point, slopeOf } from '../scripts/soak/slopes.ts'

const SAMPLES_PER_HOUR = 1_200
const BOUND = 12

/** Samples of one life: a level, a growth, and noise whose neighbours resemble each other like those of memory. */
function life(random: Random, { from, minutes, level, perHour = 0, noise = 6, memory = 0.8 }: Life): Point[] {
  let deviation = 0
  return Array.from({ length: Math.round((minutes / 60) * SAMPLES_PER_HOUR) }, (_, i) => {
    const hours = from + i / SAMPLES_PER_HOUR
    deviation = memory * deviation + Math.sqrt(1 - memory * memory) * noise * (random.next() * 2 - 1) * Math.sqrt(3)
    return { hours, value: level + perHour * (hours - from) + deviation }
  })
}

interface Life {
  from: number
  minutes: number
  level: number
  perHour?: number
  noise?: number
  memory?: number
}

/** Six lives of eight minutes within an hour, each at a level of its own. */
function lives(random: Random, perHour: number): Point[][] {
  return Array.from({ length: 6 }, (_, i) =>
    life(random, { from: i / 6, minutes: 8, level: random.between(120, 160), perHour }),
  )
}

describe('slopes of a soak', () => {
  test('a straight line has its slope, and no error', () => {
    const { perHour, error } = slopeOf([life(new Random(1), { from: 0, minutes: 10, level: 5, perHour: 30, noise: 0 })])
    expect(perHour).toBeCloseTo(30, 6)
    expect(error).toBeCloseTo(0, 6)
  })

  test('a restart that changes the level is not a slope', () => {
    const steps = [100, 150, 200].map((level, i) => life(new Random(2), { from: i, minutes: 30, level, noise: 0 }))
    expect(slopeOf(steps).perHour).toBeCloseTo(0, 6)
  })

  test('a slope that is a leak is found in every run', () => {
    for (let seed = 1; seed <= 100; seed++) {
      expect(isFlat(slopeOf(lives(new Random(seed), 120)), BOUND), `seed ${seed}`).toBe(false)
    }
  })

  test('noise with neighbours that resemble each other is hardly ever called a leak', () => {
    const alarms = Array.from({ length: 200 }, (_, seed) => isFlat(slopeOf(lives(new Random(seed), 0)), BOUND)).filter(
      (flat) => !flat,
    ).length
    expect(alarms).toBeLessThanOrEqual(4)
  })

  test('too few samples are not called flat', () => {
    expect(isFlat(slopeOf([]), BOUND)).toBe(false)
    expect(isFlat(slopeOf([[{ hours: 0, value: 1 }]]), BOUND)).toBe(false)
  })
})
