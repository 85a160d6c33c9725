/** Which decisions a merge or a move comes to. Pure: the store writes them down. */
import { placeOf } from '../memory/project.ts'
import type { ProjectChange, ProjectDecision } from '../store/project-port.ts'

export type Decisions = ReadonlyMap<string, ProjectDecision>

/** The key under which a project's memory is kept. */
export function keptUnder(decisions: Decisions, key: string): string {
  return decisions.get(key)?.mergedInto ?? key
}

/** By hand: both stay where they are. `from` and `into` are merged into no other. */
export function mergeChanges(decisions: Decisions, from: string, into: string): ProjectChange[] {
  // A root tells it apart from one that moved away: a session that starts there belongs to the other project all the same.
  const root = decisions.get(from)?.root ?? placeOf(from) ?? from
  return [{ key: from, mergedInto: into, root }, ...reroutes(decisions, from, into)]
}

/** A repository is at `home` now, and the place of `left` is gone: name and files that people wanted come along. */
export function moveChanges(decisions: Decisions, left: ProjectDecision, home: string): ProjectChange[] {
  const there = decisions.get(home)
  const name = there?.name ?? left.name
  const files = there === undefined || there.files.length === 0 ? left.files : there.files
  return [
    { key: left.key, mergedInto: home, name: null, root: null, fingerprint: null, files: [] },
    ...reroutes(decisions, left.key, home),
    { key: home, name, files },
  ]
}

/** Something is again where a repository moved away from: it is a project of its own. */
export function isBack(decision: ProjectDecision | undefined): boolean {
  return decision !== undefined && decision.mergedInto !== null && decision.root === null
}

/** Nothing is ever merged into what is merged itself. */
function reroutes(decisions: Decisions, from: string, into: string): ProjectChange[] {
  return [...decisions.values()]
    .filter(({ key, mergedInto }) => mergedInto === from && key !== into)
    .map(({ key }) => ({ key, mergedInto: into }))
}

/**
 * Nothing is merged into what is merged itself, except where a recovery brought back one decision of several: then
 * what is merged into one another is apart again, and a chain is as short as it should be.
 */
export function straightened(decisions: Decisions): ProjectChange[] {
  const ends = new Map([...decisions.keys()].map((key) => [key, endOf(decisions, key)]))
  return [...decisions.values()]
    .filter(({ key, mergedInto }) => mergedInto !== null && ends.get(key) !== mergedInto)
    .map(({ key }) => ({ key, mergedInto: ends.get(key) ?? null }))
}

/** Null: it is where it is, or leads back to itself. */
function endOf(decisions: Decisions, key: string): string | null {
  const passed = new Set<string>()
  let at: string = key
  for (let next = decisions.get(at)?.mergedInto ?? null; next !== null; next = decisions.get(at)?.mergedInto ?? null) {
    if (passed.has(next)) return null
    passed.add(next)
    at = next
  }
  return at === key ? null : at
}
