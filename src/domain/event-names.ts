/**
 * Bounds of the ids and names of an event. Clients send short ones; whatever else arrives is shortened before the event is
 * sent, because the daemon refuses longer ones and the event would be lost.
 */
import { shortHash } from '../lib/paths.ts'
import type { MemoryEvent } from './event.ts'
import { toWellFormed } from './sanitize.ts'

/** Longest stored id, in characters; real ones have 36. */
export const MAX_ID_CHARS = 200
export const MAX_TOOL_NAME_CHARS = 1_024
/** A project key contains a path. */
export const MAX_PROJECT_KEY_CHARS = 4_096
export const MAX_PROJECT_NAME_CHARS = 1_024

/** A longer name keeps its beginning and gets a hash of the whole, so that different names stay different. */
export function boundedName(name: string, maxChars: number = MAX_ID_CHARS): string {
  if (name.length <= maxChars) return name
  const hash = shortHash(name)
  return `${toWellFormed(name.slice(0, maxChars - hash.length - 1))}~${hash}`
}

export function withBoundedNames(event: MemoryEvent): MemoryEvent {
  const { id, session, promptId, agent, project } = event
  const bounded = {
    id: boundedName(id),
    session: boundedName(session),
    promptId: promptId === null ? null : boundedName(promptId),
    agent: agent === null ? null : { id: boundedName(agent.id), type: boundedName(agent.type) },
    project: {
      key: boundedName(project.key, MAX_PROJECT_KEY_CHARS),
      name: boundedName(project.name, MAX_PROJECT_NAME_CHARS),
    },
  }
  return event.kind === 'tool_use' || event.kind === 'tool_failure'
    ? { ...event, ...bounded, tool: boundedName(event.tool, MAX_TOOL_NAME_CHARS) }
    : { ...event, ...bounded }
}
