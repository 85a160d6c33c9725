/** Directories that leave no trace: the list in the settings file, changed one place at a time. */
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { MemError } from '../errors.ts'
import { isExcluded } from '../hook/excluded.ts'
import { loadSettings } from '../settings.ts'
import { setSetting } from './settings-file.ts'

export const SETTING = 'CLAUDE_MEM_EXCLUDED_PROJECTS'

/** What looks like a path is one: the name of a project has no slash. Null: it does not. */
export function pathMeant(given: string): string | null {
  if (/^~(?:[/\\]|$)/.test(given)) return join(homedir(), given.slice(1))
  return isAbsolute(given) || /^\.{1,2}$|[/\\]/.test(given) ? resolve(given) : null
}

/** Whether a place, or the repository that its key names, lies in one of these. */
export function liesIn(place: string, excluded: readonly string[], key = `dir:${place}`): boolean {
  return isExcluded(place, { key, name: '' }, excluded)
}

/** False where it was excluded already, by itself or by what it lies in. */
export function exclude(dataDir: string, place: string): boolean {
  const list = inFile(dataDir)
  if (liesIn(place, list)) return false
  setSetting(dataDir, SETTING, [...list, place])
  return true
}

/** False where it was not excluded. */
export function include(dataDir: string, place: string): boolean {
  const list = inFile(dataDir)
  const rest = list.filter((entry) => !isSame(entry, place))
  const around = rest.find((entry) => liesIn(place, [entry]))
  if (around !== undefined) {
    const way = `claude-mem projects exclude ${around} --remove`
    throw new MemError('bad_request', `${place} lies in ${around}, which is excluded with everything below it: ${way}`)
  }
  if (rest.length === list.length) return false
  setSetting(dataDir, SETTING, rest)
  return true
}

/** As the file has it: what the environment says is not ours to write down. */
function inFile(dataDir: string): readonly string[] {
  const { values, problems } = loadSettings(dataDir, {})
  const problem = problems.find(({ name }) => name === SETTING)
  if (problem !== undefined) throw new MemError('bad_setting', `${problem.message}; mend it first`)
  return values[SETTING]
}

function isSame(entry: string, place: string): boolean {
  return liesIn(place, [entry]) && liesIn(pathMeant(entry) ?? resolve(entry), [place])
}
