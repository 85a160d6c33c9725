/** Schemas of exported and imported records. */
import * as z from 'zod'
import { MAX_RECORD_ITEMS, MAX_RECORD_TEXT_CHARS } from '../domain/clean-record.ts'
import { OBSERVATION_STATUSES, OBSERVATION_TYPES } from '../domain/observation.ts'
import { MAX_PASSAGE_CHARS, PASSAGE_KINDS } from '../domain/passage.ts'
import { SPEAKERS } from '../domain/speaker.ts'
import type { ExportRecord, ImportBatch, ImportedSession } from '../store/exchange-records.ts'
import { LINK_KINDS } from '../store/search-port.ts'
import { client, cwd, id, label, MAX_EPOCH_MS, memoryId, project, projectName } from './schemas.ts'

const MAX_PROMPTS = 1_000_000_000
/** More than a session can use; sums of many stay exact. */
const MAX_TOKENS = 1_000_000_000
/** Passages of one event. */
const MAX_POSITIONS = 1_000_000
/** Longest text of a passage: masking may have made it longer than it was cut. */
const MAX_PASSAGE_RECORD_CHARS = 4 * MAX_PASSAGE_CHARS
/** Records of one request: hooks wait while they are stored. */
const MAX_BATCH_RECORDS = 200

const text = z.string().max(MAX_RECORD_TEXT_CHARS)
const words = text.nullable()
const texts = z.array(text).max(MAX_RECORD_ITEMS)
const epoch = z.int().min(0).max(MAX_EPOCH_MS)
const promptNumber = z.int().min(0).max(MAX_PROMPTS)

/** Files of older versions have none of these. */
const originFields = {
  uid: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .exactOptional(),
  author: label.nullable().exactOptional(),
  machine: label.nullable().exactOptional(),
}

const sessionFields = {
  id,
  client,
  cwd,
  prompts: promptNumber,
  startedAt: epoch,
  heardAt: epoch,
}

const projectRecord = z.object({ kind: z.literal('project'), ...project.shape })

const session = z.object({
  kind: z.literal('session'),
  project: projectName,
  ...sessionFields,
})

const prompt = z.object({
  kind: z.literal('prompt'),
  session: id,
  number: promptNumber,
  text,
  at: epoch,
})

const observation = z.object({
  kind: z.literal('observation'),
  id: memoryId,
  session: id,
  project: projectName,
  createdAt: epoch,
  type: z.enum(OBSERVATION_TYPES),
  title: words,
  subtitle: words,
  narrative: words,
  facts: texts,
  concepts: texts,
  filesRead: texts,
  filesModified: texts,
  functionsChanged: z
    .array(z.object({ name: text, file: text, action: z.enum(['new', 'modified', 'deleted']) }))
    .max(MAX_RECORD_ITEMS),
  agent: label.nullable(),
  promptNumber,
  discoveryTokens: z.int().min(0).max(MAX_TOKENS),
  discoveryEstimated: z.boolean(),
  sources: z.array(label).max(MAX_RECORD_ITEMS),
  model: label.nullable(),
  promptVersion: label.nullable(),
  // Files of older versions have none of these.
  saidBy: z.enum(SPEAKERS).nullable().exactOptional(),
  saidIn: label.nullable().exactOptional(),
  status: z.enum(OBSERVATION_STATUSES).nullable().exactOptional(),
  ...originFields,
})

const summary = z.object({
  kind: z.literal('summary'),
  session: id,
  project: projectName,
  createdAt: epoch,
  request: words,
  investigated: words,
  learned: words,
  completed: words,
  nextSteps: words,
  notes: words,
  filesRead: texts,
  filesEdited: texts,
  promptNumber,
  whole: z.literal(true).exactOptional(),
  model: label.nullable(),
  ...originFields,
})

const passage = z.object({
  kind: z.literal('passage'),
  session: id,
  project: projectName,
  eventId: id,
  position: z.int().min(0).max(MAX_POSITIONS),
  promptNumber,
  at: epoch,
  passage: z.enum(PASSAGE_KINDS),
  subject: words,
  outcome: z.enum(['ok', 'failed']).nullable(),
  text: z.string().max(MAX_PASSAGE_RECORD_CHARS),
  ...originFields,
})

const link = z.object({
  kind: z.literal('link'),
  from: memoryId,
  to: memoryId,
  link: z.enum(LINK_KINDS),
  by: z.enum(['search', 'model', 'person']),
  at: epoch,
})

const pin = z.object({
  kind: z.literal('pin'),
  observation: memoryId,
  at: epoch,
})

export const exportRecordSchema: z.ZodType<ExportRecord> = z.discriminatedUnion('kind', [
  projectRecord,
  session,
  prompt,
  observation,
  summary,
  passage,
  link,
  pin,
])

const importedSession: z.ZodType<ImportedSession> = z.object({ ...sessionFields, project })

export const batchSchema: z.ZodType<ImportBatch> = z.object({
  sessions: z.array(importedSession).max(MAX_BATCH_RECORDS),
  records: z
    .array(z.discriminatedUnion('kind', [prompt, observation, summary, passage, link, pin]))
    .max(MAX_BATCH_RECORDS),
  forgotten: z.boolean().exactOptional(),
  dryRun: z.boolean(),
})

/** The first issue with its field; it never quotes the content. */
export function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return 'it is not understood'
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`
}
