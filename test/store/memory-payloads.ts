/** A session's events with what is kept of each, over plain arrays. */
import type { KeptEvent } from '../../src/store/origin-port.ts'
import type { ClaimedMessage, EventRow, PromptRow } from '../../src/store/port.ts'
import type { KeptPayload } from './memory-origin.ts'

interface Data {
  events: readonly EventRow[]
  payloads: readonly KeptPayload[]
  messages: readonly ClaimedMessage[]
  prompts: readonly (PromptRow & { id: number; session: string })[]
  promptEvents: ReadonlyMap<number, string>
}

export function keptEventsOf(
  { events, payloads, messages, prompts, promptEvents }: Data,
  session: string,
): KeptEvent[] {
  return events.flatMap((row, index): KeptEvent[] => {
    if (row.session !== session) return []
    const { eventId, kind, tool, at, receivedAt, outcome } = row
    const isIt = (one: { session: string; eventId: string }) => one.session === session && one.eventId === eventId
    const prompt = prompts.find((one) => one.session === session && promptEvents.get(one.id) === eventId)
    return [
      {
        id: index + 1,
        eventId,
        kind,
        tool,
        at,
        receivedAt,
        outcome,
        payload: structuredClone((payloads.find(isIt) ?? messages.find(isIt))?.event ?? null),
        prompt:
          kind !== 'prompt' || prompt === undefined
            ? null
            : { number: prompt.number, text: prompt.text, private: prompt.private, at: prompt.at },
      },
    ]
  })
}
