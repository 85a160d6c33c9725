import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMachine } from 'xstate'
import { DIST } from '../../scripts/lib/root.ts'
import type { Box, Point } from '../../src/chart/box.ts'
import { type Chart, chartOf } from '../../src/chart/chart.ts'
import { CHARTS } from '../../src/chart/charts.ts'
import { type Layout, layout } from '../../src/chart/layout.ts'

/** Ways back and to itself, over a column, into and out of parents, two levels deep, and a state nobody leads to. */
const tangled = chartOf(
  createMachine({
    id: 'tangled',
    initial: 'a',
    states: {
      a: { on: { GO: 'b', SKIP: 'd', DEEP: '#tangled.b.inner.two', SAME: { target: 'a', reenter: true } } },
      b: {
        initial: 'outer',
        on: { BACK: 'a', UP: '.outer' },
        states: {
          outer: { on: { IN: 'inner', OUT: '#tangled.b' } },
          inner: { initial: 'one', states: { one: { on: { NEXT: 'two' } }, two: { on: { HOME: '#tangled.a' } } } },
        },
      },
      c: { on: { GO: 'a' } },
      d: { on: { GO: ['b', 'e'] } },
      e: { type: 'final' },
    },
  }),
)
const single = chartOf(createMachine({ id: 'single', initial: 'only', states: { only: {} } }))
const crowded = chartOf(
  createMachine({
    id: 'crowded',
    initial: 's0',
    states: Object.fromEntries(
      Array.from({ length: 8 }, (_, i) => [
        `s${i}`,
        { on: Object.fromEntries(Array.from({ length: 8 }, (_, to) => [`TO_${to}`, `s${to}`])) },
      ]),
    ),
  }),
)
const charts: [string, Chart][] = [
  ...Object.entries(CHARTS),
  ['tangled', tangled],
  ['single', single],
  ['crowded', crowded],
]

describe.each(charts)('the layout of the %s machine', (_, chart) => {
  const drawn = layout(chart)
  const box = boxesOf(drawn)

  it('has every state, and every way once, with all its events', () => {
    expect(drawn.boxes.map(({ id }) => id)).toEqual(chart.states.map(({ id }) => id))
    expect(drawn.routes.flatMap(({ edges }) => edges).sort(byName)).toEqual([...chart.edges].sort(byName))
    const ways = drawn.routes.map(({ from, to }) => `${from} > ${to}`)
    expect(new Set(ways).size).toBe(ways.length)
  })

  it('keeps children inside their parents, below its name, and all others apart', () => {
    for (const one of drawn.boxes) {
      if (one.parent !== null) expect(isInside(one, box(one.parent))).toBe(true)
      for (const other of drawn.boxes) {
        if (one.id !== other.id && one.parent === other.parent) expect(overlap(one, other)).toBe(false)
      }
    }
  })

  it('stays within its size', () => {
    const points = [...drawn.routes.flatMap((route) => route.points), ...drawn.boxes.flatMap(cornersOf)]
    for (const { x, y } of points) {
      expect(x).toBeGreaterThanOrEqual(0)
      expect(y).toBeGreaterThanOrEqual(0)
      expect(x).toBeLessThanOrEqual(drawn.width)
      expect(y).toBeLessThanOrEqual(drawn.height)
    }
  })

  it('leads arrows from border to border, at right angles, through no state', () => {
    for (const { from, to, points } of drawn.routes) {
      const [first, last] = [points[0], points.at(-1)]
      expect(first !== undefined && isOnBorder(first, box(from))).toBe(true)
      expect(last !== undefined && isOnBorder(last, box(to))).toBe(true)
      for (const [a, b] of pieces(points)) {
        expect(a.x === b.x || a.y === b.y).toBe(true)
        for (const state of drawn.boxes) if (!state.compound) expect(crosses(a, b, state)).toBe(false)
      }
    }
  })

  it('is the same every time', () => {
    expect(layout(structuredClone(chart))).toEqual(drawn)
  })
})

it('the session machine goes from left to right: first state, hub, work', () => {
  const box = boxesOf(layout(CHARTS.session))
  expect(box('init').x).toBeLessThan(box('observing').x)
  for (const id of ['batching', 'summarizing', 'compacting', 'closed']) {
    expect(box('observing').x + box('observing').width).toBeLessThan(box(id).x)
  }
})

it('the page that was built draws the machines as they are now', () => {
  const page = readFileSync(join(DIST, 'viewer/app.js'), 'utf8')
  expect(page.includes(JSON.stringify(CHARTS)), 'run `npm run build`').toBe(true)
})

function boxesOf({ boxes }: Layout): (id: string) => Box {
  return (id) => {
    const found = boxes.find((one) => one.id === id)
    if (found === undefined) throw new Error(`${id} is not drawn`)
    return found
  }
}

function byName(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}

function cornersOf({ x, y, width, height }: Box): Point[] {
  return [
    { x, y },
    { x: x + width, y: y + height },
  ]
}

function isInside(inner: Box, outer: Box): boolean {
  return cornersOf(inner).every(
    ({ x, y }) => x > outer.x && x < outer.x + outer.width && y > outer.y + 16 && y < outer.y + outer.height,
  )
}

function overlap(a: Box, b: Box): boolean {
  return a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height
}

function isOnBorder({ x, y }: Point, box: Box): boolean {
  const within = x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height
  return within && (x === box.x || x === box.x + box.width || y === box.y || y === box.y + box.height)
}

function pieces(points: readonly Point[]): [Point, Point][] {
  return points.slice(1).map((to, i) => [points[i] ?? to, to])
}

/** Through its inside; its border may be touched. */
function crosses(a: Point, b: Point, { x, y, width, height }: Box): boolean {
  return (
    Math.max(a.x, b.x) > x &&
    Math.min(a.x, b.x) < x + width &&
    Math.max(a.y, b.y) > y &&
    Math.min(a.y, b.y) < y + height
  )
}
