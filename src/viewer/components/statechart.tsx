/** The state machine of a session, with its current state and the arrow that was taken last. */
import { isWithin } from '../../statechart/chart.ts'
import type { ChartLayout, ChartPoint, ChartRoute, StateBox } from '../../statechart/layout.ts'
import { stateLabel } from '../safe-text.ts'

/** Computed by scripts/build.mjs. */
declare const __SESSION_STATECHART__: string

const layout: ChartLayout = JSON.parse(__SESSION_STATECHART__)

interface StatechartProps {
  state: string
  /** The last transition; undefined where none is known. */
  last: { from: string; to: string } | undefined
}

export function Statechart({ state, last }: StatechartProps) {
  return (
    <svg
      class="statechart"
      viewBox={`0 0 ${layout.width} ${layout.height}`}
      role="img"
      aria-label={`State: ${stateLabel(state)}`}
      data-state={state}
      data-testid="statechart"
    >
      {layout.boxes.map((box) => (
        <State key={box.id} box={box} active={isWithin(state, box.id)} />
      ))}
      {layout.routes.map((route) => (
        <Arrow
          key={`${route.from}>${route.to}`}
          route={route}
          taken={last !== undefined && last.from !== last.to && isTaken(route, last)}
        />
      ))}
    </svg>
  )
}

/** An arrow may start or end at the state around the recorded one. */
function isTaken({ from, to }: ChartRoute, last: { from: string; to: string }): boolean {
  return isWithin(last.from, from) && isWithin(last.to, to)
}

function State({ box, active }: { box: StateBox; active: boolean }) {
  const { x, y, width, height, compound } = box
  return (
    <g class={compound ? 'state compound' : 'state'} data-active={active}>
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

function Arrow({ route, taken }: { route: ChartRoute; taken: boolean }) {
  const conditions = route.edges.map(({ event, guard }) =>
    [...(event === '' ? [] : [`on ${event}`]), ...(guard === null ? [] : [`when ${guard}`])].join(' '),
  )
  return (
    <g class={taken ? 'arrow taken' : 'arrow'}>
      <title>{`${stateLabel(route.from)} → ${stateLabel(route.to)}\n${conditions.join('\n')}`}</title>
      <path class="line" d={roundedPath(route.points)} />
      <path class="head" d={arrowHead(route.points)} />
    </g>
  )
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
