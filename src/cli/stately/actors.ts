/**
 * Sessions as the Stately inspector reads actors: JSON messages as @statelyai/inspect sends them. Of what a session is
 * about nothing is in them: states, names of events, the machine's own words, and counts.
 */
import { randomUUID } from 'node:crypto'
import type { StreamItem } from '../../actors/stream.ts'
import { MACHINES } from '../../chart/charts.ts'
import { definitionOf } from '../../chart/definition.ts'
import type { SessionListItem } from '../../store/port.ts'

/** The version of @statelyai/inspect whose messages these are. */
const WIRE_VERSION = '0.7.2'
/** Characters of an id in an actor's name. */
const SHORT_ID = 8

const definition = JSON.stringify(definitionOf(MACHINES.session))

type StateValue = string | { [state: string]: StateValue }

interface ActorSnapshot {
  status: 'active' | 'done' | 'error'
  value: StateValue
  context: Record<string, number | boolean | string | null>
}

interface Base {
  _version: string
  sessionId: string
  rootId: string
  /** Epoch ms, as text. */
  createdAt: string
  id: string | null
}

interface ActorEvent {
  type: string
  reason: string
}

export type InspectionMessage = Base &
  (
    | { type: '@xstate.actor'; name: string; definition: string; snapshot: ActorSnapshot }
    | { type: '@xstate.event'; event: ActorEvent }
    | { type: '@xstate.snapshot'; event: ActorEvent; snapshot: ActorSnapshot }
  )

export class LiveActors {
  readonly #snapshots = new Map<string, { snapshot: ActorSnapshot; at: number }>()

  /** What somebody who comes late has to know first. */
  get current(): InspectionMessage[] {
    return [...this.#snapshots].map(([session, { snapshot, at }]) => actorMessage(session, snapshot, at))
  }

  /** All live sessions, as a daemon that has just been found lists them. */
  reset(sessions: readonly SessionListItem[]): InspectionMessage[] {
    this.#snapshots.clear()
    for (const item of sessions) {
      const context = { pending: item.pending + item.processing, failed: item.failed, prompts: item.prompts }
      const snapshot = snapshotOf(item.state, { ...context, waiting: item.waiting !== null })
      this.#snapshots.set(item.session, { snapshot, at: item.updatedAt })
    }
    return this.current
  }

  take(item: StreamItem): InspectionMessage[] {
    if (item.type === 'commit') return this.#commit(item)
    if (item.change !== 'erased' && item.change !== 'quarantined') return []
    const known = this.#snapshots.get(item.session)
    if (known === undefined) return []
    this.#snapshots.delete(item.session)
    const status = item.change === 'erased' ? 'done' : 'error'
    const event = { type: item.change.toUpperCase(), reason: item.change }
    return [snapshotMessage(item.session, event, { ...known.snapshot, status }, item.at)]
  }

  #commit(item: StreamItem & { type: 'commit' }): InspectionMessage[] {
    const { session, state, at, usage, effect } = item
    const snapshot = snapshotOf(state, {
      pending: item.pending,
      failed: item.failed,
      prompts: item.prompts,
      waiting: item.waiting !== null,
      effect: effect?.kind ?? null,
      generation: item.generation,
      contextTokens: item.contextTokens,
      tokens: usage.input + usage.output,
    })
    const isNew = !this.#snapshots.has(session)
    if (item.status === 'active') this.#snapshots.set(session, { snapshot, at })
    else this.#snapshots.delete(session)
    const steps = item.transitions.flatMap(({ event: type, reason, to, at }) => {
      const event = { type, reason: ownWords(reason) }
      // What the machine knows is known as of the commit; the states on the way there are told by their names.
      return [
        eventMessage(session, event, at),
        snapshotMessage(session, event, { ...snapshot, value: stateValueOf(to) }, at),
      ]
    })
    return isNew ? [actorMessage(session, snapshot, at), ...steps] : steps
  }
}

function snapshotOf(state: string, context: ActorSnapshot['context']): ActorSnapshot {
  return { status: 'active', value: stateValueOf(state), context }
}

/** `batching.calling` is `{ batching: 'calling' }`. */
function stateValueOf(state: string): StateValue {
  const [outer = '', ...inner] = state.split('.')
  return inner.length === 0 ? outer : { [outer]: stateValueOf(inner.join('.')) }
}

/** What follows the first clause may be a provider's or a model's words. */
function ownWords(reason: string): string {
  return reason.split(/[:;]/, 1)[0] ?? ''
}

function baseOf(session: string, at: number): Base {
  return { _version: WIRE_VERSION, sessionId: session, rootId: session, createdAt: String(at), id: null }
}

function actorMessage(session: string, snapshot: ActorSnapshot, at: number): InspectionMessage {
  const name = `session ${session.slice(0, SHORT_ID)}`
  return { ...baseOf(session, at), type: '@xstate.actor', name, definition, snapshot }
}

function eventMessage(session: string, event: ActorEvent, at: number): InspectionMessage {
  return { ...baseOf(session, at), type: '@xstate.event', id: randomUUID(), event }
}

function snapshotMessage(session: string, event: ActorEvent, snapshot: ActorSnapshot, at: number): InspectionMessage {
  return { ...baseOf(session, at), type: '@xstate.snapshot', event, snapshot }
}
