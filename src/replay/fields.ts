/** What differs between two versions of one memory, field by field. */
import type { FunctionChange, Observation, Summary } from '../memory/observation.ts'

export type FieldChange =
  | { field: string; kind: 'text'; before: string | null; after: string | null }
  | { field: string; kind: 'list'; removed: string[]; added: string[] }

export function observationChanges(stored: Observation, fresh: Observation): FieldChange[] {
  return [
    ...text('type', stored.type, fresh.type),
    ...text('title', stored.title, fresh.title),
    ...text('subtitle', stored.subtitle, fresh.subtitle),
    ...text('narrative', stored.narrative, fresh.narrative),
    ...list('facts', stored.facts, fresh.facts),
    ...list('concepts', stored.concepts, fresh.concepts),
    ...list('files read', stored.filesRead, fresh.filesRead),
    ...list('files modified', stored.filesModified, fresh.filesModified),
    ...list('functions changed', stored.functionsChanged.map(named), fresh.functionsChanged.map(named)),
  ]
}

export function summaryChanges(stored: Summary, fresh: Summary): FieldChange[] {
  return [
    ...text('request', stored.request, fresh.request),
    ...text('investigated', stored.investigated, fresh.investigated),
    ...text('learned', stored.learned, fresh.learned),
    ...text('completed', stored.completed, fresh.completed),
    ...text('next steps', stored.nextSteps, fresh.nextSteps),
    ...text('notes', stored.notes, fresh.notes),
    ...list('files read', stored.filesRead, fresh.filesRead),
    ...list('files edited', stored.filesEdited, fresh.filesEdited),
  ]
}

function text(field: string, before: string | null, after: string | null): FieldChange[] {
  return before === after ? [] : [{ field, kind: 'text', before, after }]
}

/** Their order says nothing. */
function list(field: string, before: readonly string[], after: readonly string[]): FieldChange[] {
  const removed = before.filter((one) => !after.includes(one))
  const added = after.filter((one) => !before.includes(one))
  return removed.length + added.length === 0 ? [] : [{ field, kind: 'list', removed, added }]
}

function named({ name, file, action }: FunctionChange): string {
  return `${name} in ${file} (${action})`
}
