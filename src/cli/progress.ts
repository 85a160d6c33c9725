/** Progress bars, and the part of a progress line that all commands share. */
import { formatDuration } from './format.ts'
import { padEnd } from './text.ts'

/** Block characters by eighths of a column. */
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']
const PROGRESS_COLUMNS = 24

/** `part` of `whole` in at most `columns` columns. Anything above zero is at least one eighth of a column. */
export function drawBar(part: number, whole: number, columns: number): string {
  if (!(part > 0) || !(whole > 0) || columns <= 0) return ''
  const eighths = Math.max(1, Math.round(Math.min(1, part / whole) * columns * 8))
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]
}

/** A bar of fixed width between two edges. */
export function progressBar(done: number, total: number): string {
  return `▕${padEnd(drawBar(done, total, PROGRESS_COLUMNS), PROGRESS_COLUMNS)}▏`
}

/** `, 2 min left`, or nothing before the first step is done. */
export function remainingText(done: number, total: number, elapsedMs: number): string {
  return done > 0 ? `, ${formatDuration((elapsedMs * Math.max(0, total - done)) / done)} left` : ''
}

/** Calls `report` at most every `intervalMs`, with the time since the start; the first call is delayed, too. */
export function throttled<A extends unknown[]>(
  intervalMs: number,
  report: (elapsedMs: number, ...args: A) => void,
): (...args: A) => void {
  const startedAt = performance.now()
  let lastAt = startedAt
  return (...args) => {
    const now = performance.now()
    if (now - lastAt < intervalMs) return
    lastAt = now
    report(now - startedAt, ...args)
  }
}
