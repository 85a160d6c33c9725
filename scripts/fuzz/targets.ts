/** All targets by name, with their shares of a run. */
import { hookDoorTarget, hookProcessTarget, importTarget, spoolTarget } from './files.ts'
import { hookTarget, repliesTarget, transcriptsTarget } from './parsers.ts'
import type { TargetSpec } from './target.ts'
import { framesTarget, httpTarget } from './wire.ts'

export const TARGETS = {
  hook: hookTarget,
  replies: repliesTarget,
  transcripts: transcriptsTarget,
  frames: framesTarget,
  http: httpTarget,
  spool: spoolTarget,
  import: importTarget,
  'hook-process': hookProcessTarget,
  'hook-door': hookDoorTarget,
} as const satisfies Record<string, TargetSpec>

export type TargetName = keyof typeof TARGETS
export const TARGET_NAMES = Object.keys(TARGETS) as TargetName[]

export function isTargetName(name: string): name is TargetName {
  return Object.hasOwn(TARGETS, name)
}

/** How many of `count` inputs belong to a target; the shares add up to more or less than a million. */
export function countOf(name: TargetName, count: number): number {
  const total = TARGET_NAMES.reduce((sum, one) => sum + TARGETS[one].share, 0)
  return Math.ceil((TARGETS[name].share / total) * count)
}
