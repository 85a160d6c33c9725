/** Who cost the most: a table in which each row has its bar. */
import { safeLine } from '../../parts/safe-text.ts'
import { count, money, short } from '../../times.ts'
import type { UsageRow } from './series.ts'

/** Rows at first; the rest is one click away. */
const SHOWN = 8

export function Ranking({ title, what, rows }: { title: string; what: string; rows: readonly UsageRow[] }) {
  // Money is only fair to compare where all of it is known.
  const byMoney = rows.every(({ unpriced }) => unpriced === 0)
  const of = (row: UsageRow) => (byMoney ? row.cost : tokensOf(row))
  const sorted = [...rows].sort((a, b) => of(b) - of(a))
  const largest = Math.max(...sorted.map(of), 0)
  const [top, rest] = [sorted.slice(0, SHOWN), sorted.slice(SHOWN)]
  return (
    <section class="card usage-card" aria-label={title}>
      <div class="chart-head">
        <h2>{title}</h2>
        <p class="usage-what">{byMoney ? 'bars compare money' : 'bars compare tokens'}</p>
      </div>
      <Rows what={what} rows={top} shareOf={(row) => (largest > 0 ? of(row) / largest : 0)} />
      {rest.length === 0 ? null : (
        <details class="chart-more">
          <summary>{count(rest.length)} more</summary>
          <Rows what={what} rows={rest} shareOf={(row) => (largest > 0 ? of(row) / largest : 0)} />
        </details>
      )}
    </section>
  )
}

interface RowsProps {
  what: string
  rows: readonly UsageRow[]
  shareOf(row: UsageRow): number
}

function Rows({ what, rows, shareOf }: RowsProps) {
  return (
    <table class="usage-ranking">
      <thead>
        <tr>
          <th scope="col">{what}</th>
          <th scope="col">Calls</th>
          <th scope="col">Tokens</th>
          <th scope="col">Cost</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key}>
            <th scope="row">
              <Name what={what} row={row} />
              <span class="usage-bar">
                <span style={{ width: `${Math.max(1, shareOf(row) * 100)}%` }} />
              </span>
            </th>
            <td title={`${count(row.observations)} observations came of them`}>
              {count(row.calls)}
              {row.failed === 0 ? null : <span class="usage-failed">{count(row.failed)} failed</span>}
            </td>
            <td title={tokensTold(row)}>{short(tokensOf(row))}</td>
            <td>
              <Cost row={row} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** A model stands with its provider, a project with its name. */
function Name({ what, row: { key, name } }: { what: string; row: UsageRow }) {
  const [main, more] = what === 'Model' ? [key, name] : [name ?? key, null]
  return (
    <span class="usage-name" title={safeLine(key)}>
      {safeLine(main)}
      {more === null ? null : <span class="soft"> {safeLine(more)}</span>}
    </span>
  )
}

function Cost({ row: { cost, unpriced, calls } }: { row: UsageRow }) {
  if (unpriced === 0) return <>{money(cost)}</>
  const title = `The price of ${count(unpriced)} of ${count(calls)} calls is not known: set CLAUDE_MEM_PRICES`
  return (
    <span title={title}>
      {cost > 0 ? money(cost) : null} <span class="usage-unpriced">{cost > 0 ? '+ no price' : 'no price'}</span>
    </span>
  )
}

function tokensOf({ usage: { input, output, cacheRead, cacheWrite } }: UsageRow): number {
  return input + output + cacheRead + cacheWrite
}

function tokensTold({ usage: { input, output, cacheRead, cacheWrite } }: UsageRow): string {
  const [a, b, c, d] = [input, output, cacheRead, cacheWrite].map(count)
  return `Input ${a}, output ${b}, cache read ${c}, cache write ${d} tokens`
}
