/** Levels over time, in steps: each holds until it changes. */
import type { ChartData } from './chart-data.ts'
import { ChartFrame, type Plot } from './chart-frame.tsx'
import { axisOf, stepArea, stepPath } from './scales.ts'

export function LineChart({ data, whole = false }: { data: ChartData; whole?: boolean }) {
  const axis = axisOf(
    data.series.flatMap(({ values }) => values),
    { whole },
  )
  return <ChartFrame data={data} axis={axis} draw={(plot) => <Lines data={data} plot={plot} />} />
}

/** Only the first is filled: where several are, none is seen. */
function Lines({ data: { series }, plot }: { data: ChartData; plot: Plot }) {
  return series.map(({ name, colour, values }, i) => (
    <g key={name}>
      {i === 0 ? (
        <path class="chart-area" d={stepArea(values, plot.width, plot.heightOf)} style={{ fill: `var(${colour})` }} />
      ) : null}
      <path class="chart-steps" d={stepPath(values, plot.width, plot.heightOf)} style={{ stroke: `var(${colour})` }} />
    </g>
  ))
}
