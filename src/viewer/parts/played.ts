/** Transitions one after the other, slowly enough for an eye to follow, however quickly they came. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Chart, ChartEdge } from '../../chart/chart.ts'
import { type Step, stepsOf } from '../../chart/way.ts'

/** An eye follows about three a second, in ms. */
const STEP_MS = 350
/** More are not watched: the oldest are left out. */
const MOST_STEPS = 8
/** What happened before somebody came to look is not played, in ms. */
const RECENT_MS = 3_000

export interface Played {
  /** What is to be shown; the last transition counts as often as it was heard of. */
  state: string
  transitions: readonly { at: number; from: string; to: string; event: string }[]
  heard: number
}

export interface Shown {
  state: string
  edge: Pick<ChartEdge, 'from' | 'to'> | null
  event: string
  /** Another number for each step: what is the same again is seen again. */
  step: number
}

export function usePlayed(chart: Chart, { state, transitions, heard }: Played): Shown {
  const [shown, show] = useState<Shown>(() => ({ state: firstOf(transitions, heard) ?? state, ...STILL }))
  const queue = useRef<Step[]>([])
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const known = useRef<number | null>(null)
  useEffect(() => {
    const fresh = known.current === null ? recent(transitions, heard) : lastOf(transitions, heard - known.current)
    const isFirst = known.current === null
    known.current = heard
    if (fresh.length === 0 || !isWatched()) {
      clearTimeout(timer.current)
      timer.current = undefined
      queue.current = []
      show((before) => (before.state === state ? before : { state, ...STILL }))
      return
    }
    const steps = fresh.flatMap((transition) => stepsOf(chart, transition))
    queue.current = withoutRepeats([...queue.current, ...steps]).slice(-MOST_STEPS)
    const next = () => {
      const step = queue.current.shift()
      timer.current = step === undefined ? undefined : setTimeout(next, STEP_MS)
      if (step !== undefined) show((before) => ({ ...step, step: before.step + 1 }))
    }
    // A session that has just begun is seen in its first state before it leaves it.
    if (isFirst) timer.current = setTimeout(next, STEP_MS)
    else if (timer.current === undefined) next()
  }, [heard, state, chart])
  useEffect(() => () => clearTimeout(timer.current), [])
  return shown
}

const STILL = { edge: null, event: '', step: 0 } as const

function firstOf(transitions: Played['transitions'], heard: number): string | undefined {
  return isWatched() ? recent(transitions, heard)[0]?.from : undefined
}

function recent(transitions: Played['transitions'], heard: number): Played['transitions'] {
  const since = Date.now() - RECENT_MS
  return lastOf(transitions, heard).filter(({ at }) => at > since)
}

function lastOf<T>(items: readonly T[], count: number): readonly T[] {
  return count > 0 ? items.slice(-count) : []
}

/** Ten messages that leave everything where it is are one beat. */
function withoutRepeats(steps: readonly Step[]): Step[] {
  return steps.filter(({ state, edge }, i) => edge !== null || i === 0 || steps[i - 1]?.state !== state)
}

function isWatched(): boolean {
  return document.visibilityState === 'visible' && !matchMedia('(prefers-reduced-motion: reduce)').matches
}
