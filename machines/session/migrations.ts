/**
 * Migrates snapshots that older versions of the machine wrote, one step per version. `test/machines/fixtures` has one
 * snapshot per released version, and each must still load.
 */
import { newContext } from './context.ts'
import type { RegionStates, SessionContext, StoredSnapshot } from './types.ts'

/** Increased when a snapshot of the version before needs a migration: add a step to `STEPS`. */
export const SESSION_MACHINE_VERSION = 5

export interface RawSnapshot {
  version: number
  value: unknown
  context: Record<string, unknown>
}

/** `steps[n]` migrates a snapshot of version n to version n + 1. Append only. */
export type Steps = Readonly<Record<number, (old: RawSnapshot) => RawSnapshot>>

/** Versions before 5 were never released: such a session is rebuilt from its rows (`claude-mem queue retry`). */
const STEPS: Steps = {}

export function migrateSnapshot(json: unknown, steps: Steps = STEPS, target = SESSION_MACHINE_VERSION): StoredSnapshot {
  let snapshot = asRawSnapshot(json)
  while (snapshot.version < target) {
    const step = steps[snapshot.version]
    if (step === undefined) {
      throw new Error(
        `written before the first release (session machine ${snapshot.version}, this one reads ${target})`,
      )
    }
    snapshot = step(snapshot)
  }
  if (snapshot.version > target) {
    throw new Error(`written by a newer claude-mem (session machine ${snapshot.version}, this one knows ${target})`)
  }
  const { version, value, context } = snapshot
  assertContext(context)
  if (!isRegionStates(value)) throw new Error('the snapshot has no state')
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

function isRegionStates(value: unknown): value is RegionStates {
  if (!isRecord(value)) return false
  const { life, turn } = value
  const isLife = typeof life === 'string' || (isRecord(life) && Object.values(life).every((s) => typeof s === 'string'))
  return isLife && (turn === 'none' || turn === 'open' || turn === 'private')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
