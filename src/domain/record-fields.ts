/**
 * Fields of memories that come from elsewhere, with their bounds: from a file that is imported, and from the log of a team.
 * What a file and the log say beside them (ids, session, project) is in their own schemas.
 */
import * as z from 'zod'
import { MAX_RECORD_ITEMS, MAX_RECORD_TEXT_CHARS } from './clean-record.ts'
import { MAX_EPOCH_MS } from './dates.ts'
import { MAX_ID_CHARS } from './event-names.ts'
import { OBSERVATION_TYPES } from './observation.ts'
import { MAX_PASSAGE_CHARS, PASSAGE_KINDS } from './passage.ts'
import { SPEAKERS } from './speaker.ts'

const MAX_PROMPTS = 1_000_000_000
/** More than a session can use; sums of many stay exact. */
const MAX_TOKENS = 1_000_000_000
/** Passages of one event. */
const MAX_POSITIONS = 1_000_000
/** Longest text of a passage: masking may have made it longer than it was cut. */
const MAX_PASSAGE_RECORD_CHARS = 4 * MAX_PASSAGE_CHARS

const text = z.string().max(MAX_RECORD_TEXT_CHARS)
const words = text.nullable()
const texts = z.array(text).max(MAX_RECORD_ITEMS)
/** May be empty. */
const label = z.string().max(MAX_ID_CHARS)

export const recordText = text
export const recordTime = z.int().min(0).max(MAX_EPOCH_MS)
export const recordPromptNumber = z.int().min(0).max(MAX_PROMPTS)

/** Without `sources`: ids in a file may be anything, those in the log are checked. */
export const observationFields = {
  createdAt: recordTime,
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
  promptNumber: recordPromptNumber,
  discoveryTokens: z.int().min(0).max(MAX_TOKENS),
  discoveryEstimated: z.boolean(),
  model: label.nullable(),
  promptVersion: label.nullable(),
  // Files of older versions have none of these.
  saidBy: z.enum(SPEAKERS).nullable().exactOptional(),
  saidIn: label.nullable().exactOptional(),
}

export const summaryFields = {
  createdAt: recordTime,
  request: words,
  investigated: words,
  learned: words,
  completed: words,
  nextSteps: words,
  notes: words,
  filesRead: texts,
  filesEdited: texts,
  promptNumber: recordPromptNumber,
  whole: z.literal(true).exactOptional(),
  model: label.nullable(),
}

export const passageKind = z.enum(PASSAGE_KINDS)

export const passageFields = {
  subject: words,
  outcome: z.enum(['ok', 'failed']).nullable(),
  text: z.string().max(MAX_PASSAGE_RECORD_CHARS),
  position: z.int().min(0).max(MAX_POSITIONS),
  promptNumber: recordPromptNumber,
  at: recordTime,
}
