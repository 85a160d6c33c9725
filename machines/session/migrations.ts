/**
 * Migrates snapshots that older versions of the machine wrote, one step per version. `test/machines/fixtures` has one
 * snapshot per released version, and each must still load.
 */
import type { StateValue } from 'xstate'
import { NO_PRIVATE_TURNS, withPrivatePrompt } from '../../src/domain/private-turns.ts'
import { newContext } from './context.ts'
import type { SessionContext, StoredSnapshot } from './types.ts'

/** Increased when a snapshot of the version before needs a migration: add a step to `STEPS`. */
export const SESSION_MACHINE_VERSION = 4

export interface RawSnapshot {
  version: number
  value: unknown
  context: Record<string, unknown>
}

/** `steps[n]` migrates a snapshot of version n to version n + 1. Append only. */
export type Steps = Readonly<Record<number, (old: RawSnapshot) => RawSnapshot>>

const STEPS: Steps = {
  // Adds `offline`: sessions can continue without a model.
  1: ({ context, ...old }) => {
    const effect = isRecord(context.effect) ? { ...context.effect, offline: null } : null
    return { ...old, version: 2, context: { ...context, effect, offline: null } }
  },
  // Adds `starts` of the effect and `privateTurns`. An open private turn was in `turns`: it is closed, so it is dropped.
  2: ({ context, ...old }) => {
    const effect = isRecord(context.effect) ? { ...context.effect, starts: 0 } : null
    const promptId = typeof context.promptId === 'string' ? context.promptId : null
    const isPrivate = context.turnPrivate === true
    const privateTurns = isPrivate ? withPrivatePrompt(NO_PRIVATE_TURNS, promptId) : NO_PRIVATE_TURNS
    const turnOpen = context.turnOpen === true && !isPrivate
    return { ...old, version: 3, context: { ...context, effect, privateTurns, turnOpen } }
  },
  // Adds `unsummarized`: the conversation is renewed after a summary. Which turn it is in is not known.
  3: ({ context, ...old }) => ({ ...old, version: 4, context: { ...context, unsummarized: null } }),
}

export function migrateSnapshot(json: unknown, steps: Steps = STEPS, target = SESSION_MACHINE_VERSION): StoredSnapshot {
  let snapshot = asRawSnapshot(json)
  while (snapshot.version < target) {
    const step = steps[snapshot.version]
    if (step === undefined) {
      throw new Error(`no migration for session snapshot version ${snapshot.version} (current: ${target})`)
    }
    snapshot = step(snapshot)
  }
  if (snapshot.version > target) {
    throw new Error(`written by a newer claude-mem (session machine ${snapshot.version}, this one knows ${target})`)
  }
  const { version, value, context } = snapshot
  assertContext(context)
  if (!isStateValue(value)) throw new Error('the snapshot has no state')
  return { version, value, context }
}

function asRawSnapshot(json: unknown): RawSnapshot {
  if (isRecord(json) && typeof json.version === 'number' && 'value' in json && isRecord(json.context)) {
    return { version: json.version, value: json.value, context: json.context }
  }
  throw new Error('not a session snapshot')
}

/** XState restores any value and fails later, far from the cause: every field is checked here. */
function assertContext(context: Record<string, unknown>): asserts context is Record<string, unknown> & SessionContext {
  for (const [name, example] of Object.entries(newContext(0))) {
    const given = context[name]
    const fits = example === null ? given !== undefined : typeof given === typeof example && given !== null
    if (!fits || Array.isArray(example) !== Array.isArray(given)) {
      throw new Error(`the snapshot's ${name} is ${given === undefined ? 'missing' : JSON.stringify(given)}`)
    }
  }
}

function isStateValue(value: unknown): value is StateValue {
  return typeof value === 'string' || (isRecord(value) && Object.values(value).every(isStateValue))
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
