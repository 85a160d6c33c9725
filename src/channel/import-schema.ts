/** What the daemon takes in at once. */
import { z } from 'zod'
import { batchSchema } from '../exchange/schema.ts'

export function importSchema<E extends z.ZodRawShape>(envelope: E) {
  return z.object({ ...envelope, type: z.literal('import'), batch: batchSchema })
}
