/** What values a setting may have, and how a value from JSON, the environment or the command line is parsed. */

export type SettingValue = boolean | number | string | readonly string[]
type TextCheck = (text: string) => string | null

/**
 * `check` returns what a non-empty text or list item must be, or null if it is valid; `warn` what the user should know about
 * a valid one.
 */
export type SettingRule =
  | { kind: 'boolean'; default: boolean }
  | { kind: 'integer' | 'number'; default: number; min: number; max: number }
  | { kind: 'choice'; default: string; choices: readonly string[] }
  | { kind: 'text'; default: string; secret?: boolean; check?: TextCheck; warn?: TextCheck }
  | { kind: 'list'; default: readonly string[]; check?: TextCheck }

/** Groups of settings, in the order in which the viewer shows them. */
export const SETTING_GROUPS = {
  Observer: 'Which model or rules write memories, and how',
  Budget: 'What a model may cost',
  Context: 'What a session receives from memory',
  Search: 'How memories are found and ranked',
  Privacy: 'What is never sent or never observed',
  Files: 'What is written into your projects',
  Team: 'What this machine is called in a team, and what travels',
  Retention: 'How long data is kept',
  Daemon: 'How the daemon runs',
} as const
export type SettingGroupName = keyof typeof SETTING_GROUPS
export const SETTING_GROUP_NAMES = Object.keys(SETTING_GROUPS) as SettingGroupName[]

export interface SettingSpec {
  rule: SettingRule
  group: SettingGroupName
  /** `restart`: the daemon reads it once, at its start; a change takes effect at the next start. */
  takesEffect: 'now' | 'restart'
  /**
   * Only the local door may change it, not a viewer page or REST: it names who gets a key or what is read, sent, run or
   * loaded, so a stolen token must not reach it.
   */
  localOnly?: true
  /** One line for the reference page, `claude-mem config` and the viewer. */
  about: string
}

/** Length limit of a text or of one list item: no key, path or address is longer. */
const MAX_TEXT_CHARS = 4_096
/** How much of an invalid value an error message quotes. */
const MAX_QUOTED_CHARS = 100

export function isSecretRule(rule: SettingRule): boolean {
  return rule.kind === 'text' && rule.secret === true
}

/** Null: nothing to warn of. */
export function settingWarning(name: string, rule: SettingRule, value: SettingValue): string | null {
  const warning = rule.kind === 'text' && typeof value === 'string' ? (rule.warn?.(value) ?? null) : null
  return warning === null ? null : `${name}: ${warning}`
}

export type ParsedSetting = { ok: true; value: SettingValue } | { ok: false; message: string }

export function parseSettingValue(name: string, rule: SettingRule, raw: unknown): ParsedSetting {
  const invalid = (expected: string): ParsedSetting => ({
    ok: false,
    message: `${name} must be ${expected}${isSecretRule(rule) ? '' : `, not ${quoteValue(raw)}`}`,
  })
  switch (rule.kind) {
    case 'boolean': {
      const word = String(raw).trim().toLowerCase()
      if (['true', '1', 'yes', 'on'].includes(word)) return { ok: true, value: true }
      if (['false', '0', 'no', 'off'].includes(word)) return { ok: true, value: false }
      return invalid('true or false')
    }
    case 'integer':
    case 'number': {
      const value = parseNumber(raw)
      const isAllowed = rule.kind === 'number' || Number.isInteger(value)
      if (isAllowed && value >= rule.min && value <= rule.max) return { ok: true, value }
      return invalid(`a ${rule.kind === 'integer' ? 'whole ' : ''}number from ${rule.min} to ${rule.max}`)
    }
    case 'text': {
      if (typeof raw !== 'string') return invalid('one line of text')
      const value = raw.trim()
      const expected = checkText(value) ?? (value === '' ? null : (rule.check?.(value) ?? null))
      return expected === null ? { ok: true, value } : invalid(expected)
    }
    case 'choice': {
      const value = String(raw).trim()
      return rule.choices.includes(value) ? { ok: true, value } : invalid(`one of ${rule.choices.join(', ')}`)
    }
    case 'list': {
      const value = parseList(raw)
      if (value === null) return invalid('a list of texts')
      for (const item of value) {
        const expected = checkText(item) ?? rule.check?.(item) ?? null
        if (expected !== null) return invalid(expected)
      }
      return { ok: true, value }
    }
  }
}

/** NaN unless it is a plain decimal number: exponents, hexadecimal and blanks are refused. */
function parseNumber(raw: unknown): number {
  if (typeof raw === 'number') return raw
  return typeof raw === 'string' && /^\s*-?(?:\d+(?:\.\d*)?|\.\d+)\s*$/.test(raw) ? Number(raw) : Number.NaN
}

function checkText(value: string): string | null {
  if (/[\r\n\0]/.test(value)) return 'one line of text'
  return value.length > MAX_TEXT_CHARS ? `at most ${MAX_TEXT_CHARS} characters` : null
}

function parseList(raw: unknown): string[] | null {
  if (Array.isArray(raw)) return raw.every((item) => typeof item === 'string') ? raw : null
  if (typeof raw !== 'string') return null
  return raw
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** Credentials in an address are removed: an invalid address may still hold a password. */
function quoteValue(raw: unknown): string {
  const json = (JSON.stringify(raw) ?? String(raw)).replace(/\/\/[^/"]*@/g, '//…@')
  return json.length > MAX_QUOTED_CHARS ? `${json.slice(0, MAX_QUOTED_CHARS)}…` : json
}
