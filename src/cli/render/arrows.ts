/** The arrows of a statechart in words: `observing → batching  when batch due`. */
import { type Chart, type ChartEdge, isWithin } from '../../chart/chart.ts'
import type { Look } from '../style.ts'
import { type Cell, table } from '../table.ts'

/** Where a state leads, one entry for each state that it leads to. */
export function arrowsFrom(chart: Chart, state: string): { to: string; when: string }[] {
  return byTarget(chart.edges.filter(({ from, to }) => isWithin(state, from) && to !== from))
}

/** All of them, and what is taken everywhere. */
export function arrowLines(chart: Chart, look: Look): string[] {
  const { style } = look
  const rows = chart.states.flatMap(({ id }) =>
    byTarget(chart.edges.filter(({ from }) => from === id)).map(({ to, when }): Cell[] => [
      to === id ? { text: `${id} stays`, paint: style.dim } : `${id} → ${to}`,
      when,
    ]),
  )
  const everywhere: Cell[][] =
    chart.everywhere.length === 0 ? [] : [['in every state', `on ${chart.everywhere.join(', ')}`]]
  return table([{ title: 'FROM → TO' }, { title: 'WHEN', narrow: 'wrap' }], [...rows, ...everywhere], look)
}

function byTarget(edges: readonly ChartEdge[]): { to: string; when: string }[] {
  return [...new Set(edges.map(({ to }) => to))].map((to) => ({
    to,
    when: condition(edges.filter((e) => e.to === to)),
  }))
}

/** `on PROMPT, MESSAGE, on DEADLINE when silent for long or idle` */
function condition(edges: readonly ChartEdge[]): string {
  const free = edges.filter(({ guard }) => guard === null).map(({ event }) => event)
  const guarded = edges.filter(({ guard }) => guard !== null)
  return [
    ...(free.length === 0 ? [] : [`on ${free.join(', ')}`]),
    ...[...new Set(guarded.map(({ event }) => event))].map((event) => {
      const guards = guarded.filter((edge) => edge.event === event).map(({ guard }) => guard)
      return `${event === '' ? '' : `on ${event} `}when ${guards.join(' or ')}`
    }),
  ].join('; ')
}
