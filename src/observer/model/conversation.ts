/** The memory session's conversation, as a model gets it: our rows, whatever provider answered them. */
import { estimateTokens, type Usage } from '../../memory/observation.ts'
import type { ObserverTurn } from '../../store/commit.ts'
import type { ChatMessage } from './chat.ts'

/** The offline observer's notes to itself have no model and are nobody else's business. */
export function modelTurns(conversation: readonly ObserverTurn[]): ObserverTurn[] {
  return conversation.filter((turn) => turn.model !== null)
}

/** Many servers insist on alternating roles: what stands side by side becomes one message. */
export function messagesOf(turns: readonly ObserverTurn[], said: string): ChatMessage[] {
  const messages: ChatMessage[] = []
  for (const { role, content } of [...turns, { role: 'user' as const, content: said }]) {
    const last = messages.at(-1)
    if (last?.role === role) last.content = `${last.content}\n\n${content}`
    else messages.push({ role, content })
  }
  // A conversation whose beginning was removed may start with an answer to nothing.
  return messages[0]?.role === 'assistant' ? messages.slice(1) : messages
}

/** Servers that count only what they had not read before say too little; ours is a rule of thumb, and may say too much. */
const TRUST_IN_ESTIMATE = 0.75

export function requestTokens(system: string, messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => sum + estimateTokens(content), estimateTokens(system))
}

/** How large the conversation is after a call: the next one begins with all of it. */
export function sizeAfter({ input, output, cacheRead, cacheWrite }: Usage, asked: number, answer: string): number {
  const estimate = Math.floor((asked + estimateTokens(answer)) * TRUST_IN_ESTIMATE)
  return Math.max(input + output + cacheRead + cacheWrite, estimate)
}
