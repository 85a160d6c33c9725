/** A machine's definition as a Mermaid state diagram, for the docs. Never drawn by hand. */
import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { sessionMachine } from '../machines/session/machine.ts'
import { supervisorMachine } from '../machines/supervisor/machine.ts'

export function renderMachines(): string {
  return `# The machines

Generated from \`machines/\` by \`npm run docs\`; a test fails when this page is not current.

## session

One for each content session. The rules are at the top of \`machines/session/machine.ts\`. Events on the outermost box
are taken in every state: hooks report whatever the session is doing.

${fenced(sessionMachine)}
## supervisor

One for each daemon. The rules are at the top of \`machines/supervisor/machine.ts\`.

${fenced(supervisorMachine)}`
}

function fenced(machine: AnyStateMachine): string {
  return `\`\`\`mermaid\n${mermaid(machine)}\n\`\`\`\n`
}

export function mermaid(machine: AnyStateMachine): string {
  const everywhere = Object.keys(machine.root.config.on ?? {})
  const lines = ['stateDiagram-v2', ...nodes(machine.root, '  ')]
  if (everywhere.length > 0) {
    const [first] = Object.keys(machine.root.states)
    lines.push(`  note right of ${first}`, `    in every state: ${everywhere.join(', ')}`, '  end note')
  }
  return lines.join('\n')
}

function nodes(parent: AnyStateNode, indent: string): string[] {
  const children = Object.values(parent.states)
  const start = children.find((child) => child === parent.initial.target[0])
  const lines = start === undefined ? [] : [`${indent}[*] --> ${idOf(start)}`]
  for (const child of children) {
    const inner = Object.keys(child.states).length > 0
    if (inner)
      lines.push(`${indent}state "${child.key}" as ${idOf(child)} {`, ...nodes(child, `${indent}  `), `${indent}}`)
    else lines.push(`${indent}state "${child.key}" as ${idOf(child)}`)
    if (child.type === 'final') lines.push(`${indent}${idOf(child)} --> [*]`)
  }
  for (const child of children) lines.push(...edges(child, indent))
  return lines
}

function edges(node: AnyStateNode, indent: string): string[] {
  const transitions = [...[...node.transitions.values()].flat(), ...(node.always ?? [])]
  return transitions.map(({ target, eventType, guard }) => {
    const to = target?.[0] ?? node
    const when = typeof guard === 'object' && guard !== null && 'type' in guard ? guard.type : guard
    const label = [eventType, typeof when === 'string' ? `[${when}]` : ''].filter((word) => word !== '').join(' ')
    return `${indent}${idOf(node)} --> ${idOf(to)} : ${label}`
  })
}

function idOf(node: AnyStateNode): string {
  return node.path.join('_')
}
