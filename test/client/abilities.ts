/** What the client under test can do. A test that needs more is skipped, and says why. */
import type { TestContext } from 'vitest'
import { compareVersions } from '../../src/lib/version.ts'

/** Both are set by `npm run test:client` (scripts/npm.mjs). */
export const CLIENT = process.env.CLAUDE_MEM_TEST_CLIENT ?? ''
export const CLIENT_VERSION = process.env.CLAUDE_MEM_TEST_CLIENT_VERSION ?? ''

/** `since`: the oldest of 1.0.128, 2.0.76, 2.1.197 and 2.1.325 in which it was seen. */
const ABILITIES = {
  plugin: { since: '2.0.76', without: 'has no --plugin-dir' },
  toolIds: { since: '2.0.76', without: 'reports tool uses without their ids' },
  toolFailures: { since: '2.0.76', without: 'reports no tool that failed' },
  observer: { since: '2.0.76', without: 'has not the options that the observer needs' },
  contextAfterCompact: { since: '2.0.76', without: 'drops what a hook says after a compaction' },
  clear: { since: '2.1.197', without: 'passes over /clear without a terminal' },
  hookOutput: { since: '2.1.197', without: 'does not show what hooks did' },
  fileContext: { since: '2.1.197', without: 'drops what a hook says before a tool' },
} as const

export type Ability = keyof typeof ABILITIES

export function can(ability: Ability): boolean {
  return compareVersions(CLIENT_VERSION, ABILITIES[ability].since) >= 0
}

export function why(ability: Ability): string {
  return `Claude Code ${CLIENT_VERSION} ${ABILITIES[ability].without}`
}

export function needs(ability: Ability, { skip, task }: TestContext): void {
  if (can(ability)) return
  // The reporter keeps the reasons of a file that passes to itself.
  console.log(`without "${task.name}": ${why(ability)}`)
  skip(why(ability))
}
