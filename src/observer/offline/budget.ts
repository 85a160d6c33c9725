/** A note is worth reading because it is short: what all notes of a batch may take together. */
import type { ObservationDraft } from '../../memory/observation.ts'

/** Characters of tool events that one character of a note stands for, at least. */
const COMPRESSION = 32
/** A few small events still deserve a whole sentence. */
const MIN_CHARS = 200
const MIN_FACTS = 1
const MAX_FACTS = 12

/** Drops the least telling facts (they stand last) until the notes fit. */
export function fitted(drafts: readonly ObservationDraft[], charsIn: number): ObservationDraft[] {
  const allowed = Math.max(MIN_CHARS * drafts.length, charsIn / COMPRESSION)
  const fit = drafts.map((draft) => ({ ...draft, facts: draft.facts.slice(0, MAX_FACTS) }))
  let total = fit.reduce((sum, draft) => sum + sizeOf(draft), 0)
  for (let most = MAX_FACTS; total > allowed && most > MIN_FACTS; most--) {
    for (const draft of fit) {
      const dropped = draft.facts.length >= most ? draft.facts.pop() : undefined
      if (dropped !== undefined) total -= dropped.length
    }
  }
  return fit
}

function sizeOf(draft: ObservationDraft): number {
  return JSON.stringify([
    draft.title,
    draft.subtitle,
    draft.narrative,
    draft.facts,
    draft.filesRead,
    draft.filesModified,
  ]).length
}
