/**
 * Prints statecharts: as boxes on a terminal, as a table of transitions, and in formats for other programs. The layout
 * follows from the chart, so that a new state appears without a change here.
 */
import { stripColors } from '../../lib/format.ts'
import { type Chart, type ChartEdge, type ChartState, isWithin } from '../../statechart/chart.ts'
import { machineSource, mermaidDiagram } from '../../statechart/export.ts'
import { MACHINE_CHARTS, MACHINES, type MachineName } from '../../statechart/machine-charts.ts'
import type { Display, Paint } from '../style.ts'
import { indented, type TableCell, tableLines, wrapColumn } from '../table.ts'
import { displayWidth } from '../text.ts'

export type MachineFormat = 'mermaid' | 'json' | 'xstate'

export function machineText(name: MachineName, format: MachineFormat): string {
  switch (format) {
    case 'mermaid':
      return mermaidDiagram(MACHINE_CHARTS[name])
    case 'json':
      return JSON.stringify(machineOutput(name), null, 2)
    case 'xstate':
      return machineSource(MACHINES[name]).trimEnd()
  }
}

/** Regions of a machine run side by side; each has its chart. */
export function machineOutput(name: MachineName) {
  return { id: name, regions: MACHINE_CHARTS[name] }
}

export function machineLines(name: MachineName, display: Display): string[] {
  const hint = `For the Stately editor: claude-mem inspect --machine ${name} --format xstate`
  return [
    `${display.style.bold('Machine')} ${name}`,
    '',
    ...MACHINE_CHARTS[name].flatMap((chart) => [
      ...(chart.id === name ? [] : [`${display.style.bold('Region')} ${chart.id}`]),
      ...(canDrawChart(display) ? [...chartLines(chart, null, display), ''] : []),
      ...indented((narrow) => arrowLines(chart, narrow), display),
      '',
    ]),
    display.style.dim(hint),
  ]
}

/** Transitions from a state, one entry for each target. */
export function arrowsFrom(chart: Chart, state: string): { to: string; when: string }[] {
  return groupByTarget(chart.edges.filter(({ from, to }) => isWithin(state, from) && to !== from))
}

/** A table of all transitions: `observing → batching  when batch due`. */
export function arrowLines(chart: Chart, display: Display): string[] {
  const rows = chart.states.flatMap(({ id }) =>
    groupByTarget(chart.edges.filter(({ from }) => from === id)).map(({ to, when }): TableCell[] => [
      to === id ? { text: `${id} stays`, paint: display.style.dim } : `${id} → ${to}`,
      when,
    ]),
  )
  const everywhere: TableCell[][] =
    chart.everywhere.length === 0 ? [] : [['in every state', `on ${chart.everywhere.join(', ')}`]]
  return tableLines(['FROM → TO', wrapColumn('WHEN')], [...rows, ...everywhere], display)
}

function groupByTarget(edges: readonly ChartEdge[]): { to: string; when: string }[] {
  return [...new Set(edges.map(({ to }) => to))].map((to) => ({
    to,
    when: conditionText(edges.filter((edge) => edge.to === to)),
  }))
}

/** `on PROMPT, MESSAGE; on DEADLINE when session idle or inbox idle` */
function conditionText(edges: readonly ChartEdge[]): string {
  const unguarded = edges.filter(({ guard }) => guard === null).map(({ event }) => event)
  const guarded = edges.filter(({ guard }) => guard !== null)
  return [
    ...(unguarded.length === 0 ? [] : [`on ${unguarded.join(', ')}`]),
    ...[...new Set(guarded.map(({ event }) => event))].map((event) => {
      const guards = guarded.filter((edge) => edge.event === event).map(({ guard }) => guard)
      return `${event === '' ? '' : `on ${event} `}when ${guards.join(' or ')}`
    }),
  ].join('; ')
}

/** Width of a chart when the output is not a terminal. */
const DEFAULT_COLUMNS = 80
/** On a narrower terminal the boxes are stacked and say less than one line of text. */
const MIN_COLUMNS = 60
const INDENT = '  '
/** Columns between two boxes: an arrow if one leads to the other. */
const GAP = 3

const BORDERS = {
  plain: ['╭', '─', '╮', '│', '╰', '╯'],
  active: ['┏', '━', '┓', '┃', '┗', '┛'],
  final: ['╔', '═', '╗', '║', '╚', '╝'],
} as const
/** Marks the active state without colours. */
const ACTIVE_MARK = '●'

/** The active state, and the transition that led to it. */
interface ChartPosition {
  state: string
  last: { from: string; to: string } | null
}

interface Drawing {
  chart: Chart
  position: ChartPosition | null
  display: Display
}

interface Box {
  /** The state and its descendants. */
  ids: readonly string[]
  width: number
  /** With colours; each line is `width` columns wide. */
  lines: string[]
}

export function canDrawChart({ columns, ascii }: Display): boolean {
  return ascii !== true && (columns ?? DEFAULT_COLUMNS) >= MIN_COLUMNS
}

/** Boxes in the order of definition, as many in a row as fit, children inside their parent. */
export function chartLines(chart: Chart, position: ChartPosition | null, display: Display): string[] {
  const width = Math.min(display.columns ?? DEFAULT_COLUMNS, DEFAULT_COLUMNS) - INDENT.length
  return childLines({ chart, position, display }, null, width).map((line) => INDENT + line.trimEnd())
}

/** The states inside `parent`, as lines of equal width. */
function childLines(drawing: Drawing, parent: string | null, width: number): string[] {
  const states = drawing.chart.states.filter((state) => state.parent === parent)
  const boxes = states.map((state) => stateBox(drawing, state, width))
  const rows = balancedRows(boxes, width).map((row) => joinBoxes(drawing, row))
  const widest = Math.max(0, ...rows.map((row) => row.width))
  return rows.flatMap((row) => row.lines.map((line) => line + ' '.repeat(widest - row.width)))
}

function stateBox(drawing: Drawing, state: ChartState, width: number): Box {
  const ids = drawing.chart.states.map(({ id }) => id).filter((id) => isWithin(id, state.id))
  return ids.length > 1 ? parentBox(drawing, state, ids, width) : leafBox(drawing, state)
}

function leafBox({ position, display: { style } }: Drawing, { id, name, final }: ChartState): Box {
  const active = position?.state === id
  const [topLeft, flat, topRight, side, bottomLeft, bottomRight] =
    BORDERS[active ? 'active' : final ? 'final' : 'plain']
  const inner = Math.max(name.length, ACTIVE_MARK.length + 2) + 2
  const top = active ? `${flat} ${ACTIVE_MARK} `.padEnd(inner, flat) : flat.repeat(inner)
  const paint: Paint = active ? (text) => style.bold(style.cyan(text)) : style.dim
  const text = ` ${name.padEnd(inner - 1)}`
  return {
    ids: [id],
    width: inner + 2,
    lines: [
      paint(topLeft + top + topRight),
      paint(side) + (active ? paint(text) : text) + paint(side),
      paint(bottomLeft + flat.repeat(inner) + bottomRight),
    ],
  }
}

function parentBox(drawing: Drawing, { id, name }: ChartState, ids: readonly string[], width: number): Box {
  const { position, display } = drawing
  const { style } = display
  const active = position !== null && isWithin(position.state, id)
  const paint = active ? style.cyan : style.dim
  const [topLeft, flat, topRight, side, bottomLeft, bottomRight] = BORDERS.plain
  const content = childLines(drawing, id, width - 4)
  const inner = Math.max(...content.map(plainWidth), name.length + 2)
  const title = active ? style.bold(style.cyan(name)) : name
  return {
    ids,
    width: inner + 4,
    lines: [
      `${paint(`${topLeft}${flat} `)}${title}${paint(` ${flat.repeat(inner - name.length - 1)}${topRight}`)}`,
      ...content.map((line) => `${paint(side)} ${line}${' '.repeat(inner - plainWidth(line))} ${paint(side)}`),
      paint(`${bottomLeft}${flat.repeat(inner + 2)}${bottomRight}`),
    ],
  }
}

/** Boxes side by side, centred vertically. */
function joinBoxes(drawing: Drawing, boxes: readonly Box[]): { width: number; lines: string[] } {
  const height = Math.max(...boxes.map((box) => box.lines.length))
  const lines = Array.from({ length: height }, (_, line) =>
    boxes
      .map((box, i) => {
        const before = Math.floor((height - box.lines.length) / 2)
        const text = box.lines[line - before] ?? ' '.repeat(box.width)
        return i === 0 ? text : gapText(drawing, boxes[i - 1], box, line === Math.floor(height / 2)) + text
      })
      .join(''),
  )
  return { width: rowWidth(boxes), lines }
}

/** An arrow in the middle line, if there is a transition between the two boxes. */
function gapText({ chart, position, display }: Drawing, left: Box | undefined, right: Box, isMiddle: boolean): string {
  if (left === undefined || !isMiddle) return ' '.repeat(GAP)
  const forward = hasEdge(chart.edges, left, right)
  const back = hasEdge(chart.edges, right, left)
  if (!forward && !back) return ' '.repeat(GAP)
  const { style } = display
  const last = position?.last ?? null
  const taken = last !== null && (hasEdge([last], left, right) || hasEdge([last], right, left))
  const paint: Paint = taken ? (text) => style.bold(style.cyan(text)) : style.dim
  return paint(`${back ? '◂' : '─'}─${forward ? '▸' : '─'}`)
}

function hasEdge(edges: readonly Pick<ChartEdge, 'from' | 'to'>[], from: Box, to: Box): boolean {
  return edges.some((edge) => from.ids.includes(edge.from) && to.ids.includes(edge.to))
}

/** As few rows as the width allows, of widths as equal as possible. */
function balancedRows(boxes: readonly Box[], width: number): Box[][] {
  let best = fillRows(boxes, width)
  for (let narrower = width - 1; narrower > 0; narrower--) {
    const rows = fillRows(boxes, narrower)
    if (rows.length > best.length) break
    best = rows
  }
  return best
}

function fillRows(boxes: readonly Box[], width: number): Box[][] {
  const rows: Box[][] = []
  for (const box of boxes) {
    const row = rows.at(-1)
    if (row === undefined || rowWidth([...row, box]) > width) rows.push([box])
    else row.push(box)
  }
  return rows
}

function rowWidth(boxes: readonly Box[]): number {
  return boxes.reduce((sum, box) => sum + box.width, GAP * (boxes.length - 1))
}

function plainWidth(line: string): number {
  return displayWidth(stripColors(line))
}
