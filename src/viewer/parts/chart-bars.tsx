/** Columns over time, their parts one above the other. */
import type { ChartData } from './chart-data.ts'
import { ChartFrame, type Plot } from './chart-frame.tsx'
import { axisOf, stacked, totals } from './scales.ts'

/** Of a column; seven days on a wide screen would be walls, in px. */
const WIDEST = 44

export function BarChart({ data, whole = false }: { data: ChartData; whole?: boolean }) {
  const values = data.series.map((series) => series.values)
  const axis = axisOf(totals(values), { whole })
  return <ChartFrame data={data} axis={axis} draw={(plot) => <Bars data={data} plot={plot} />} />
}

function Bars({ data: { series, columns }, plot }: { data: ChartData; plot: Plot }) {
  const band = plot.width / columns.length
  const width = Math.min(WIDEST, Math.max(1, band * (band < 5 ? 0.8 : 0.68)))
  return stacked(series.map(({ values }) => values)).map((layers, s) => (
    <g key={series[s]?.name} style={{ fill: `var(${series[s]?.colour})` }} class="chart-bars">
      {layers.map(({ from, to }, i) =>
        to > from ? (
          <rect
            key={columns[i]?.long}
            x={((i + 0.5) * band - width / 2).toFixed(1)}
            width={width.toFixed(1)}
            y={plot.heightOf(to).toFixed(1)}
            height={Math.max(1, plot.heightOf(from) - plot.heightOf(to)).toFixed(1)}
          />
        ) : null,
      )}
    </g>
  ))
}
