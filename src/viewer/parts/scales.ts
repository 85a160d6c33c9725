/** From numbers to places on a chart. Nothing here draws; whatever is no number counts as none. */

/** NaN, infinities and debts have no place on these charts. */
export function drawable(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0
}

export interface Axis {
  /** What the top of the chart stands for: at or above every value, never 0. */
  top: number
  /** From 0 to the top. */
  ticks: number[]
}

/** Round steps that people count in: 1, 2 or 5 times a power of ten. `whole`: of what there is no half. */
export function axisOf(values: readonly number[], options: { most?: number; whole?: boolean } = {}): Axis {
  const { most = 4, whole = false } = options
  const largest = values.reduce((max, value) => Math.max(max, drawable(value)), 0)
  const step = Math.max(niceStep(largest / most), whole ? 1 : 0)
  if (largest === 0 || !Number.isFinite(step * most)) return { top: largest || 1, ticks: [0, largest || 1] }
  const steps = Math.max(1, Math.ceil(largest / step - ROUNDING))
  return { top: exactly(steps * step), ticks: Array.from({ length: steps + 1 }, (_, i) => exactly(i * step)) }
}

/** 0.3 / 0.1 is a little more than 3. */
const ROUNDING = 1e-9

function niceStep(least: number): number {
  if (least <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(least))
  const factor = [1, 2, 5, 10].find((one) => one * power >= least * (1 - ROUNDING)) ?? 10
  return factor * power
}

/** 3 * 0.1 is written 0.3. */
function exactly(value: number): number {
  return Number(value.toPrecision(12))
}

/** Which of these places along an axis of this length get a label: evenly spaced, the last one always. */
export function labelled(places: readonly number[], length: number, each: number): number[] {
  const room = Math.max(1, Math.floor(length / each))
  const every = Math.max(1, Math.ceil(places.length / room))
  return places.filter((_, i) => (places.length - 1 - i) % every === 0)
}

/** Which of `count` bands of equal width holds the place `x`; null outside or where there is none. */
export function bandAt(x: number, width: number, count: number): number | null {
  if (count === 0 || width <= 0 || !Number.isFinite(x)) return null
  return Math.min(count - 1, Math.max(0, Math.floor((x / width) * count)))
}

export interface Layer {
  from: number
  to: number
}

/** One above the other: for each series where its piece of each column begins and ends. */
export function stacked(series: readonly (readonly number[])[]): Layer[][] {
  const heights: number[] = []
  return series.map((values) =>
    values.map((value, i) => {
      const from = heights[i] ?? 0
      const to = from + drawable(value)
      heights[i] = to
      return { from, to }
    }),
  )
}

/** What each column comes to. */
export function totals(series: readonly (readonly number[])[]): number[] {
  const columns = series.reduce((most, values) => Math.max(most, values.length), 0)
  return Array.from({ length: columns }, (_, i) => series.reduce((sum, values) => sum + drawable(values[i] ?? 0), 0))
}

/** So many columns together, counted from the newest: the oldest group may be smaller. */
export function grouped<T>(items: readonly T[], size: number): T[][] {
  const groups: T[][] = []
  for (let end = items.length; end > 0; end -= size) groups.unshift(items.slice(Math.max(0, end - size), end))
  return groups
}

/**
 * Where steps go: along at each value, then up or down to the next. A gap where there is no number; no line along the
 * floor, where those of several series would lie on each other.
 */
export function stepPath(values: readonly number[], width: number, heightOf: (value: number) => number): string {
  const band = values.length === 0 ? 0 : width / values.length
  const parts: string[] = []
  let drawing = false
  for (const [i, value] of values.entries()) {
    const [from, to, y] = [i * band, (i + 1) * band, heightOf(drawable(value))].map((at) => at.toFixed(1))
    const stands = drawable(value) > 0
    if (stands && !drawing) {
      // Up from the floor, unless nothing is known of what was before.
      const before = i > 0 && Number.isFinite(values[i - 1]) ? heightOf(0).toFixed(1) : y
      parts.push(`M${from} ${before}`)
    }
    if (drawing && Number.isFinite(value)) parts.push(`V${y}`)
    else if (stands && parts.at(-1) !== `M${from} ${y}`) parts.push(`V${y}`)
    if (stands) parts.push(`H${to}`)
    drawing = stands
  }
  return parts.join('')
}

/** The same, closed along the floor. */
export function stepArea(values: readonly number[], width: number, heightOf: (value: number) => number): string {
  const band = values.length === 0 ? 0 : width / values.length
  const floor = heightOf(0).toFixed(1)
  return values
    .map((value, i) =>
      drawable(value) > 0
        ? `M${(i * band).toFixed(1)} ${floor}V${heightOf(value).toFixed(1)}H${((i + 1) * band).toFixed(1)}V${floor}Z`
        : '',
    )
    .join('')
}
