/** A machine as data that can be drawn: in the page, in a terminal, in a document. Read off its definition, never by hand. */
import type { AnyStateMachine, AnyStateNode } from 'xstate'

export interface ChartState {
  /** `batching.calling`, as a session's `state` is written. */
  id: string
  /** `calling` */
  name: string
  /** Null for those on the outermost level. */
  parent: string | null
  /** What its parent (or the machine) starts in. */
  initial: boolean
  final: boolean
}

export interface ChartEdge {
  from: string
  /** Its own state where it stays. */
  to: string
  /** Empty: taken by itself, as soon as its guard holds. */
  event: string
  guard: string | null
  /** What it does, by name. */
  actions: string[]
}

export interface Chart {
  id: string
  /** Parents before their children, otherwise as they are defined. */
  states: ChartState[]
  edges: ChartEdge[]
  /** Events that are taken in every state without leaving it. */
  everywhere: string[]
}

/** The state itself, or one inside of it. */
export function isWithin(id: string, parent: string): boolean {
  return id === parent || id.startsWith(`${parent}.`)
}

export function chartOf(machine: AnyStateMachine): Chart {
  const states = descendants(machine.root)
  return {
    id: machine.id,
    states: states.map((node) => ({
      id: idOf(node),
      name: node.key,
      parent: node.parent === machine.root || node.parent === undefined ? null : idOf(node.parent),
      initial: node.parent?.initial.target[0] === node,
      final: node.type === 'final',
    })),
    edges: states.flatMap(edgesOf),
    everywhere: Object.keys(machine.root.config.on ?? {}),
  }
}

function descendants(node: AnyStateNode): AnyStateNode[] {
  return Object.values(node.states).flatMap((child) => [child, ...descendants(child)])
}

function edgesOf(node: AnyStateNode): ChartEdge[] {
  return [...[...node.transitions.values()].flat(), ...(node.always ?? [])].map(
    ({ target, eventType, guard, actions }) => ({
      from: idOf(node),
      to: idOf(target?.[0] ?? node),
      event: eventType,
      guard: nameOf(guard),
      actions: actions.flatMap((action) => nameOf(action) ?? []),
    }),
  )
}

function nameOf(part: unknown): string | null {
  if (typeof part === 'string') return part
  return typeof part === 'object' && part !== null && 'type' in part && typeof part.type === 'string' ? part.type : null
}

function idOf(node: AnyStateNode): string {
  return node.path.join('.')
}
