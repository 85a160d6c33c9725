/** The state machine of a session, with its current state and the arrow that was taken last. */
import { isWithin } from '../../statechart/chart.ts'
import type { ChartLayout, ChartRoute, StateBox } from '../../statechart/layout.ts'
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
      <marker id="arrow-head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">
        <path d="M0 0L8 4L0 8Z" />
      </marker>
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
      <polyline points={route.points.map(({ x, y }) => `${x},${y}`).join(' ')} marker-end="url(#arrow-head)" />
    </g>
  )
}
