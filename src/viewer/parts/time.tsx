/** A moment, told from now, exact when somebody points at it. */
import { useEffect } from 'preact/hooks'
import { Cell, useCell } from '../cell.ts'
import { ago, exactTime } from '../times.ts'

/** Often enough for "2 min ago" to be true, in ms. */
const STEP_MS = 10_000
export const now = new Cell(Date.now())
let watchers = 0
let timer: ReturnType<typeof setInterval> | undefined

export function useNow(): number {
  useEffect(() => {
    watchers += 1
    if (watchers === 1) timer = setInterval(() => now.set(Date.now()), STEP_MS)
    return () => {
      watchers -= 1
      if (watchers === 0) clearInterval(timer)
    }
  }, [])
  return useCell(now)
}

export function Ago({ at }: { at: number }) {
  const current = Math.max(useNow(), at)
  return (
    <time dateTime={new Date(at).toISOString()} title={exactTime(at)}>
      {ago(at, current)}
    </time>
  )
}
