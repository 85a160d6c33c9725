/**
 * Checks and cleans records that come from the shared log. Anyone who may write to a repository can put anything into it, so
 * every field is checked, texts are bounded, secrets masked and control characters removed before the store sees a record.
 * Names are not cleaned: one that is not in the normal form is refused. A record that is not valid is refused with a reason;
 * it is not asked for again.
 */
import * as z from 'zod'
import {
  cleanObservationTexts,
  cleanPassageTexts,
  cleanSummaryTexts,
  foreignSpeaker,
  MAX_RECORD_ITEMS,
} from '../domain/clean-record.ts'
import { MAX_ID_CHARS, MAX_PROJECT_KEY_CHARS } from '../domain/event-names.ts'
import { isName } from '../domain/names.ts'
import { OBSERVATION_STATUSES } from '../domain/observation.ts'
import {
  observationFields,
  passageFields,
  passageKind,
  recordPromptNumber,
  recordTime,
  summaryFields,
} from '../domain/record-fields.ts'
import { isTravellingKey, type ReceivedRecord, type RecordId, type RecordOrigin } from '../domain/team-record.ts'

export interface CheckedRecords {
  valid: ReceivedRecord[]
  refused: RefusedRecord[]
  /** Of all records, as JSON. */
  bytes: number
}

export interface RefusedRecord {
  /** As given, cut to a length that can be shown. */
  id: string
  reason: string
}

/** Largest record that is accepted, as JSON, in bytes: one observation of an ordinary session has some KB. */
export const MAX_RECEIVED_BYTES = 1_048_576
/** Versions count changes of one thing. */
const MAX_VERSION = 1_000_000_000
const MAX_CLIENT_CHARS = 100
const MAX_SHOWN_ID_CHARS = 64

const version = z.int().min(0).max(MAX_VERSION)
/** Ids are compared, never changed: one with control characters is refused. */
const identifier = z
  .string()
  .max(MAX_ID_CHARS)
  .regex(/^\P{Cc}+$/u, 'has control characters')
const recordId = z.string().regex(/^[0-9a-f]{32}$/)
const session = z.object({
  id: identifier,
  client: z.string().min(1).max(MAX_CLIENT_CHARS),
  prompts: recordPromptNumber,
  startedAt: recordTime,
})

const observation = z.object({ session, ...observationFields, sources: z.array(identifier).max(MAX_RECORD_ITEMS) })
const summary = z.object({ session, ...summaryFields })
const passage = z.object({ session, ...passageFields, kind: passageKind, eventId: identifier })

const link = z.object({
  version,
  from: recordId,
  to: recordId,
  link: z.enum(['repeats', 'supersedes', 'amends']),
  by: z.enum(['search', 'model', 'person']),
  on: z.boolean(),
})

const pin = z.object({ version, observation: recordId, on: z.boolean() })
const status = z.object({ version, observation: recordId, status: z.enum(OBSERVATION_STATUSES) })
/** Names are compared, never changed. '': the project has no name of its own any more. */
const name = z.string().refine(isName, 'is not in the normal form of names')
const project = z.object({ version, name: name.or(z.literal('')) })
const tombstone = z.object({ target: recordId })

const head = {
  id: recordId,
  repository: z.string().max(MAX_PROJECT_KEY_CHARS).refine(isTravellingKey, 'is no key of a shared project'),
  at: recordTime,
  author: name,
  machine: name,
}

const received: z.ZodType<ReceivedRecord> = z.discriminatedUnion('kind', [
  z.object({ ...head, kind: z.literal('observation'), body: observation.nullable() }),
  z.object({ ...head, kind: z.literal('summary'), body: summary.nullable() }),
  z.object({ ...head, kind: z.literal('passage'), body: passage.nullable() }),
  z.object({ ...head, kind: z.literal('link'), body: link.nullable() }),
  z.object({ ...head, kind: z.literal('pin'), body: pin.nullable() }),
  z.object({ ...head, kind: z.literal('status'), body: status.nullable() }),
  z.object({ ...head, kind: z.literal('project'), body: project.nullable() }),
  z.object({ ...head, kind: z.literal('tombstone'), body: tombstone.nullable() }),
])

/**
 * `repositories`: what was asked for; a record of another one is refused. `own`: the author of this machine, whose other
 * machines may speak for the user: PostgreSQL lets nobody write in another author's name.
 */
export function checkReceived(
  records: readonly unknown[],
  { repositories, own }: { repositories: ReadonlySet<string>; own: RecordOrigin },
): CheckedRecords {
  const checked: CheckedRecords = { valid: [], refused: [], bytes: 0 }
  for (const given of records) {
    const bytes = jsonBytes(given)
    checked.bytes += bytes
    const result = checkRecord(given, bytes, repositories, own.author)
    if ('reason' in result) checked.refused.push(result)
    else checked.valid.push(result)
  }
  return checked
}

function checkRecord(
  given: unknown,
  bytes: number,
  repositories: ReadonlySet<string>,
  ownAuthor: string,
): ReceivedRecord | RefusedRecord {
  const refuse = (reason: string): RefusedRecord => ({ id: shownId(given), reason })
  if (bytes > MAX_RECEIVED_BYTES) return refuse(`it is larger than ${MAX_RECEIVED_BYTES} bytes`)
  const parsed = received.safeParse(given)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    // Names the field, never quotes the content.
    return refuse(`${issue?.path.join('.') || 'the record'}: ${issue?.message ?? 'invalid'}`)
  }
  if (!repositories.has(parsed.data.repository)) return refuse('it is of a repository that is not shared here')
  return cleanReceived(parsed.data, ownAuthor)
}

function jsonBytes(given: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(given) ?? '')
  } catch {
    // Nested deeper than the stack: larger than anything that is accepted.
    return MAX_RECEIVED_BYTES + 1
  }
}

function shownId(given: unknown): RecordId {
  const id = typeof given === 'object' && given !== null ? Reflect.get(given, 'id') : null
  return typeof id === 'string' ? withoutControls(id).slice(0, MAX_SHOWN_ID_CHARS) : 'unknown'
}

function cleanReceived(record: ReceivedRecord, ownAuthor: string): ReceivedRecord {
  if (record.body === null) return record
  switch (record.kind) {
    case 'observation': {
      const body = withoutControlsDeep(record.body)
      const speaker = record.author === ownAuthor ? {} : foreignSpeaker(body)
      return { ...record, body: cleanObservationTexts({ ...body, ...speaker }) }
    }
    case 'summary':
      return { ...record, body: cleanSummaryTexts(withoutControlsDeep(record.body)) }
    case 'passage': {
      const body = withoutControlsDeep(record.body)
      return { ...record, body: cleanPassageTexts(body, body.kind) }
    }
    default:
      return record
  }
}

/** Terminal codes, NUL and the like; line ends and tabs stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

function withoutControls(given: string): string {
  return given.replaceAll('\r\n', '\n').replace(CONTROLS, '')
}

/** The record was parsed, so its depth and its members are known. */
function withoutControlsDeep<T>(value: T): T {
  if (typeof value === 'string') return withoutControls(value) as T
  if (Array.isArray(value)) return value.map(withoutControlsDeep) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutControlsDeep(item)])) as T
}
