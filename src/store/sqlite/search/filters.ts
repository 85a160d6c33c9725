/** Filters as SQL over `search_rows s`: exact, and the same for everything that looks for memories. */
import { MEMORY_KINDS, type MemoryKind, type SearchFilters } from '../../../search/query.ts'
import type { Value } from '../statement.ts'
import { foldConcept, foldPath } from './fold.ts'

export interface Conditions {
  where: string
  values: Record<string, Value>
}

export function conditionsOf(filters: SearchFilters): Conditions {
  const { project, kinds, types, concepts, files, since, until, agent, session, pinned } = filters
  const parts: string[] = []
  const values: Record<string, Value> = {}
  const add = (condition: string, name: string, value: Value) => {
    parts.push(condition)
    values[name] = value
  }
  if (project !== null) add('s.project = @project', 'project', project)
  if (session !== null) add('s.content_session_id = @session', 'session', session)
  if (agent !== null) add('s.agent = @agent', 'agent', agent)
  if (since !== null) add('s.created_at_epoch >= @since', 'since', since)
  if (until !== null) add('s.created_at_epoch <= @until', 'until', until)
  if (isSomeKinds(kinds)) parts.push(kindsCondition(kinds, 's.id'))
  if (types.length > 0) add('s.type IN (SELECT value FROM json_each(@types))', 'types', JSON.stringify(types))
  if (concepts.length > 0) {
    const whole = concepts.map((concept) => `\n${foldConcept(concept)}\n`)
    add(anyIn('s.concepts', '@concepts'), 'concepts', JSON.stringify(whole))
  }
  if (files.length > 0) add(anyIn('s.files', '@files'), 'files', JSON.stringify(files.map(foldPath)))
  if (pinned) parts.push('s.id & 3 = 0 AND EXISTS (SELECT 1 FROM pins p WHERE p.id = s.id >> 2)')
  return { where: parts.length === 0 ? 'TRUE' : parts.join(' AND '), values }
}

/** Null where the filters say more than which kinds of memory: then `search_rows` has to be asked. */
export function kindsOnly(filters: SearchFilters, column: string): string | null {
  if (conditionsOf({ ...filters, kinds: [] }).where !== 'TRUE') return null
  return isSomeKinds(filters.kinds) ? kindsCondition(filters.kinds, column) : 'TRUE'
}

function isSomeKinds(kinds: readonly MemoryKind[]): boolean {
  return kinds.length > 0 && MEMORY_KINDS.some((kind) => !kinds.includes(kind))
}

/** Of a column that holds what `rowOf` makes. */
function kindsCondition(kinds: readonly MemoryKind[], column: string): string {
  return `${column} & 3 IN (${kinds.map((kind) => MEMORY_KINDS.indexOf(kind)).join(', ')})`
}

function anyIn(column: string, list: string): string {
  return `${column} <> '' AND EXISTS (SELECT 1 FROM json_each(${list}) wanted WHERE instr(${column}, wanted.value) > 0)`
}
