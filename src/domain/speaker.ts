/**
 * Whose words a memory is made of. Only a client's own fields decide it (which tool was used, whether a message is a prompt),
 * never the text. Of several sources the least trusted decides.
 */
import { type InboxEvent, isImportedId, isInboxEvent, type MemoryEvent } from './event.ts'
import type { ObservationDraft } from './observation.ts'
import type { Passage, PassageKind } from './passage.ts'

/** Most trusted first. `tool`: a program, a file, an MCP server, a record that was imported. */
export const SPEAKERS = ['person', 'agent', 'tool', 'web'] as const
export type Speaker = (typeof SPEAKERS)[number]

const WEB_TOOLS: ReadonlySet<string> = new Set(['WebFetch', 'WebSearch'])
/** Tools whose uses contain only what the agent wrote. Adapters never give these names to a tool of somebody else. */
const WRITING_TOOLS: ReadonlySet<string> = new Set([
  'Write',
  'Edit',
  'MultiEdit',
  'NotebookEdit',
  'Delete',
  'TodoWrite',
])

/** Whose words the event contains. */
function eventSpeaker(event: InboxEvent): Speaker {
  if (event.kind === 'subagent_end') return 'agent'
  if (WEB_TOOLS.has(event.tool)) return 'web'
  return event.kind === 'tool_use' && WRITING_TOOLS.has(event.tool) ? 'agent' : 'tool'
}

/** Of several the least trusted. */
function leastTrusted(speakers: readonly Speaker[]): Speaker {
  return SPEAKERS.findLast((speaker) => speakers.includes(speaker)) ?? 'agent'
}

/**
 * The draft with its speaker. An observer names one only where it repeats words whose speaker is known: a closing message, an
 * explicit answer. What tools and pages said is a discovery at most.
 */
export function withSpeaker(draft: ObservationDraft, sources: readonly MemoryEvent[]): ObservationDraft {
  const saidBy = draft.saidBy ?? leastTrusted(sources.filter(isInboxEvent).map(eventSpeaker))
  const type = draft.type === 'decision' && isReported(saidBy) ? 'discovery' : draft.type
  return { ...draft, type, saidBy }
}

/** Neither the user nor the agent. */
export function isReported(speaker: Speaker | null | undefined): speaker is 'tool' | 'web' {
  return speaker === 'tool' || speaker === 'web'
}

const PASSAGE_SPEAKERS: Record<PassageKind, Speaker> = {
  prompt: 'person',
  answer: 'person',
  closing: 'agent',
  words: 'agent',
  report: 'agent',
  file: 'agent',
  edit: 'agent',
  commit: 'tool',
  check: 'tool',
  status: 'tool',
  link: 'tool',
  command: 'tool',
  // A page may be behind it, too.
  result: 'tool',
}

/** An imported one is what a file says, whatever kind it claims. */
export function passageSpeaker({ kind, eventId }: Pick<Passage, 'kind' | 'eventId'>): Speaker {
  return isImportedId(eventId) ? 'tool' : PASSAGE_SPEAKERS[kind]
}
