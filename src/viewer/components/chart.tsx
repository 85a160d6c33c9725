/** Charts over time: stacked bars or step lines, with axes, legend, tooltip, keyboard access and a table of the numbers. */
import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Table } from './basics.tsx'
import {
  chartAxis,
  columnAt,
  columnTotals,
  labelledColumns,
  stackSeries,
  stepArea,
  stepPath,
  sumValues,
} from './chart-scales.ts'

export interface ChartSeries {
  name: string
  /** A CSS variable, such as `--accent`. */
  colour: `--${string}`
  /** One for each column; NaN if unknown. */
  values: readonly number[]
}

export interface ChartColumn {
  /** Label on the axis, if there is room; null: never. */
  short: string | null
  /** Label in the tooltip and the table. */
  long: string
}

export interface ChartData {
  /** Bars are stacked and summed; steps are levels that hold until the next column. */
  kind: 'bars' | 'steps'
  title: string
  about: string
  columns: readonly ChartColumn[]
  series: readonly ChartSeries[]
  /** Whether values are whole numbers, so that the axis has no fractions. */
  whole: boolean
  /** A value with its unit. */
  format(value: number): string
  /** A value without its unit. */
  plain(value: number): string
  /** A value on the axis, where there is less room. */
  tick(value: number): string
  /** Text instead of the chart if all values are 0. */
  empty: string
}

/** Height of the plot without its axes, and the space for the axes, in px. */
const HEIGHT = 168
const LEFT = 46
const TOP = 8
const BOTTOM = 24
/** Width of a date on the axis, in px. */
const LABEL_WIDTH = 64

interface Plot {
  width: number
  y(value: number): number
}

export function TimeChart({ data }: { data: ChartData }) {
  const { title, about, series } = data
  const isEmpty = series.every(({ values }) => !values.some((value) => value > 0))
  return (
    <figure class="chart column">
      <figcaption class="chart-head wrap spread">
        <h2 title={about}>{title}</h2>
        {series.length > 1 && !isEmpty ? <Legend series={series} /> : null}
      </figcaption>
      {isEmpty ? <p class="chart-empty sunk soft">{data.empty}</p> : <InteractiveDrawing data={data} />}
      {isEmpty ? null : <TableDetails data={data} />}
    </figure>
  )
}

/** The pointer or the arrow keys select a column, which gets a tooltip. */
function InteractiveDrawing({ data }: { data: ChartData }) {
  const box = useRef<HTMLDivElement>(null)
  const width = Math.max(0, useElementWidth(box) - LEFT)
  const [marked, setMarked] = useState<number | null>(null)
  const newest = data.columns.length - 1
  const column = marked === null ? null : Math.min(marked, newest)
  const pointerX = (event: PointerEvent) => event.clientX - (box.current?.getBoundingClientRect().left ?? 0) - LEFT
  return (
    <div
      class="chart-box"
      ref={box}
      onPointerMove={(event) => setMarked(columnAt(pointerX(event), width, data.columns.length))}
      onPointerLeave={() => setMarked(null)}
    >
      {width === 0 ? null : <Drawing data={data} width={width} marked={column} />}
      {column === null ? null : <Tooltip data={data} column={column} width={width} />}
      <input
        type="range"
        class="unseen"
        min={0}
        max={Math.max(0, newest)}
        value={column ?? newest}
        aria-label={`${data.title}. ${data.about}`}
        aria-valuetext={columnText(data, column ?? newest)}
        onInput={(event) => setMarked(event.currentTarget.valueAsNumber)}
        onFocus={() => setMarked((before) => before ?? newest)}
        onBlur={() => setMarked(null)}
      />
    </div>
  )
}

function Drawing({ data, width, marked }: { data: ChartData; width: number; marked: number | null }) {
  const { columns, kind } = data
  const values = data.series.map((series) => series.values)
  const axis = chartAxis(kind === 'bars' ? columnTotals(values) : values.flat(), { whole: data.whole })
  const plot: Plot = { width, y: (value) => HEIGHT - (value / axis.top) * HEIGHT }
  return (
    <svg width={width + LEFT} height={HEIGHT + TOP + BOTTOM} aria-hidden="true" focusable="false">
      <g transform={`translate(${LEFT} ${TOP})`}>
        {axis.ticks.map((tick) => (
          <g key={tick} transform={`translate(0 ${plot.y(tick).toFixed(1)})`}>
            <line class={tick === 0 ? 'chart-floor' : 'chart-line'} x2={width} />
            <text class="chart-tick" x={-8} dy="0.32em" text-anchor="end">
              {data.tick(tick)}
            </text>
          </g>
        ))}
        {marked === null ? null : (
          <rect
            class="chart-marker"
            x={(marked / columns.length) * width}
            width={width / columns.length}
            y={-TOP}
            height={HEIGHT + TOP}
          />
        )}
        {kind === 'bars' ? <Bars data={data} plot={plot} /> : <Steps data={data} plot={plot} />}
        <ColumnLabels columns={columns} width={width} />
      </g>
    </svg>
  )
}

/** Widest bar, in px: seven days on a wide screen would be too heavy. */
const MAX_BAR_WIDTH = 44

function Bars({ data: { series, columns }, plot }: { data: ChartData; plot: Plot }): JSX.Element {
  const band = plot.width / columns.length
  const width = Math.min(MAX_BAR_WIDTH, Math.max(1, band * (band < 5 ? 0.8 : 0.68)))
  const stacks = stackSeries(series.map(({ values }) => values))
  return (
    <>
      {series.map(({ name, colour }, s) => (
        <g key={name} style={{ fill: `var(${colour})` }} class="chart-bars">
          {stacks[s]?.map(({ from, to }, i) =>
            to > from ? (
              <rect
                key={columns[i]?.long}
                x={((i + 0.5) * band - width / 2).toFixed(1)}
                width={width.toFixed(1)}
                y={plot.y(to).toFixed(1)}
                height={Math.max(1, plot.y(from) - plot.y(to)).toFixed(1)}
              />
            ) : null,
          )}
        </g>
      ))}
    </>
  )
}

/** Only the first series is filled, because several areas would hide each other. */
function Steps({ data: { series }, plot }: { data: ChartData; plot: Plot }): JSX.Element {
  return (
    <>
      {series.map(({ name, colour, values }, i) => (
        <g key={name}>
          {i === 0 ? (
            <path class="chart-area" d={stepArea(values, plot.width, plot.y)} style={{ fill: `var(${colour})` }} />
          ) : null}
          <path class="chart-steps" d={stepPath(values, plot.width, plot.y)} style={{ stroke: `var(${colour})` }} />
        </g>
      ))}
    </>
  )
}

function Legend({ series }: { series: readonly ChartSeries[] }) {
  return (
    <ul class="chart-legend smaller soft wrap">
      {series.map(({ name, colour }) => (
        <li key={name} title={name}>
          <span class="colour-key" style={{ background: `var(${colour})` }} />
          <span class="chart-name ellipsis">{name}</span>
        </li>
      ))}
    </ul>
  )
}

function ColumnLabels({ columns, width }: { columns: readonly ChartColumn[]; width: number }): JSX.Element {
  const labelled = useMemo(() => {
    const named = columns.flatMap(({ short }, i) => (short === null ? [] : [i]))
    return labelledColumns(named, width, LABEL_WIDTH)
  }, [columns, width])
  return (
    <>
      {labelled.map((i) => {
        const x = ((i + 0.5) / columns.length) * width
        // A centred label of the last column would be cut off at the edge.
        const atEdge = width - x < LABEL_WIDTH / 2
        return (
          <text
            key={i}
            class="chart-tick"
            x={atEdge ? width : x}
            y={HEIGHT + 17}
            text-anchor={atEdge ? 'end' : 'middle'}
          >
            {columns[i]?.short}
          </text>
        )
      })}
    </>
  )
}

/** Beside the marker, on the side with more room. */
function Tooltip({ data, column, width }: { data: ChartData; column: number; width: number }) {
  const { kind, columns, series, format, plain } = data
  const x = LEFT + ((column + 0.5) / columns.length) * width
  const full = LEFT + width
  const side = x > full / 2 ? { right: `${full - x + 14}px` } : { left: `${x + 14}px` }
  const rows = series.flatMap(({ name, colour, values }) => {
    const value = values[column] ?? Number.NaN
    return Number.isFinite(value) && (value > 0 || kind === 'steps') ? [{ name, colour, value }] : []
  })
  return (
    <div class="chart-tip smaller popup" style={side} aria-hidden="true">
      <p class="column figure">
        <span class="soft">{columns[column]?.long}</span>
        {kind === 'bars' ? <strong>{format(columnSum(series, column))}</strong> : null}
      </p>
      {series.length === 1 && kind === 'bars' ? null : (
        <ul class="stack soft">
          {rows.map(({ name, colour, value }) => (
            <li key={name}>
              <span class="colour-key" style={{ background: `var(${colour})` }} />
              <span class="chart-name ellipsis">{name}</span>
              <span class="figure">{plain(value)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** A column as text, for screen readers. */
function columnText({ kind, columns, series, format }: ChartData, column: number): string {
  const parts = series.flatMap(({ name, values }) => {
    const value = values[column] ?? Number.NaN
    return Number.isFinite(value) && value > 0 ? [`${name} ${format(value)}`] : []
  })
  const sum = format(columnSum(series, column))
  const texts = kind === 'steps' ? parts : series.length === 1 ? [sum] : [`${sum} in all`, ...parts]
  return `${columns[column]?.long ?? ''}: ${texts.length === 0 ? format(0) : texts.join(', ')}`
}

function columnSum(series: readonly ChartSeries[], column: number): number {
  return sumValues(series.map(({ values }) => values[column] ?? 0))
}

/** The numbers of the chart as a table, rendered when it is opened. */
function TableDetails({ data }: { data: ChartData }) {
  const [open, setOpen] = useState(false)
  return (
    <details class="chart-more" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="soft smaller">
        Show as table<span class="unseen">: {data.title}</span>
      </summary>
      {open ? <DataTable data={data} /> : null}
    </details>
  )
}

function DataTable({ data: { kind, title, columns, series, plain } }: { data: ChartData }) {
  const hasSums = kind === 'bars' && series.length > 1
  const newestFirst = columns.map((column, i) => ({ column, i })).reverse()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard.
    <section class="chart-table scroll-box" aria-label={`${title}, as a table`} tabIndex={0}>
      <Table class="numbers" columns={['When', ...series.map(({ name }) => name), ...(hasSums ? ['Total'] : [])]}>
        <tbody>
          {newestFirst.map(({ column, i }) => (
            <tr key={i}>
              <th scope="row">{column.long}</th>
              {series.map(({ name, values }) => (
                <td key={name}>{Number.isFinite(values[i]) ? plain(values[i] ?? 0) : '–'}</td>
              ))}
              {hasSums ? <td>{plain(columnSum(series, i))}</td> : null}
            </tr>
          ))}
        </tbody>
      </Table>
    </section>
  )
}

/** In px; 0 before the element is on the page. */
function useElementWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const { current } = element
    if (current === null) return
    const observer = new ResizeObserver(() => setWidth(Math.floor(current.clientWidth)))
    observer.observe(current)
    return () => observer.disconnect()
  }, [element])
  return width
}
