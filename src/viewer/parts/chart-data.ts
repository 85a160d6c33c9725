/** What a chart shows: columns over time, and one number a column for each series. */

export interface Series {
  name: string
  /** One of the style sheet's colours, `--accent`. */
  colour: `--${string}`
  /** One for each column; NaN: not known. */
  values: readonly number[]
}

export interface Column {
  /** On the axis, where there is room; null: never there. */
  short: string | null
  /** For who points at it. */
  long: string
}

export interface ChartData {
  title: string
  /** What exactly is counted. */
  about: string
  columns: readonly Column[]
  series: readonly Series[]
  /** A number with its unit. */
  format(value: number): string
  /** The same where the unit is known: in the table. */
  plain(value: number): string
  /** On the axis, where there is less room. */
  tick(value: number): string
  /** What all series of a column come to together says something. */
  summed: boolean
  /** Instead of a drawing, where there is nothing to draw. */
  nothing: string
}

/** A column in words. */
export function told({ columns, series, format, summed }: ChartData, at: number): string {
  const each = series.flatMap(({ name, values }) => {
    const value = values[at] ?? Number.NaN
    return Number.isFinite(value) && value > 0 ? [`${name} ${format(value)}`] : []
  })
  const sum = summed ? format(sumAt(series, at)) : null
  const said = series.length === 1 && sum !== null ? [sum] : [...(sum === null ? [] : [`${sum} in all`]), ...each]
  return `${columns[at]?.long ?? ''}: ${said.length === 0 ? format(0) : said.join(', ')}`
}

export function sumAt(series: readonly Series[], at: number): number {
  return series.reduce((sum, { values }) => sum + (Number.isFinite(values[at]) ? (values[at] ?? 0) : 0), 0)
}
