/** The words of a reply's grammar. Only these tags give structure; every other tag is text. */

export type RootName = 'observation' | 'summary' | 'skip' | 'skip_summary'
export type TextName =
  | 'type'
  | 'title'
  | 'subtitle'
  | 'narrative'
  | 'from'
  | 'supersedes'
  | 'request'
  | 'investigated'
  | 'learned'
  | 'completed'
  | 'next_steps'
  | 'notes'
export type ListName = 'facts' | 'concepts' | 'files_read' | 'files_modified' | 'functions_changed'
export type ItemName = 'fact' | 'concept' | 'file' | 'function' | 'item'
export type PartName = 'name' | 'action'

/** What a known tag is to the grammar. Parts stand inside a function; a wrapper holds a whole reply. */
export type Role =
  | { role: 'root'; name: RootName }
  | { role: 'text'; name: TextName }
  | { role: 'list'; name: ListName }
  | { role: 'item'; name: ItemName }
  | { role: 'part'; name: PartName }
  | { role: 'thought'; name: 'thought' }
  | { role: 'wrapper'; name: 'wrapper' }

/** Which items a list takes; any of them takes a plain `item` too. */
export const ITEM_OF: Record<ListName, ItemName> = {
  facts: 'fact',
  concepts: 'concept',
  files_read: 'file',
  files_modified: 'file',
  functions_changed: 'function',
}

/** Where an item belongs that stands outside any list; a plain `item` says nothing about that. */
export const LIST_OF: Record<ItemName, ListName | null> = {
  fact: 'facts',
  concept: 'concepts',
  file: 'files_read',
  function: 'functions_changed',
  item: null,
}

/** Case, hyphens, underscores, dots and a namespace make no difference. */
export function roleOf(written: string): Role | null {
  const local = written.slice(written.lastIndexOf(':') + 1)
  return ROLES.get(local.toLowerCase().replace(/[-_.]/g, '')) ?? null
}

/** True where a longer name could still be a known one: a reply may end in mid-tag. */
export function beginsKnownTag(written: string): boolean {
  const start = written.toLowerCase().replace(/[-_.]/g, '')
  return [...ROLES.keys()].some((name) => name.startsWith(start))
}

const root = (name: RootName): Role => ({ role: 'root', name })
const text = (name: TextName): Role => ({ role: 'text', name })
const list = (name: ListName): Role => ({ role: 'list', name })
const item = (name: ItemName): Role => ({ role: 'item', name })
const thought: Role = { role: 'thought', name: 'thought' }
const wrapper: Role = { role: 'wrapper', name: 'wrapper' }

const ROLES = new Map<string, Role>([
  ['observation', root('observation')],
  ['summary', root('summary')],
  ['sessionsummary', root('summary')],
  ['skip', root('skip')],
  ['skipobservation', root('skip')],
  ['skipsummary', root('skip_summary')],
  ['type', text('type')],
  ['title', text('title')],
  ['subtitle', text('subtitle')],
  ['narrative', text('narrative')],
  ['description', text('narrative')],
  ['from', text('from')],
  ['supersedes', text('supersedes')],
  ['request', text('request')],
  ['investigated', text('investigated')],
  ['learned', text('learned')],
  ['completed', text('completed')],
  ['nextsteps', text('next_steps')],
  ['nextstep', text('next_steps')],
  ['notes', text('notes')],
  ['note', text('notes')],
  ['facts', list('facts')],
  ['concepts', list('concepts')],
  ['filesread', list('files_read')],
  ['filesmodified', list('files_modified')],
  ['filesedited', list('files_modified')],
  ['fileschanged', list('files_modified')],
  ['functionschanged', list('functions_changed')],
  ['functions', list('functions_changed')],
  ['fact', item('fact')],
  ['concept', item('concept')],
  ['file', item('file')],
  ['path', item('file')],
  ['function', item('function')],
  ['item', item('item')],
  ['li', item('item')],
  ['name', { role: 'part', name: 'name' }],
  ['action', { role: 'part', name: 'action' }],
  ['think', thought],
  ['thinking', thought],
  ['thought', thought],
  ['thoughts', thought],
  ['reasoning', thought],
  ['observations', wrapper],
  ['response', wrapper],
  ['reply', wrapper],
  ['answer', wrapper],
  ['output', wrapper],
  ['result', wrapper],
  ['results', wrapper],
])
