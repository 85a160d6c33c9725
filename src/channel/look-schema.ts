/** What may be asked about the way from an event to a memory, and how much of it at once. */
import { z } from 'zod'
import { MAX_USAGE_DAYS } from '../store/usage-view.ts'
import { MAX_STORY_ROWS } from './memory-limits.ts'

/** Longest id that is stored. */
const MAX_ID_CHARS = 200

/** The members of the union of requests that look inside. */
export function lookRequestSchemas<E extends z.ZodRawShape>(envelope: E) {
  const id = z.string().min(1).max(MAX_ID_CHARS)
  const rows = z.int().min(0).max(MAX_STORY_ROWS)
  return [
    z.object({ ...envelope, type: z.literal('origin'), observation: z.int().positive() }),
    z.object({ ...envelope, type: z.literal('event_view'), event: id, session: id.nullable() }),
    z.object({ ...envelope, type: z.literal('story'), session: id, trace: rows, rows }),
    z.object({ ...envelope, type: z.literal('activity'), days: z.int().min(1).max(MAX_USAGE_DAYS) }),
    z.object({ ...envelope, type: z.literal('viewer_link') }),
  ] as const
}
