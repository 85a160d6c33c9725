/** How the context is to be: what people set, and today. */
import { CONTEXT_MESSAGES, CONTEXT_PARTS, type ContextMessage, type ContextPart } from '../memory/context-parts.ts'
import { OBSERVATION_TYPES, type ObservationType } from '../memory/observation.ts'
import type { Settings } from '../settings.ts'

export interface ContextSettings {
  /** Of the whole text, as `estimateTokens` counts them. */
  tokens: number
  /** Most rows beside those that are pinned. */
  observations: number
  /** Turns before the last one. */
  summaries: number
  parts: readonly ContextPart[]
  types: readonly ObservationType[]
  message: ContextMessage
}

export interface ContextOptions extends ContextSettings {
  /** Only its day shows in the text. */
  now: number
}

type Names = Extract<keyof Settings, `CLAUDE_MEM_CONTEXT_${string}`>

export function contextSettings(settings: Pick<Settings, Names>): ContextSettings {
  const { CLAUDE_MEM_CONTEXT_PARTS: parts, CLAUDE_MEM_CONTEXT_TYPES: types } = settings
  return {
    tokens: settings.CLAUDE_MEM_CONTEXT_TOKENS,
    observations: settings.CLAUDE_MEM_CONTEXT_OBSERVATIONS,
    summaries: settings.CLAUDE_MEM_CONTEXT_SUMMARIES,
    parts: CONTEXT_PARTS.filter((part) => parts.includes(part)),
    types: OBSERVATION_TYPES.filter((type) => types.includes(type)),
    message: CONTEXT_MESSAGES.find((one) => one === settings.CLAUDE_MEM_CONTEXT_MESSAGE) ?? 'full',
  }
}
