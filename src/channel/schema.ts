/** What the daemon accepts at its door. Everything behind it may trust the types. */
import { z } from 'zod'
import { MemError } from '../errors.ts'
import type { MemoryEvent } from '../memory/event.ts'
import type { SearchRequest } from '../search/query.ts'
import { USAGE_KEYS } from '../store/accounting.ts'
import { MAX_USAGE_DAYS } from '../store/usage-view.ts'
import { filesRequestSchemas } from './files.ts'
import { importSchema } from './import-schema.ts'
import { lookRequestSchemas } from './look-schema.ts'
import type { TimelineRequest } from './memory.ts'
import { memoryRequestSchemas, type Note, noteSchema, searchSchema, timelineSchema } from './memory-schema.ts'
import { projectRequestSchemas } from './project-requests.ts'
import { PROTOCOL_VERSION, type Request } from './protocol.ts'
import { contextWishFields, settingsRequestSchemas, settingValueSchema } from './settings-schema.ts'

/** Longest id that is stored; real ones have 36 characters. */
const MAX_ID_CHARS = 200
/** A project's key holds a path. */
const MAX_KEY_CHARS = 4_096
/** Sessions asked about at once. */
const MAX_REPORTED = 1_000
const id = z.string().min(1).max(MAX_ID_CHARS)
const text = z.string()
const version = z.string().max(100)
const sessionOrAll = id.nullable()

const base = {
  id,
  session: id,
  at: z.number().int().nonnegative(),
  client: z.string().min(1).max(100),
  project: z.object({ key: z.string().min(1).max(MAX_KEY_CHARS), name: z.string().max(1_024) }),
  cwd: z.string().max(32_768),
  transcriptPath: z.string().max(32_768).nullable(),
  promptId: id.nullable(),
  agent: z.object({ id: z.string().max(MAX_ID_CHARS), type: z.string().max(MAX_ID_CHARS) }).nullable(),
}
const tool = { tool: z.string().min(1).max(1_024), input: z.unknown(), durationMs: z.number().nullable() }

export const eventSchema: z.ZodType<MemoryEvent> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('session_start'), ...base, source: text }),
  z.object({ kind: z.literal('prompt'), ...base, text, private: z.boolean() }),
  z.object({ kind: z.literal('tool_use'), ...base, ...tool, response: z.unknown() }),
  z.object({ kind: z.literal('tool_failure'), ...base, ...tool, error: text, interrupted: z.boolean() }),
  z.object({ kind: z.literal('subagent_end'), ...base, lastMessage: text }),
  z.object({ kind: z.literal('pre_compact'), ...base, trigger: text }),
  z.object({ kind: z.literal('turn_end'), ...base, lastMessage: text.nullable(), error: text.nullable() }),
  z.object({ kind: z.literal('session_end'), ...base, reason: text }),
])

const envelope = { v: z.literal(PROTOCOL_VERSION), id: z.string().max(MAX_ID_CHARS) }
const limit = z.number().int().min(1).max(10_000)

const requestSchema: z.ZodType<Request> = z.discriminatedUnion('type', [
  z.object({ ...envelope, type: z.literal('hello'), version, token: text.exactOptional() }),
  z.object({ ...envelope, type: z.literal('event'), event: eventSchema, version, token: text.exactOptional() }),
  z.object({
    ...envelope,
    type: z.literal('file_context'),
    session: id,
    project: base.project,
    cwd: base.cwd,
    file: z.string().min(1).max(32_768),
    changedAt: base.at,
    token: text.exactOptional(),
  }),
  z.object({ ...envelope, type: z.literal('status') }),
  z.object({
    ...envelope,
    type: z.literal('sessions'),
    filter: z.object({
      status: z.enum(['active', 'completed', 'interrupted', 'failed']).exactOptional(),
      project: text.exactOptional(),
      limit: limit.exactOptional(),
    }),
  }),
  z.object({ ...envelope, type: z.literal('session'), session: id, trace: z.number().int().min(0).max(10_000) }),
  z.object({
    ...envelope,
    type: z.literal('context'),
    project: z.string().min(1).max(MAX_KEY_CHARS),
    ...contextWishFields,
  }),
  z.object({
    ...envelope,
    type: z.literal('queue'),
    filter: z.object({
      session: id.exactOptional(),
      status: z.enum(['pending', 'processing', 'failed']).exactOptional(),
      limit: limit.exactOptional(),
    }),
  }),
  z.object({
    ...envelope,
    type: z.literal('usage'),
    by: z.enum(USAGE_KEYS),
    days: z.number().int().min(1).max(MAX_USAGE_DAYS),
  }),
  z.object({ ...envelope, type: z.literal('calls'), session: id, limit }),
  z.object({ ...envelope, type: z.literal('payloads'), session: id, after: z.number().int().min(0), limit }),
  z.object({ ...envelope, type: z.literal('queue_retry'), session: sessionOrAll }),
  z.object({ ...envelope, type: z.literal('queue_clear'), session: sessionOrAll, pending: z.boolean() }),
  z.object({ ...envelope, type: z.literal('flush'), session: sessionOrAll, wait: z.boolean() }),
  z.object({ ...envelope, type: z.literal('close_session'), session: id }),
  z.object({ ...envelope, type: z.literal('reopen_session'), session: id }),
  z.object({
    ...envelope,
    type: z.literal('reported'),
    sessions: z.array(z.object({ session: id, end: z.string().max(2 * MAX_ID_CHARS) })).max(MAX_REPORTED),
  }),
  importSchema(envelope),
  z.object({ ...envelope, type: z.literal('backup') }),
  z.object({ ...envelope, type: z.literal('backups') }),
  z.object({ ...envelope, type: z.literal('stop') }),
  z.object({ ...envelope, type: z.literal('handover'), version }),
  z.object({ ...envelope, type: z.literal('subscribe'), since: z.number().int().nullable() }),
  ...memoryRequestSchemas(envelope),
  ...projectRequestSchemas(envelope),
  ...filesRequestSchemas(envelope),
  ...lookRequestSchemas(envelope),
  ...settingsRequestSchemas(envelope),
])

export function parseJson(input: string): unknown {
  try {
    return JSON.parse(input)
  } catch (cause) {
    throw new MemError('bad_request', 'that is not JSON', { cause })
  }
}

export function parseRequest(json: unknown): Request {
  const parsed = requestSchema.safeParse(json)
  if (parsed.success) return parsed.data
  if (hasOtherVersion(json)) {
    throw new MemError('unsupported_version', `this daemon speaks version ${PROTOCOL_VERSION} of the protocol`, {
      retryable: true,
    })
  }
  throw new MemError('bad_request', complaint(parsed.error))
}

export const parseEvent = (json: unknown): MemoryEvent => parsedBy(eventSchema, json)
export const parseSearch = (json: unknown): SearchRequest => parsedBy(searchSchema, json)
export const parseTimeline = (json: unknown): TimelineRequest => parsedBy(timelineSchema, json)
export const parseSettingValue = (json: unknown) => parsedBy(settingValueSchema, json)
export const parseNote = (json: unknown): Note => parsedBy(noteSchema, json)

function parsedBy<T>(schema: z.ZodType<T>, json: unknown): T {
  const parsed = schema.safeParse(json)
  if (parsed.success) return parsed.data
  throw new MemError('bad_request', complaint(parsed.error))
}

/** The id to answer to, where a request that cannot be understood has one. */
export function requestId(json: unknown): string {
  return typeof json === 'object' && json !== null && 'id' in json && typeof json.id === 'string' ? json.id : ''
}

function hasOtherVersion(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'v' in json && json.v !== PROTOCOL_VERSION
}

/** The first complaint, with its place; never the content. */
function complaint(error: z.ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return 'the request is not understood'
  return `the request is not understood: ${issue.path.join('.') || 'message'}: ${issue.message}`
}
