/**
 * A machine's definition as others read it: the Stately editor and visualiser import it as source, their inspector takes
 * it as data. Guards and actions are there by name; what they do stays in `machines/`.
 */
import type { AnyStateMachine } from 'xstate'

/** The parts of a definition that are words. `context` is not among them: it is made by a function. */
const PARTS = ['id', 'type', 'initial', 'on', 'always', 'entry', 'exit', 'states'] as const

type Part = (typeof PARTS)[number]
export type Definition = { [part in Part]?: unknown }

export function definitionOf(machine: AnyStateMachine): Definition {
  const parts: Definition = {}
  for (const part of PARTS) {
    const value = machine.config[part]
    // Through JSON, which leaves functions out.
    if (value !== undefined) parts[part] = JSON.parse(JSON.stringify(value))
  }
  return parts
}

/** A module that makes a machine of the same shape, as people would write it. */
export function sourceOf(machine: AnyStateMachine): string {
  return `import { createMachine } from 'xstate'

export const ${machine.id}Machine = createMachine(${literal(definitionOf(machine), '')})
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
    : Object.entries(value).map(([key, item]) => `${keyOf(key)}: ${literal(item, inner)}`)
  if (entries.length === 0) return `${open}${close}`
  const line = Array.isArray(value) ? `[${entries.join(', ')}]` : `{ ${entries.join(', ')} }`
  if (!line.includes('\n') && indent.length + line.length <= LINE_COLUMNS) return line
  return `${open}\n${entries.map((entry) => `${inner}${entry},\n`).join('')}${indent}${close}`
}

function keyOf(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key)
}

/** JSON's escapes are JavaScript's too. */
function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
