/**
 * The settings as they hold: defaults, then `settings.json`, then the environment. Read by the hook too, so nothing
 * here may import a package.
 */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isSecret, type ParsedSetting, parseByRule, type SettingValue } from './setting-rules.ts'
import { SETTINGS } from './setting-table.ts'

export type { ParsedSetting, SettingSpec, SettingValue } from './setting-rules.ts'
export { SETTINGS } from './setting-table.ts'

export type SettingName = keyof typeof SETTINGS
type ValueOf<N extends SettingName> = (typeof SETTINGS)[N]['rule'] extends { kind: infer K }
  ? K extends 'boolean'
    ? boolean
    : K extends 'integer' | 'number'
      ? number
      : K extends 'list'
        ? readonly string[]
        : string
  : never
export type Settings = { readonly [N in SettingName]: ValueOf<N> }

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name)
}

export interface SettingProblem {
  name: string
  message: string
}

export interface LoadedSettings {
  values: Settings
  /** Where each value comes from. */
  sources: Record<SettingName, 'default' | 'file' | 'environment'>
  problems: SettingProblem[]
}

export const SETTINGS_FILE = 'settings.json'

/**
 * A value that is not valid is reported and the one below it holds: a typing error in a settings file never stops
 * the memory.
 */
export function loadSettings(dataDir: string, env: NodeJS.ProcessEnv = process.env): LoadedSettings {
  const problems: SettingProblem[] = []
  const file = readSettingsFile(dataDir, problems)
  const values: Record<string, SettingValue> = {}
  const sources: Record<string, 'default' | 'file' | 'environment'> = {}
  for (const name of SETTING_NAMES) {
    values[name] = SETTINGS[name].rule.default
    sources[name] = 'default'
    for (const [source, raw] of [
      ['file', file[name]],
      ['environment', env[name]],
    ] as const) {
      if (raw === undefined) continue
      const parsed = parseSetting(name, raw)
      if (parsed.ok) {
        values[name] = parsed.value
        sources[name] = source
      } else {
        problems.push({ name, message: `${parsed.message} (from the ${source === 'file' ? SETTINGS_FILE : source})` })
      }
    }
  }
  for (const name of Object.keys(file)) {
    if (!isSettingName(name)) problems.push({ name, message: `${name} is not a setting (in ${SETTINGS_FILE})` })
  }
  if (SETTING_NAMES.some((name) => isSecretSetting(name) && typeof file[name] === 'string' && file[name] !== '')) {
    problems.push(...openToOthers(join(dataDir, SETTINGS_FILE)))
  }
  return { values: values as Settings, sources: sources as LoadedSettings['sources'], problems }
}

function readSettingsFile(dataDir: string, problems: SettingProblem[]): Record<string, unknown> {
  let text: string
  try {
    text = readFileSync(join(dataDir, SETTINGS_FILE), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return {}
    problems.push({ name: SETTINGS_FILE, message: `${SETTINGS_FILE} cannot be read: ${String(error)}` })
    return {}
  }
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
    problems.push({ name: SETTINGS_FILE, message: `${SETTINGS_FILE} must hold a JSON object; it is ignored` })
  } catch (error) {
    // The error quotes what stands around the fault, which may be a part of a key.
    const position = /at position (\d+)/.exec(String(error))?.[1]
    const line = position === undefined ? '' : ` in line ${text.slice(0, Number(position)).split('\n').length}`
    problems.push({ name: SETTINGS_FILE, message: `${SETTINGS_FILE} is not valid JSON${line}; all of it is ignored` })
  }
  return {}
}

/** Windows has no such bits; there the user's own directory is the guard. */
function openToOthers(file: string): SettingProblem[] {
  if (process.platform === 'win32' || ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) === 0) return []
  return [{ name: SETTINGS_FILE, message: `${SETTINGS_FILE} holds a key and is open to others: chmod 600 '${file}'` }]
}

export function parseSetting(name: SettingName, raw: unknown): ParsedSetting {
  return parseByRule(name, SETTINGS[name].rule, raw)
}

export function isSecretSetting(name: SettingName): boolean {
  return isSecret(SETTINGS[name].rule)
}

/** From here on the last characters tell a key from another without giving it away. */
const LEAST_MASKED_CHARS = 20

/** What may be shown of a setting: of a secret only that it is there, and its last characters. */
export function shownValue(name: SettingName, value: SettingValue): SettingValue {
  return isSecretSetting(name) && typeof value === 'string' ? maskedSecret(value) : value
}

export function maskedSecret(secret: string): string {
  if (secret === '') return ''
  return secret.length >= LEAST_MASKED_CHARS ? `…${secret.slice(-4)}` : '…'
}
