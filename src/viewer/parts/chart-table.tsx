/** The numbers of a chart, for whoever would rather read them. */
import { useState } from 'preact/hooks'
import { type ChartData, sumAt } from './chart-data.ts'

export function ChartTable({ data }: { data: ChartData }) {
  const [open, setOpen] = useState(false)
  return (
    <details class="chart-more" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Show as table<span class="unseen">: {data.title}</span>
      </summary>
      {open ? <Table data={data} /> : null}
    </details>
  )
}

function Table({ data: { title, columns, series, plain, summed } }: { data: ChartData }) {
  const sums = summed && series.length > 1
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard.
    <section class="chart-table" aria-label={`${title}, as a table`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">When</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                <span class="chart-name">{name}</span>
              </th>
            ))}
            {sums ? <th scope="col">Together</th> : null}
          </tr>
        </thead>
        <tbody>
          {/* Newest first: it is what people look for. */}
          {columns
            .map((_, i) => columns.length - 1 - i)
            .map((at) => (
              <tr key={at}>
                <th scope="row">{columns[at]?.long}</th>
                {series.map(({ name, values }) => (
                  <td key={name}>{shown(values[at], plain)}</td>
                ))}
                {sums ? <td>{plain(sumAt(series, at))}</td> : null}
              </tr>
            ))}
        </tbody>
      </table>
    </section>
  )
}

function shown(value: number | undefined, format: (value: number) => string): string {
  return value !== undefined && Number.isFinite(value) ? format(value) : '–'
}
