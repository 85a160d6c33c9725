/**
 * The prompt cache of the Messages API, as it is documented: a marked block writes the whole prefix up to it; a later
 * request reads the longest prefix that is still there, looked for at each of its own marks and at the blocks before it.
 */
import { createHash } from 'node:crypto'
import type { TokenCount } from './fault.ts'
import { tokensIn } from './scripted-server.ts'

export interface Block {
  role: string
  text: string
  /** It carries `cache_control`. */
  marked: boolean
}

export const MAX_MARKS = 4
/** Blocks in which a mark looks for what was written before, itself included. */
const LOOKBACK_BLOCKS = 20
const LIFETIME_MS = 300_000
const LEAST_TOKENS = 1_024
/** Models with another least size of a prefix that is kept. */
const LEAST_TOKENS_OF: readonly [RegExp, number][] = [
  [/haiku-4-5|opus-4-[56]/, 4_096],
  [/haiku-3|opus-4-7/, 2_048],
  [/opus-5|fable-5|mythos-5/, 512],
]

export class PromptCache {
  readonly #clock: () => number
  /** When each prefix is forgotten. */
  readonly #until = new Map<string, number>()

  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** How the input of a call is split, and what the next one will find. */
  use(model: string, blocks: readonly Block[]): Omit<TokenCount, 'output'> {
    const now = this.#clock()
    const prefixes = prefixesOf(model, blocks)
    const total = prefixes.at(-1)?.tokens ?? 0
    const marks = prefixes.filter(({ marked }) => marked)
    const held = prefixes.filter(({ key }) => (this.#until.get(key) ?? 0) > now)
    const found = held.filter(({ index }) =>
      marks.some((mark) => index <= mark.index && index > mark.index - LOOKBACK_BLOCKS),
    )
    const cacheRead = found.at(-1)?.tokens ?? 0
    const least = LEAST_TOKENS_OF.find(([name]) => name.test(model))?.[1] ?? LEAST_TOKENS
    const written = marks.filter(({ tokens }) => tokens >= least)
    const kept = Math.max(cacheRead, written.at(-1)?.tokens ?? 0)
    // Reading refreshes, for nothing.
    for (const { key } of [...found.slice(-1), ...written]) this.#until.set(key, now + LIFETIME_MS)
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
    tokens += tokensIn(text)
    return { index, key, tokens, marked }
  })
}
