/** The simplest observer: one observation per message and a summary that repeats the request. No model, no conversation. */
import { basename } from 'node:path'
import type { InboxEvent } from '../domain/event.ts'
import { estimateTokens, NO_USAGE, type ObservationDraft } from '../domain/observation.ts'
import { asFields, stringField } from '../reading/fields.ts'
import { singleLine } from '../reading/text.ts'
import type { Observer } from './port.ts'

const WRITING_TOOLS = new Set(['Write', 'Edit', 'MultiEdit', 'NotebookEdit'])
const TITLE_CHARS = 80

const EMPTY_ANSWER = { usage: NO_USAGE, turns: [], contextTokens: 0, model: null, promptVersion: null }

export const plainObserver: Observer = {
  provider: 'plain',

  async observe({ messages }) {
    return { ...EMPTY_ANSWER, observations: messages.map(plainObservation), folded: [], skipped: [], seen: [] }
  },

  async summarize({ prompt, turnEnd, observations }) {
    const filesOf = (pick: (o: ObservationDraft) => string[]) => [...new Set(observations.flatMap(pick))]
    return {
      ...EMPTY_ANSWER,
      skipReason: null,
      observations: [],
      summary: {
        request: prompt,
        investigated: null,
        learned: null,
        completed: turnEnd?.lastMessage ?? null,
        nextSteps: null,
        notes: turnEnd?.error ?? null,
        filesRead: filesOf((o) => o.filesRead),
        filesEdited: filesOf((o) => o.filesModified),
      },
    }
  },

  async compact() {
    return EMPTY_ANSWER
  },
}

function plainObservation(event: InboxEvent): ObservationDraft {
  const { title, narrative } = describe(event)
  const file = filePath(event)
  const writes = event.kind === 'tool_use' && WRITING_TOOLS.has(event.tool)
  return {
    type: writes ? 'change' : 'discovery',
    title: singleLine(title, TITLE_CHARS),
    subtitle: null,
    narrative,
    facts: [],
    concepts: [],
    filesRead: file !== '' && !writes ? [file] : [],
    filesModified: file !== '' && writes ? [file] : [],
    functionsChanged: [],
    agent: event.agent?.type ?? null,
    discoveryTokens: estimateTokens(JSON.stringify(event)),
    discoveryEstimated: true,
    sources: [event.id],
  }
}

function describe(event: InboxEvent): { title: string; narrative: string } {
  if (event.kind === 'subagent_end') return { title: 'Subagent finished', narrative: event.lastMessage }
  const { command = event.project.name } = asFields(event.input)
  const subject = basename(filePath(event)) || String(command)
  if (event.kind === 'tool_failure') return { title: `${event.tool} failed: ${subject}`, narrative: event.error }
  return { title: `${event.tool} ${subject}`, narrative: `${event.tool} ran on ${subject}.` }
}

/** Empty if there is none. */
function filePath(event: InboxEvent): string {
  return event.kind === 'subagent_end' ? '' : stringField(asFields(event.input), 'file_path')
}
