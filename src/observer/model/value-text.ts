/** A JSON value of any shape as text for a model: one line a field, nothing empty, no blobs. */
import { boundValue } from '../../memory/bound.ts'
import { type Fields, recordOf } from '../offline/fields.ts'

/** Wide: the text is cut later, by its share. What lies beyond says nothing new. */
const BOUNDS = { text: 65_536, total: 262_144, members: 100, depth: 8 }

/** What clients put into an answer for their own use: copies of whole files, ids, counters of the machinery. */
const NOISE = new Set([
  'originalFile',
  'original_file',
  'updated_file',
  'userModified',
  'isImage',
  'noOutputExpected',
  'durationMs',
  'durationSeconds',
  'duration_ms',
  'totalDurationMs',
  'usage',
  'toolStats',
  'tool_use_id',
  'toolUseId',
  'session_id',
  'signature',
  'cache_control',
])

export function valueText(value: unknown): string {
  return textOf(boundValue(value, BOUNDS))
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return withoutBlob(value)
  if (Array.isArray(value)) return value.map(textOf).filter(isSomething).join('\n')
  if (typeof value !== 'object' || value === null) return value === null ? '' : String(value)
  const fields = recordOf(value)
  const spoken = contentBlock(fields)
  if (spoken !== null) return spoken
  return Object.entries(fields)
    .map(([name, member]) => fieldText(name, member))
    .filter(isSomething)
    .join('\n')
}

function fieldText(name: string, member: unknown): string {
  if (NOISE.has(name)) return ''
  const text = isSpoken(member) ? textOf(member) : JSON.stringify(pruned(member))
  if (text === undefined || text === '') return ''
  return text.includes('\n') ? `${name}:\n${text}` : `${name}: ${text}`
}

/** Text, or a list of nothing but text and content blocks, reads best as it is. */
function isSpoken(member: unknown): boolean {
  if (typeof member !== 'object') return true
  return Array.isArray(member) && member.some((item) => contentBlock(recordOf(item)) !== null)
}

/** The blocks in which MCP and the Messages API answer: `{ type: 'text', text }`, `{ type: 'image', … }`. */
function contentBlock(fields: Fields): string | null {
  if (fields.type === 'text' && typeof fields.text === 'string') return withoutBlob(fields.text)
  const media = fields.type === 'image' || fields.type === 'audio' || fields.type === 'document'
  const hasData = 'data' in fields || 'source' in fields || 'base64' in recordOf(fields.file)
  return media && hasData ? `[${fields.type}]` : null
}

/** Undefined where nothing is left. Depth is bounded before. */
function pruned(value: unknown): unknown {
  if (typeof value === 'string') return value === '' ? undefined : withoutBlob(value)
  if (value === null) return undefined
  if (Array.isArray(value)) {
    const items = value.map(pruned).filter((item) => item !== undefined)
    return items.length === 0 ? undefined : items
  }
  if (typeof value !== 'object') return value
  const entries = Object.entries(value)
    .filter(([name]) => !NOISE.has(name))
    .map(([name, member]): [string, unknown] => [name, pruned(member)])
    .filter(([, member]) => member !== undefined)
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** So many characters of base64 or hex without a break are data; a hash or a token is shorter. */
const BLOB = /(?:data:[\w.+/;=-]{1,80},)?[A-Za-z\d+/_=-]{300,}/g
/** Long words without a break that are no data have no digits or hardly any: a path, a rule of dashes. */
const MIN_DIGITS = 10

export function withoutBlob(text: string): string {
  return text.replace(BLOB, (blob) =>
    (blob.match(/\d/g)?.length ?? 0) < MIN_DIGITS ? blob : `[data, ${blob.length.toLocaleString('en-US')} characters]`,
  )
}

function isSomething(text: string): boolean {
  return text !== ''
}
