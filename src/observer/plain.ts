/**
 * The simplest observer there is: one plain observation per message, a summary that repeats the request. It needs no
 * model and keeps no conversation.
 */
import { basename } from 'node:path'
import type { MessageEvent } from '../memory/event.ts'
import { estimateTokens, NO_USAGE, type ObservationDraft } from '../memory/observation.ts'
import type { ObserveAnswer, Observer, SummarizeAnswer } from './port.ts'

const WRITING_TOOLS = new Set(['Write', 'Edit', 'MultiEdit', 'NotebookEdit'])
const TITLE_CHARS = 80

const silent = { usage: NO_USAGE, turns: [], contextTokens: 0, model: null, promptVersion: null }

export const plainObserver: Observer = {
  provider: 'plain',

  async observe({ messages }): Promise<ObserveAnswer> {
    return { ...silent, observations: messages.map(observationOf), folded: [], skipped: [], seen: [] }
  },

  async summarize({ prompt, turnEnd, observations }): Promise<SummarizeAnswer> {
    const lists = (pick: (o: ObservationDraft) => string[]) => [...new Set(observations.flatMap(pick))]
    return {
      ...silent,
      skipReason: null,
      observations: [],
      summary: {
        request: prompt,
        investigated: null,
        learned: null,
        completed: turnEnd?.lastMessage ?? null,
        nextSteps: null,
        notes: turnEnd?.error ?? null,
        filesRead: lists((o) => o.filesRead),
        filesEdited: lists((o) => o.filesModified),
      },
    }
  },

  async compact() {
    return silent
  },
}

function observationOf(event: MessageEvent): ObservationDraft {
  const { what, narrative } = describe(event)
  const file = fileOf(event)
  const writes = event.kind === 'tool_use' && WRITING_TOOLS.has(event.tool)
  return {
    type: writes ? 'change' : 'discovery',
    title: oneLine(what, TITLE_CHARS),
    subtitle: null,
    narrative,
    facts: [],
    concepts: [],
    filesRead: file !== null && !writes ? [file] : [],
    filesModified: file !== null && writes ? [file] : [],
    functionsChanged: [],
    agent: event.agent?.type ?? null,
    discoveryTokens: estimateTokens(JSON.stringify(event)),
    discoveryEstimated: true,
    sources: [event.id],
  }
}

function describe(event: MessageEvent): { what: string; narrative: string } {
  if (event.kind === 'subagent_end') return { what: 'Subagent finished', narrative: event.lastMessage }
  const subject = subjectOf(event)
  if (event.kind === 'tool_failure') return { what: `${event.tool} failed: ${subject}`, narrative: event.error }
  return { what: `${event.tool} ${subject}`, narrative: `${event.tool} ran on ${subject}.` }
}

function subjectOf(event: Exclude<MessageEvent, { kind: 'subagent_end' }>): string {
  const file = fileOf(event)
  if (file !== null) return basename(file)
  const input = event.input
  if (typeof input === 'object' && input !== null && 'command' in input) return String(input.command)
  return event.project.name
}

function fileOf(event: MessageEvent): string | null {
  if (event.kind === 'subagent_end' || typeof event.input !== 'object' || event.input === null) return null
  return 'file_path' in event.input && typeof event.input.file_path === 'string' ? event.input.file_path : null
}

function oneLine(text: string, most: number): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`
}
