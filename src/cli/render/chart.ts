/**
 * A statechart on a terminal: boxes in the order of definition, as many a row as fit, children inside their parent. It
 * is laid out from the chart, so a new state appears by itself.
 */
import { type Chart, type ChartEdge, type ChartState, isWithin } from '../../chart/chart.ts'
import type { Look, Paint } from '../style.ts'

/** Where the output goes elsewhere, it is drawn for a terminal of the usual width. */
const USUAL_COLUMNS = 80
/** Narrower than this, boxes stand one above the other and say less than a line of words. */
const LEAST_COLUMNS = 60
const INDENT = '  '
/** Between two boxes, filled with an arrow where one leads from one to the other. */
const GAP = 3

const BORDERS = {
  plain: ['╭', '─', '╮', '│', '╰', '╯'],
  active: ['┏', '━', '┓', '┃', '┗', '┛'],
  final: ['╔', '═', '╗', '║', '╚', '╝'],
} as const
/** It says which state is active without colours too. */
const ACTIVE = '●'

/** Where an actor is, and how it came there. */
export interface Position {
  state: string
  last: { from: string; to: string } | null
}

interface Box {
  /** Itself and what is inside of it. */
  ids: readonly string[]
  width: number
  /** Painted; each is `width` columns wide. */
  lines: string[]
}

export function canDraw({ columns, ascii }: Look): boolean {
  return ascii !== true && (columns ?? USUAL_COLUMNS) >= LEAST_COLUMNS
}

/** Without a position the chart alone. */
export function chartLines(chart: Chart, position: Position | null, look: Look): string[] {
  const width = Math.min(look.columns ?? USUAL_COLUMNS, USUAL_COLUMNS) - INDENT.length
  const drawing = new Drawing(chart, position, look)
  return drawing.inside(null, width).map((line) => INDENT + line.trimEnd())
}

class Drawing {
  readonly #chart: Chart
  readonly #position: Position | null
  readonly #look: Look

  constructor(chart: Chart, position: Position | null, look: Look) {
    this.#chart = chart
    this.#position = position
    this.#look = look
  }

  /** Lines of equal width. */
  inside(parent: string | null, width: number): string[] {
    const states = this.#chart.states.filter((state) => state.parent === parent)
    const rows = balanced(
      states.map((state) => this.#box(state, width)),
      width,
    ).map((row) => this.#row(row))
    const widest = Math.max(0, ...rows.map((row) => row.width))
    return rows.flatMap((row) => row.lines.map((line) => line + ' '.repeat(widest - row.width)))
  }

  #box(state: ChartState, width: number): Box {
    const ids = this.#chart.states.map(({ id }) => id).filter((id) => isWithin(id, state.id))
    return ids.length > 1 ? this.#parent(state, ids, width) : this.#leaf(state)
  }

  #leaf({ id, name, final }: ChartState): Box {
    const { style } = this.#look
    const active = this.#position?.state === id
    const [topLeft, flat, topRight, side, bottomLeft, bottomRight] =
      BORDERS[active ? 'active' : final ? 'final' : 'plain']
    const inner = Math.max(name.length, ACTIVE.length + 2) + 2
    const top = active ? `${flat} ${ACTIVE} `.padEnd(inner, flat) : flat.repeat(inner)
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

  #parent({ id, name }: ChartState, ids: readonly string[], width: number): Box {
    const { style } = this.#look
    const active = this.#position !== null && isWithin(this.#position.state, id)
    const paint = active ? style.cyan : style.dim
    const [topLeft, flat, topRight, side, bottomLeft, bottomRight] = BORDERS.plain
    const content = this.inside(id, width - 4)
    const inner = Math.max(plainWidth(content), name.length + 2)
    const title = active ? style.bold(style.cyan(name)) : name
    return {
      ids,
      width: inner + 4,
      lines: [
        `${paint(`${topLeft}${flat} `)}${title}${paint(` ${flat.repeat(inner - name.length - 1)}${topRight}`)}`,
        ...content.map((line) => `${paint(side)} ${line}${' '.repeat(inner - plainWidth([line]))} ${paint(side)}`),
        paint(`${bottomLeft}${flat.repeat(inner + 2)}${bottomRight}`),
      ],
    }
  }

  /** Side by side, in the middle of the tallest. */
  #row(boxes: readonly Box[]): { width: number; lines: string[] } {
    const height = Math.max(...boxes.map((box) => box.lines.length))
    const lines = Array.from({ length: height }, (_, line) =>
      boxes
        .map((box, i) => {
          const before = Math.floor((height - box.lines.length) / 2)
          const shown = box.lines[line - before] ?? ' '.repeat(box.width)
          return i === 0 ? shown : this.#between(boxes[i - 1], box, line === Math.floor(height / 2)) + shown
        })
        .join(''),
    )
    return { width: widthOfRow(boxes), lines }
  }

  #between(left: Box | undefined, right: Box, isMiddle: boolean): string {
    const there = isMiddle && left !== undefined && this.#leads(this.#chart.edges, left, right)
    const back = isMiddle && left !== undefined && this.#leads(this.#chart.edges, right, left)
    if (left === undefined || !(there || back)) return ' '.repeat(GAP)
    const { style } = this.#look
    const last = this.#position?.last ?? null
    const taken = last !== null && (this.#leads([last], left, right) || this.#leads([last], right, left))
    const paint: Paint = taken ? (text) => style.bold(style.cyan(text)) : style.dim
    return paint(`${back ? '◂' : '─'}─${there ? '▸' : '─'}`)
  }

  #leads(edges: readonly Pick<ChartEdge, 'from' | 'to'>[], from: Box, to: Box): boolean {
    return edges.some((edge) => from.ids.includes(edge.from) && to.ids.includes(edge.to))
  }
}

/** As few rows as the width allows, and those as even as they can be. */
function balanced(boxes: readonly Box[], width: number): Box[][] {
  let best = rowsOf(boxes, width)
  for (let narrower = width - 1; narrower > 0; narrower--) {
    const rows = rowsOf(boxes, narrower)
    if (rows.length > best.length) break
    best = rows
  }
  return best
}

function rowsOf(boxes: readonly Box[], width: number): Box[][] {
  const rows: Box[][] = []
  for (const box of boxes) {
    const row = rows.at(-1)
    if (row === undefined || widthOfRow([...row, box]) > width) rows.push([box])
    else row.push(box)
  }
  return rows
}

function widthOfRow(boxes: readonly Box[]): number {
  return boxes.reduce((sum, box) => sum + box.width, GAP * (boxes.length - 1))
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them
const COLOURS = /\x1b\[\d+m/g

function plainWidth(lines: readonly string[]): number {
  return Math.max(0, ...lines.map((line) => line.replace(COLOURS, '').length))
}
