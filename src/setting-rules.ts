/** What a setting may be, and how what JSON, an environment variable or a command line gives becomes its value. */

export type SettingValue = boolean | number | string | readonly string[]

export type Rule =
  | { kind: 'boolean'; default: boolean }
  | { kind: 'integer'; default: number; min: number; max: number }
  | { kind: 'number'; default: number; min: number; max: number }
  | { kind: 'choice'; default: string; choices: readonly string[] }
  /** `fits` says what a text that is not empty must be, null: it is. */
  | { kind: 'text'; default: string; secret?: boolean; fits?: (text: string) => string | null }
  | { kind: 'list'; default: readonly string[]; fits?: (item: string) => string | null }

export interface SettingSpec {
  rule: Rule
  /** One line for people. */
  about: string
}

/** Characters of a text, or of one item in a list: no key, path or address is longer. */
const MAX_TEXT_CHARS = 4_096
/** Characters of a wrong value that are shown: enough to find it. */
const MAX_SHOWN_CHARS = 100

export const boolean = (value: boolean, about: string) =>
  ({ rule: { kind: 'boolean', default: value }, about }) as const
export const integer = (value: number, min: number, max: number, about: string) =>
  ({ rule: { kind: 'integer', default: value, min, max }, about }) as const
export const number = (value: number, min: number, max: number, about: string) =>
  ({ rule: { kind: 'number', default: value, min, max }, about }) as const
export const choice = (value: string, choices: readonly string[], about: string) =>
  ({ rule: { kind: 'choice', default: value, choices }, about }) as const
export const list = (value: readonly string[], about: string) =>
  ({ rule: { kind: 'list', default: value }, about }) as const
/** A list of some of these words. */
export const some = (value: readonly string[], words: readonly string[], about: string) =>
  ({ rule: { kind: 'list', default: value, fits: (item: string) => wordFault(item, words) }, about }) as const
export const text = (value: string, about: string) => ({ rule: { kind: 'text', default: value }, about }) as const
export const secret = (about: string) =>
  ({ rule: { kind: 'text', default: '', secret: true, fits: secretFault }, about }) as const
export const address = (about: string, words: readonly string[] = []) =>
  ({ rule: { kind: 'text', default: '', fits: (given: string) => addressFault(given, words) }, about }) as const
export const prices = (about: string) => ({ rule: { kind: 'list', default: [], fits: priceFault }, about }) as const

function wordFault(item: string, words: readonly string[]): string | null {
  return words.includes(item) ? null : `a list of some of ${words.join(', ')}`
}

/** It becomes a header of a request, which takes nothing else. */
function secretFault(given: string): string | null {
  return /^[\x21-\x7e]+$/.test(given) ? null : 'a key: letters, digits and signs without blanks'
}

function addressFault(given: string, words: readonly string[]): string | null {
  if (words.includes(given)) return null
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return ['an address that starts with https:// or http://', ...words].join(', or ')
  }
  // Requests to such an address are refused by `fetch` itself.
  return url.username === '' && url.password === '' ? null : 'an address without a name or password in it'
}

/** `claude-haiku-4-5=1/5`: US dollars for a million tokens in and out, then read from and written to a cache. */
const PRICE = /^[^=\s]+=\d+(?:\.\d+)?(?:\/\d+(?:\.\d+)?){1,3}$/

/** Paths in the small language of src/observer/model/withheld/patterns.ts. */
export const pathPatterns = (about: string) =>
  ({ rule: { kind: 'list', default: [], fits: pathFault }, about }) as const

function pathFault(item: string): string | null {
  return item.includes('[') ? 'a list of names and patterns with * and ? (brackets are not understood)' : null
}

function priceFault(item: string): string | null {
  return PRICE.test(item) ? null : 'a list of MODEL=INPUT/OUTPUT[/CACHE_READ/CACHE_WRITE]'
}

export function isSecret(rule: Rule): boolean {
  return rule.kind === 'text' && rule.secret === true
}

export type ParsedSetting = { ok: true; value: SettingValue } | { ok: false; message: string }

export function parseByRule(name: string, rule: Rule, raw: unknown): ParsedSetting {
  const wrong = (expected: string): ParsedSetting => ({
    ok: false,
    message: `${name} must be ${expected}${isSecret(rule) ? '' : `, not ${shown(raw)}`}`,
  })
  switch (rule.kind) {
    case 'boolean': {
      const word = String(raw).trim().toLowerCase()
      if (['true', '1', 'yes', 'on'].includes(word)) return { ok: true, value: true }
      if (['false', '0', 'no', 'off'].includes(word)) return { ok: true, value: false }
      return wrong('true or false')
    }
    case 'integer': {
      const value = numberOf(raw)
      if (Number.isInteger(value) && value >= rule.min && value <= rule.max) return { ok: true, value }
      return wrong(`a whole number from ${rule.min} to ${rule.max}`)
    }
    case 'number': {
      const value = numberOf(raw)
      if (value >= rule.min && value <= rule.max) return { ok: true, value }
      return wrong(`a number from ${rule.min} to ${rule.max}`)
    }
    case 'text': {
      if (typeof raw !== 'string') return wrong('one line of text')
      const value = raw.trim()
      const fault = textFault(value) ?? (value === '' ? null : (rule.fits?.(value) ?? null))
      return fault === null ? { ok: true, value } : wrong(fault)
    }
    case 'choice': {
      const value = String(raw).trim()
      return rule.choices.includes(value) ? { ok: true, value } : wrong(`one of ${rule.choices.join(', ')}`)
    }
    case 'list': {
      const value = listOf(raw)
      if (value === null) return wrong('a list of texts')
      for (const item of value) {
        const fault = textFault(item) ?? rule.fits?.(item) ?? null
        if (fault !== null) return wrong(fault)
      }
      return { ok: true, value }
    }
  }
}

/** NaN for what is no number as people write one: no exponent, no hexadecimal, no blank. */
function numberOf(raw: unknown): number {
  if (typeof raw === 'number') return raw
  return typeof raw === 'string' && /^\s*-?(?:\d+(?:\.\d*)?|\.\d+)\s*$/.test(raw) ? Number(raw) : Number.NaN
}

function textFault(value: string): string | null {
  if (/[\r\n\0]/.test(value)) return 'one line of text'
  return value.length > MAX_TEXT_CHARS ? `at most ${MAX_TEXT_CHARS} characters` : null
}

function listOf(raw: unknown): string[] | null {
  if (Array.isArray(raw)) return raw.every((item) => typeof item === 'string') ? raw : null
  if (typeof raw !== 'string') return null
  return raw
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** A wrong address may still hold a password. */
function shown(raw: unknown): string {
  const json = (JSON.stringify(raw) ?? String(raw)).replace(/\/\/[^/"]*@/g, '//…@')
  return json.length > MAX_SHOWN_CHARS ? `${json.slice(0, MAX_SHOWN_CHARS)}…` : json
}
