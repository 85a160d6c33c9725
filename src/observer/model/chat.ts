/** A model behind whatever API: a fixed text and a conversation go in, text and usage come out. One file a provider. */
import type { Usage } from '../../memory/observation.ts'

export interface ChatMessage {
  role: 'user' | 'assistant'
  content: string
}

export interface ChatRequest {
  /** The fixed part: the same for every call with these prompts, so that it can be cached. */
  system: string
  /** Roles alternate; the first and the last are the user's. */
  messages: readonly ChatMessage[]
  /** Most tokens that the answer may have. */
  maxTokens: number
}

export interface ChatReply {
  text: string
  /** Input counts only what was neither read from nor written to a cache. Estimated where the provider says nothing. */
  usage: Usage
  /** As the provider names it, which may be more exact than what was asked for. */
  model: string
  /** `length`: cut off at `maxTokens`. `refused`: the model would not. */
  stop: 'end' | 'length' | 'refused'
  /** What the provider itself says the call cost, in US dollars; null: it does not say. */
  cost: number | null
}

export interface ChatModel {
  /** One breaker per name. */
  readonly provider: string
  /** The model that is asked for. */
  readonly model: string
  /** Throws an `ObserverError` with its owner. */
  complete(request: ChatRequest, signal: AbortSignal): Promise<ChatReply>
}
