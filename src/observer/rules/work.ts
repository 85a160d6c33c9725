/** What a turn did, where the agent said nothing about it: the request, the changed files and the results of commands. */
import type { ObservationDraft, ObservationType } from '../../domain/observation.ts'
import { trimEndMatching } from '../../lib/trim.ts'
import { joinList } from '../tool-events/text.ts'
import type { TurnWork } from './closing.ts'
import { composeDraft } from './drafts.ts'
import type { EditedFile } from './memo.ts'

const MAX_NAMED_FILES = 4

/** Null if nothing was changed and no command had a result. */
export function composeWork(work: TurnWork, request: string | null): ObservationDraft | null {
  const { edits, outcomes } = work
  const results = outcomes.map(({ sentence }) => sentence)
  const sources = [...work.sources, ...edits.map((edit) => edit.id), ...outcomes.map((outcome) => outcome.id)]
  if (edits.length === 0 && results.length === 0) return null
  if (edits.length === 0) {
    return composeDraft({
      type: 'discovery',
      statements: results,
      concepts: ['what-changed'],
      chars: work.chars,
      sources,
      saidBy: 'agent',
    })
  }
  const asked = request === null ? '' : ` for the request “${trimEndMatching(request, /[.\s]/)}”`
  return composeDraft({
    type: workType(edits),
    ...(request === null ? {} : { title: request }),
    statements: [`${changedFiles(edits)}${asked}.`, ...results],
    concepts: ['what-changed'],
    filesModified: edits.map((edit) => edit.file),
    functionsChanged: edits.flatMap((edit) => edit.functions),
    chars: work.chars,
    sources,
    saidBy: 'agent',
  })
}

/** `Created a.ts; changed b.ts and c.ts`. */
function changedFiles(edits: readonly EditedFile[]): string {
  const part = (verb: string, kind: EditedFile['kind']) => {
    const files = edits.filter((edit) => edit.kind === kind).map((edit) => `\`${edit.file}\`${functionNames(edit)}`)
    return files.length === 0 ? [] : [`${verb} ${joinList(files, MAX_NAMED_FILES)}`]
  }
  const text = [...part('created', 'created'), ...part('changed', 'edited'), ...part('deleted', 'deleted')].join('; ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function functionNames({ functions }: EditedFile): string {
  const names = functions.map(({ name }) => `\`${name}\``)
  return names.length === 0 ? '' : ` (${joinList(names, 3)})`
}

function workType(edits: readonly EditedFile[]): ObservationType {
  const isNew = edits.some((edit) => edit.kind === 'created' || edit.functions.some(({ action }) => action === 'new'))
  return isNew ? 'feature' : 'change'
}
