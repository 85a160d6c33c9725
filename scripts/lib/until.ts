import { setTimeout as sleep } from 'node:timers/promises'

/** Looks again and again; false when time is up. For what no event tells. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  limitMs: number,
  everyMs = 10,
): Promise<boolean> {
  const deadline = performance.now() + limitMs
  for (;;) {
    if (await condition()) return true
    if (performance.now() > deadline) return false
    await sleep(everyMs)
  }
}
