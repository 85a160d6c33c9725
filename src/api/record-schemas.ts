/** Schemas of exported and imported records. */
import { z } from 'zod'
import { OBSERVATION_TYPES } from '../domain/observation.ts'
import type { ExportRecord, ImportBatch, ImportedSession } from '../store/exchange-records.ts'
import { LINK_KINDS } from '../store/search-port.ts'

/** Real ids have 36 characters. */
const MAX_ID_CHARS = 200
/** A project key contains a path. */
const MAX_KEY_CHARS = 4_096
const MAX_NAME_CHARS = 1_024
const MAX_CWD_CHARS = 32_768
/** Longest stored text (a prompt), in characters. */
export const MAX_RECORD_TEXT_CHARS = 65_536
/** Items of one list (facts, files, functions, sources): ten times what an observer may return. */
export const MAX_RECORD_ITEMS = 2_000
/** Largest epoch time that a Date can hold, in ms. */
const MAX_EPOCH_MS = 8_640_000_000_000_000
const MAX_PROMPTS = 1_000_000_000
/** Records of one request: hooks wait while they are stored. */
const MAX_BATCH_RECORDS = 200

const id = z.string().min(1).max(MAX_ID_CHARS)
const key = z.string().min(1).max(MAX_KEY_CHARS)
const name = z.string().max(MAX_NAME_CHARS)
const text = z.string().max(MAX_RECORD_TEXT_CHARS)
const words = text.nullable()
const texts = z.array(text).max(MAX_RECORD_ITEMS)
const epoch = z.int().min(0).max(MAX_EPOCH_MS)
const promptNumber = z.int().min(0).max(MAX_PROMPTS)
const observationId = z.int().positive()
const label = z.string().max(MAX_ID_CHARS).nullable()

const sessionFields = {
  id,
  client: z.string().min(1).max(100),
  cwd: z.string().max(MAX_CWD_CHARS),
  prompts: promptNumber,
  startedAt: epoch,
  heardAt: epoch,
}

const project = z.object({ kind: z.literal('project'), key, name })

const session = z.object({
  kind: z.literal('session'),
  project: key,
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
  id: observationId,
  session: id,
  project: key,
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
  agent: label,
  promptNumber,
  discoveryTokens: z.int().min(0),
  discoveryEstimated: z.boolean(),
  sources: z.array(z.string().max(MAX_ID_CHARS)).max(MAX_RECORD_ITEMS),
  model: label,
  promptVersion: label,
})

const summary = z.object({
  kind: z.literal('summary'),
  session: id,
  project: key,
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
  model: label,
})

const link = z.object({
  kind: z.literal('link'),
  from: observationId,
  to: observationId,
  link: z.enum(LINK_KINDS),
  by: z.enum(['search', 'model', 'person']),
  at: epoch,
})

const pin = z.object({
  kind: z.literal('pin'),
  observation: observationId,
  at: epoch,
})

export const exportRecordSchema: z.ZodType<ExportRecord> = z.discriminatedUnion('kind', [
  project,
  session,
  prompt,
  observation,
  summary,
  link,
  pin,
])

const importedSession: z.ZodType<ImportedSession> = z.object({ ...sessionFields, project: z.object({ key, name }) })

export const batchSchema: z.ZodType<ImportBatch> = z.object({
  sessions: z.array(importedSession).max(MAX_BATCH_RECORDS),
  records: z.array(z.discriminatedUnion('kind', [prompt, observation, summary, link, pin])).max(MAX_BATCH_RECORDS),
  dryRun: z.boolean(),
})

/** The first issue with its field; it never quotes the content. */
export function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return 'it is not understood'
  return issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`
}
