/** Of which events passages may be made. */
import type { MemoryEvent } from '../domain/event.ts'
import { makeWithheldFilter, type WithheldLists } from './model/withheld.ts'

/**
 * Whether passages may be made of an event. Not of tool uses that the user never wants to be sent to a model: an agent that
 * searches would send them. Files that hold keys by convention come here masked, so only the user's own lists count.
 */
export function makePassageFilter(lists: WithheldLists): (event: MemoryEvent) => boolean {
  if (lists.tools.length + lists.paths.length === 0) return () => true
  const { reasonFor } = makeWithheldFilter(lists, [])
  return (event) => (event.kind !== 'tool_use' && event.kind !== 'tool_failure') || reasonFor(event) === null
}
