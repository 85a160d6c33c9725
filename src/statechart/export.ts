/**
 * Machines in the formats of other tools: XState source and data for the Stately editor and inspector, Mermaid for
 * documents. Guards and actions appear by name only.
 */
import type { AnyStateMachine } from 'xstate'
import type { Chart, ChartEdge, ChartState } from './chart.ts'

/** The parts of a definition that are plain data. `context` is a function. */
const PARTS = ['id', 'type', 'initial', 'on', 'always', 'entry', 'exit', 'states'] as const

type Part = (typeof PARTS)[number]
type MachineDefinition = { [part in Part]?: unknown }

export function machineDefinition(machine: AnyStateMachine): MachineDefinition {
  return definitionOf(machine.config)
}

/** One of the regions as a machine of its own. */
export function regionDefinition(machine: AnyStateMachine, region: string): MachineDefinition {
  return { id: machine.id, ...definitionOf(machine.getStateNodeById(`${machine.id}.${region}`).config) }
}

function definitionOf(config: MachineDefinition): MachineDefinition {
  const parts: MachineDefinition = {}
  for (const part of PARTS) {
    const value = config[part]
    // A JSON round trip drops functions.
    if (value !== undefined) parts[part] = JSON.parse(JSON.stringify(value))
  }
  return parts
}

/** A module that creates a machine of the same shape, formatted like handwritten code. */
export function machineSource(machine: AnyStateMachine): string {
  return `import { createMachine } from 'xstate'

export const ${machine.id}Machine = createMachine(${literal(machineDefinition(machine), '')})
`
}

const LINE_COLUMNS = 100

function literal(value: unknown, indent: string): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return String(value)
  const inner = `${indent}  `
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const entries = Array.isArray(value)
    ? value.map((item) => literal(item, inner))
    : Object.entries(value).map(([key, item]) => `${propertyKey(key)}: ${literal(item, inner)}`)
  if (entries.length === 0) return `${open}${close}`
  const line = Array.isArray(value) ? `[${entries.join(', ')}]` : `{ ${entries.join(', ')} }`
  if (!line.includes('\n') && indent.length + line.length <= LINE_COLUMNS) return line
  return `${open}\n${entries.map((entry) => `${inner}${entry},\n`).join('')}${indent}${close}`
}

function propertyKey(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key)
}

/** Every escape of JSON is valid in JavaScript. */
function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

/** Charts as one Mermaid state diagram: regions of a machine are boxes. */
export function mermaidDiagram(charts: readonly Chart[]): string {
  const [only, ...more] = charts
  const parts =
    only !== undefined && more.length === 0
      ? chartBody(only, '  ')
      : charts.flatMap((chart) => [`  state "${chart.id}" as ${chart.id} {`, ...chartBody(chart, '    '), '  }'])
  return ['stateDiagram-v2', ...parts].join('\n')
}

function chartBody(chart: Chart, indent: string): string[] {
  const [first] = chart.states
  const events = chart.everywhere.join(', ')
  const note = [`note right of ${mermaidId(first?.id ?? '')}`, `  in every state: ${events}`, 'end note']
  const notes = events === '' ? [] : note.map((line) => indent + line)
  return [...mermaidLevel(chart, null, indent), ...notes]
}

/** The child states of one parent, then the arrows that leave them. */
function mermaidLevel(chart: Chart, parent: string | null, indent: string): string[] {
  const states = chart.states.filter((state) => state.parent === parent)
  const start = states.find(({ initial }) => initial)
  return [
    ...(start === undefined ? [] : [`${indent}[*] --> ${mermaidId(start.id)}`]),
    ...states.flatMap((state) => stateLines(chart, state, indent)),
    ...states.flatMap(({ id }) => arrows(chart, id, indent)),
  ]
}

function stateLines(chart: Chart, { id, name, final }: ChartState, indent: string): string[] {
  const head = `${indent}state "${name}" as ${mermaidId(id)}`
  const inner = chart.states.some((state) => state.parent === id)
  return [
    ...(inner ? [`${head} {`, ...mermaidLevel(chart, id, `${indent}  `), `${indent}}`] : [head]),
    ...(final ? [`${indent}${mermaidId(id)} --> [*]`] : []),
  ]
}

/** One arrow for each target. */
function arrows({ edges }: Chart, from: string, indent: string): string[] {
  const leaving = edges.filter((edge) => edge.from === from)
  return [...new Set(leaving.map(({ to }) => to))].map((to) => {
    return `${indent}${mermaidId(from)} --> ${mermaidId(to)} : ${arrowLabel(leaving.filter((edge) => edge.to === to))}`
  })
}

/** `DRAIN, DEADLINE [effect is overdue]` */
function arrowLabel(edges: readonly ChartEdge[]): string {
  const conditions = [...new Set(edges.map(({ event }) => event))].map((event) => {
    const guards = edges.filter((edge) => edge.event === event).map(({ guard }) => guard)
    return guards.includes(null) ? event : `${event} [${guards.join(' or ')}]`.trim()
  })
  return conditions.join(', ')
}

/** Mermaid does not allow dots in ids. */
function mermaidId(id: string): string {
  return id.replaceAll('.', '_')
}
