/** The files that were changed and are in no commit yet, as they are in the end. */
import type { InboxEvent } from '../../domain/event.ts'
import { asFields, stringField } from '../tool-events/json-fields.ts'
import { isTestFile, joinList } from '../tool-events/text.ts'
import type { ActionOf, ToolAction } from '../tool-events/tool-action.ts'
import type { EditedFile } from './memo.ts'

const MAX_NAMED_FILES = 4
/** Functions remembered of a file. */
const MAX_FUNCTIONS = 3

/** `edits` with what the actions did. A file that was created and then deleted was never there. */
export function trackEdits(edits: readonly EditedFile[], actions: readonly ToolAction[]): EditedFile[] {
  const files = new Map(edits.map((edit) => [edit.file, edit]))
  for (const action of actions) {
    if (action.kind === 'edit') addEdit(files, action)
    else if (action.kind === 'command' && action.result.ok) removeDeleted(files, action)
  }
  return [...files.values()]
}

function addEdit(files: Map<string, EditedFile>, { change, id, at }: ActionOf<'edit'>): void {
  if (change.file === '') return
  const known = files.get(change.file)
  const symbols = isTestFile(change.file) ? [] : change.symbols
  const names = new Set(symbols.map((symbol) => symbol.name))
  const functions = [...(known?.functions ?? []).filter(({ name }) => !names.has(name)), ...symbols].slice(
    -MAX_FUNCTIONS,
  )
  const kind = known?.kind === 'created' && change.kind === 'edited' ? 'created' : change.kind
  files.delete(change.file)
  files.set(change.file, { file: change.file, kind, functions, id, at, told: false, committed: false })
}

const DELETING = /^(?:git )?rm\s/

function removeDeleted(files: Map<string, EditedFile>, { result, id, at }: ActionOf<'command'>): void {
  if (!DELETING.test(result.command)) return
  for (const name of result.command.split(/\s+/).slice(1)) {
    const edit = files.get(name.replace(/^\.\//, '').replace(/["']/g, ''))
    if (edit === undefined) continue
    if (edit.kind === 'created') files.delete(edit.file)
    else files.set(edit.file, { ...edit, kind: 'deleted', functions: [], id, at, told: false, committed: false })
  }
}

/**
 * Without edits that a later one took back, and without the failures between them: code that was broken on purpose, to see
 * whether a test notices, says nothing about the project.
 */
export function withoutReverted(actions: readonly ToolAction[], messages: readonly InboxEvent[]): ToolAction[] {
  const open = new Map<string, { id: string; at: number }>()
  const dropped = new Set<string>()
  actions.forEach((action, at) => {
    const edit = action.kind === 'edit' ? replacementOf(messages.find(({ id }) => id === action.id)) : null
    if (edit === null) return
    const reverted = open.get(`${edit.file}\n${edit.to}\n${edit.from}`)
    if (reverted === undefined) {
      open.set(`${edit.file}\n${edit.from}\n${edit.to}`, { id: action.id, at })
      return
    }
    dropped.add(reverted.id).add(action.id)
    for (const between of actions.slice(reverted.at, at)) {
      if (between.kind === 'command' && !between.result.ok) dropped.add(between.id)
    }
  })
  return dropped.size === 0 ? [...actions] : actions.filter(({ id }) => !dropped.has(id))
}

function replacementOf(message: InboxEvent | undefined): { file: string; from: string; to: string } | null {
  if (message === undefined || message.kind !== 'tool_use') return null
  const input = asFields(message.input)
  const [from, to] = [stringField(input, 'old_string'), stringField(input, 'new_string')]
  return from === '' || to === '' ? null : { file: stringField(input, 'file_path'), from, to }
}

/** `Created a.ts; changed b.ts and c.ts`. */
export function changedFiles(edits: readonly EditedFile[]): string {
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
