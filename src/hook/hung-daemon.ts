/**
 * A daemon that listens and does not answer costs every hook its whole timeout. The first one that waited in vain leaves a
 * mark, and for a while the others spool at once. A daemon that runs removes the mark right before it reads the spool.
 */
import { statSync, writeFileSync } from 'node:fs'
import type { Paths } from '../lib/paths.ts'

/** How long the mark counts, in ms: then one hook tries again. */
const MARK_MS = 10_000

export function isKnownToHang({ hung }: Paths): boolean {
  try {
    const stat = statSync(hung, { throwIfNoEntry: false })
    // One from the future is of before the clock was set back.
    return stat !== undefined && Math.abs(Date.now() - stat.mtimeMs) < MARK_MS
  } catch {
    return false
  }
}

export function recordHang({ hung }: Paths): void {
  try {
    writeFileSync(hung, '', { mode: 0o600 })
  } catch {
    // The next hook waits, too.
  }
}
