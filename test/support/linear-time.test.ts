import { expect, test } from 'vitest'
import { expectLinearTime } from './linear-time.ts'

test('quadratic work fails the check, linear work passes', () => {
  const steps = (count: number) => {
    let sum = 0
    for (let step = 0; step < count; step++) sum = (sum + step) % 1_000_003
    return sum
  }
  expect(() => expectLinearTime((size) => steps(size * size), 2_000)).toThrow(/less than/)
  expectLinearTime((size) => steps(size), 4_000_000)
})
