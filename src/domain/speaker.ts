/**
 * Whose words an observation is made of. A page or the output of a program may contain anything, also text that is
 * written for the agent: it never becomes a decision, ranks last, and is shown as a report.
 */
import { type InboxEvent, isInboxEvent, type MemoryEvent } from './event.ts'
import type { ObservationDraft } from './observation.ts'

/** Most trusted first. `tool` is also a file that was read, and the answer of an MCP server. */
export const SPEAKERS = ['person', 'agent', 'tool', 'web'] as const
export type Speaker = (typeof SPEAKERS)[number]

const WEB_TOOLS: ReadonlySet<string> = new Set(['WebFetch', 'WebSearch'])
/** Tools whose uses contain nothing but what they found. */
const READING_TOOLS: ReadonlySet<string> = new Set(['Read', 'NotebookRead', 'Grep', 'Glob', 'LS', 'BashOutput'])

/** Whose words the event contains. The agent writes commands, edits and commit messages itself. */
export function eventSpeaker(event: InboxEvent): Speaker {
  if (event.kind === 'subagent_end') return 'agent'
  if (WEB_TOOLS.has(event.tool)) return 'web'
  return READING_TOOLS.has(event.tool) || event.tool.startsWith('mcp__') || event.tool.startsWith('MCP:')
    ? 'tool'
    : 'agent'
}

/**
 * The draft with its speaker. The observer may name a less trusted one than its sources have, and `person` only for the
 * prompt. What only tools and pages said is a discovery at most.
 */
export function withSpeaker(draft: ObservationDraft, sources: readonly MemoryEvent[]): ObservationDraft {
  const speakers = sources.filter(isInboxEvent).map(eventSpeaker)
  const fromSources = SPEAKERS.find((speaker) => speakers.includes(speaker)) ?? 'agent'
  const saidBy = draft.saidBy ?? fromSources
  const type = draft.type === 'decision' && isReported(saidBy) ? 'discovery' : draft.type
  return { ...draft, type, saidBy }
}

/** What is shown as a report of somebody else's words. */
export function isReported(speaker: Speaker | null | undefined): speaker is 'tool' | 'web' {
  return speaker === 'tool' || speaker === 'web'
}
