/** Settings by what they are about, as their names say it: a new one finds its place by itself. */
import type { SettingInfo } from '../../../channel/protocol.ts'
import { CONTEXT_PARTS } from '../../../memory/context-parts.ts'
import { OBSERVATION_TYPES } from '../../../memory/observation.ts'

/** The first that fits. Narrow ones stand before wide ones. */
const GROUPS = [
  { name: 'Budget', about: 'What a model may cost', fits: /BUDGET|PRICE|COST/ },
  { name: 'Context', about: 'What sessions are told', fits: /CONTEXT/ },
  { name: 'Search', about: 'How memories are found', fits: /SEARCH|EMBED|VECTOR/ },
  { name: 'Privacy', about: 'What never leaves, or is never seen', fits: /NEVER|EXCLUDED|SKIP|PRIVATE|SECRET|MASK/ },
  { name: 'Files', about: 'What is written into your projects', fits: /FILES/ },
  { name: 'Keeping', about: 'How long things are kept', fits: /KEEP/ },
  {
    name: 'Running',
    about: 'How the daemon runs',
    fits: /PORT|LOG|IDLE_EXIT|MAX_(?:MESSAGE|FIELD)|CONCURRENCY|TIMEOUT/,
  },
  {
    name: 'Observer',
    about: 'Who writes memories, and how',
    fits: /PROVIDER|MODEL|API_KEY|BASE_URL|CODE_PATH|UNAVAILABLE|LANGUAGE|VERBOS|PROMPT|NOVELTY|BATCH|FLUSH|COMPACT/,
  },
] as const

const ORDER = ['Observer', 'Budget', 'Context', 'Search', 'Privacy', 'Files', 'Keeping', 'Running', 'Other'] as const
export type GroupName = (typeof ORDER)[number]

export interface Group {
  name: GroupName
  about: string
  settings: SettingInfo[]
}

export function groupOf(name: string): GroupName {
  return GROUPS.find(({ fits }) => fits.test(name))?.name ?? 'Other'
}

/** In the order of the page, without empty ones. */
export function inGroups(settings: readonly SettingInfo[]): Group[] {
  return ORDER.map((name) => ({
    name,
    about: GROUPS.find((group) => group.name === name)?.about ?? '',
    settings: settings.filter((setting) => groupOf(setting.name) === name),
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
const WRITTEN: Record<string, string> = { api: 'API', url: 'address', cli: 'CLI', dir: 'folder', claude: 'Claude' }
const PREFIX = /^CLAUDE_MEM_/

/** `CLAUDE_MEM_KEEP_PAYLOADS_DAYS`: Keep payloads, in days. */
export function nameOf(setting: string): { label: string; unit: string | null } {
  const words = setting.replace(PREFIX, '').split('_')
  // A single word without its unit would say too little.
  const unit = words.length > 2 ? (UNITS[words.at(-1) ?? ''] ?? null) : null
  const said = (unit === null ? words : words.slice(0, -1)).map((word) => word.toLowerCase())
  const label = said
    .filter((word) => word !== 'enabled' && word !== 'base')
    .map((word) => WRITTEN[word] ?? word)
    .join(' ')
  return { label: label.charAt(0).toUpperCase() + label.slice(1), unit }
}

/** Lists that hold some of known words; null: anything may stand in it. */
export function wordsOf(setting: string): readonly string[] | null {
  if (setting === 'CLAUDE_MEM_CONTEXT_PARTS') return CONTEXT_PARTS
  return setting === 'CLAUDE_MEM_CONTEXT_TYPES' ? OBSERVATION_TYPES : null
}

/** Every word somewhere in what is said about it. */
export function found(setting: SettingInfo, query: string): boolean {
  const text = `${setting.name} ${nameOf(setting.name).label} ${groupOf(setting.name)} ${setting.about}`.toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

/** A value as people say it. */
export function valueText(value: SettingInfo['value']): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  if (typeof value === 'number') return new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 }).format(value)
  const text = typeof value === 'string' ? value : value.join(', ')
  return text === '' ? 'empty' : text
}

export function sameValue(a: SettingInfo['value'], b: SettingInfo['value']): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
