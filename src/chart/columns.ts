/** Which state stands in which column: as far from the first one as the longest way that never turns back. */
import { type Chart, type ChartState, isWithin } from './chart.ts'

/** The states inside of one (null: of the machine), in columns, each in the order of definition. */
export function columnsOf(chart: Chart, parent: string | null): ChartState[][] {
  const states = chart.states.filter((state) => state.parent === parent)
  const next = onwards(chart, states)
  const column = new Map(states.map(({ id }) => [id, 0]))
  // Without ways back no way is longer than there are states.
  for (const _ of states) {
    for (const [from, targets] of next) {
      for (const to of targets) column.set(to, Math.max(column.get(to) ?? 0, (column.get(from) ?? 0) + 1))
    }
  }
  const columns: ChartState[][] = []
  for (const state of states) {
    const at = column.get(state.id) ?? 0
    const there = columns[at] ?? []
    there.push(state)
    columns[at] = there
  }
  return columns.filter((there) => there !== undefined)
}

/** Where each state leads, without the ways back: those to a state that one came by. */
function onwards(chart: Chart, states: readonly ChartState[]): Map<string, string[]> {
  const ofLevel = (id: string) => states.find((state) => isWithin(id, state.id))?.id
  const leads = new Map<string, string[]>(states.map(({ id }) => [id, []]))
  for (const edge of chart.edges) {
    const [from, to] = [ofLevel(edge.from), ofLevel(edge.to)]
    if (from === undefined || to === undefined || from === to) continue
    const known = leads.get(from)
    if (known?.includes(to) === false) known.push(to)
  }
  const kept = new Map<string, string[]>(states.map(({ id }) => [id, []]))
  const seen = new Set<string>()
  const visit = (id: string, path: readonly string[]): void => {
    if (seen.has(id)) return
    seen.add(id)
    for (const to of leads.get(id) ?? []) {
      if (path.includes(to) || to === id) continue
      kept.get(id)?.push(to)
      visit(to, [...path, id])
    }
  }
  for (const { id } of [...states].sort((a, b) => Number(b.initial) - Number(a.initial))) visit(id, [])
  return kept
}
