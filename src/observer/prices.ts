/** What models cost. Prices change: a wrong one is put right with CLAUDE_MEM_PRICES until the next release. */
import type { Usage } from '../memory/observation.ts'

/** US dollars for a million tokens. */
export interface Price {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
}

/** When the providers' own price lists were read. */
export const PRICES_OF = '2026-11-16'

/** Where nothing else is said, a cache is read and written at these parts of the input's price. */
const CACHE_READ = 0.1
const CACHE_WRITE = 1.25

/**
 * Input, output, cache read, cache write; a cache that costs nothing to write is written at the input's price. Prices that
 * grow with the prompt are those of a short one: the observer's conversation is compacted long before. Where a price is
 * lowered for some months, or lists differ, the higher one stands: a budget that ends too early is the smaller harm.
 */
const TABLE: Readonly<Record<string, readonly [number, number, number?, number?]>> = {
  'claude-fable-5-1': [10, 50, 0.25],
  'claude-fable-5': [10, 50],
  'claude-opus-5-5': [4, 20, 0.2],
  'claude-opus-5': [5, 25],
  'claude-opus-4-8': [5, 25],
  'claude-opus-4-7': [5, 25],
  'claude-opus-4-6': [5, 25],
  'claude-opus-4-5': [5, 25],
  'claude-sonnet-5-5': [2, 10],
  'claude-sonnet-5': [2, 10],
  'claude-sonnet-4-6': [3, 15],
  'claude-sonnet-4-5': [3, 15],
  // Five times as much for a prompt of more than 100,000 tokens.
  'claude-haiku-5-5': [0.1, 0.5],
  'claude-haiku-4-5': [1, 5],
  'gemini-3.8-flash': [1.5, 7.5, 0.15, 1.5],
  'gemini-3.7-flash': [1.5, 7.5, 0.15, 1.5],
  'gemini-3.6-flash': [1.5, 7.5, 0.15, 1.5],
  'gemini-3.5-flash': [1.5, 9, 0.15, 1.5],
  'gemini-3.5-flash-lite': [0.3, 2.5, 0.03, 0.3],
  'gemini-3.1-flash-lite': [0.25, 1.5, 0.025, 0.25],
  'gemini-3.1-pro-preview': [2, 12, 0.2, 2],
  'gemini-2.5-pro': [1.25, 10, 0.125, 1.25],
  'gemini-2.5-flash': [0.3, 2.5, 0.03, 0.3],
  'gemini-2.5-flash-lite': [0.1, 0.4, 0.01, 0.1],
  'gpt-5.6-terra': [2, 12, 0.2, 2.5],
  'gpt-5.6-luna': [0.2, 1.2, 0.02, 0.25],
  'gpt-5.5': [5, 30, 0.5, 5],
  'gpt-5.4': [2.5, 15, 0.25, 2.5],
  'gpt-5.4-mini': [0.75, 4.5, 0.075, 0.75],
  'gpt-5.4-nano': [0.2, 1.25, 0.02, 0.2],
  'gpt-5-mini': [0.25, 2, 0.025, 0.25],
  'gpt-4.1': [2, 8, 0.5, 2],
  'gpt-4o': [2.5, 10, 1.25, 2.5],
  'gpt-4o-mini': [0.15, 0.6, 0.075, 0.15],
}

/** A date, a number or a word behind a model's name that says which build of it, not which price. */
const BUILD = /(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-\d{3}|-latest)$/

const FREE: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

const OURS = new Map(Object.entries(TABLE).map(([model, numbers]) => [keyOf(model), priceFrom(numbers)]))

/** Null: nobody said what it costs. `overrides` are items of CLAUDE_MEM_PRICES, of which the last one counts. */
export function priceOf(model: string, overrides: readonly string[]): Price | null {
  const theirs = overrides.flatMap((item) => overrideOf(item) ?? [])
  // A price for exactly this name goes before one for all its versions.
  const exact = theirs.findLast((override) => override.model.toLowerCase() === model.toLowerCase())
  const alike = theirs.findLast((override) => keyOf(override.model) === keyOf(model))
  const found = exact ?? alike
  if (found !== undefined) return found.price
  // OpenRouter's own mark for what it gives away.
  return model.endsWith(':free') ? FREE : (OURS.get(keyOf(model)) ?? null)
}

/** US dollars. */
export function costOf(usage: Usage, price: Price): number {
  const millionths =
    usage.input * price.input +
    usage.output * price.output +
    usage.cacheRead * price.cacheRead +
    usage.cacheWrite * price.cacheWrite
  return millionths / 1_000_000
}

/** One key for all the ways to write a name: `anthropic/claude-haiku-4.5`, `claude-haiku-4-5-20251001`. */
function keyOf(model: string): string {
  const name = model.trim().toLowerCase().split('/').at(-1) ?? ''
  return name.replace(BUILD, '').replaceAll('.', '-')
}

function overrideOf(item: string): { model: string; price: Price } | null {
  const at = item.lastIndexOf('=')
  const numbers = item
    .slice(at + 1)
    .split('/')
    .map(Number)
  if (at < 1 || numbers.length < 2 || !numbers.every((number) => number >= 0)) return null
  return { model: item.slice(0, at), price: priceFrom(numbers) }
}

function priceFrom(numbers: readonly (number | undefined)[]): Price {
  const [input = 0, output = 0, cacheRead = input * CACHE_READ, cacheWrite = input * CACHE_WRITE] = numbers
  return { input, output, cacheRead, cacheWrite }
}
