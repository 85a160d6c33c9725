/** Tells two observations with the same content from two that differ. */
import { createHash } from 'node:crypto'
import type { ObservationDraft } from './observation.ts'

export function contentHash(draft: ObservationDraft): string {
  const content = [draft.type, draft.title, draft.subtitle, draft.narrative, draft.facts]
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}
