/** Where memories come from in its plainest form, over the rows of the store in memory. */
import type { MemoryEvent } from '../../src/memory/event.ts'
import type { Observation, Summary } from '../../src/memory/observation.ts'
import type { CallRow } from '../../src/store/accounting.ts'
import type {
  Activity,
  CallFigures,
  EventView,
  Origin,
  QueueSample,
  SessionStory,
  SourceEvent,
} from '../../src/store/origin-port.ts'
import type { ClaimedMessage, EventRow, PromptRow, SessionView, TraceRow } from '../../src/store/port.ts'

export interface KeptPayload {
  session: string
  eventId: string
  at: number
  bytes: number
  event: MemoryEvent
}

/** What of the store's data takes part. */
export interface OriginData {
  events: EventRow[]
  prompts: (PromptRow & { session: string })[]
  messages: ClaimedMessage[]
  payloads: KeptPayload[]
  observations: Observation[]
  summaries: Summary[]
  calls: CallRow[]
  trace: (TraceRow & { session: string })[]
  effects: ReadonlyMap<number, string>
  samples: QueueSample[]
}

const RESULTS = ['OBSERVED', 'SUMMARIZED', 'COMPACTED', 'FAILED']

export function originOf(data: OriginData, id: number): Origin | null {
  const made = data.observations.find((row) => row.id === id)
  if (made === undefined) return null
  const effectId = data.effects.get(id) ?? null
  const prompt = data.prompts.find(({ session, number }) => session === made.session && number === made.promptNumber)
  const isSource = (row: EventRow) => row.session === made.session && made.sources.includes(row.eventId)
  return structuredClone({
    prompt: prompt === undefined ? null : promptRow(prompt),
    events: data.events.filter(isSource).map((row) => sourceOf(data, row)),
    effectId,
    calls: callsOf(data, made.session, effectId),
    trace: traceOf(data, made.session, effectId),
  })
}

export function eventViewOf(data: OriginData, eventId: string, asked: string | null): EventView | null {
  const row = data.events.findLast((one) => one.eventId === eventId && (asked === null || one.session === asked))
  if (row === undefined) return null
  const { session } = row
  const found = data.messages.find((one) => one.session === session && one.eventId === eventId)
  const effectId = row.effectId ?? found?.effectId ?? null
  const taken = data.trace.filter((one) => one.session === session && one.eventId === eventId).map(traceRow)
  const worked = traceOf(data, session, effectId)
  const late = worked.filter(({ id }) => taken.every((one) => one.id !== id))
  return structuredClone({
    event: sourceOf(data, row),
    message: found === undefined ? null : withoutEvent(found),
    observations: data.observations.filter(({ id }) => row.observationIds.includes(id)),
    calls: callsOf(data, session, effectId),
    trace: [...taken, ...late].sort((a, b) => a.id - b.id),
  })
}

export function storyOf(data: OriginData, view: SessionView, rows: number): SessionStory {
  const { session } = view.row
  const newest = <T extends { session: string | null }>(all: readonly T[]) =>
    all.filter((row) => row.session === session).slice(rows > 0 ? -rows : all.length)
  const made = (id: number) => ({ effectId: data.effects.get(id) ?? null })
  const summaries = [...data.summaries].sort((a, b) => a.createdAt - b.createdAt || a.id - b.id)
  const outcomes = new Map<string, SessionStory['outcomes'][number]>()
  for (const { kind, outcome } of data.events.filter((row) => row.session === session)) {
    const known = outcomes.get(`${kind} ${outcome}`)
    outcomes.set(`${kind} ${outcome}`, { kind, outcome, count: (known?.count ?? 0) + 1 })
  }
  const order = ({ kind, outcome }: { kind: string; outcome: string | null }) => `${kind} ${outcome ?? ''}`
  return structuredClone({
    ...view,
    prompts: newest(data.prompts).map(promptRow),
    observationRows: newest(data.observations).map((row) => ({ ...row, ...made(row.id) })),
    summaryRows: newest(summaries).map((row) => ({ ...row, ...made(row.id) })),
    calls: newest(data.calls).map(figuresOf),
    outcomes: [...outcomes.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1)),
  })
}

export function activityOf(
  data: OriginData,
  dayStarts: readonly number[],
  until: number,
  nameOf: (key: string) => string,
): Activity {
  const isWithin = (i: number, at: number) => at >= (dayStarts[i] ?? 0) && at < (dayStarts[i + 1] ?? until)
  const learned = dayStarts.map((_, i) => data.observations.filter(({ createdAt }) => isWithin(i, createdAt)))
  const keys = [...new Set(learned.flat().map(({ project }) => project))]
  const [since = until] = dayStarts
  const before = data.samples.findLast(({ at }) => at <= since)
  const during = data.samples.filter(({ at }) => at > since && at < until)
  return {
    dayStarts: [...dayStarts],
    days: learned.map((observations, i) => {
      const types = { bugfix: 0, feature: 0, refactor: 0, decision: 0, discovery: 0, change: 0 }
      for (const { type } of observations) types[type] += 1
      return {
        observations: observations.length,
        summaries: data.summaries.filter(({ createdAt }) => isWithin(i, createdAt)).length,
        prompts: data.prompts.filter(({ at }) => isWithin(i, at)).length,
        types,
        discoveryTokens: observations.reduce((sum, { discoveryTokens }) => sum + discoveryTokens, 0),
      }
    }),
    projects: keys
      .map((key) => {
        const days = learned.map((observations) => observations.filter(({ project }) => project === key).length)
        return { key, name: nameOf(key), observations: days.reduce((sum, n) => sum + n, 0), days }
      })
      .sort((a, b) => b.observations - a.observations || (a.key < b.key ? -1 : 1)),
    queue: dayStarts.length === 0 || before === undefined ? during : [{ ...before, at: since }, ...during],
  }
}

function sourceOf(data: OriginData, row: EventRow): SourceEvent {
  const isIt = (one: { session: string; eventId: string }) => one.session === row.session && one.eventId === row.eventId
  return { ...row, payload: (data.payloads.find(isIt) ?? data.messages.find(isIt))?.event ?? null }
}

function callsOf(data: OriginData, session: string, effectId: string | null): CallFigures[] {
  return data.calls.filter((call) => call.session === session && call.effectId === effectId).map(figuresOf)
}

function traceOf(data: OriginData, session: string, effectId: string | null): TraceRow[] {
  const own = data.trace.filter((row) => row.session === session)
  const last = effectId === null ? -1 : own.findLastIndex((row) => row.effectId === effectId)
  if (last === -1) return []
  const kept = own.filter((row) => row.effectId === effectId && (row.from !== row.to || row.eventId === null))
  const end = own[last + 1]
  return (end !== undefined && RESULTS.includes(end.event) ? [...kept, end] : kept).map(traceRow)
}

function traceRow({ session: _, ...row }: TraceRow & { session: string }): TraceRow {
  return row
}

function withoutEvent({ event: _, ...message }: ClaimedMessage): Omit<ClaimedMessage, 'event'> {
  return message
}

function figuresOf({ sent: _, received: __, ...call }: CallRow): CallFigures {
  return call
}

function promptRow({ number, text, private: isPrivate, at }: PromptRow): PromptRow {
  return { number, text, private: isPrivate, at }
}
