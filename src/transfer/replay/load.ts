/**
 * Loads a stored session as events that can be replayed. Tool uses and turn ends need their kept payload; all other
 * events are rebuilt from their database row.
 */
import type { Call } from '../../api/index.ts'
import { isInboxEvent, type MemoryEvent } from '../../domain/event.ts'
import { MemError } from '../../lib/errors.ts'
import type { RecordedEvent, SessionStory } from '../../store/port.ts'

export interface ReplayEvent {
  event: MemoryEvent
  /** When the daemon received it; idle timeouts are measured by this clock. */
  receivedAt: number
}

export interface LoadedSession {
  session: string
  story: SessionStory
  events: ReplayEvent[]
  /** Number of observed events, and of how many the payload is kept. */
  payloads: { total: number; kept: number }
  /** Events whose payload is gone, with the time range; null if there are none. */
  gone: { ids: ReadonlySet<string>; from: number; to: number } | null
  toolUses: number
}

const PAGE_EVENTS = 1_000
/** Maximum of memories per session; a long day makes some hundred. */
const MAX_ROWS = 10_000

/** `prefix`: the beginning of a session id. */
export async function loadSession(call: Call, prefix: string): Promise<LoadedSession> {
  const { session, events: stored } = await allEvents(call, prefix)
  const { story } = await call('story', { session, trace: 0, rows: MAX_ROWS })
  const { events, gone } = replayableEvents(stored, story)
  const kept = events.filter(({ event }) => isInboxEvent(event)).length
  const total = kept + gone.filter(({ kind }) => kind !== 'turn_end').length
  if (kept === 0) throw nothingToReplay(session, total, gone)
  const times = gone.map(({ at }) => at)
  return {
    session,
    story,
    events,
    payloads: { total, kept },
    gone:
      gone.length === 0
        ? null
        : { ids: new Set(gone.map(({ eventId }) => eventId)), from: Math.min(...times), to: Math.max(...times) },
    toolUses: events.filter(({ event }) => event.kind === 'tool_use' || event.kind === 'tool_failure').length,
  }
}

async function allEvents(call: Call, prefix: string): Promise<{ session: string; events: RecordedEvent[] }> {
  const events: RecordedEvent[] = []
  let session = prefix
  for (;;) {
    const page = await call('payloads', { session, after: events.at(-1)?.id ?? 0, limit: PAGE_EVENTS })
    session = page.session
    if (page.events.length === 0) return { session, events }
    events.push(...page.events)
  }
}

function nothingToReplay(session: string, total: number, gone: readonly RecordedEvent[]): MemError {
  if (total === 0) {
    return new MemError(
      'not_found',
      `session ${session} cannot be replayed: it has no observed tool use (it was imported, written by hand, or private)`,
    )
  }
  const [last] = gone.slice(-1)
  const day = last === undefined ? '' : `, the newest of ${new Date(last.at).toISOString().slice(0, 10)}`
  return new MemError(
    'not_found',
    `session ${session} cannot be replayed: the payloads of its ${total} tool uses are gone${day}. Payloads are kept for ` +
      'CLAUDE_MEM_KEEP_PAYLOADS_DAYS (7) and up to CLAUDE_MEM_KEEP_PAYLOADS_MB; to keep those of future sessions longer: ' +
      'claude-mem config set keep-payloads-days 30',
  )
}

type EventBase = Omit<Extract<MemoryEvent, { kind: 'session_start' }>, 'kind' | 'source'>

function replayableEvents(
  stored: readonly RecordedEvent[],
  { row }: SessionStory,
): { events: ReplayEvent[]; gone: RecordedEvent[] } {
  const events: ReplayEvent[] = []
  const gone: RecordedEvent[] = []
  const first = stored.find(({ payload }) => payload !== null)?.payload ?? row
  let surrounding: Pick<EventBase, 'client' | 'project' | 'cwd' | 'transcriptPath'> = first
  let isPrivate = false
  let promptId: string | null = null
  for (const [i, kept] of stored.entries()) {
    if (kept.payload !== null) {
      surrounding = kept.payload
      events.push({ event: kept.payload, receivedAt: kept.receivedAt })
      continue
    }
    if (kept.kind === 'prompt') {
      isPrivate = kept.prompt?.private ?? false
      promptId = promptIdAfter(stored, i, promptId)
    }
    const { client, project, cwd, transcriptPath } = surrounding
    const base = { id: kept.eventId, session: row.session, at: kept.at, client, project, cwd, transcriptPath }
    const event = eventWithoutPayload(kept, { ...base, promptId, agent: null }, isPrivate)
    if (event !== null) events.push({ event, receivedAt: kept.receivedAt })
    else if (!isPrivate) gone.push(kept)
  }
  return { events, gone }
}

/** A turn's events carry its prompt id; late events of the turn before carry that one's. */
function promptIdAfter(events: readonly RecordedEvent[], at: number, before: string | null): string | null {
  for (const { kind, payload } of events.slice(at + 1)) {
    if (kind === 'prompt') return null
    if (payload !== null && payload.promptId !== null && payload.promptId !== before) return payload.promptId
  }
  return null
}

/** Null if the event cannot be rebuilt without its payload. The end of a private turn needs none. */
function eventWithoutPayload({ kind, prompt }: RecordedEvent, base: EventBase, isPrivate: boolean): MemoryEvent | null {
  switch (kind) {
    case 'session_start':
      return { ...base, kind, source: 'startup' }
    case 'prompt':
      return { ...base, kind, text: prompt?.text ?? '', private: isPrivate }
    case 'pre_compact':
      return { ...base, kind, trigger: 'unknown' }
    case 'session_end':
      return { ...base, kind, reason: 'unknown' }
    case 'turn_end':
      return isPrivate ? { ...base, kind, lastMessage: null, error: null, words: [] } : null
    default:
      return null
  }
}
