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

/** How large the conversation is after a call: the next one begins with all of it. */
export function sizeAfter({ input, output, cacheRead, cacheWrite }: Usage): number {
  return input + output + cacheRead + cacheWrite
}

export function sizeOf(system: string, said: string): number {
  return estimateTokens(system) + estimateTokens(said)
}
