/** Why a memory exists and what became of an event: what can be asked about the way between them. */
import type { EventKind, MemoryEvent } from '../memory/event.ts'
import type { Observation, ObservationType, Summary } from '../memory/observation.ts'
import type { CallRow } from './accounting.ts'
import type { EventRow, Message, PromptRow, SessionView, TraceRow } from './port.ts'

/** A call without its words. */
export type CallFigures = Omit<CallRow, 'sent' | 'received'>

/** An event that an observation came from. */
export interface SourceEvent extends EventRow {
  /** As it was kept, masked; null: it is gone, because of its age or size. */
  payload: MemoryEvent | null
}

/** What an observation came from, beside what it says itself. */
export interface Origin {
  /** What the user had asked for in that turn. */
  prompt: PromptRow | null
  /** In the order in which they were reported. Empty: it was written by hand or imported. */
  events: SourceEvent[]
  /** The effect that made it: a batch or a summary; null where none did, or where it is older than this is kept. */
  effectId: string | null
  calls: CallFigures[]
  /** Transitions that the effect had a part in. */
  trace: TraceRow[]
}

/** What became of one event. */
export interface EventView {
  event: SourceEvent
  /** While it waits in the inbox. */
  message: Message | null
  observations: Observation[]
  calls: CallFigures[]
  /** Where it was taken, and what was done with the batch it was in. */
  trace: TraceRow[]
}

/** A session from its first prompt to its summary. Of each kind the newest are there, oldest of them first. */
export interface SessionStory extends SessionView {
  prompts: PromptRow[]
  observationRows: (Observation & { effectId: string | null })[]
  summaryRows: (Summary & { effectId: string | null })[]
  calls: CallFigures[]
  /** Events by what became of them. */
  outcomes: { kind: string; outcome: string | null; count: number }[]
}

/** How much was learned each day, and how long the queue was. */
export interface Activity {
  /** When each day began, oldest first. */
  dayStarts: number[]
  /** One entry a day. */
  days: {
    observations: number
    summaries: number
    prompts: number
    types: Record<ObservationType, number>
    discoveryTokens: number
  }[]
  /** Most observations first, with one number a day; the fifty most active ones. */
  projects: { key: string; name: string; observations: number; days: number[] }[]
  /**
   * Oldest first, a sample where it changed, beginning with what it was when the period began. Of a long time its peaks
   * are shown and where each piece of it ended.
   */
  queue: QueueSample[]
}

export interface QueueSample {
  at: number
  pending: number
  processing: number
  failed: number
}

/** An event as far as it is still known: enough to tell its session again. */
export interface KeptEvent {
  /** Its place in the order in which events were accepted. */
  id: number
  eventId: string
  kind: EventKind
  tool: string | null
  at: number
  receivedAt: number
  outcome: string | null
  /** As it was kept, masked, or as it waits in the inbox; null: it is gone, or never was there. */
  payload: MemoryEvent | null
  /** Of a prompt, while it is not forgotten. */
  prompt: PromptRow | null
}

export interface OriginReader {
  /** Null where there is no such observation. */
  origin(observation: number): Promise<Origin | null>
  /** By the id that the hook gave it, in one session or whichever has it; null where none has. Newest first where several. */
  eventView(eventId: string, session: string | null): Promise<EventView | null>
  /** Ids of events that start with `prefix`, each once, a few at most; people type the first characters. */
  findEvents(prefix: string, session: string | null): Promise<string[]>
  story(session: string, limits: { trace: number; rows: number }): Promise<SessionStory | null>
  activity(dayStarts: readonly number[], until: number): Promise<Activity>
  /** The events after `afterId`, oldest first; fewer than `limit` where they are large. Empty: there are no more. */
  payloads(session: string, afterId: number, limit: number): Promise<KeptEvent[]>
}

export interface QueueDepthStore {
  /** Written down where it differs from the last one. */
  sampleQueue(at: number): Promise<void>
}
