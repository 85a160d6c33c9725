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
  /** What it means, in a sentence. */
  description: string
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

/** `region`: one of several that run side by side; its states have paths without its name. */
export function machineChart(machine: AnyStateMachine, region?: string): Chart {
  const root = region === undefined ? machine.root : machine.getStateNodeById(`${machine.id}.${region}`)
  const states = descendants(root)
  return {
    id: region ?? machine.id,
    states: states.map((node) => ({
      id: stateId(node, root),
      name: node.key,
      parent: node.parent === root || node.parent === undefined ? null : stateId(node.parent, root),
      initial: node.parent?.initial.target[0] === node,
      final: node.type === 'final',
      description: node.description ?? '',
    })),
    edges: states.flatMap((node) => stateEdges(node, root)),
    everywhere: Object.keys(root.config.on ?? {}),
  }
}

function descendants(node: AnyStateNode): AnyStateNode[] {
  return Object.values(node.states).flatMap((child) => [child, ...descendants(child)])
}

function stateEdges(node: AnyStateNode, root: AnyStateNode): ChartEdge[] {
  const transitions = [...[...node.transitions.values()].flat(), ...(node.always ?? [])]
  return transitions.map(({ target, eventType, guard, actions }) => ({
    from: stateId(node, root),
    to: stateId(target?.[0] ?? node, root),
    event: eventType,
    guard: referenceName(guard),
    actions: actions.flatMap((action) => referenceName(action) ?? []),
  }))
}

/** The outermost states alone, and the arrows from one to another. Those that leave an inner state are without their guards. */
export function outline({ states, edges, ...chart }: Chart): Chart {
  const outermost = (id: string) => id.split('.', 1)[0] ?? id
  const lifted = edges.map(({ from, to, guard, ...edge }) => ({
    ...edge,
    from: outermost(from),
    to: outermost(to),
    guard: outermost(from) === from ? guard : null,
  }))
  return {
    ...chart,
    states: states.filter(({ parent }) => parent === null),
    edges: lifted.filter(({ from, to }) => from !== to),
  }
}

/** The states inside of one, and those that its arrows lead to. */
export function inside({ id, states, edges }: Chart, parent: string): Chart {
  const inner = edges.filter(({ from }) => from !== parent && isWithin(from, parent))
  const shown = states.filter((state) => state.parent === parent || inner.some(({ to }) => to === state.id))
  return { id, states: shown.map((state) => ({ ...state, parent: null })), edges: inner, everywhere: [] }
}

function referenceName(reference: unknown): string | null {
  if (typeof reference === 'string') return reference
  const isObject = typeof reference === 'object' && reference !== null && 'type' in reference
  return isObject && typeof reference.type === 'string' ? reference.type : null
}

function stateId(node: AnyStateNode, root: AnyStateNode): string {
  return node.path.slice(root.path.length).join('.')
}

/** The state itself or one of its descendants. */
export function isWithin(id: string, parent: string): boolean {
  return id === parent || id.startsWith(`${parent}.`)
}
