/** Waiting for a condition that no event announces. */
import { setTimeout as sleep } from 'node:timers/promises'

/** Longer than anything takes on a busy machine with two cores. */
const DEFAULT_TIMEOUT_MS = 20_000
const POLL_MS = 20

/** Polls until the condition holds; fails with `what` in its message after the timeout. */
export async function waitUntil(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = DEFAULT_TIMEOUT_MS,
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`timeout after ${timeoutMs / 1000} s: ${what}`)
    await sleep(POLL_MS)
  }
}
