/** Values of a database without strict types: what they mean where they mean something. */
import { cutText } from '../memory/bound.ts'
import { MAX_ITEMS, MAX_TEXT_CHARS } from './schema.ts'

/** Empty text says nothing. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.trim() !== '' ? cutText(value, MAX_TEXT_CHARS) : null
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}

/** A list as JSON, as lines, or as a single word. */
export function listOf(value: unknown): string[] {
  if (typeof value !== 'string') return []
  const items = jsonList(value) ?? value.split('\n')
  return items.flatMap((item) => textOf(item)?.trim() ?? []).slice(0, MAX_ITEMS)
}

function jsonList(text: string): unknown[] | null {
  if (!text.trimStart().startsWith('[')) return null
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

/** In milliseconds a number below this is a time before 1973: it is seconds. */
const SECONDS_BELOW = 100_000_000_000

/** Epoch ms; null where neither says when. */
export function epochOf(epoch: unknown, iso: unknown): number | null {
  if (typeof epoch === 'number' && Number.isFinite(epoch) && epoch > 0) {
    return Math.round(epoch < SECONDS_BELOW ? epoch * 1_000 : epoch)
  }
  const parsed = typeof iso === 'string' ? Date.parse(iso) : Number.NaN
  return Number.isNaN(parsed) ? null : parsed
}
