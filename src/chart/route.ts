/**
 * Arrows along the grid, each the cheapest way that is left: bends and crossings cost, boxes are in the way, and no two
 * arrows lie on each other. The shortest go first, they have the least choice.
 */
import { type Box, type Point, TITLE, UNIT } from './box.ts'
import { isWithin } from './chart.ts'
import { Heap } from './heap.ts'

interface Way {
  from: string
  to: string
}

/** In steps of the grid. */
const BEND = 5
const CROSSING = 8
/** Beside another arrow where there is room elsewhere. */
const NARROW = 0.7
/** Off the middle of a side, a step. */
const ASIDE = 0.4
/** Sides longer than this have no middle that an arrow should aim at. */
const LONG_SIDE = 12 * UNIT
/** On top of another arrow: only where there is no way at all else. */
const SHARED = 60
/** Around all boxes, where arrows may run. */
const ROOM = 3

const DIRECTIONS = [
  { x: 1, y: 0 },
  { x: 0, y: 1 },
  { x: -1, y: 0 },
  { x: 0, y: -1 },
] as const

interface Port extends Point {
  /** Into which of DIRECTIONS the side that it is on looks. */
  faces: number
  cost: number
}

/** An arrow that comes back to where it began: a small bow on top. */
export function loopOf({ x, y, width }: Box): Point[] {
  const right = x + width - UNIT
  const left = right - 2 * UNIT
  const top = y - 1.5 * UNIT
  return [
    { x: left, y },
    { x: left, y: top },
    { x: right, y: top },
    { x: right, y },
  ]
}

export function routeAll<T extends Way>(
  boxes: readonly Box[],
  ways: readonly T[],
  loops: readonly Way[],
): Map<T, Point[]> {
  const byId = new Map(boxes.map((box) => [box.id, box]))
  const router = new Router(boxes, loops)
  const found = new Map<T, Point[]>()
  const ends = ways.flatMap((way) => {
    const [from, to] = [byId.get(way.from), byId.get(way.to)]
    return from === undefined || to === undefined ? [] : [{ way, from, to, length: distance(from, to) }]
  })
  for (const { way, from, to } of ends.sort((a, b) => a.length - b.length)) found.set(way, router.route(from, to))
  return found
}

class Router {
  readonly #boxes: readonly Box[]
  readonly #columns: number
  readonly #rows: number
  /** What is in the way of every arrow. */
  readonly #solid = new Set<number>()
  /** Where arrows run, by their axis. */
  readonly #taken = [new Set<number>(), new Set<number>()] as const

  constructor(boxes: readonly Box[], loops: readonly Way[]) {
    this.#boxes = boxes
    this.#columns = Math.max(0, ...boxes.map(({ x, width }) => (x + width) / UNIT)) + ROOM + 1
    this.#rows = Math.max(0, ...boxes.map(({ y, height }) => (y + height) / UNIT)) + ROOM + 1
    for (const box of boxes) {
      // Of a parent only its name; its inside is for those that belong there.
      const { x, y, width, height } = box
      if (box.compound) this.#fill(x + UNIT, y + UNIT, Math.min(width - 2 * UNIT, 12 * UNIT), TITLE - 2 * UNIT)
      else this.#fill(x, y, width, height)
      if (loops.some(({ from }) => from === box.id)) this.#fill(x + width - 3 * UNIT, y - UNIT, 2 * UNIT, UNIT)
    }
  }

  route(from: Box, to: Box): Point[] {
    const points = this.#search(from, to, Number.POSITIVE_INFINITY) ?? this.#search(from, to, SHARED)
    if (points === null) return [middle(from), middle(to)]
    this.#take(points)
    return corners(points).map(({ x, y }) => ({ x: x * UNIT, y: y * UNIT }))
  }

  #search(from: Box, to: Box, shared: number): Point[] | null {
    const blocked = this.#blockedFor(from.id, to.id)
    const goals = new Map(ports(to).map((port) => [this.#key(port), port]))
    // To or from a state that one is inside of, the border is met from its other side.
    const leaves = isWithin(to.id, from.id) ? 2 : 0
    const arrives = isWithin(from.id, to.id) ? 0 : 2
    const best = new Map<number, number>()
    const before = new Map<number, number>()
    const open = new Heap<{ at: Point; direction: number; cost: number }>()
    for (const port of ports(from)) {
      const direction = (port.faces + leaves) % 4
      const cost = port.cost + (this.#taken[direction % 2]?.has(this.#key(port)) === true ? shared : 0)
      if (cost === Number.POSITIVE_INFINITY) continue
      best.set(this.#key(port) * 4 + direction, cost)
      open.push(cost, { at: port, direction, cost })
    }
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { at, direction, cost } = next
      const id = this.#key(at) * 4 + direction
      if (cost > (best.get(id) ?? 0)) continue
      const goal = goals.get(this.#key(at))
      if (before.has(id) && goal !== undefined && direction === (goal.faces + arrives) % 4)
        return this.#back(before, id)
      for (const turn of before.has(id) ? [0, 1, 3] : [0]) {
        const towards = (direction + turn) % 4
        const step = DIRECTIONS[towards]
        if (step === undefined) continue
        const there = { x: at.x + step.x, y: at.y + step.y }
        const key = this.#key(there)
        const end = goals.get(key)
        const ends = end !== undefined && towards === (end.faces + arrives) % 4
        if (!ends && (this.#isOutside(there) || this.#solid.has(key) || blocked(at, there))) continue
        const spent = cost + this.#costOf(there, towards, shared) + (turn === 0 ? 0 : BEND) + (ends ? end.cost : 0)
        const reached = key * 4 + towards
        if (spent === Number.POSITIVE_INFINITY || spent >= (best.get(reached) ?? Number.POSITIVE_INFINITY)) continue
        best.set(reached, spent)
        before.set(reached, id)
        open.push(spent, { at: there, direction: towards, cost: spent })
      }
    }
    return null
  }

  #costOf(at: Point, direction: number, shared: number): number {
    const along = this.#taken[direction % 2]
    const across = this.#taken[(direction + 1) % 2]
    const aside = DIRECTIONS[(direction + 1) % 4] ?? { x: 0, y: 0 }
    const isNarrow =
      along?.has(this.#key({ x: at.x + aside.x, y: at.y + aside.y })) === true ||
      along?.has(this.#key({ x: at.x - aside.x, y: at.y - aside.y })) === true
    return (
      1 +
      (along?.has(this.#key(at)) === true ? shared : 0) +
      (across?.has(this.#key(at)) === true ? CROSSING : 0) +
      (isNarrow ? NARROW : 0)
    )
  }

  /** Parents that have nothing to do with this arrow, and the borders of those that do: those are only crossed. */
  #blockedFor(from: string, to: string): (at: Point, there: Point) => boolean {
    const compounds = this.#boxes.filter(({ compound }) => compound).map((box) => ({ box, sides: gridOf(box) }))
    const closed = compounds.filter(({ box: { id } }) => !isInside(from, id) && !isInside(to, id))
    const crossed = compounds.filter(({ box: { id } }) => isInside(from, id) || isInside(to, id))
    return (at, there) =>
      closed.some(({ sides: { left, top, right, bottom } }) => {
        return there.x >= left && there.x <= right && there.y >= top && there.y <= bottom
      }) ||
      crossed.some(({ sides: { left, top, right, bottom } }) => {
        const alongX = at.y === there.y && (at.y === top || at.y === bottom) && there.x >= left && there.x <= right
        const alongY = at.x === there.x && (at.x === left || at.x === right) && there.y >= top && there.y <= bottom
        return alongX || alongY
      })
  }

  #take(points: readonly Point[]): void {
    points.forEach((point, i) => {
      for (const other of [points[i - 1], points[i + 1]]) {
        if (other !== undefined) this.#taken[other.y === point.y ? 0 : 1].add(this.#key(point))
      }
    })
  }

  #back(before: ReadonlyMap<number, number>, last: number): Point[] {
    const points: Point[] = []
    for (let id: number | undefined = last; id !== undefined; id = before.get(id)) {
      const key = Math.floor(id / 4)
      points.unshift({ x: key % this.#columns, y: Math.floor(key / this.#columns) })
    }
    return points
  }

  #fill(x: number, y: number, width: number, height: number): void {
    for (let column = x / UNIT; column <= (x + width) / UNIT; column++) {
      for (let row = y / UNIT; row <= (y + height) / UNIT; row++) this.#solid.add(this.#key({ x: column, y: row }))
    }
  }

  #key({ x, y }: Point): number {
    return y * this.#columns + x
  }

  #isOutside({ x, y }: Point): boolean {
    return x < 0 || y < 0 || x >= this.#columns || y >= this.#rows
  }
}

function isInside(id: string, parent: string): boolean {
  return id !== parent && isWithin(id, parent)
}

function gridOf({ x, y, width, height }: Box) {
  return { left: x / UNIT, top: y / UNIT, right: (x + width) / UNIT, bottom: (y + height) / UNIT }
}

/** Where arrows may meet a box: anywhere on its sides but at the corners. */
function ports(box: Box): Port[] {
  const { left, top, right, bottom } = gridOf(box)
  const aside = (at: number, from: number, to: number) =>
    (to - from) * UNIT > LONG_SIDE ? 0 : ASIDE * Math.abs(at - (from + to) / 2)
  const found: Port[] = []
  for (let y = top + 1; y < bottom; y++) {
    const cost = aside(y, top, bottom)
    found.push({ x: right, y, faces: 0, cost }, { x: left, y, faces: 2, cost })
  }
  for (let x = left + 1; x < right; x++) {
    const cost = aside(x, left, right)
    found.push({ x, y: bottom, faces: 1, cost }, { x, y: top, faces: 3, cost })
  }
  return found
}

function corners(points: readonly Point[]): Point[] {
  return points.filter((point, i) => {
    const [before, after] = [points[i - 1], points[i + 1]]
    if (before === undefined || after === undefined) return true
    return !((before.x === point.x && point.x === after.x) || (before.y === point.y && point.y === after.y))
  })
}

function middle({ x, y, width, height }: Box): Point {
  return { x: x + width / 2, y: y + height / 2 }
}

function distance(a: Box, b: Box): number {
  const [from, to] = [middle(a), middle(b)]
  return Math.abs(from.x - to.x) + Math.abs(from.y - to.y)
}
