/** What a turn did, where the agent said nothing about it: the request, the changed files and the results of commands. */
import type { ObservationDraft, ObservationType } from '../../domain/observation.ts'
import { trimEndMatching } from '../../lib/trim.ts'
import type { TurnWork } from './closing.ts'
import { composeDraft } from './drafts.ts'
import { changedFiles } from './edits.ts'
import type { EditedFile } from './memo.ts'
import { withoutOpening } from './statement-roles.ts'

/** Empty if nothing was changed and no command had a result. `status` is what the agent said about how it ended. */
export function composeWork(
  work: TurnWork,
  request: string | null,
  status: readonly string[] = [],
): ObservationDraft[] {
  const { edits, outcomes } = work
  const results = outcomes.map(({ sentence }) => sentence)
  const sources = [...work.sources, ...edits.map((edit) => edit.id), ...outcomes.map((outcome) => outcome.id)]
  if (edits.length === 0 && results.length === 0) return []
  const asked = request === null ? '' : ` for the request “${trimEndMatching(request, /[.\s]/)}”`
  const changed = edits.length === 0 ? [] : [`${changedFiles(edits)}${asked}.`]
  const title = request === null || edits.length === 0 ? {} : { title: withoutOpening(request) || request }
  const draft = composeDraft({
    type: edits.length === 0 ? 'discovery' : workType(edits),
    ...title,
    statements: [...changed, ...status, ...results],
    concepts: ['what-changed'],
    filesModified: edits.map((edit) => edit.file),
    functionsChanged: edits.flatMap((edit) => edit.functions),
    chars: work.chars,
    sources,
    saidBy: 'agent',
  })
  return [draft]
}

function workType(edits: readonly EditedFile[]): ObservationType {
  const isNew = edits.some((edit) => edit.kind === 'created' || edit.functions.some(({ action }) => action === 'new'))
  return isNew ? 'feature' : 'change'
}
