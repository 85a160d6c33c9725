/** A session's state as it is stored: the machine's version, the state value and the context, as JSON. */
import type { StateValue } from 'xstate'
import { newContext } from './context.ts'
import { SESSION_MACHINE_VERSION } from './migrations.ts'
import type { SessionContext, Turn, TurnCount } from './types.ts'

export function writeSnapshot(value: StateValue, context: SessionContext): string {
  // The decision is already in the commit, and the next one does not depend on it.
  return JSON.stringify({ version: SESSION_MACHINE_VERSION, value, context: { ...context, decided: null } })
}

/** The state as a dotted path: `batching.calling`. */
export function stateName(value: StateValue): string {
  if (typeof value === 'string') return value
  return Object.entries(value)
    .map(([parent, child]) => (child === undefined ? parent : `${parent}.${stateName(child)}`))
    .join(' ')
}

export interface SessionRows {
  at: number
  prompts: number
  generation: number
  /** Messages with the status `pending` or `processing`, by turn. */
  pending: TurnCount[]
  failed: number
  /** Prompt numbers of the turns whose summary is due. */
  summaries: number[]
}

/** The state of a session whose snapshot is lost, rebuilt from its rows. */
export function rebuildSnapshot({ at, prompts, generation, pending, failed, summaries }: SessionRows): string {
  const turns = new Map<number, Turn>()
  const turnOf = (prompt: number) => turns.get(prompt) ?? { prompt, pending: 0, flush: true, summary: false }
  for (const { prompt, count } of pending) {
    const turn = turnOf(prompt)
    turns.set(prompt, { ...turn, pending: turn.pending + count })
  }
  for (const prompt of summaries) turns.set(prompt, { ...turnOf(prompt), summary: true })
  const sorted = [...turns.values()].sort((a, b) => a.prompt - b.prompt)
  return writeSnapshot('observing', { ...newContext(at), prompt: prompts, generation, failed, turns: sorted })
}
