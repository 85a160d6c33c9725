/** Requests about settings, and what a preview may change of them for a moment. */
import { z } from 'zod'
import { CONTEXT_PARTS } from '../memory/context-parts.ts'
import { OBSERVATION_TYPES } from '../memory/observation.ts'
import { SETTINGS } from '../settings.ts'

const MAX_NAME_CHARS = 200
/** As a list in the file may have; each item is checked by the setting's own rule. */
const MAX_ITEMS = 1_000
const MAX_VALUE_CHARS = 100_000

/** The members of the union of requests that are about settings. */
export function settingsRequestSchemas<E extends z.ZodRawShape>(envelope: E) {
  const text = z.string().max(MAX_VALUE_CHARS)
  return [
    z.object({ ...envelope, type: z.literal('settings') }),
    z.object({
      ...envelope,
      type: z.literal('setting_set'),
      name: z.string().min(1).max(MAX_NAME_CHARS),
      value: z.union([text, z.array(text).max(MAX_ITEMS)]).nullable(),
    }),
  ] as const
}

export const settingValueSchema = z.object({
  value: z
    .union([
      z.string().max(MAX_VALUE_CHARS),
      z.number(),
      z.boolean(),
      z.array(z.string().max(MAX_VALUE_CHARS)).max(MAX_ITEMS),
    ])
    .nullable(),
})

const { CLAUDE_MEM_CONTEXT_TOKENS, CLAUDE_MEM_CONTEXT_OBSERVATIONS, CLAUDE_MEM_CONTEXT_SUMMARIES } = SETTINGS

/** As the settings have them. */
export const contextWishFields = {
  tokens: within(CLAUDE_MEM_CONTEXT_TOKENS.rule),
  observations: within(CLAUDE_MEM_CONTEXT_OBSERVATIONS.rule),
  summaries: within(CLAUDE_MEM_CONTEXT_SUMMARIES.rule),
  parts: z.array(z.enum(CONTEXT_PARTS)).max(CONTEXT_PARTS.length).exactOptional(),
  types: z.array(z.enum(OBSERVATION_TYPES)).max(OBSERVATION_TYPES.length).exactOptional(),
}

function within({ min, max }: { min: number; max: number }) {
  return z.int().min(min).max(max).exactOptional()
}
