/** The state machine of a session: the active state is highlighted, the arrows that were just taken are animated. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Chart, type ChartEdge, isWithin, type TransitionStep, transitionSteps } from '../../statechart/chart.ts'
import type { ChartLayout, ChartPoint, ChartRoute, StateBox } from '../../statechart/layout.ts'
import { stateLabel } from '../safe-text.ts'
import { Table } from './basics.tsx'

/** Computed by scripts/build.mjs. */
declare const __SESSION_STATECHART__: string

const { chart, layout }: { chart: Chart; layout: ChartLayout } = JSON.parse(__SESSION_STATECHART__)

interface StatechartProps extends PlaybackInput {
  /** What the chart is of, for screen readers. */
  label: string
  /** `large` adds a table of all arrows. */
  size: 'compact' | 'large'
  tone: 'accent' | 'warn' | 'bad' | 'rest'
  /** Shown beside a large chart. */
  children?: ComponentChildren
}

export function Statechart({ label, size, tone, children, ...playback }: StatechartProps) {
  const frame = usePlayback(playback)
  const [pointed, setPointed] = useState<string | null>(null)
  return (
    <div class={`statechart ${size} ${tone}`} data-state={frame.state} data-testid="statechart">
      <svg
        viewBox={`0 0 ${layout.width} ${layout.height}`}
        role="img"
        aria-label={`${label}: ${stateLabel(frame.state)}`}
      >
        {layout.boxes.map((box) => (
          <State key={box.id} box={box} active={isWithin(frame.state, box.id)} />
        ))}
        {layout.routes.map((route) => (
          <Arrow key={routeKey(route)} route={route} pointed={pointed === routeKey(route)} onPoint={setPointed} />
        ))}
        <LastStep frame={frame} />
      </svg>
      {size === 'large' ? (
        <div class="machine-side stack">
          {children}
          <ArrowTable pointed={pointed} onPoint={setPointed} />
        </div>
      ) : null}
    </div>
  )
}

function State({ box, active }: { box: StateBox; active: boolean }) {
  const { x, y, width, height, compound } = box
  return (
    <g class={compound ? 'machine-state compound' : 'machine-state'} data-id={box.id} data-active={active}>
      <rect x={x} y={y} width={width} height={height} rx={compound ? 12 : 9} />
      {box.final ? <rect x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx={6} /> : null}
      {compound ? (
        <text x={x + 12} y={y + 17}>
          {box.name}
        </text>
      ) : (
        <text x={x + width / 2} y={y + height / 2} class="middle">
          {box.name}
        </text>
      )}
    </g>
  )
}

interface PointProps {
  /** Null: the pointer left the arrow. */
  onPoint(route: string | null): void
}

function Arrow({ route, pointed, onPoint }: PointProps & { route: ChartRoute; pointed: boolean }) {
  const path = roundedPath(route.points)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the same information is in the table below
    <g
      class={pointed ? 'machine-arrow pointed' : 'machine-arrow'}
      onMouseEnter={() => onPoint(routeKey(route))}
      onMouseLeave={() => onPoint(null)}
    >
      <title>{`${routeLabel(route)}\n${conditions(route).join('\n')}`}</title>
      <path class="machine-hit" d={path} />
      <path class="machine-line" d={path} />
      <path class="machine-head" d={arrowHead(route.points)} />
    </g>
  )
}

/** Width of a capital letter of the label, in px. */
const LETTER_PX = 7.8

/** Animates the newest step: along its arrow, or around the state when no arrow was taken. */
function LastStep({ frame: { edge, step, state, event } }: { frame: PlaybackFrame }) {
  if (step === 0) return null
  const route = layout.routes.find(({ from, to }) => from === edge?.from && to === edge.to)
  if (route === undefined) {
    const box = layout.boxes.find(({ id }) => id === state)
    if (box === undefined) return null
    return <rect key={step} class="machine-pulse" x={box.x} y={box.y} width={box.width} height={box.height} rx={9} />
  }
  const label = stepLabel(route, event)
  const width = label.length * LETTER_PX + 14
  const { x, y } = labelPosition(route.points, width)
  return (
    <g key={step} class="machine-glow">
      <path class="machine-glow-line" d={roundedPath(route.points)} pathLength={1} />
      <path class="machine-glow-head" d={arrowHead(route.points)} />
      <rect class="machine-glow-head" x={x} y={y - 10} width={width} height={20} rx={10} />
      <text x={x + width / 2} y={y} class="machine-glow-text middle">
        {label}
      </text>
    </g>
  )
}

/** All arrows as text, for keyboards and screen readers. */
function ArrowTable({ pointed, onPoint }: PointProps & { pointed: string | null }) {
  const route = layout.routes.find((one) => routeKey(one) === pointed)
  return (
    <div class="machine-text small">
      <p class="machine-caption soft" aria-live="off">
        {route === undefined ? (
          'Point at an arrow to see when it is taken.'
        ) : (
          <>
            <b>{routeLabel(route)}</b> {conditions(route).join('; ')}
          </>
        )}
      </p>
      <details>
        <summary class="soft">All arrows as a table</summary>
        <div class="machine-table">
          <Table columns={['From → to', 'When']}>
            <tbody>
              {layout.routes.map((one) => (
                <tr key={routeKey(one)} onMouseEnter={() => onPoint(routeKey(one))} onMouseLeave={() => onPoint(null)}>
                  <th scope="row">
                    <button
                      type="button"
                      class="plain"
                      onFocus={() => onPoint(routeKey(one))}
                      onBlur={() => onPoint(null)}
                    >
                      {routeLabel(one)}
                    </button>
                  </th>
                  <td>{conditions(one).join('; ')}</td>
                </tr>
              ))}
            </tbody>
          </Table>
        </div>
        {chart.everywhere.length === 0 ? null : (
          <p class="soft">Handled in every state without leaving it: {chart.everywhere.join(', ')}.</p>
        )}
      </details>
    </div>
  )
}

const routeKey = ({ from, to }: Pick<ChartRoute, 'from' | 'to'>) => `${from}>${to}`
const routeLabel = ({ from, to }: Pick<ChartRoute, 'from' | 'to'>) => `${stateLabel(from)} → ${stateLabel(to)}`

/** Event and guard of each transition of an arrow. */
function conditions({ edges }: ChartRoute): string[] {
  return edges.map(({ event, guard }) =>
    [event === '' ? [] : [`on ${event}`], guard === null ? [] : [`when ${guard}`]].flat().join(' '),
  )
}

/** An eventless transition is labelled with its guard. */
function stepLabel({ edges }: ChartRoute, event: string): string {
  if (edges.some((edge) => edge.event === event)) return event
  return edges.find((edge) => edge.event === '')?.guard ?? event
}

/** Radius of the corners of an arrow, in px. */
const CORNER_PX = 6
const HEAD_PX = 7

function roundedPath(points: readonly ChartPoint[]): string {
  return points
    .map((point, i) => {
      const [before, after] = [points[i - 1], points[i + 1]]
      if (before === undefined) return `M${point.x} ${point.y}`
      if (after === undefined) return `L${point.x} ${point.y}`
      const [from, to] = [towards(point, before, CORNER_PX), towards(point, after, CORNER_PX)]
      return `L${from.x} ${from.y}Q${point.x} ${point.y} ${to.x} ${to.y}`
    })
    .join('')
}

function arrowHead(points: readonly ChartPoint[]): string {
  const [before, end] = points.slice(-2)
  if (before === undefined || end === undefined) return ''
  const base = towards(end, before, HEAD_PX)
  const across = { x: (base.y - end.y) / 2, y: (end.x - base.x) / 2 }
  return `M${end.x} ${end.y}L${base.x + across.x} ${base.y + across.y}L${base.x - across.x} ${base.y - across.y}Z`
}

/** `distance` px from one point towards another, at most half the way. */
function towards(from: ChartPoint, to: ChartPoint, distance: number): ChartPoint {
  const length = Math.hypot(to.x - from.x, to.y - from.y)
  const share = length === 0 ? 0 : Math.min(distance, length / 2) / length
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share }
}

/** Half the height of a label, in px. */
const LABEL_HALF_PX = 10

/** Left edge and middle of a label beside an arrow, at the candidate position that covers the least of any state's name. */
function labelPosition(points: readonly ChartPoint[], width: number): ChartPoint {
  const { from, to } = longestSegment(points)
  const [left, right] = [Math.min(from.x, to.x), Math.max(from.x, to.x)]
  const y = (from.y + to.y) / 2
  const centred = (left + right - width) / 2
  const candidates = [
    { x: centred, y },
    { x: centred, y: y - 2 * LABEL_HALF_PX },
    { x: centred, y: y + 2 * LABEL_HALF_PX },
    { x: left - width - 2, y },
    { x: right + 2, y },
  ].map((at) => ({
    x: Math.max(2, Math.min(layout.width - width - 2, at.x)),
    y: Math.max(LABEL_HALF_PX + 2, at.y),
  }))
  const covered = candidates.map((at) => layout.boxes.reduce((sum, box) => sum + coveredName(at, width, box), 0))
  return candidates[covered.indexOf(Math.min(...covered))] ?? { x: centred, y }
}

/** How much of a state's name a label covers, in square px. */
function coveredName(label: ChartPoint, labelWidth: number, { x, y, width, height, name, compound }: StateBox): number {
  const nameWidth = name.length * LETTER_PX
  const left = compound ? x + 12 : x + (width - nameWidth) / 2
  const top = compound ? y + 6 : y + height / 2 - 8
  const across = Math.min(label.x + labelWidth, left + nameWidth) - Math.max(label.x, left)
  const down = Math.min(label.y + LABEL_HALF_PX, top + 16) - Math.max(label.y - LABEL_HALF_PX, top)
  return Math.max(0, across) * Math.max(0, down)
}

function longestSegment(points: readonly ChartPoint[]): { from: ChartPoint; to: ChartPoint } {
  const segments = points.slice(1).map((to, i) => ({ from: points[i] ?? to, to }))
  const length = ({ from, to }: { from: ChartPoint; to: ChartPoint }) => Math.hypot(to.x - from.x, to.y - from.y)
  const start = points[0] ?? { x: 0, y: 0 }
  return segments.reduce((best, one) => (length(one) > length(best) ? one : best), { from: start, to: start })
}

/** Time between two steps of the animation, in ms: people can follow about three a second. */
const STEP_MS = 350
/** Longest queue of steps: older ones are skipped. */
const MAX_STEPS = 8
/** Transitions older than this when the chart is mounted are not animated, in ms. */
const RECENT_MS = 3_000

interface PlaybackInput {
  /** The current state. */
  state: string
  /** The last transitions, oldest first. */
  transitions: readonly { at: number; from: string; to: string; event: string }[]
  /** How many transitions arrived since the page was loaded. */
  heard: number
}

interface PlaybackFrame {
  state: string
  edge: Pick<ChartEdge, 'from' | 'to'> | null
  event: string
  /** Increases with each step, so that the same step twice restarts the animation. */
  step: number
}

const NO_STEP = { edge: null, event: '', step: 0 } as const

/** Plays transitions one after the other at a speed that people can follow. */
function usePlayback({ state, transitions, heard }: PlaybackInput): PlaybackFrame {
  const [frame, setFrame] = useState<PlaybackFrame>(() => {
    const first = isAnimated() ? recentTransitions(transitions, heard)[0] : undefined
    return { state: first?.from ?? state, ...NO_STEP }
  })
  const queue = useRef<TransitionStep[]>([])
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const played = useRef<number | null>(null)
  useEffect(() => {
    const isFirst = played.current === null
    const fresh = isFirst
      ? recentTransitions(transitions, heard)
      : lastItems(transitions, heard - (played.current ?? 0))
    played.current = heard
    if (fresh.length === 0 || !isAnimated()) {
      clearTimeout(timer.current)
      timer.current = undefined
      queue.current = []
      setFrame((before) => (before.state === state ? before : { state, ...NO_STEP }))
      return
    }
    const steps = fresh.flatMap((transition) => transitionSteps(chart, transition))
    queue.current = withoutRepeats([...queue.current, ...steps]).slice(-MAX_STEPS)
    const playNext = () => {
      const step = queue.current.shift()
      timer.current = step === undefined ? undefined : setTimeout(playNext, STEP_MS)
      if (step !== undefined) setFrame((before) => ({ ...step, step: before.step + 1 }))
    }
    // A new session is first shown in its initial state.
    if (isFirst) timer.current = setTimeout(playNext, STEP_MS)
    else if (timer.current === undefined) playNext()
  }, [heard, state])
  useEffect(() => () => clearTimeout(timer.current), [])
  return frame
}

function recentTransitions(transitions: PlaybackInput['transitions'], heard: number): PlaybackInput['transitions'] {
  const since = Date.now() - RECENT_MS
  return lastItems(transitions, heard).filter(({ at }) => at > since)
}

function lastItems<T>(items: readonly T[], count: number): readonly T[] {
  return count > 0 ? items.slice(-count) : []
}

/** Consecutive events that do not change the state are one step. */
function withoutRepeats(steps: readonly TransitionStep[]): TransitionStep[] {
  return steps.filter(({ state, edge }, i) => edge !== null || i === 0 || steps[i - 1]?.state !== state)
}

function isAnimated(): boolean {
  return document.visibilityState === 'visible' && !matchMedia('(prefers-reduced-motion: reduce)').matches
}
