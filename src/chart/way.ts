/** Which arrows a transition took: the one of its event, then those that are taken by themselves. */
import { type Chart, type ChartEdge, isWithin } from './chart.ts'

export interface Step {
  /** Where it led to. */
  state: string
  /** Null: it stayed, or the chart does not know the way. */
  edge: Pick<ChartEdge, 'from' | 'to'> | null
  event: string
}

interface Taken {
  from: string
  to: string
  event: string
}

export function stepsOf(chart: Chart, { from, to, event }: Taken): Step[] {
  const first = chart.edges.filter((edge) => isWithin(from, edge.from) && edge.event === event)
  const ways: Step[][] = first.map((edge) => [{ state: startOf(chart, edge.to), edge, event }])
  // Events that are taken everywhere change what is known; the way begins where the state was.
  if (chart.everywhere.includes(event) || first.length === 0) ways.push([])
  const seen = new Set<string>()
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    const at = way.at(-1)?.state ?? from
    if (at === to) return way.length === 0 ? [{ state: to, edge: null, event }] : way
    if (seen.has(at)) continue
    seen.add(at)
    for (const edge of chart.edges) {
      if (edge.event !== '' || !isWithin(at, edge.from)) continue
      ways.push([...way, { state: startOf(chart, edge.to), edge, event }])
    }
  }
  return [{ state: to, edge: null, event }]
}

/** The innermost state that one is in after entering this one. */
function startOf(chart: Chart, id: string): string {
  const start = chart.states.find(({ parent, initial }) => parent === id && initial)
  return start === undefined ? id : startOf(chart, start.id)
}
