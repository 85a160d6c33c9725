/** From settings to the rules that a session's machine goes by. */
import type { Policy } from '../machines/session/types.ts'
import type { LoadedSettings } from './settings.ts'

/** A turn that is open for this long without a word was interrupted, in ms. */
const SILENCE_MS = 24 * 3_600_000
/** A message that failed this often, by its own fault, is set aside. */
const MAX_ATTEMPTS = 3
/** Rules cost nothing, and see more the more they see at once: with them a whole turn is one batch. */
const OFFLINE_BATCH_MAX_SIZE = 200

export function policyOf({ values: settings, sources }: LoadedSettings, isOffline: boolean): Policy {
  const wholeTurns = isOffline && sources.CLAUDE_MEM_BATCH_MAX_SIZE === 'default'
  return {
    batching: settings.CLAUDE_MEM_BATCHING_ENABLED,
    batchMaxSize: wholeTurns ? OFFLINE_BATCH_MAX_SIZE : settings.CLAUDE_MEM_BATCH_MAX_SIZE,
    idleFlushMs: settings.CLAUDE_MEM_IDLE_FLUSH_MINUTES * 60_000,
    silenceMs: SILENCE_MS,
    effectTimeoutMs: settings.CLAUDE_MEM_EFFECT_TIMEOUT_SECONDS * 1_000,
    compactTokens: settings.CLAUDE_MEM_COMPACT_TOKENS,
    maxAttempts: MAX_ATTEMPTS,
  }
}
