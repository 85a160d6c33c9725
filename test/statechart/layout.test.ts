import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMachine } from 'xstate'
import { DIST } from '../../scripts/lib/sandbox.ts'
import { type Chart, machineChart } from '../../src/statechart/chart.ts'
import { type ChartLayout, type ChartPoint, layoutChart, type StateBox } from '../../src/statechart/layout.ts'
import { CHARTS } from '../../src/statechart/machine-charts.ts'

/** Arrows back, to itself, over a column, into and out of parents, two levels deep, and a state without incoming arrows. */
const tangled = machineChart(
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
const single = machineChart(createMachine({ id: 'single', initial: 'only', states: { only: {} } }))
const crowded = machineChart(
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

for (const [name, chart] of charts) {
  const drawn = await layoutChart(chart)
  describe(`the layout of the ${name} machine`, () => {
    const box = boxesOf(drawn)

    it('contains every state, and one arrow for each pair of states, with all transitions', () => {
      expect(drawn.boxes.map(({ id }) => id)).toEqual(chart.states.map(({ id }) => id))
      expect(drawn.routes.flatMap(({ edges }) => edges).sort(byName)).toEqual([...chart.edges].sort(byName))
      const pairs = drawn.routes.map(({ from, to }) => `${from} > ${to}`)
      expect(new Set(pairs).size).toBe(pairs.length)
    })

    it('keeps children inside their parent, below its name, and siblings apart', () => {
      for (const one of drawn.boxes) {
        if (one.parent !== null) expect(isInside(one, box(one.parent))).toBe(true)
        for (const other of drawn.boxes) {
          if (one.id !== other.id && one.parent === other.parent) expect(overlap(one, other)).toBe(false)
        }
      }
    })

    it('stays within its width and height', () => {
      const points = [...drawn.routes.flatMap((route) => route.points), ...drawn.boxes.flatMap(cornersOf)]
      for (const { x, y } of points) {
        expect(x).toBeGreaterThanOrEqual(0)
        expect(y).toBeGreaterThanOrEqual(0)
        expect(x).toBeLessThanOrEqual(drawn.width)
        expect(y).toBeLessThanOrEqual(drawn.height)
      }
    })

    it('routes arrows from border to border, at right angles, around states', () => {
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

    it('is deterministic', async () => {
      expect(await layoutChart(structuredClone(chart))).toEqual(drawn)
    })
  })
}

it('layout of the session machine: `init`, `observing` and the states with effects from left to right', async () => {
  const box = boxesOf(await layoutChart(CHARTS.session))
  expect(box('init').x).toBeLessThan(box('observing').x)
  for (const id of ['batching', 'summarizing', 'compacting', 'closed']) {
    expect(box('observing').x + box('observing').width).toBeLessThan(box(id).x)
  }
})

it('the built page contains the layout of the current session machine', async () => {
  const page = readFileSync(join(DIST, 'viewer/app.js'), 'utf8')
  const layout = await layoutChart(CHARTS.session)
  expect(page.includes(JSON.stringify(layout)), 'run `npm run build`').toBe(true)
})

function boxesOf({ boxes }: ChartLayout): (id: string) => StateBox {
  return (id) => {
    const found = boxes.find((one) => one.id === id)
    if (found === undefined) throw new Error(`${id} is not in the layout`)
    return found
  }
}

function byName(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1
}

function cornersOf({ x, y, width, height }: StateBox): ChartPoint[] {
  return [
    { x, y },
    { x: x + width, y: y + height },
  ]
}

function isInside(inner: StateBox, outer: StateBox): boolean {
  return cornersOf(inner).every(
    ({ x, y }) => x > outer.x && x < outer.x + outer.width && y > outer.y + 16 && y < outer.y + outer.height,
  )
}

function overlap(a: StateBox, b: StateBox): boolean {
  return a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height
}

function isOnBorder({ x, y }: ChartPoint, box: StateBox): boolean {
  const within = x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height
  return within && (x === box.x || x === box.x + box.width || y === box.y || y === box.y + box.height)
}

function pieces(points: readonly ChartPoint[]): [ChartPoint, ChartPoint][] {
  return points.slice(1).map((to, i) => [points[i] ?? to, to])
}

/** Through the inside of a box; touching its border is allowed. */
function crosses(a: ChartPoint, b: ChartPoint, { x, y, width, height }: StateBox): boolean {
  return (
    Math.max(a.x, b.x) > x &&
    Math.min(a.x, b.x) < x + width &&
    Math.max(a.y, b.y) > y &&
    Math.min(a.y, b.y) < y + height
  )
}
