/** Changes of the settings of projects, computed from the settings of all: merges by hand, joins of clones, moves. Pure. */
import { projectKeyPath, projectWorkingTree } from '../domain/project.ts'
import type { ProjectSettings, ProjectUpdate } from '../store/port.ts'

export type SettingsByKey = ReadonlyMap<string, ProjectSettings>

/** A merge by hand: both working trees stay where they are. Neither key may be merged into another one yet. */
export function mergeUpdates(settings: SettingsByKey, from: string, into: string): ProjectUpdate[] {
  // With a root it is not a project that moved away: a session that starts there belongs to the merged project.
  const root = settings.get(from)?.root ?? projectKeyPath(from) ?? from
  return [{ key: from, mergedInto: into, root }, ...retargetUpdates(settings, from, into)]
}

/**
 * A clone becomes part of a repository, whose memory it then has. The name that the user gave it becomes the repository's
 * if that has none; its files stay its own.
 */
export function joinUpdates(settings: SettingsByKey, from: string, into: string): ProjectUpdate[] {
  const known = settings.get(from)
  const name = settings.get(into)?.name ?? known?.name ?? null
  const root = known?.root ?? projectWorkingTree(from)
  return [
    { key: from, mergedInto: into, name: null, root },
    ...retargetUpdates(settings, from, into),
    ...(name === null ? [] : [{ key: into, name }]),
  ]
}

/** A repository moved to `home` and the path of `left` is gone: its name and file settings move too. */
export function moveUpdates(settings: SettingsByKey, left: ProjectSettings, home: string): ProjectUpdate[] {
  const there = settings.get(home)
  const name = there?.name ?? left.name
  const files = there === undefined || there.files.length === 0 ? left.files : there.files
  return [
    { key: left.key, mergedInto: home, name: null, root: null, fingerprint: null, files: [] },
    ...retargetUpdates(settings, left.key, home),
    { key: home, name, files },
  ]
}

/** Whether something exists again at a path that a repository moved away from: it is a new project. */
export function isReoccupied(settings: ProjectSettings | undefined): boolean {
  return settings !== undefined && settings.mergedInto !== null && settings.root === null
}

/** Keys that were merged into `from` now point to its target: chains of merges are never longer than one. */
function retargetUpdates(settings: SettingsByKey, from: string, into: string): ProjectUpdate[] {
  return [...settings.values()]
    .filter(({ key, mergedInto }) => mergedInto === from && key !== into)
    .map(({ key }) => ({ key, mergedInto: into }))
}

/**
 * Repairs merges after a recovery that restored only some of them: cycles are removed and chains are shortened to one.
 */
export function repairMerges(settings: SettingsByKey): ProjectUpdate[] {
  const ends = new Map([...settings.keys()].map((key) => [key, mergeTargetOf(settings, key)]))
  return [...settings.values()]
    .filter(({ key, mergedInto }) => mergedInto !== null && ends.get(key) !== mergedInto)
    .map(({ key }) => ({ key, mergedInto: ends.get(key) ?? null }))
}

/** The end of a chain of merges; null: not merged, or a cycle. */
function mergeTargetOf(settings: SettingsByKey, key: string): string | null {
  const passed = new Set<string>()
  let at: string = key
  for (let next = settings.get(at)?.mergedInto ?? null; next !== null; next = settings.get(at)?.mergedInto ?? null) {
    if (passed.has(next)) return null
    passed.add(next)
    at = next
  }
  return at === key ? null : at
}
