/** Which entries of the data directory may be deleted. It must contain only our files and no other use. */
import { lstatSync, readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseJsonObject } from '../../hook/payload.ts'
import { MemError, systemCode } from '../../lib/errors.ts'
import { readTextFile } from '../../lib/files.ts'
import { isInside, type Paths } from '../../lib/paths.ts'
import { isSettingName, OWN_SETTINGS_FILE, SETTINGS_FILE } from '../../settings/settings.ts'
import { RECORDS_DIRECTORY } from './change.ts'

/** The user's own prompts. */
const PROMPTS_DIRECTORY = 'prompts'

/** Derived and temporary files: `db.sqlite-wal`, `db.sqlite.corrupt-…`, `settings.json.4711`. */
const DERIVED_FILE = /^(?:db\.sqlite|daemon\.lock|settings(?:\.own)?\.json|starting|port\.json|token)[.-]/

/** Created by file browsers. */
const BROWSER_FILE = /^(?:\.DS_Store|\.directory|Thumbs\.db|desktop\.ini)$/i

/** Null if the directory does not exist. Throws if it contains other files or is not recognisably ours. */
export function removableEntries(paths: Paths, home: string): string[] | null {
  const directory = realDirectory(paths.dataDir)
  if (directory === null) return null
  if (isInside(directory, realDirectory(home) ?? home)) {
    throw refusal(paths.dataDir, 'it is or contains your home directory')
  }
  const entries = readdirSync(directory)
  const known = new Set([
    ...Object.values(paths).flatMap((path: string) => (dirname(path) === paths.dataDir ? [basename(path)] : [])),
    SETTINGS_FILE,
    OWN_SETTINGS_FILE,
    RECORDS_DIRECTORY,
    PROMPTS_DIRECTORY,
  ])
  const foreign = entries.filter((name) => !known.has(name) && !DERIVED_FILE.test(name) && !BROWSER_FILE.test(name))
  if (foreign.length > 0) {
    throw refusal(
      paths.dataDir,
      `it contains files that are not claude-mem's: ${foreign.slice(0, MAX_LISTED).join(', ')}`,
    )
  }
  if (entries.length > 0 && !entries.some((name) => identifiesUs(directory, name))) {
    throw refusal(paths.dataDir, 'nothing in it shows that claude-mem created it')
  }
  return entries
}

/** Foreign files named in the error. */
const MAX_LISTED = 5

function refusal(directory: string, why: string): MemError {
  return new MemError(
    'bad_setting',
    `${directory} is not deleted: ${why}. Check CLAUDE_MEM_DATA_DIR, or move your files out of it. Nothing was changed.`,
  )
}

function realDirectory(path: string): string | null {
  try {
    const real = realpathSync.native(path)
    if (lstatSync(real).isDirectory()) return real
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null
    throw error
  }
  throw refusal(path, 'it is not a directory')
}

/** Names that no other program uses; `logs` could belong to any. */
function identifiesUs(directory: string, name: string): boolean {
  if (['db.sqlite', 'daemon.lock', 'private-turns', 'spool', 'program', RECORDS_DIRECTORY].includes(name)) return true
  if (name !== SETTINGS_FILE) return false
  const settings = parseJsonObject(readTextFile(join(directory, name)) ?? '')
  return Object.keys(settings ?? {}).some(isSettingName)
}
