/**
 * Where the states of a chart stand and how its arrows run. Computed from the chart alone, so another state or arrow
 * appears by itself: states in columns by how far they are from the first one, children inside their parent in columns
 * of their own, and a state that leads to several of the next column as tall as that column, so that its arrows are
 * straight. Everything stands on a grid of `UNIT`; arrows run along it around what is in their way.
 */
import { type Box, type Point, TITLE, UNIT } from './box.ts'
import type { Chart, ChartEdge, ChartState } from './chart.ts'
import { columnsOf } from './columns.ts'
import { loopOf, routeAll } from './route.ts'

/** Every way from one state to another as one arrow. */
export interface Route {
  from: string
  to: string
  edges: readonly ChartEdge[]
  /** Corners, from the border of one box to the border of the other. */
  points: readonly Point[]
}

export interface Layout {
  width: number
  height: number
  /** Parents before their children. */
  boxes: readonly Box[]
  routes: readonly Route[]
}

/** Wide enough for a character of a name at its natural size. */
const CHARACTER = 7.4
const LEAF_HEIGHT = 4 * UNIT
const PADDING = 2 * UNIT
const BETWEEN_COLUMNS = 5 * UNIT
const BETWEEN_ROWS = 2 * UNIT
/** Above a state that an arrow leads back to. */
const LOOP = 2 * UNIT
/** Around everything: arrows may need the room while they are laid. */
const MARGIN = 4 * UNIT

export function layout(chart: Chart): Layout {
  const { boxes } = level(chart, null)
  const placed = chart.states.flatMap(({ id }) => boxes.find((box) => box.id === id) ?? [])
  const shifted = placed.map((box) => ({ ...box, x: box.x + MARGIN, y: box.y + MARGIN }))
  const merged = mergedEdges(chart)
  const loops = merged.filter(({ from, to }) => from === to)
  const ways = merged.filter(({ from, to }) => from !== to)
  const paths = routeAll(shifted, ways, loops)
  const routes = merged.map((route): Route => {
    const points = route.from === route.to ? loopAt(shifted, route.from) : paths.get(route)
    return { ...route, points: points ?? [] }
  })
  return cropped(shifted, routes)
}

interface Level {
  width: number
  height: number
  /** Of this level and those inside, from its own corner on. */
  boxes: Box[]
}

type Way = Omit<Route, 'points'>

/** The states inside of one. */
function level(chart: Chart, parent: string | null): Level {
  const columns = columnsOf(chart, parent).map((states) => columnOf(chart, states))
  const tallest = Math.max(0, ...columns.map(({ height }) => height))
  const top = columns.some(({ items }) => items[0]?.loops === true) ? LOOP : 0
  const boxes: Box[] = []
  let x = 0
  columns.forEach((column, i) => {
    const beside = Math.max(columns[i - 1]?.items.length ?? 0, columns[i + 1]?.items.length ?? 0)
    const [only] = column.items
    const isHub = column.items.length === 1 && only !== undefined && only.inner === null && beside > 2
    const height = isHub ? tallest : column.height
    let y = top + snapped((tallest - height) / 2)
    for (const [row, item] of column.items.entries()) {
      if (row > 0) y += BETWEEN_ROWS + (item.loops ? LOOP : 0)
      const own = isHub ? tallest : item.height
      boxes.push({ ...item.state, x, y, width: item.width, height: own, compound: item.inner !== null })
      for (const box of item.inner?.boxes ?? []) {
        boxes.push({ ...box, x: box.x + x + PADDING, y: box.y + y + TITLE })
      }
      y += own
    }
    x += column.width + BETWEEN_COLUMNS
  })
  return { width: Math.max(0, x - BETWEEN_COLUMNS), height: tallest + top, boxes }
}

interface Item {
  state: ChartState
  inner: Level | null
  width: number
  height: number
  loops: boolean
}

function columnOf(chart: Chart, states: readonly ChartState[]): { items: Item[]; width: number; height: number } {
  const items = states.map((state) => itemOf(chart, state))
  const height = items.reduce(
    (sum, item, row) => sum + item.height + (row === 0 ? 0 : BETWEEN_ROWS + (item.loops ? LOOP : 0)),
    0,
  )
  return { items, width: Math.max(...items.map(({ width }) => width)), height }
}

function itemOf(chart: Chart, state: ChartState): Item {
  const loops = chart.edges.some(({ from, to }) => from === state.id && to === state.id)
  const text = snappedUp(state.name.length * CHARACTER + 2 * UNIT)
  if (!chart.states.some(({ parent }) => parent === state.id)) {
    return { state, inner: null, width: Math.max(text, 6 * UNIT), height: LEAF_HEIGHT, loops }
  }
  const inner = level(chart, state.id)
  const width = Math.max(text, inner.width + 2 * PADDING)
  return { state, inner, width, height: TITLE + inner.height + PADDING, loops }
}

/** In the order in which the first of each is defined. */
function mergedEdges(chart: Chart): Way[] {
  const ways = new Map<string, ChartEdge[]>()
  for (const edge of chart.edges) {
    const key = `${edge.from}>${edge.to}`
    ways.set(key, [...(ways.get(key) ?? []), edge])
  }
  return [...ways.values()].flatMap((edges) => {
    const [first] = edges
    return first === undefined ? [] : [{ from: first.from, to: first.to, edges }]
  })
}

function loopAt(boxes: readonly Box[], id: string): Point[] {
  const box = boxes.find((one) => one.id === id)
  return box === undefined ? [] : loopOf(box)
}

/** Only as large as what is drawn. */
function cropped(boxes: readonly Box[], routes: readonly Route[]): Layout {
  const corners = [
    ...boxes.flatMap(({ x, y, width, height }) => [
      { x, y },
      { x: x + width, y: y + height },
    ]),
    ...routes.flatMap(({ points }) => points),
  ]
  const left = Math.min(...corners.map(({ x }) => x)) - UNIT
  const top = Math.min(...corners.map(({ y }) => y)) - UNIT
  const moved = (point: Point) => ({ x: point.x - left, y: point.y - top })
  return {
    width: Math.max(...corners.map(({ x }) => x)) + UNIT - left,
    height: Math.max(...corners.map(({ y }) => y)) + UNIT - top,
    boxes: boxes.map((box) => ({ ...box, ...moved(box) })),
    routes: routes.map((route) => ({ ...route, points: route.points.map(moved) })),
  }
}

function snapped(length: number): number {
  return Math.round(length / UNIT) * UNIT
}

function snappedUp(length: number): number {
  return Math.ceil(length / UNIT) * UNIT
}
