/** Checks that work on hostile input takes linear time, by ratios within one run: no test asserts a time. */
import { expect } from 'vitest'

const FACTOR = 8
/** Linear work takes 8 times as long for 8 times the input, quadratic work 64 times. */
const MAX_RATIO = 28
/** Below this a measurement is noise: garbage collection, the compiler. In ms. */
const MIN_MS = 5
const RUNS = 3

/** CPU time of one run, the least of several: other processes on the machine do not count. */
function cpuMs(work: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let run = 0; run < RUNS; run++) {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1_000)
  }
  return best
}

/** `work` gets a size and an eight times larger one. The larger one must be big enough to take seconds if it were quadratic. */
export function expectLinearTime(work: (size: number) => unknown, size: number, name = 'growth'): void {
  const small = Math.max(
    MIN_MS,
    cpuMs(() => work(size)),
  )
  const large = cpuMs(() => work(size * FACTOR))
  expect(large / small, name).toBeLessThan(MAX_RATIO)
}

/** The same for work that waits for files. */
export async function expectLinearTimeWaiting(
  work: (size: number) => Promise<unknown>,
  size: number,
  name = 'growth',
): Promise<void> {
  const cpu = async (of: number): Promise<number> => {
    let best = Number.POSITIVE_INFINITY
    for (let run = 0; run < RUNS; run++) {
      const before = process.cpuUsage()
      await work(of)
      const { user, system } = process.cpuUsage(before)
      best = Math.min(best, (user + system) / 1_000)
    }
    return best
  }
  const small = Math.max(MIN_MS, await cpu(size))
  expect((await cpu(size * FACTOR)) / small, name).toBeLessThan(MAX_RATIO)
}
