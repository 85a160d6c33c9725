/** What stands in a list tag without item tags: a JSON array, bullets, lines, or words with commas. */
import { skip } from './sticky.ts'
import { plainText } from './text.ts'

export type LooseItem = { kind: 'text'; text: string } | { kind: 'object'; fields: ReadonlyMap<string, string> }

/** As long as the longest list of paths: a list is longer only by mistake. */
const MAX_LIST_CHARS = 200_000
export const BULLET = /^(?:[-*•+]|\d{1,3}[.)])\s+/
const FENCE = /^(?:```|~~~)[\w-]*$/
/** `<entry>…</entry>`: a tag that the grammar does not know, around one item. */
const FOREIGN = /^<([A-Za-z][\w:-]{0,40})(?:\s[^<>]{0,200})?>(.*)<\/\1\s*>$/

export function looseItems(raw: string, commas: boolean): LooseItem[] {
  const lines = plainText(raw, MAX_LIST_CHARS)
    .slice(0, MAX_LIST_CHARS)
    .split('\n')
    .map((text) => text.trim())
    .filter((text) => text !== '' && !FENCE.test(text))
  const array = jsonItems(lines.join('\n'))
  if (array !== null) return array
  return lines
    .map((text) => FOREIGN.exec(text)?.[2]?.trim() ?? text.replace(BULLET, ''))
    .flatMap((text) => (commas ? text.split(',') : [text]))
    .map((text) => ({ kind: 'text', text: text.trim() }) as const)
    .filter(({ text }) => text !== '')
}

function jsonItems(text: string): LooseItem[] | null {
  if (!text.startsWith('[')) return null
  const end = text.lastIndexOf(']')
  if (end < 0) return brokenJson(text)
  try {
    const value: unknown = JSON.parse(text.slice(0, end + 1))
    return Array.isArray(value) ? value.flatMap(itemOf) : null
  } catch {
    return brokenJson(text)
  }
}

function itemOf(value: unknown): LooseItem[] {
  if (typeof value === 'string' || typeof value === 'number') return [{ kind: 'text', text: String(value).trim() }]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string').flatMap(itemOf)
  const fields = new Map<string, string>()
  for (const [key, item] of Object.entries(value)) if (typeof item === 'string') fields.set(key.toLowerCase(), item)
  return fields.size === 0 ? [] : [{ kind: 'object', fields }]
}

/** Python's quotes too. The last one may be cut off. */
const QUOTED = /"((?:[^"\\\n]+|\\.)*)(?:"|\\?$)|'((?:[^'\\\n]+|\\.)*)(?:'|\\?$)/y
const BETWEEN = /[\s,[\]]*/y

/** An array that is cut off or not quite JSON: its texts, one by one, then the rest as it is. */
function brokenJson(text: string): LooseItem[] | null {
  const items: LooseItem[] = []
  let at = skip(BETWEEN, text, 0)
  for (;;) {
    QUOTED.lastIndex = at
    const match = QUOTED.exec(text)
    if (match === null) break
    items.push({ kind: 'text', text: unescaped(match[1] ?? match[2] ?? '').trim() })
    at = skip(BETWEEN, text, at + match[0].length)
  }
  if (items.length === 0) return null
  const rest = text.slice(at).trim()
  return rest === '' ? items : [...items, { kind: 'text', text: rest }]
}

function unescaped(body: string): string {
  try {
    const value: unknown = JSON.parse(`"${body}"`)
    return typeof value === 'string' ? value : body
  } catch {
    return body
  }
}
