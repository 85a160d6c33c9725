/** Geometry of charts: axes, labels, stacks and step lines. NaN, infinite and negative values count as 0. */

function positiveOrZero(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0
}

interface ChartAxis {
  /** Value at the top of the chart: at least the largest value, never 0. */
  top: number
  /** From 0 to the top. */
  ticks: number[]
}

/** Steps of 1, 2 or 5 times a power of ten. `whole`: no fractions. */
export function chartAxis(values: readonly number[], options: { most?: number; whole?: boolean } = {}): ChartAxis {
  const { most = 4, whole = false } = options
  const largest = values.reduce((max, value) => Math.max(max, positiveOrZero(value)), 0)
  const step = Math.max(niceStep(largest / most), whole ? 1 : 0)
  if (largest === 0 || !Number.isFinite(step * most)) return { top: largest || 1, ticks: [0, largest || 1] }
  const steps = Math.max(1, Math.ceil(largest / step - ROUNDING))
  return { top: exactly(steps * step), ticks: Array.from({ length: steps + 1 }, (_, i) => exactly(i * step)) }
}

/** Tolerance, because 0.3 / 0.1 is a little more than 3. */
const ROUNDING = 1e-9

function niceStep(least: number): number {
  if (least <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(least))
  const factor = [1, 2, 5, 10].find((one) => one * power >= least * (1 - ROUNDING)) ?? 10
  return factor * power
}

/** Removes rounding errors: 3 * 0.1 is 0.3. */
function exactly(value: number): number {
  return Number(value.toPrecision(12))
}

/** The columns that get a label on an axis of this length: evenly spaced, and always the last. */
export function labelledColumns(columns: readonly number[], length: number, labelWidth: number): number[] {
  const room = Math.max(1, Math.floor(length / labelWidth))
  const every = Math.max(1, Math.ceil(columns.length / room))
  return columns.filter((_, i) => (columns.length - 1 - i) % every === 0)
}

/** The column of `count` columns of equal width at `x`; null if there is none. */
export function columnAt(x: number, width: number, count: number): number | null {
  if (count === 0 || width <= 0 || !Number.isFinite(x)) return null
  return Math.min(count - 1, Math.max(0, Math.floor((x / width) * count)))
}

interface StackLayer {
  from: number
  to: number
}

/** For each series the start and end of its part of each stacked column. */
export function stackSeries(series: readonly (readonly number[])[]): StackLayer[][] {
  const heights: number[] = []
  return series.map((values) =>
    values.map((value, i) => {
      const from = heights[i] ?? 0
      const to = from + positiveOrZero(value)
      heights[i] = to
      return { from, to }
    }),
  )
}

/** The sum of all values; unknown ones count as 0. */
export function sumValues(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + positiveOrZero(value), 0)
}

/** The sum of each column over all series. */
export function columnTotals(series: readonly (readonly number[])[]): number[] {
  const columns = series.reduce((most, values) => Math.max(most, values.length), 0)
  return Array.from({ length: columns }, (_, i) =>
    series.reduce((sum, values) => sum + positiveOrZero(values[i] ?? 0), 0),
  )
}

/** Groups of `size` counted from the end: the first group may be smaller. */
export function groupFromEnd<T>(items: readonly T[], size: number): T[][] {
  const groups: T[][] = []
  for (let end = items.length; end > 0; end -= size) groups.unshift(items.slice(Math.max(0, end - size), end))
  return groups
}

/**
 * SVG path of a step line: horizontal at each value, then vertical to the next. It has gaps where a value is unknown,
 * and along the bottom, where the lines of several series would overlap.
 */
export function stepPath(values: readonly number[], width: number, yOf: (value: number) => number): string {
  const band = values.length === 0 ? 0 : width / values.length
  const parts: string[] = []
  let drawing = false
  for (const [i, value] of values.entries()) {
    const [from, to, y] = [i * band, (i + 1) * band, yOf(positiveOrZero(value))].map((at) => at.toFixed(1))
    const isVisible = positiveOrZero(value) > 0
    if (isVisible && !drawing) {
      // Rises from the bottom, unless the value before is unknown.
      const before = i > 0 && Number.isFinite(values[i - 1]) ? yOf(0).toFixed(1) : y
      parts.push(`M${from} ${before}`)
    }
    if (drawing && Number.isFinite(value)) parts.push(`V${y}`)
    else if (isVisible && parts.at(-1) !== `M${from} ${y}`) parts.push(`V${y}`)
    if (isVisible) parts.push(`H${to}`)
    drawing = isVisible
  }
  return parts.join('')
}

/** The area below the step line, as an SVG path. */
export function stepArea(values: readonly number[], width: number, yOf: (value: number) => number): string {
  const band = values.length === 0 ? 0 : width / values.length
  const bottom = yOf(0).toFixed(1)
  return values
    .map((value, i) =>
      positiveOrZero(value) > 0
        ? `M${(i * band).toFixed(1)} ${bottom}V${yOf(value).toFixed(1)}H${((i + 1) * band).toFixed(1)}V${bottom}Z`
        : '',
    )
    .join('')
}
