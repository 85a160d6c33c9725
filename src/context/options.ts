/** What decides the context of a session beside the memory itself. */
import { CONTEXT_MESSAGES, CONTEXT_PARTS, type ContextPart } from '../domain/context-parts.ts'
import type { Settings } from '../settings/settings.ts'

export type ContextSettings = ReturnType<typeof contextSettings>

export interface ContextOptions extends ContextSettings {
  /** Epoch ms. Only its date is visible in the text. */
  now: number
  /** The name of the reader in a team: memories with another author are other people's. Null or absent: there is no team. */
  me?: string | null
}

type ContextSettingName = Extract<keyof Settings, `CLAUDE_MEM_CONTEXT_${string}`>

export function contextSettings(settings: Pick<Settings, ContextSettingName>) {
  const names = settings.CLAUDE_MEM_CONTEXT_PARTS
  const parts: readonly ContextPart[] = CONTEXT_PARTS.filter((part) => names.includes(part))
  return {
    /** Budget of the whole text, as `estimateTokens` counts. */
    tokens: settings.CLAUDE_MEM_CONTEXT_TOKENS,
    parts,
    message: CONTEXT_MESSAGES.find((kind) => kind === settings.CLAUDE_MEM_CONTEXT_MESSAGE) ?? 'full',
  }
}
