/** Operations on sessions: their events, queue, story, calls to models and what those cost. */
import * as z from 'zod'
import { withoutOwnAuthor } from '../../domain/authorship.ts'
import { MAX_EPOCH_MS } from '../../domain/dates.ts'
import { type MemoryEvent, sessionNotFound } from '../../domain/event.ts'
import { UNKNOWN_OUTCOME } from '../../domain/model-call.ts'
import { NO_USAGE } from '../../domain/observation.ts'
import { VERSION } from '../../lib/version.ts'
import { withoutBoilerplate } from '../../reading/prompt.ts'
import {
  type ReceivedSession,
  type SessionListItem,
  type SessionView,
  type StoredSessionRow,
  type StoreReader,
  USAGE_KEYS,
  type UsageKey,
  type UsageSums,
  type UsageTotals,
} from '../../store/port.ts'
import type { DaemonContext, ReadContext } from '../context.ts'
import { eventFromBody } from '../event-body.ts'
import { daemonOperation, LOCAL_ONLY, NO_VIEWER, type RestRoute, readOperation } from '../operation.ts'
import { eventNotFound, resolveEvent, resolveLocalSession, resolveProjectKey, resolveSession } from '../resolve.ts'
import {
  cwd,
  eventSchema,
  id,
  label,
  limit,
  MAX_PATH_CHARS,
  MAX_STORY_ROWS,
  MAX_USAGE_DAYS,
  project,
  projectName,
  sessionOrAll,
  version,
} from '../schemas.ts'
import { waitUntilSettled } from '../settle.ts'

/** Sessions in one request whether they are known. */
const MAX_REPORTED = 1_000
const rows = z.int().min(0).max(MAX_STORY_ROWS)
const days = z.int().min(1).max(MAX_USAGE_DAYS).default(30)
/** On Windows, where anyone may open a named pipe, the first message carries the token. */
const token = z.string().exactOptional()

/** Calls in one request to record their cost. */
const MAX_RECORDED_CALLS = 1_000
const tokens = z.int().min(0).max(Number.MAX_SAFE_INTEGER)
const callFigures = z.object({
  /** The same id again replaces what was recorded. */
  callId: id,
  effectId: id,
  kind: z.enum(['observe', 'summarize', 'compact']),
  provider: label,
  model: label,
  promptVersion: label.nullable(),
  at: z.int().min(0).max(MAX_EPOCH_MS),
  durationMs: z.int().min(0).max(MAX_EPOCH_MS),
  usage: z.object({ input: tokens, output: tokens, cacheRead: tokens, cacheWrite: tokens }),
  cost: z.number().min(0).nullable(),
  outcome: z.enum(['answered', 'failed', 'unknown']),
})

export const sessionOperations = {
  event: daemonOperation({
    about: 'Reports what happened in a session. Answered once it is durable; the same id twice counts once.',
    doors: NO_VIEWER,
    input: z.object({
      event: eventSchema,
      version: version.default(''),
      startContext: z
        .boolean()
        .exactOptional()
        .describe("A prompt that is answered with the context of its session's start, too"),
      token,
    }),
    answerType: 'ack',
    answerDescription:
      '`duplicate`, `version`, `queue`: messages of all sessions that wait for the observer, `skipped` with the reason if nothing was kept, and, for a session start or a prompt, `context` and `message` where there is one',
    handle: async ({ events, supervisor }, { event: given, startContext }, { door }) => {
      // The daemon reads the transcript that an event names: only who could read it, too, may name one.
      const event = door === 'local' ? given : { ...given, transcriptPath: null }
      const { duplicate, skipped, context, message } = await events.accept(event, startContext)
      return {
        duplicate,
        version: VERSION,
        queue: supervisor.waitingMessages,
        ...(skipped === null ? {} : { skipped }),
        ...(context === '' ? {} : { context }),
        ...(message === '' ? {} : { message }),
      }
    },
    rest: [
      eventRoute('/api/sessions/init', ['session_start', 'prompt']),
      eventRoute('/api/sessions/observations', ['tool_use', 'tool_failure', 'subagent_end']),
      eventRoute('/api/sessions/summarize', ['turn_end', 'pre_compact', 'session_end']),
    ],
  }),

  file_context: daemonOperation({
    about: 'Says what is known about a file that is about to be read.',
    doors: NO_VIEWER,
    input: z.object({
      session: id,
      project,
      cwd,
      file: z.string().min(1).max(MAX_PATH_CHARS),
      changedAt: z.int().nonnegative(),
      token,
    }),
    answerType: 'recalled',
    answerDescription: '`context`; empty where nothing is known',
    handle: async ({ events }, question) => ({ context: await events.fileContext(question) }),
  }),

  sessions: readOperation({
    about: 'Lists sessions, the one with the newest event first.',
    input: z.object({
      status: z.enum(['active', 'completed', 'interrupted', 'failed']).exactOptional(),
      project: projectName.exactOptional(),
      client: z.string().min(1).max(100).exactOptional().describe('As in the filter of a search: codex'),
      limit: limit.exactOptional(),
    }),
    nested: ['filter'],
    answerDescription: '`sessions`, each with its `request` and `outcome`',
    handle: async ({ reader }, { project, ...filter }) => {
      const inProject = project === undefined ? {} : { project: await resolveProjectKey(reader, project) }
      const sessions = await reader.sessions({ ...filter, ...inProject })
      return { sessions: sessions.map(toListed) }
    },
    rest: [{ method: 'GET', path: '/api/sessions', defaults: { limit: 100 }, pick: 'sessions' }],
  }),

  session: readOperation({
    about: "Shows one session's state, its queue and the newest entries of its trace.",
    input: z.object({ session: id, trace: rows.default(50).describe('Trace entries at most') }),
    answerDescription: '`view`',
    handle: async ({ reader, me }, { session, trace }) => ({ view: await readView({ reader, me }, session, trace) }),
    rest: [{ method: 'GET', path: '/api/sessions/:session', pick: 'view' }],
  }),

  story: readOperation({
    about: 'Shows everything that is kept of one session: prompts, events, observations, summaries, trace.',
    input: z.object({
      session: id,
      trace: rows.default(200),
      rows: rows.default(200).describe('Of each kind at most'),
    }),
    answerDescription: '`story`',
    handle: async ({ reader, me }, { session, trace, rows }) => {
      const story = await reader.sessionHistory(await resolveSession(reader, session), { trace, rows })
      if (story === null) throw sessionNotFound(session)
      return {
        story: {
          ...story,
          row: { ...story.row, ...isoTimes(story.row, story.row.heardAt) },
          received: receivedAs(story, me()),
          observationRows: story.observationRows.map((one) => withoutOwnAuthor(one, me())),
          summaryRows: story.summaryRows.map((one) => withoutOwnAuthor(one, me())),
        },
      }
    },
    rest: [{ method: 'GET', path: '/api/sessions/:session/story', pick: 'story' }],
  }),

  event_view: readOperation({
    about: 'Says what became of an event.',
    input: z.object({ event: id, session: sessionOrAll }),
    answerDescription: '`view`',
    handle: async ({ reader }, { event, session: prefix }) => {
      const session = prefix === null ? null : await resolveSession(reader, prefix)
      const view = await reader.eventView(await resolveEvent(reader, event, session), session)
      if (view === null) throw eventNotFound(event)
      return { view }
    },
    rest: [{ method: 'GET', path: '/api/events/:event', pick: 'view' }],
  }),

  payloads: readOperation({
    about: "Lists a session's events after one of them, with what is kept of their payloads, oldest first.",
    input: z.object({ session: id, after: z.int().min(0).default(0), limit }),
    answerDescription: '`session`, `events`; empty when there are no more',
    handle: async ({ reader, me }, { session: prefix, after, limit }) => {
      const session = await resolveLocalSession(reader, prefix, me())
      return { session, events: await reader.recordedEvents(session, after, limit) }
    },
  }),

  queue: readOperation({
    about: 'Lists messages that wait for the observer, are with it, or failed.',
    input: z.object({
      session: id.exactOptional(),
      status: z.enum(['pending', 'processing', 'failed']).exactOptional(),
      limit: limit.exactOptional(),
    }),
    nested: ['filter'],
    answerDescription: '`messages`, `stats`',
    handle: async ({ reader }, { session, ...filter }) => {
      const resolved = session === undefined ? {} : { session: await resolveSession(reader, session) }
      const [messages, stats] = await Promise.all([reader.queue({ ...filter, ...resolved }), reader.queueStats()])
      return { messages, stats }
    },
  }),

  queue_stats: readOperation({
    about: 'Counts the messages in the queue.',
    input: z.object({}),
    answerDescription: '`stats`',
    handle: async ({ reader }) => ({ stats: await reader.queueStats() }),
    rest: [{ method: 'GET', path: '/api/queue/stats', pick: 'stats' }],
  }),

  calls: readOperation({
    about: "Lists a session's newest calls to a model with their texts, oldest of them first.",
    input: z.object({ session: id, limit: limit.default(20) }),
    answerDescription: '`session`, `calls`',
    handle: async ({ reader }, { session: prefix, limit }) => {
      const session = await resolveSession(reader, prefix)
      return { session, calls: await reader.calls({ session, limit }) }
    },
    rest: [{ method: 'GET', path: '/api/sessions/:session/calls' }],
  }),

  record_calls: daemonOperation({
    about:
      'Records what model calls cost that were made outside of sessions, such as those of a replay, for the daily budget.',
    doors: LOCAL_ONLY,
    input: z.object({ project, calls: z.array(callFigures).max(MAX_RECORDED_CALLS) }),
    answerType: 'done',
    answerDescription: '`affected`: calls',
    handle: async ({ supervisor }, { project, calls }) => {
      await supervisor.recordCost(
        project,
        calls.map(({ outcome, ...call }) => ({
          ...call,
          error: { answered: null, failed: 'failed', unknown: UNKNOWN_OUTCOME }[outcome],
          sent: '',
          received: null,
        })),
      )
      return { affected: calls.length }
    },
  }),

  usage: readOperation({
    about: 'Says what models cost in the last days.',
    input: z.object({ by: z.enum(USAGE_KEYS).default('day'), days }),
    answerDescription: '`usage`: `rows`, `total`, `today`, `unpriced`',
    handle: async ({ reader, now }, { by, days }) => ({ usage: await usageView(reader, by, days, now()) }),
    rest: [{ method: 'GET', path: '/api/usage', pick: 'usage' }],
  }),

  activity: readOperation({
    about: 'Says how much was learned on each of the last days, and how long the queue was.',
    input: z.object({ days }),
    answerDescription: '`activity`',
    handle: async ({ reader, now }, { days }) => ({ activity: await reader.activity(lastDays(days, now()), now()) }),
    rest: [{ method: 'GET', path: '/api/activity', pick: 'activity' }],
  }),

  reported: readOperation({
    about: 'Says which of these sessions are known, before their transcripts are read.',
    input: z.object({
      sessions: z.array(z.object({ session: id, end: z.string().max(2 * 200) })).max(MAX_REPORTED),
    }),
    answerDescription: '`sessions`: those that are known',
    handle: async ({ reader }, { sessions }) => ({ sessions: await reader.storedSessionStates(sessions) }),
  }),

  revive_sessions: daemonOperation({
    about: 'Removes the tombstones of erased sessions, so that their events and transcripts are accepted again.',
    doors: LOCAL_ONLY,
    input: z.object({ sessions: z.array(id).max(MAX_REPORTED) }),
    answerType: 'done',
    answerDescription: '`affected`: sessions that had been erased',
    handle: async ({ supervisor }, { sessions }) => ({ affected: await supervisor.reviveSessions(sessions) }),
  }),

  queue_retry: daemonOperation({
    about: 'Retries failed messages and restores quarantined sessions.',
    input: z.object({ session: sessionOrAll }),
    answerType: 'done',
    answerDescription: '`affected`: messages',
    handle: async ({ supervisor, ...context }, { session }) => ({
      affected: await supervisor.retry(await resolveOrAll(context, session)),
    }),
  }),

  queue_clear: daemonOperation({
    about: 'Drops failed messages, and pending ones too with `pending`.',
    input: z.object({ session: sessionOrAll, pending: z.boolean() }),
    answerType: 'done',
    answerDescription: '`affected`: messages',
    handle: async ({ supervisor, ...context }, { session, pending }) => ({
      affected: await supervisor.clear(await resolveOrAll(context, session), pending),
    }),
  }),

  flush: daemonOperation({
    about:
      'Hands waiting messages to the observer now; with `wait`, answered when it is done or after CLAUDE_MEM_DELETE_TIMEOUT.',
    input: z.object({ session: sessionOrAll, wait: z.boolean() }),
    answerType: 'done',
    answerDescription: '`affected`: sessions',
    handle: async (context, { session: prefix, wait }) => {
      const session = await resolveOrAll(context, prefix)
      const affected = await context.supervisor.flush(session)
      if (wait) await waitUntilSettled(context, session)
      return { affected }
    },
  }),

  close_session: daemonOperation({
    about: 'Ends a session and waits for its effect, up to CLAUDE_MEM_DELETE_TIMEOUT. Everything is kept.',
    input: z.object({ session: id }),
    answerType: 'session',
    answerDescription: '`view`',
    handle: async (context, { session }) => {
      const resolved = await resolveLocalSession(context.store, session, context.me())
      await closeSession(context, resolved)
      return { view: await readView(context, resolved, 0) }
    },
    rest: [{ method: 'DELETE', path: '/api/sessions/:session', pick: 'view' }],
  }),

  purge_session: daemonOperation({
    about:
      'Erases a session with everything that it left behind; no model is called. Its earlier events and its transcript are not accepted again, new events are.',
    input: z.object({ session: id }),
    answerType: 'forgotten',
    answerDescription: '`report`',
    handle: async (context, { session }) => ({
      report: await purgeSession(context, await resolveSession(context.store, session)),
    }),
    rest: [{ method: 'DELETE', path: '/api/sessions/:session', when: { purge: '1' }, pick: 'report' }],
  }),

  reopen_session: daemonOperation({
    about: 'Reopens a closed session, as if its user had returned.',
    input: z.object({ session: id }),
    answerType: 'session',
    answerDescription: '`view`',
    handle: async ({ store, supervisor, me }, { session: prefix }) => {
      const session = await resolveLocalSession(store, prefix, me())
      await supervisor.reopenSession(session)
      return { view: await readView({ reader: store, me }, session, 0) }
    },
    rest: [{ method: 'POST', path: '/api/sessions/:session/reopen', pick: 'view' }],
  }),
}

function resolveOrAll(
  { reader, me }: Pick<ReadContext, 'reader' | 'me'>,
  prefix: string | null,
): Promise<string | null> {
  return prefix === null ? Promise.resolve(null) : resolveLocalSession(reader, prefix, me())
}

/** Null: a session of this machine. */
function receivedAs({ received = null }: Pick<SessionView, 'received'>, me: string | null): ReceivedSession | null {
  return received === null ? null : withoutOwnAuthor(received, me)
}

async function readView({ reader, me }: Pick<ReadContext, 'reader' | 'me'>, prefix: string, trace: number) {
  const view = await reader.sessionView(await resolveSession(reader, prefix), trace)
  if (view === null) throw sessionNotFound(prefix)
  return { ...view, received: receivedAs(view, me()), row: { ...view.row, ...isoTimes(view.row, view.row.heardAt) } }
}

/** With the request as the user typed it. */
function toListed(row: SessionListItem) {
  const request = row.request === null ? null : withoutBoilerplate(row.request) || null
  return { ...row, request, ...isoTimes(row, row.updatedAt) }
}

/** The times of a session as texts, for scripts. A session that has ended was completed with its last event. */
function isoTimes({ createdAt, status }: Pick<StoredSessionRow, 'createdAt' | 'status'>, heardAt: number) {
  const hasEnded = status === 'completed' || status === 'interrupted'
  return {
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(heardAt).toISOString(),
    completed_at: hasEnded ? new Date(heardAt).toISOString() : null,
  }
}

async function closeSession(context: DaemonContext, session: string): Promise<void> {
  await context.supervisor.closeSession(session)
  await waitUntilSettled(context, session)
}

async function purgeSession({ forgetting }: DaemonContext, session: string) {
  const report = await forgetting.eraseSession(session)
  if (report === null) throw sessionNotFound(session)
  return report
}

/** The body of these routes is an event, in one of the forms of event-body.ts. */
function eventRoute(
  path: string,
  kinds: readonly [MemoryEvent['kind'], ...MemoryEvent['kind'][]],
): RestRoute<
  { event: MemoryEvent },
  { duplicate: boolean; version: string; queue: number; skipped?: string; context?: string; message?: string }
> {
  return {
    method: 'POST',
    path,
    fromBody: (body) => ({ event: eventFromBody(body, path, kinds) }),
    respond: ({ version: _version, ...rest }, { event }) => ({ accepted: true, id: event.id, ...rest }),
  }
}

export type UsageView = Awaited<ReturnType<typeof usageView>>

/** The last `days` days, today's included. */
export async function usageView(
  reader: Pick<StoreReader, 'usage' | 'spentSince'>,
  by: UsageKey,
  days: number,
  now: number,
) {
  const dayStarts = lastDays(days, now)
  const since = dayStarts[0] ?? now
  const today = dayStarts.at(-1) ?? now
  const models = await reader.usage({ by: 'model', since })
  const rowsBy = async () => {
    if (by === 'model') return models
    return by === 'day' ? withoutGaps(await reader.usage({ by, dayStarts }), dayStarts) : reader.usage({ by, since })
  }
  return {
    by,
    /** When the first of the days began. */
    since,
    /** Days without gaps from the first with a call on; anything else with the most expensive first. */
    rows: await rowsBy(),
    total: totalOf(models),
    today: await reader.spentSince(today),
    /** Models that used tokens at a price that is not known. */
    unpriced: models.filter(({ unpriced }) => unpriced > 0).map(({ key }) => key),
  }
}

/** Start of each of the last `count` days in local time, oldest first. */
export function lastDays(count: number, now: number): number[] {
  const today = new Date(now)
  return Array.from({ length: count }, (_, i) =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() - (count - 1 - i)).getTime(),
  )
}

/** Adds days without calls, so that a chart has no gaps. */
function withoutGaps(rows: readonly UsageTotals[], dayStarts: readonly number[]): UsageTotals[] {
  const known = new Map(rows.map((row) => [row.at, row]))
  const first = rows[0]?.at ?? Number.POSITIVE_INFINITY
  return dayStarts
    .filter((start) => start >= first)
    .map((start) => known.get(start) ?? { key: String(start), name: null, at: start, ...nothing() })
}

function nothing(): UsageSums {
  return { calls: 0, failed: 0, usage: { ...NO_USAGE }, cost: 0, unpriced: 0, observations: 0 }
}

function totalOf(rows: readonly UsageSums[]): UsageSums {
  const total = nothing()
  for (const { calls, failed, usage, cost, unpriced, observations } of rows) {
    total.calls += calls
    total.failed += failed
    total.usage.input += usage.input
    total.usage.output += usage.output
    total.usage.cacheRead += usage.cacheRead
    total.usage.cacheWrite += usage.cacheWrite
    total.cost += cost
    total.unpriced += unpriced
    total.observations += observations
  }
  return total
}
