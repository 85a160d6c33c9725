/** An arrow as an SVG path, and where its label stands. */
import type { Box, Point } from '../../chart/box.ts'

/** Corners are round. */
const ROUND = 6

export function pathOf(points: readonly Point[]): string {
  return points
    .map((point, i) => {
      const [before, after] = [points[i - 1], points[i + 1]]
      if (before === undefined) return `M${point.x} ${point.y}`
      if (after === undefined) return `L${point.x} ${point.y}`
      const [from, to] = [towards(point, before, ROUND), towards(point, after, ROUND)]
      return `L${from.x} ${from.y}Q${point.x} ${point.y} ${to.x} ${to.y}`
    })
    .join('')
}

export function headOf(points: readonly Point[]): string {
  const [before, end] = points.slice(-2)
  if (before === undefined || end === undefined) return ''
  const foot = towards(end, before, 7)
  const across = { x: (foot.y - end.y) / 2, y: (end.x - foot.x) / 2 }
  return `M${end.x} ${end.y}L${foot.x + across.x} ${foot.y + across.y}L${foot.x - across.x} ${foot.y - across.y}Z`
}

function towards(from: Point, to: Point, most: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y)
  const share = length === 0 ? 0 : Math.min(most, length / 2) / length
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share }
}

/** Half the height of a label. */
const HALF = 10

/** Where a label of this width stands beside an arrow: where it hides the fewest names. Its left edge and middle. */
export function labelAt(points: readonly Point[], boxes: readonly Box[], width: number, most: number): Point {
  const { from, to } = longest(points)
  const [left, right] = [Math.min(from.x, to.x), Math.max(from.x, to.x)]
  const y = (from.y + to.y) / 2
  const centred = (left + right - width) / 2
  const places = [
    { x: centred, y },
    { x: centred, y: y - 2 * HALF },
    { x: centred, y: y + 2 * HALF },
    { x: left - width - 2, y },
    { x: right + 2, y },
  ].map((place) => ({ x: Math.max(2, Math.min(most - width - 2, place.x)), y: Math.max(HALF + 2, place.y) }))
  const names = boxes.map(nameOf)
  const hidden = places.map((place) => names.reduce((sum, name) => sum + overlap(place, width, name), 0))
  return places[hidden.indexOf(Math.min(...hidden))] ?? { x: centred, y }
}

interface Area extends Point {
  width: number
  height: number
}

/** About where its name stands. */
function nameOf({ x, y, width, height, name, compound }: Box): Area {
  const length = name.length * 7.5
  return compound
    ? { x: x + 12, y: y + 6, width: length, height: 14 }
    : { x: x + (width - length) / 2, y: y + height / 2 - 8, width: length, height: 16 }
}

function overlap({ x, y }: Point, width: number, name: Area): number {
  const across = Math.min(x + width, name.x + name.width) - Math.max(x, name.x)
  const down = Math.min(y + HALF, name.y + name.height) - Math.max(y - HALF, name.y)
  return Math.max(0, across) * Math.max(0, down)
}

function longest(points: readonly Point[]): { from: Point; to: Point } {
  const pieces = points.slice(1).map((to, i) => ({ from: points[i] ?? to, to }))
  const length = ({ from, to }: { from: Point; to: Point }) => Math.hypot(to.x - from.x, to.y - from.y)
  const start = points[0] ?? { x: 0, y: 0 }
  return pieces.reduce((best, piece) => (length(piece) > length(best) ? piece : best), { from: start, to: start })
}
