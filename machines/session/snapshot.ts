/** A session's state as it is stored: the machine's version, the states of its regions and the context, as JSON. */
import { newContext } from './context.ts'
import { SESSION_MACHINE_VERSION } from './migrations.ts'
import type { RegionStates, SessionContext, Turn, TurnCount } from './types.ts'

export function writeSnapshot({ life, turn }: RegionStates, context: SessionContext): string {
  return JSON.stringify({ version: SESSION_MACHINE_VERSION, value: { life, turn }, context })
}

/** The state of the session's life as a dotted path: `batching.calling`. */
export function stateName({ life }: RegionStates): string {
  return typeof life === 'string' ? life : Object.entries(life).flat().join('.')
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
  const context = { ...newContext(at), prompt: prompts, generation, failed, turns: sorted }
  return writeSnapshot({ life: 'observing', turn: 'none' }, context)
}
