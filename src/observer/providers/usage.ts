/** Tokens as most APIs count them: those read from or written to a cache are part of the prompt's. */
import { estimateTokens, type Usage } from '../../memory/observation.ts'
import type { ChatRequest } from '../model/chat.ts'

type Count = number | null | undefined

/** What is not said is estimated: a budget that counts nothing is none. */
export function usageOf(
  { system, messages }: ChatRequest,
  text: string,
  said: { prompt: Count; cached?: Count; written?: Count; output: Count },
): Usage {
  const estimate = messages.reduce((sum, { content }) => sum + estimateTokens(content), estimateTokens(system))
  // Nobody reads a prompt of no tokens: some servers say 0 for "not counted".
  const prompt = said.prompt || estimate
  const cacheRead = Math.min(said.cached ?? 0, prompt)
  const cacheWrite = Math.min(said.written ?? 0, prompt - cacheRead)
  return { input: prompt - cacheRead - cacheWrite, output: said.output || estimateTokens(text), cacheRead, cacheWrite }
}
