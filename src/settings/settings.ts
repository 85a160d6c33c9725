/**
 * The effective settings: defaults, overridden by `settings.json`, overridden by the environment. The hook bundles this
 * file, so it may not import a package.
 */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isMissingFile, readRegularFileSync, readTextFile } from '../lib/files.ts'
import {
  isSecretRule,
  type ParsedSetting,
  parseSettingValue,
  type SettingGroupName,
  type SettingRule,
  type SettingValue,
  settingWarning,
} from './rules.ts'
import { SETTINGS } from './table.ts'

export type { ParsedSetting, SettingSpec, SettingValue } from './rules.ts'
export { SETTINGS } from './table.ts'

export type SettingName = keyof typeof SETTINGS
interface ValueOfKind {
  boolean: boolean
  integer: number
  number: number
  choice: string
  text: string
  list: readonly string[]
}
export type Settings = { readonly [N in SettingName]: ValueOfKind[(typeof SETTINGS)[N]['rule']['kind']] }

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name)
}

export interface SettingProblem {
  name: string
  message: string
  /** The value is valid and used. */
  isWarning?: true
}

type SettingSource = 'default' | 'file' | 'environment'

export interface LoadedSettings {
  values: Settings
  sources: Record<SettingName, SettingSource>
  problems: SettingProblem[]
}

/** One setting as the daemon reports it to the viewer and the command line. */
export interface SettingInfo {
  name: string
  /** A secret is masked. */
  value: SettingValue
  default: SettingValue
  source: SettingSource
  about: string
  group: SettingGroupName
  kind: SettingRule['kind']
  secret: boolean
  min: number | null
  max: number | null
  choices: readonly string[] | null
  /** `takesEffect` of the table, under its name on the wire: at once, or at the daemon's next start. */
  holds: 'now' | 'restart'
  /** Why it cannot be changed through the daemon; null if it can. */
  locked: string | null
}

export const SETTINGS_FILE = 'settings.json'
/** Ours where `settings.json` belongs to the original claude-mem, which has the same data directory. */
export const OWN_SETTINGS_FILE = 'settings.own.json'
const ORIGINAL_DATABASE = 'claude-mem.db'
/** Settings of the original claude-mem that we do not have; versions before 7 had all of them under `env`. */
const ORIGINAL_SETTINGS = new Set([
  ...['CLAUDE_MEM_CONTEXT_OBSERVATIONS', 'CLAUDE_MEM_CONTEXT_SESSION_COUNT', 'CLAUDE_MEM_CONTEXT_FULL_COUNT'],
  ...['CLAUDE_MEM_DATA_DIR', 'CLAUDE_MEM_WORKER_HOST', 'CLAUDE_MEM_PYTHON_VERSION', 'CLAUDE_CODE_PATH', 'env'],
  ...['CLAUDE_MEM_MODE', 'CLAUDE_MEM_CONTEXT_SHOW_READ_TOKENS', 'CLAUDE_MEM_FOLDER_CLAUDEMD_ENABLED'],
])

/** The database of the original claude-mem in this data directory; null if there is none. */
export function originalDatabase(dataDir: string): string | null {
  const file = join(dataDir, ORIGINAL_DATABASE)
  return existsSync(file) ? file : null
}

/** The file with our settings: the original's must neither be read as ours nor be changed. */
export function settingsFileName(dataDir: string): string {
  if (originalDatabase(dataDir) === null) return SETTINGS_FILE
  if (existsSync(join(dataDir, OWN_SETTINGS_FILE))) return OWN_SETTINGS_FILE
  return isOriginalSettings(readTextFile(join(dataDir, SETTINGS_FILE)) ?? '') ? OWN_SETTINGS_FILE : SETTINGS_FILE
}

function isOriginalSettings(text: string): boolean {
  try {
    return Object.keys(Object(JSON.parse(text))).some((name) => ORIGINAL_SETTINGS.has(name) && !isSettingName(name))
  } catch {
    return false
  }
}

/** An invalid value is reported and the next lower source is used, so that a typing error never stops the daemon. */
export function loadSettings(dataDir: string, env: NodeJS.ProcessEnv = process.env): LoadedSettings {
  const problems: SettingProblem[] = []
  const fileName = settingsFileName(dataDir)
  const file = readSettingsFile(dataDir, fileName, problems)
  const values: Record<string, SettingValue> = {}
  const sources: Record<string, SettingSource> = {}
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
        problems.push({ name, message: `${parsed.message} (from the ${source === 'file' ? fileName : source})` })
      }
    }
    const warning = settingWarning(name, SETTINGS[name].rule, values[name])
    if (warning !== null) problems.push({ name, message: warning, isWarning: true })
  }
  for (const name of Object.keys(file)) {
    if (!isSettingName(name)) problems.push({ name, message: `${name} is not a setting (in ${fileName})` })
  }
  if (SETTING_NAMES.some((name) => isSecretSetting(name) && typeof file[name] === 'string' && file[name] !== '')) {
    problems.push(...openToOthers(join(dataDir, fileName)))
  }
  return { values: values as Settings, sources: sources as LoadedSettings['sources'], problems }
}

/** Settings by which the person keeps something out of the memory. */
const EXCLUSIONS: readonly SettingName[] = ['CLAUDE_MEM_EXCLUDED_PROJECTS', 'CLAUDE_MEM_SKIP_TOOLS']

/** Why exclusions in the settings file are not in use. */
export function unusedExclusions(dataDir: string): string[] {
  const concerned = new Set<string>([settingsFileName(dataDir), ...EXCLUSIONS])
  const { problems } = loadSettings(dataDir, {})
  return problems
    .filter(({ name, isWarning }) => isWarning !== true && concerned.has(name))
    .map(({ message }) => `${message}. Until that is repaired, what it excludes is remembered, too (claude-mem doctor)`)
}

function readSettingsFile(dataDir: string, fileName: string, problems: SettingProblem[]): Record<string, unknown> {
  let text: string
  try {
    text = readRegularFileSync(join(dataDir, fileName)).toString('utf8')
  } catch (error) {
    if (isMissingFile(error)) return {}
    problems.push({ name: fileName, message: `${fileName} cannot be read: ${String(error)}` })
    return {}
  }
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
    problems.push({ name: fileName, message: `${fileName} must hold a JSON object; it is ignored` })
  } catch (error) {
    // The error itself is not shown: it quotes the surrounding text, which may contain a key.
    const position = /at position (\d+)/.exec(String(error))?.[1]
    const line = position === undefined ? '' : ` in line ${text.slice(0, Number(position)).split('\n').length}`
    problems.push({ name: fileName, message: `${fileName} is not valid JSON${line}; all of it is ignored` })
  }
  return {}
}

/** Windows has no permission bits; there the user's home directory is private. */
function openToOthers(file: string): SettingProblem[] {
  if (process.platform === 'win32' || ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) === 0) return []
  return [{ name: SETTINGS_FILE, message: `${SETTINGS_FILE} holds a key and is open to others: chmod 600 '${file}'` }]
}

export function parseSetting(name: SettingName, raw: unknown): ParsedSetting {
  return parseSettingValue(name, SETTINGS[name].rule, raw)
}

export function isSecretSetting(name: SettingName): boolean {
  return isSecretRule(SETTINGS[name].rule)
}

/** From this length on the last four characters identify a key without revealing it. */
const MIN_CHARS_TO_SHOW_END = 20

/** The value as it may be shown: a secret only by its last characters. */
export function displayedValue(name: SettingName, value: SettingValue): SettingValue {
  return isSecretSetting(name) && typeof value === 'string' ? maskSecret(value) : value
}

export function maskSecret(secret: string): string {
  if (secret === '') return ''
  return secret.length >= MIN_CHARS_TO_SHOW_END ? `…${secret.slice(-4)}` : '…'
}
