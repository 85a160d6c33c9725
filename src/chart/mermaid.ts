/** A chart as a Mermaid state diagram, for documents. */
import type { Chart, ChartState } from './chart.ts'

export function mermaid(chart: Chart): string {
  const lines = ['stateDiagram-v2', ...level(chart, null, '  ')]
  const [first] = chart.states
  if (chart.everywhere.length > 0 && first !== undefined) {
    const events = chart.everywhere.join(', ')
    lines.push(`  note right of ${nameOf(first.id)}`, `    in every state: ${events}`, '  end note')
  }
  return lines.join('\n')
}

/** The states inside one, then the arrows that leave them. */
function level(chart: Chart, parent: string | null, indent: string): string[] {
  const states = chart.states.filter((state) => state.parent === parent)
  const start = states.find(({ initial }) => initial)
  return [
    ...(start === undefined ? [] : [`${indent}[*] --> ${nameOf(start.id)}`]),
    ...states.flatMap((state) => stateLines(chart, state, indent)),
    ...states.flatMap(({ id }) => arrows(chart, id, indent)),
  ]
}

function stateLines(chart: Chart, { id, name, final }: ChartState, indent: string): string[] {
  const head = `${indent}state "${name}" as ${nameOf(id)}`
  const inner = chart.states.some((state) => state.parent === id)
  return [
    ...(inner ? [`${head} {`, ...level(chart, id, `${indent}  `), `${indent}}`] : [head]),
    ...(final ? [`${indent}${nameOf(id)} --> [*]`] : []),
  ]
}

function arrows({ edges }: Chart, from: string, indent: string): string[] {
  return edges
    .filter((edge) => edge.from === from)
    .map(({ to, event, guard }) => {
      const label = [event, guard === null ? '' : `[${guard}]`].filter((word) => word !== '').join(' ')
      return `${indent}${nameOf(from)} --> ${nameOf(to)} : ${label}`
    })
}

/** Mermaid takes a dot for something else. */
function nameOf(id: string): string {
  return id.replaceAll('.', '_')
}
