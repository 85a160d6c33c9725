/** Model prices. CLAUDE_MEM_PRICES overrides an outdated one until the next release. */
import type { Usage } from '../domain/observation.ts'

/** US dollars for a million tokens of each kind. */
export type ModelPrice = Readonly<Record<keyof Usage, number>>

/** Date on which the providers' price lists were read. */
export const PRICES_AS_OF = '2026-11-16'

/** Default cache prices as a fraction of the input price. */
const CACHE_READ_FRACTION = 0.1
const CACHE_WRITE_FRACTION = 1.25

/**
 * [input, output, cache read, cache write]. Cache writes that are free of charge cost the input price. Prices that grow
 * with the prompt are those of a short one: the observer's conversation is compacted long before. If price lists differ
 * or a discount is temporary, the higher price counts: a budget that ends too early does less harm.
 */
const PRICE_TABLE: Readonly<Record<string, readonly [number, number, number?, number?]>> = {
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
  // Five times as much above 100,000 prompt tokens.
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

/** A suffix that names a build of a model and does not change its price. */
const BUILD_SUFFIX = /(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-\d{3}|-latest)$/

const FREE_PRICE: ModelPrice = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

const BUILT_IN_PRICES = new Map(
  Object.entries(PRICE_TABLE).map(([model, numbers]) => [modelKey(model), priceFrom(numbers)]),
)

/** Null: the price is not known. `overrides` are the items of CLAUDE_MEM_PRICES; the last match wins. */
export function modelPrice(model: string, overrides: readonly string[]): ModelPrice | null {
  const parsed = overrides.flatMap((item) => parseOverride(item) ?? [])
  // An exact name wins over another version of the same model.
  const found =
    parsed.findLast((override) => override.model.toLowerCase() === model.toLowerCase()) ??
    parsed.findLast((override) => modelKey(override.model) === modelKey(model))
  if (found !== undefined) return found.price
  // OpenRouter marks free models with this suffix.
  return model.endsWith(':free') ? FREE_PRICE : (BUILT_IN_PRICES.get(modelKey(model)) ?? null)
}

/** US dollars. */
export function usageCost(usage: Usage, price: ModelPrice): number {
  const millionths =
    usage.input * price.input +
    usage.output * price.output +
    usage.cacheRead * price.cacheRead +
    usage.cacheWrite * price.cacheWrite
  return millionths / 1_000_000
}

/** The same key for every spelling of a model: `anthropic/claude-haiku-4.5`, `claude-haiku-4-5-20251001`. */
function modelKey(model: string): string {
  const name = model.trim().toLowerCase().split('/').at(-1) ?? ''
  return name.replace(BUILD_SUFFIX, '').replaceAll('.', '-')
}

/** `model=input/output[/cacheRead[/cacheWrite]]`; null if it cannot be read. */
function parseOverride(item: string): { model: string; price: ModelPrice } | null {
  const at = item.lastIndexOf('=')
  const numbers = item
    .slice(at + 1)
    .split('/')
    .map(Number)
  if (at < 1 || numbers.length < 2 || !numbers.every((number) => number >= 0)) return null
  return { model: item.slice(0, at), price: priceFrom(numbers) }
}

function priceFrom(numbers: readonly (number | undefined)[]): ModelPrice {
  const [input = 0, output = 0, cacheRead = input * CACHE_READ_FRACTION, cacheWrite = input * CACHE_WRITE_FRACTION] =
    numbers
  return { input, output, cacheRead, cacheWrite }
}
