/** Schemas of exported and imported records. */
import * as z from 'zod'
import { MAX_RECORD_ITEMS } from '../domain/clean-record.ts'
import { OBSERVATION_STATUSES } from '../domain/observation.ts'
import {
  observationFields,
  passageFields,
  passageKind,
  recordPromptNumber,
  recordText,
  recordTime,
  summaryFields,
} from '../domain/record-fields.ts'
import type { ExportRecord, ImportBatch, ImportedSession } from '../store/exchange-records.ts'
import { LINK_KINDS } from '../store/search-port.ts'
import { client, cwd, id, label, memoryId, project, projectName } from './schemas.ts'

/** Records of one request: hooks wait while they are stored. */
const MAX_BATCH_RECORDS = 200

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
  prompts: recordPromptNumber,
  startedAt: recordTime,
  heardAt: recordTime,
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
  number: recordPromptNumber,
  text: recordText,
  at: recordTime,
})

const observation = z.object({
  kind: z.literal('observation'),
  id: memoryId,
  session: id,
  project: projectName,
  ...observationFields,
  sources: z.array(label).max(MAX_RECORD_ITEMS),
  // Files of older versions have none of these.
  status: z.enum(OBSERVATION_STATUSES).nullable().exactOptional(),
  ...originFields,
})

const summary = z.object({
  kind: z.literal('summary'),
  session: id,
  project: projectName,
  ...summaryFields,
  ...originFields,
})

const passage = z.object({
  kind: z.literal('passage'),
  session: id,
  project: projectName,
  ...passageFields,
  eventId: id,
  passage: passageKind,
  ...originFields,
})

const link = z.object({
  kind: z.literal('link'),
  from: memoryId,
  to: memoryId,
  link: z.enum(LINK_KINDS),
  by: z.enum(['search', 'model', 'person']),
  at: recordTime,
})

const pin = z.object({
  kind: z.literal('pin'),
  observation: memoryId,
  at: recordTime,
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
