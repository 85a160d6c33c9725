/** The port to a chat model: a fixed system text and a conversation go in, text and usage come out. */
import { estimateTokens, type Usage } from '../../domain/observation.ts'

export interface ChatMessage {
  role: 'user' | 'assistant'
  content: string
}

export interface ChatRequest {
  /** The same for every call with these prompts, so that the provider can cache it. */
  system: string
  /** Roles alternate; the first and the last message are the user's. */
  messages: readonly ChatMessage[]
  /** Limit of the answer, in tokens. */
  maxTokens: number
}

export interface ChatReply {
  text: string
  /** `input` excludes tokens read from or written to a cache. Estimated if the provider reports nothing. */
  usage: Usage
  /** The provider's name for the model, which may be more exact than the requested one. */
  model: string
  /** `length`: cut off at `maxTokens`. `refused`: the model declined to answer. */
  stop: 'end' | 'length' | 'refused'
  /** The cost that the provider reports, in US dollars; null if it reports none. */
  cost: number | null
}

export interface ChatModel {
  /** Key of the circuit breaker: one per provider. */
  readonly provider: string
  /** The requested model. */
  readonly model: string
  /** A failure is an `ObserverError`; an aborted signal rejects with the signal's reason. */
  complete(request: ChatRequest, signal: AbortSignal): Promise<ChatReply>
}

export function estimateRequestTokens({ system, messages }: Pick<ChatRequest, 'system' | 'messages'>): number {
  return messages.reduce((sum, { content }) => sum + estimateTokens(content), estimateTokens(system))
}
