/** Writes the settings file atomically, one key at a time; all other keys are kept. */
import { realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { errorMessage, MemError } from '../lib/errors.ts'
import { isMissingFile, makeDataDirectory, moveFileSync, readRegularFileSync, writeFileDurably } from '../lib/files.ts'
import { type SettingName, type SettingValue, settingsFileName } from './settings.ts'

/** `value` must already be validated. */
export function writeSetting(dataDir: string, name: SettingName, value: SettingValue): void {
  writeSettings(dataDir, { ...readSettingsObject(dataDir), [name]: value })
}

/** False if the file did not contain the setting. */
export function unsetSetting(dataDir: string, name: SettingName): boolean {
  const { [name]: held, ...rest } = readSettingsObject(dataDir)
  if (held === undefined) return false
  writeSettings(dataDir, rest)
  return true
}

/** Throws for a file that is not a JSON object: writing it would lose the user's text. */
export function readSettingsObject(dataDir: string): Record<string, unknown> {
  const file = join(dataDir, settingsFileName(dataDir))
  let text: string
  try {
    text = readRegularFileSync(file).toString('utf8')
  } catch (error) {
    if (isMissingFile(error)) return {}
    throw new MemError('bad_setting', `${file} cannot be read: ${errorMessage(error)}`, { cause: error })
  }
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Same error as for JSON that is not an object.
  }
  throw new MemError('bad_setting', `${file} is not a JSON object; repair or remove it, then try again`)
}

function writeSettings(dataDir: string, settings: Record<string, unknown>): void {
  makeDataDirectory(dataDir)
  const file = resolveLink(join(dataDir, settingsFileName(dataDir)))
  const temporary = `${file}.${process.pid}`
  try {
    writeFileDurably(temporary, `${JSON.stringify(settings, null, 2)}\n`, 'w')
    moveFileSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw new MemError('bad_setting', `${file} cannot be written: ${errorMessage(error)}`, { cause: error })
  }
}

/** Settings under version control are often a symbolic link: keep the link and replace its target. */
function resolveLink(file: string): string {
  try {
    return realpathSync(file)
  } catch {
    return file
  }
}
