/** A machine as it stands: laid out from its chart, the active state lit, the arrow that was just taken glowing. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type Chart, isWithin } from '../../chart/chart.ts'
import { type Layout, layout, type Route } from '../../chart/layout.ts'
import { headOf, labelAt, pathOf } from './arrow-path.ts'
import { type Played, type Shown, usePlayed } from './played.ts'
import { inWords } from './safe-text.ts'
import './statechart.css'

interface StatechartProps extends Played {
  chart: Chart
  /** Whose it is. */
  of: string
  /** `large` tells its arrows in words too. */
  size: 'compact' | 'large'
  tone?: 'live' | 'warn' | 'bad' | 'rest'
  /** Beside a large one. */
  children?: ComponentChildren
}

/** A capital letter of a label, in px. */
const LETTER = 7.8

const layouts = new WeakMap<Chart, Layout>()

export function Statechart({ chart, of, size, tone = 'live', children, ...played }: StatechartProps) {
  const shown = usePlayed(chart, played)
  const [told, tell] = useState<string | null>(null)
  const drawn = layoutOf(chart)
  return (
    <div class={`statechart ${size} tone-${tone}`} data-state={shown.state} data-testid="statechart">
      <svg viewBox={`0 0 ${drawn.width} ${drawn.height}`} role="img" aria-label={`${of}: ${inWords(shown.state)}`}>
        {drawn.boxes.map((box) => (
          <g
            key={box.id}
            class={box.compound ? 'machine-state compound' : 'machine-state'}
            data-id={box.id}
            data-active={isWithin(shown.state, box.id)}
          >
            <rect x={box.x} y={box.y} width={box.width} height={box.height} rx={box.compound ? 12 : 9} />
            {box.final ? (
              <rect x={box.x + 3} y={box.y + 3} width={box.width - 6} height={box.height - 6} rx={6} />
            ) : null}
            {box.compound ? (
              <text x={box.x + 12} y={box.y + 17}>
                {box.name}
              </text>
            ) : (
              <text x={box.x + box.width / 2} y={box.y + box.height / 2} class="middle">
                {box.name}
              </text>
            )}
          </g>
        ))}
        {drawn.routes.map((route) => (
          <Arrow key={keyOf(route)} route={route} told={told === keyOf(route)} tell={tell} />
        ))}
        <Glow drawn={drawn} shown={shown} />
      </svg>
      {size === 'large' ? (
        <div class="machine-beside">
          {children}
          <Ways chart={chart} drawn={drawn} told={told} tell={tell} />
        </div>
      ) : null}
    </div>
  )
}

interface Telling {
  tell(route: string | null): void
}

function Arrow({ route, told, tell }: Telling & { route: Route; told: boolean }) {
  const path = pathOf(route.points)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: those who do not point read the same in the table below
    <g
      class={told ? 'machine-arrow told' : 'machine-arrow'}
      onMouseEnter={() => tell(keyOf(route))}
      onMouseLeave={() => tell(null)}
    >
      <title>{`${inWords(route.from)} → ${inWords(route.to)}\n${reasons(route).join('\n')}`}</title>
      <path class="machine-reach" d={path} />
      <path class="machine-line" d={path} />
      <path class="machine-head" d={headOf(route.points)} />
    </g>
  )
}

/** What was just taken: it runs along the arrow and fades. */
function Glow({ drawn, shown }: { drawn: Layout; shown: Shown }) {
  const { edge, step } = shown
  if (step === 0) return null
  const route = edge === null ? undefined : drawn.routes.find(({ from, to }) => from === edge.from && to === edge.to)
  if (route === undefined) {
    const box = drawn.boxes.find(({ id }) => id === shown.state)
    if (box === undefined) return null
    return <rect key={step} class="machine-beat" x={box.x} y={box.y} width={box.width} height={box.height} rx={9} />
  }
  const label = labelOf(route, shown.event)
  const width = label.length * LETTER + 14
  const { x, y } = labelAt(route.points, drawn.boxes, width, drawn.width)
  return (
    <g key={step} class="machine-glow">
      <path class="machine-glow-line" d={pathOf(route.points)} pathLength={1} />
      <path class="machine-glow-head" d={headOf(route.points)} />
      <rect class="machine-glow-pill" x={x} y={y - 10} width={width} height={20} rx={10} />
      <text x={x + width / 2} y={y} class="machine-glow-text middle">
        {label}
      </text>
    </g>
  )
}

/** The arrows in words, for those who cannot point at them. */
function Ways({ chart, drawn, told, tell }: Telling & { chart: Chart; drawn: Layout; told: string | null }) {
  const pointed = drawn.routes.find((route) => keyOf(route) === told)
  return (
    <div class="machine-words">
      <p class="machine-caption" aria-live="off">
        {pointed === undefined ? (
          'Point at an arrow to see when it is taken.'
        ) : (
          <>
            <b>
              {inWords(pointed.from)} → {inWords(pointed.to)}
            </b>{' '}
            {reasons(pointed).join('; ')}
          </>
        )}
      </p>
      <details>
        <summary>All arrows as a table</summary>
        <div class="machine-table">
          <table>
            <thead>
              <tr>
                <th scope="col">From → to</th>
                <th scope="col">When</th>
              </tr>
            </thead>
            <tbody>
              {drawn.routes.map((route) => (
                <tr key={keyOf(route)}>
                  <th scope="row">
                    <button
                      type="button"
                      class="plain"
                      onFocus={() => tell(keyOf(route))}
                      onBlur={() => tell(null)}
                      onMouseEnter={() => tell(keyOf(route))}
                      onMouseLeave={() => tell(null)}
                    >
                      {inWords(route.from)} → {inWords(route.to)}
                    </button>
                  </th>
                  <td>{reasons(route).join('; ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {chart.everywhere.length === 0 ? null : (
          <p class="soft">Taken in every state without leaving it: {chart.everywhere.join(', ')}.</p>
        )}
      </details>
    </div>
  )
}

function layoutOf(chart: Chart): Layout {
  const known = layouts.get(chart)
  if (known !== undefined) return known
  const made = layout(chart)
  layouts.set(chart, made)
  return made
}

const keyOf = ({ from, to }: Pick<Route, 'from' | 'to'>) => `${from}>${to}`

function reasons({ edges }: Route): string[] {
  return edges.map(({ event, guard }) =>
    [event === '' ? '' : `on ${event}`, guard === null ? '' : `when ${guard}`].filter((word) => word !== '').join(' '),
  )
}

/** An arrow that is taken by itself is named by what made it so. */
function labelOf({ edges }: Route, event: string): string {
  if (edges.some((edge) => edge.event === event)) return event
  return edges.find((edge) => edge.event === '')?.guard ?? event
}
