/**
 * A stored session as it can be told again. Tool uses and ends of turns are told from what is kept of them. The rest needs
 * nothing that is not in its row: a prompt has its text, a start or an end says no more than that it was.
 */
import { MemError } from '../errors.ts'
import { isMessage, type MemoryEvent } from '../memory/event.ts'
import type { KeptEvent, SessionStory } from '../store/origin-port.ts'

/** Where a session is read: a daemon, or the file. Nothing here can write. */
export interface ReplaySource {
  /** `session`: the first characters of an id. */
  payloads(session: string, after: number, limit: number): Promise<{ session: string; events: KeptEvent[] }>
  story(session: string, limits: { trace: number; rows: number }): Promise<SessionStory>
}

export interface ToldEvent {
  event: MemoryEvent
  /** When the daemon heard of it: by this clock messages were idle, and sessions silent. */
  receivedAt: number
}

export interface Loaded {
  session: string
  story: SessionStory
  told: ToldEvent[]
  /** What the observer was told of, and how much of that is kept. */
  payloads: { total: number; kept: number }
  /** Ids of what is gone, and when it happened. */
  gone: { ids: ReadonlySet<string>; from: number; to: number } | null
  toolUses: number
}

const PAGE_EVENTS = 1_000
/** Memories of one session that are asked for at once: a long day makes some hundred. */
const MAX_ROWS = 10_000

export async function loadSession(source: ReplaySource, prefix: string): Promise<Loaded> {
  const { session, events } = await allEvents(source, prefix)
  const story = await source.story(session, { trace: 0, rows: MAX_ROWS })
  const { told, gone } = tellable(events, story)
  const kept = told.filter(({ event }) => isMessage(event)).length
  const total = kept + gone.filter(({ kind }) => kind !== 'turn_end').length
  if (kept === 0) throw nothingLeft(session, total, gone)
  const times = gone.map(({ at }) => at)
  return {
    session,
    story,
    told,
    payloads: { total, kept },
    gone:
      gone.length === 0
        ? null
        : { ids: new Set(gone.map(({ eventId }) => eventId)), from: Math.min(...times), to: Math.max(...times) },
    toolUses: told.filter(({ event }) => event.kind === 'tool_use' || event.kind === 'tool_failure').length,
  }
}

async function allEvents(source: ReplaySource, prefix: string): Promise<{ session: string; events: KeptEvent[] }> {
  const events: KeptEvent[] = []
  let session = prefix
  for (;;) {
    const page = await source.payloads(session, events.at(-1)?.id ?? 0, PAGE_EVENTS)
    session = page.session
    if (page.events.length === 0) return { session, events }
    events.push(...page.events)
  }
}

function nothingLeft(session: string, total: number, gone: readonly KeptEvent[]): MemError {
  if (total === 0) {
    return new MemError(
      'not_found',
      `session ${session} cannot be replayed: no tool use of it was ever observed (it was imported, written by hand, or private)`,
    )
  }
  const [last] = gone.slice(-1)
  const day = last === undefined ? '' : `, the newest of ${new Date(last.at).toISOString().slice(0, 10)}`
  return new MemError(
    'not_found',
    `session ${session} cannot be replayed: what its ${total} tool uses said is gone${day}. Payloads are kept for ` +
      'CLAUDE_MEM_KEEP_PAYLOADS_DAYS (7) and up to CLAUDE_MEM_KEEP_PAYLOADS_MB; to keep those of sessions to come for ' +
      'longer: claude-mem config set keep-payloads-days 30',
  )
}

type Base = Omit<Extract<MemoryEvent, { kind: 'session_start' }>, 'kind' | 'source'>

function tellable(events: readonly KeptEvent[], { row }: SessionStory): { told: ToldEvent[]; gone: KeptEvent[] } {
  const told: ToldEvent[] = []
  const gone: KeptEvent[] = []
  const first = events.find(({ payload }) => payload !== null)?.payload ?? row
  let around: Pick<Base, 'client' | 'project' | 'cwd' | 'transcriptPath'> = first
  let isPrivate = false
  let promptId: string | null = null
  for (const [i, kept] of events.entries()) {
    if (kept.payload !== null) {
      around = kept.payload
      told.push({ event: kept.payload, receivedAt: kept.receivedAt })
      continue
    }
    if (kept.kind === 'prompt') {
      isPrivate = kept.prompt?.private ?? false
      promptId = promptIdAfter(events, i, promptId)
    }
    const { client, project, cwd, transcriptPath } = around
    const base = { id: kept.eventId, session: row.session, at: kept.at, client, project, cwd, transcriptPath }
    const event = retold(kept, { ...base, promptId, agent: null }, isPrivate)
    if (event !== null) told.push({ event, receivedAt: kept.receivedAt })
    else if (!isPrivate) gone.push(kept)
  }
  return { told, gone }
}

/** What happened in a turn carries its id. What is late carries the one before. */
function promptIdAfter(events: readonly KeptEvent[], at: number, before: string | null): string | null {
  for (const { kind, payload } of events.slice(at + 1)) {
    if (kind === 'prompt') return null
    if (payload !== null && payload.promptId !== null && payload.promptId !== before) return payload.promptId
  }
  return null
}

/** Null where it cannot be told without what it said. The end of a turn that was not observed is only an end. */
function retold({ kind, prompt }: KeptEvent, base: Base, isPrivate: boolean): MemoryEvent | null {
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
      return isPrivate ? { ...base, kind, lastMessage: null, error: null } : null
    default:
      return null
  }
}
