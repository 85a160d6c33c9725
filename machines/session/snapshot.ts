/** A session's state as it is kept: the machine's version, the state value and the context, as JSON. */
import type { StateValue } from 'xstate'
import { newContext } from './context.ts'
import { SESSION_MACHINE_VERSION } from './migrations.ts'
import type { SessionContext, Turn, TurnCount } from './types.ts'

export function writeSnapshot(value: StateValue, context: SessionContext): string {
  // The last decision is in the commit; the next one does not need it.
  return JSON.stringify({ version: SESSION_MACHINE_VERSION, value, context: { ...context, decided: null } })
}

/** `batching.calling`: the state's name for people and queries. */
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
  /** Messages that wait, by turn. */
  pending: TurnCount[]
  failed: number
  /** Turns whose end waits for a summary. */
  summaries: number[]
}

/** The state of a session whose snapshot is lost, rebuilt from its rows. */
export function revivedSnapshot({ at, prompts, generation, pending, failed, summaries }: SessionRows): string {
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
