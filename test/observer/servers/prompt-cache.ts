/**
 * The documented prompt cache of the Messages API: a marked block writes the whole prefix up to it; a later request reads
 * the longest cached prefix, searched from each of its marks backwards.
 */
import { createHash } from 'node:crypto'
import type { TokenCount } from './fault.ts'
import { countTokens } from './scripted-server.ts'

export interface Block {
  role: string
  text: string
  /** Has `cache_control`. */
  marked: boolean
}

export const MAX_MARKS = 4
/** Blocks that are searched from a mark backwards, including its own. */
const LOOKBACK_BLOCKS = 20
const LIFETIME_MS = 300_000
const MIN_TOKENS = 1_024
/** Models with another minimum size of a cached prefix. */
const MIN_TOKENS_OF: readonly [RegExp, number][] = [
  [/haiku-4-5|opus-4-[56]/, 4_096],
  [/haiku-3|opus-4-7/, 2_048],
  [/opus-5|fable-5|mythos-5/, 512],
]

export class PromptCache {
  readonly #clock: () => number
  /** Expiry of each prefix, in epoch ms. */
  readonly #expiry = new Map<string, number>()

  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** Splits the input tokens of a call, and updates the cache. */
  use(model: string, blocks: readonly Block[]): Omit<TokenCount, 'output'> {
    const now = this.#clock()
    const prefixes = prefixesOf(model, blocks)
    const total = prefixes.at(-1)?.tokens ?? 0
    const marks = prefixes.filter(({ marked }) => marked)
    const held = prefixes.filter(({ key }) => (this.#expiry.get(key) ?? 0) > now)
    const found = held.filter(({ index }) =>
      marks.some((mark) => index <= mark.index && index > mark.index - LOOKBACK_BLOCKS),
    )
    const cacheRead = found.at(-1)?.tokens ?? 0
    const least = MIN_TOKENS_OF.find(([name]) => name.test(model))?.[1] ?? MIN_TOKENS
    const written = marks.filter(({ tokens }) => tokens >= least)
    const kept = Math.max(cacheRead, written.at(-1)?.tokens ?? 0)
    // A read renews the entry without cost.
    for (const { key } of [...found.slice(-1), ...written]) this.#expiry.set(key, now + LIFETIME_MS)
    return { input: total - kept, cacheRead, cacheWrite: kept - cacheRead }
  }
}

interface Prefix {
  index: number
  key: string
  tokens: number
  marked: boolean
}

function prefixesOf(model: string, blocks: readonly Block[]): Prefix[] {
  let key = model
  let tokens = 0
  return blocks.map(({ role, text, marked }, index) => {
    key = createHash('sha256')
      .update(JSON.stringify([key, role, text]))
      .digest('hex')
    tokens += countTokens(text)
    return { index, key, tokens, marked }
  })
}
