/** How the settings page groups, labels and filters settings. */
import { CONTEXT_PARTS } from '../../../domain/context-parts.ts'
import { SETTING_GROUP_NAMES, SETTING_GROUPS, type SettingGroupName } from '../../../settings/rules.ts'
import type { SettingInfo } from '../../../settings/settings.ts'

interface SettingGroup {
  name: SettingGroupName
  about: string
  settings: SettingInfo[]
}

/** In the order of the page, without empty groups. */
export function groupSettings(settings: readonly SettingInfo[]): SettingGroup[] {
  return SETTING_GROUP_NAMES.map((name) => ({
    name,
    about: SETTING_GROUPS[name],
    settings: settings.filter(({ group }) => group === name),
  })).filter((group) => group.settings.length > 0)
}

const UNITS: Record<string, string> = {
  DAYS: 'days',
  MINUTES: 'minutes',
  SECONDS: 'seconds',
  KB: 'KB',
  MB: 'MB',
  USD: 'US dollars',
  TOKENS: 'tokens',
}
const SPELLING: Record<string, string> = { api: 'API', url: 'address', cli: 'CLI', dir: 'folder', claude: 'Claude' }
const PREFIX = /^CLAUDE_MEM_/

/** `CLAUDE_MEM_KEEP_PAYLOADS_DAYS`: label `Keep payloads`, unit `days`. */
export function settingLabel(setting: string): { label: string; unit: string | null } {
  const words = setting.replace(PREFIX, '').split('_')
  // `Context tokens`: a label of one word would be unclear, so it keeps its unit.
  const unit = words.length > 2 ? (UNITS[words.at(-1) ?? ''] ?? null) : null
  const labelWords = (unit === null ? words : words.slice(0, -1)).map((word) => word.toLowerCase())
  const label = labelWords
    .filter((word) => word !== 'enabled' && word !== 'base')
    .map((word) => SPELLING[word] ?? word)
    .join(' ')
  return { label: label.charAt(0).toUpperCase() + label.slice(1), unit }
}

/** The allowed items of a list setting; null if any text is allowed. */
export function listChoices(setting: string): readonly string[] | null {
  return setting === 'CLAUDE_MEM_CONTEXT_PARTS' ? CONTEXT_PARTS : null
}

/** Whether name, label, group and description together contain every word of the query. */
export function settingMatches(setting: SettingInfo, query: string): boolean {
  const text = `${setting.name} ${settingLabel(setting.name).label} ${setting.group} ${setting.about}`.toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

export function settingValueText(value: SettingInfo['value']): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (typeof value === 'number') return new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 }).format(value)
  const text = typeof value === 'string' ? value : value.join(', ')
  return text === '' ? 'empty' : text
}

export function sameSettingValue(a: SettingInfo['value'], b: SettingInfo['value']): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
