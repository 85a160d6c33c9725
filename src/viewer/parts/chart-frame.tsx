/**
 * What every chart has around its drawing: name, legend, axes, a marker that the pointer or the arrow keys move, and
 * the same numbers as a table.
 */
import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type ChartData, type Column, type Series, sumAt, told } from './chart-data.ts'
import { ChartTable } from './chart-table.tsx'
import { type Axis, bandAt, labelled } from './scales.ts'
import './chart.css'

export interface Plot {
  width: number
  height: number
  heightOf(value: number): number
}

interface FrameProps {
  data: ChartData
  axis: Axis
  draw(plot: Plot): ComponentChildren
}

/** Of the drawing without its axes, in px. */
const HEIGHT = 168
const LEFT = 46
const TOP = 8
const BOTTOM = 24
/** A date needs this much, in px. */
const LABEL_WIDTH = 64

export function ChartFrame({ data, axis, draw }: FrameProps) {
  const { title, about, columns, series, nothing } = data
  const box = useRef<HTMLDivElement>(null)
  const full = useWidth(box)
  const [marked, setMarked] = useState<number | null>(null)
  const width = Math.max(0, full - LEFT)
  const plot: Plot = { width, height: HEIGHT, heightOf: (value) => HEIGHT - (value / axis.top) * HEIGHT }
  const empty = series.every(({ values }) => !values.some((value) => value > 0))
  const at = marked === null || empty ? null : Math.min(marked, columns.length - 1)
  return (
    <figure class="chart">
      <figcaption class="chart-head">
        <h2 title={about}>{title}</h2>
        {series.length > 1 && !empty ? <Legend series={series} /> : null}
      </figcaption>
      <div
        class="chart-box"
        ref={box}
        onPointerMove={(event) => setMarked(bandAt(placeIn(event, box.current), width, columns.length))}
        onPointerLeave={() => setMarked(null)}
      >
        {width === 0 || empty ? null : (
          <svg width={full} height={HEIGHT + TOP + BOTTOM} aria-hidden="true" focusable="false">
            <g transform={`translate(${LEFT} ${TOP})`}>
              {axis.ticks.map((tick) => (
                <g key={tick} transform={`translate(0 ${plot.heightOf(tick).toFixed(1)})`}>
                  <line class={tick === 0 ? 'chart-floor' : 'chart-line'} x2={width} />
                  <text class="chart-tick" x={-8} dy="0.32em" text-anchor="end">
                    {data.tick(tick)}
                  </text>
                </g>
              ))}
              {at === null ? null : (
                <rect
                  class="chart-marker"
                  x={(at / columns.length) * width}
                  width={width / columns.length}
                  y={-TOP}
                  height={HEIGHT + TOP}
                />
              )}
              {draw(plot)}
              <Labels columns={columns} width={width} />
            </g>
          </svg>
        )}
        {empty ? <p class="chart-nothing">{nothing}</p> : null}
        {at === null ? null : <Tip data={data} at={at} left={LEFT + ((at + 0.5) / columns.length) * width} of={full} />}
        {empty ? null : (
          <input
            type="range"
            class="unseen"
            min={0}
            max={Math.max(0, columns.length - 1)}
            value={at ?? columns.length - 1}
            aria-label={`${title}. ${about}`}
            aria-valuetext={told(data, at ?? columns.length - 1)}
            onInput={(event) => setMarked(event.currentTarget.valueAsNumber)}
            onFocus={() => setMarked((before) => before ?? columns.length - 1)}
            onBlur={() => setMarked(null)}
          />
        )}
      </div>
      {empty ? null : <ChartTable data={data} />}
    </figure>
  )
}

function Legend({ series }: { series: readonly Series[] }) {
  return (
    <ul class="chart-legend">
      {series.map(({ name, colour }) => (
        <li key={name} title={name}>
          <span class="chart-key" style={{ background: `var(${colour})` }} />
          <span class="chart-name">{name}</span>
        </li>
      ))}
    </ul>
  )
}

function Labels({ columns, width }: { columns: readonly Column[]; width: number }) {
  const places = useMemo(() => {
    const named = columns.flatMap(({ short }, i) => (short === null ? [] : [i]))
    return labelled(named, width, LABEL_WIDTH)
  }, [columns, width])
  return places.map((i) => {
    const x = ((i + 0.5) / columns.length) * width
    // The newest stands at the edge, where a centred word would be cut off.
    const edge = width - x < LABEL_WIDTH / 2
    return (
      <text key={i} class="chart-tick" x={edge ? width : x} y={HEIGHT + 17} text-anchor={edge ? 'end' : 'middle'}>
        {columns[i]?.short}
      </text>
    )
  })
}

/** Beside the marker, on the side where there is room. */
function Tip({ data, at, left, of }: { data: ChartData; at: number; left: number; of: number }) {
  const { columns, series, format, plain, summed } = data
  const rows = series.flatMap(({ name, colour, values }) => {
    const value = values[at] ?? Number.NaN
    return Number.isFinite(value) && (value > 0 || !summed) ? [{ name, colour, value }] : []
  })
  const side = left > of / 2 ? { right: `${of - left + 14}px` } : { left: `${left + 14}px` }
  return (
    <div class="chart-tip" style={side} aria-hidden="true">
      <p class="chart-tip-head">
        <span class="soft">{columns[at]?.long}</span>
        {summed ? <strong>{format(sumAt(series, at))}</strong> : null}
      </p>
      {series.length === 1 && summed ? null : (
        <ul>
          {rows.map(({ name, colour, value }) => (
            <li key={name}>
              <span class="chart-key" style={{ background: `var(${colour})` }} />
              <span class="chart-name">{name}</span>
              <span class="figure">{plain(value)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function placeIn(event: PointerEvent, box: HTMLElement | null): number {
  return box === null ? Number.NaN : event.clientX - box.getBoundingClientRect().left - LEFT
}

/** In px; 0 before it is on the page. */
function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const { current } = box
    if (current === null) return
    const observer = new ResizeObserver(() => setWidth(Math.floor(current.clientWidth)))
    observer.observe(current)
    return () => observer.disconnect()
  }, [box])
  return width
}
