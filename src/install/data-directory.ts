/** The data directory as something to delete: everything in it must be ours, and it must be no place that others use. */
import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { MemError, systemCode } from '../errors.ts'
import { isInside, type Paths } from '../paths.ts'
import { isSettingName, SETTINGS_FILE } from '../settings.ts'
import { RECORDS_DIRECTORY } from './record.ts'

/** Where people keep prompts of their own. */
const PROMPTS = 'prompts'

/** Others stand beside these for a moment, or for good: `db.sqlite-wal`, `db.sqlite.corrupt-…`, `settings.json.4711`. */
const BESIDE = /^(?:db\.sqlite|daemon\.lock|settings\.json|starting|port\.json|token)[.-]/

/** File browsers leave these wherever somebody looks. */
const BROWSED = /^(?:\.DS_Store|\.directory|Thumbs\.db|desktop\.ini)$/i

/** What is in it, each name one of ours; null when there is no such directory. Throws where it is not ours to delete. */
export function ownEntries(paths: Paths, home: string): string[] | null {
  const directory = realDirectory(paths.dataDir)
  if (directory === null) return null
  if (isInside(directory, realDirectory(home) ?? home)) {
    throw refusal(paths.dataDir, 'it is your home directory or lies above it')
  }
  const entries = readdirSync(directory)
  const known = new Set([
    ...Object.values(paths)
      .filter((path: string) => dirname(path) === paths.dataDir)
      .map((path: string) => path.slice(dirname(path).length).replace(/^[\\/]+/, '')),
    SETTINGS_FILE,
    RECORDS_DIRECTORY,
    PROMPTS,
  ])
  const foreign = entries.filter((name) => !known.has(name) && !BESIDE.test(name) && !BROWSED.test(name))
  if (foreign.length > 0) {
    throw refusal(paths.dataDir, `it holds what is not claude-mem's: ${foreign.slice(0, SHOWN).join(', ')}`)
  }
  if (entries.length > 0 && !entries.some((name) => isTelling(directory, name))) {
    throw refusal(paths.dataDir, 'nothing in it shows that claude-mem made it')
  }
  return entries
}

/** Enough to see that it is the wrong place. */
const SHOWN = 5

function refusal(directory: string, why: string): MemError {
  return new MemError(
    'bad_setting',
    `${directory} is not deleted: ${why}. See what CLAUDE_MEM_DATA_DIR says, or move your files out of it. Nothing was changed.`,
  )
}

function realDirectory(path: string): string | null {
  try {
    const real = realpathSync(path)
    if (lstatSync(real).isDirectory()) return real
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    throw error
  }
  throw refusal(path, 'it is not a directory')
}

/** A name like `logs` is anybody's; these are made by no other program. */
function isTelling(directory: string, name: string): boolean {
  if (['db.sqlite', 'daemon.lock', 'private-turns', 'spool', RECORDS_DIRECTORY].includes(name)) return true
  return name === SETTINGS_FILE && isOurSettings(join(directory, name))
}

function isOurSettings(file: string): boolean {
  try {
    const settings: unknown = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''))
    return Object.keys(Object(settings)).some(isSettingName)
  } catch {
    return false
  }
}
