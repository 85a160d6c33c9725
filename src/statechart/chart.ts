/** A state machine as plain data: the page, the terminal and the documents draw it. Read from the machine's definition. */
import type { AnyStateMachine, AnyStateNode } from 'xstate'

export interface ChartState {
  /** The dotted path, as in a session's `state`: `batching.calling`. */
  id: string
  /** The last part of the path: `calling`. */
  name: string
  /** Null on the outermost level. */
  parent: string | null
  /** The initial state of its parent, or of the machine. */
  initial: boolean
  final: boolean
}

export interface ChartEdge {
  from: string
  /** Equal to `from` for a transition without a target. */
  to: string
  /** Empty: an eventless transition, taken as soon as its guard holds. */
  event: string
  guard: string | null
  /** Names of its actions. */
  actions: string[]
}

export interface Chart {
  id: string
  /** Parents before their children, otherwise in order of definition. */
  states: ChartState[]
  edges: ChartEdge[]
  /** Events that every state handles without leaving it. */
  everywhere: string[]
}

export function machineChart(machine: AnyStateMachine): Chart {
  const states = descendants(machine.root)
  return {
    id: machine.id,
    states: states.map((node) => ({
      id: stateId(node),
      name: node.key,
      parent: node.parent === machine.root || node.parent === undefined ? null : stateId(node.parent),
      initial: node.parent?.initial.target[0] === node,
      final: node.type === 'final',
    })),
    edges: states.flatMap(stateEdges),
    everywhere: Object.keys(machine.root.config.on ?? {}),
  }
}

function descendants(node: AnyStateNode): AnyStateNode[] {
  return Object.values(node.states).flatMap((child) => [child, ...descendants(child)])
}

function stateEdges(node: AnyStateNode): ChartEdge[] {
  const transitions = [...[...node.transitions.values()].flat(), ...(node.always ?? [])]
  return transitions.map(({ target, eventType, guard, actions }) => ({
    from: stateId(node),
    to: stateId(target?.[0] ?? node),
    event: eventType,
    guard: referenceName(guard),
    actions: actions.flatMap((action) => referenceName(action) ?? []),
  }))
}

function referenceName(reference: unknown): string | null {
  if (typeof reference === 'string') return reference
  const isObject = typeof reference === 'object' && reference !== null && 'type' in reference
  return isObject && typeof reference.type === 'string' ? reference.type : null
}

function stateId(node: AnyStateNode): string {
  return node.path.join('.')
}

/** The state itself or one of its descendants. */
export function isWithin(id: string, parent: string): boolean {
  return id === parent || id.startsWith(`${parent}.`)
}
