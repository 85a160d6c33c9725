/** Writes `settings.json`: one key at a time, everything else in it kept, whole or not at all. */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { MemError, messageOf, systemCode } from './errors.ts'
import { SETTINGS_FILE, type SettingName, type SettingValue } from './settings.ts'

/** `value`: one that the setting may have. */
export function writeSetting(dataDir: string, name: SettingName, value: SettingValue): void {
  writeSettings(dataDir, { ...readSettings(dataDir), [name]: value })
}

/** False when the file did not hold it. */
export function unsetSetting(dataDir: string, name: SettingName): boolean {
  const { [name]: held, ...rest } = readSettings(dataDir)
  if (held === undefined) return false
  writeSettings(dataDir, rest)
  return true
}

/** A file that cannot be understood is left to its owner: writing would lose what is in it. */
export function readSettings(dataDir: string): Record<string, unknown> {
  const file = join(dataDir, SETTINGS_FILE)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return {}
    throw new MemError('bad_setting', `${file} cannot be read: ${messageOf(error)}`, { cause: error })
  }
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // The same sentence as for JSON that is no object.
  }
  throw new MemError('bad_setting', `${file} does not hold a JSON object; repair or remove it, then try again`)
}

function writeSettings(dataDir: string, settings: Record<string, unknown>): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = linkedFile(join(dataDir, SETTINGS_FILE))
  const beside = `${file}.${process.pid}`
  try {
    const fd = openSync(beside, 'w', 0o600)
    try {
      writeSync(fd, `${JSON.stringify(settings, null, 2)}\n`)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(beside, file)
  } catch (error) {
    rmSync(beside, { force: true })
    throw new MemError('bad_setting', `${file} cannot be written: ${messageOf(error)}`, { cause: error })
  }
}

/** Settings kept under version control are often a link: the link stays, its target changes. */
function linkedFile(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}
