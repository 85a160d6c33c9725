/** What observing the past would cost with a model, before it is asked. */

/**
 * For each tool use, as `npm run bench -- tokens` measures it on a session of 300: input as it is billed (cache reads at a
 * tenth), and output. Real tokenisers count code somewhat higher.
 */
const INPUT_PER_TOOL_USE = 713
const OUTPUT_PER_TOOL_USE = 51

export interface Estimate {
  sessions: number
  toolUses: number
  /** Input, as it is billed, and output. */
  tokens: number
  /** US dollars; null where nobody knows the model's price. */
  cost: number | null
}

/** `price`: US dollars for a million tokens. */
export function estimateOf(
  sessions: readonly { toolUses: number }[],
  price: { input: number; output: number } | null,
): Estimate {
  const toolUses = sessions.reduce((sum, session) => sum + session.toolUses, 0)
  const input = toolUses * INPUT_PER_TOOL_USE
  const output = toolUses * OUTPUT_PER_TOOL_USE
  return {
    sessions: sessions.length,
    toolUses,
    tokens: input + output,
    cost: price === null ? null : (input * price.input + output * price.output) / 1_000_000,
  }
}
