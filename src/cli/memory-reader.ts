/** What can be read with or without a daemon. */
import type { ChannelClient } from '../channel/client.ts'
import type { ObservationView, ReadableMemory } from '../channel/memory.ts'
import type { ProjectView } from '../channel/project-list.ts'
import type { CallRow, UsageKey } from '../store/accounting.ts'
import type { EventView, KeptEvent, Origin, SessionStory } from '../store/origin-port.ts'
import type { Message, QueueFilter, QueueStats, SessionFilter, SessionListItem, SessionView } from '../store/port.ts'
import type { UsageView } from '../store/usage-view.ts'

/** An observation and what it came from. */
export interface ObservationOrigin {
  observation: ObservationView
  origin: Origin
}

export interface MemoryReader {
  /** Null when the file is read. */
  readonly daemon: ChannelClient | null
  readonly memory: ReadableMemory
  sessions(filter: SessionFilter): Promise<SessionListItem[]>
  /** The one that was last heard of first. */
  projects(): Promise<ProjectView[]>
  /** `prefix`: the first characters of an id. */
  session(prefix: string, trace: number): Promise<SessionView>
  queue(filter: QueueFilter): Promise<{ messages: Message[]; stats: QueueStats }>
  /** What models cost in the last `days` days. */
  usage(by: UsageKey, days: number): Promise<UsageView>
  /** The newest `limit` calls of a session to a model, oldest of them first. */
  calls(prefix: string, limit: number): Promise<{ session: string; calls: CallRow[] }>
  origin(observation: number): Promise<ObservationOrigin>
  /** By the first characters of an event's id, in one session or in all. */
  eventView(prefix: string, session: string | null): Promise<EventView>
  /** One session whole: `rows` of each kind at most. */
  story(prefix: string, limits: { trace: number; rows: number }): Promise<SessionStory>
  /** The session's events after one of them, oldest first; empty: there are no more. */
  payloads(prefix: string, after: number, limit: number): Promise<{ session: string; events: KeptEvent[] }>
  close(): Promise<void>
}
