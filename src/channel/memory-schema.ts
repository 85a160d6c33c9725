/** What may be asked about the memory, and how much of it at once. */
import { z } from 'zod'
import { OBSERVATION_TYPES } from '../memory/observation.ts'
import { MEMORY_KINDS, SEARCH_MODES, type SearchFilters, type SearchRequest } from '../search/query.ts'
import { REINDEX_PARTS, type TimelineRequest } from './memory.ts'
import {
  MAX_AROUND,
  MAX_HITS,
  MAX_IDS,
  MAX_OFFSET,
  MAX_QUERY_CHARS,
  MAX_REMEMBERED_CHARS,
  MAX_SHOWN,
  MAX_SUMMARIES,
  MAX_TITLE_CHARS,
  MAX_VALUES,
} from './memory-limits.ts'

const MAX_WORD_CHARS = 200
const MAX_PATH_CHARS = 4_096
const MAX_NAME_CHARS = 1_024
/** A fact is a sentence. */
const MAX_FACT_CHARS = 2_000
/** The last moment that a Date can hold, in ms. */
const MAX_EPOCH_MS = 8_640_000_000_000_000

const memoryId = z.int().positive()
const query = z.string().max(MAX_QUERY_CHARS, `a query has at most ${MAX_QUERY_CHARS} characters`)
const word = z.string().min(1).max(MAX_WORD_CHARS)
const path = z.string().min(1).max(MAX_PATH_CHARS)
const project = z.string().min(1).max(MAX_PATH_CHARS).nullable()
const moment = z.number().min(-MAX_EPOCH_MS).max(MAX_EPOCH_MS).nullable()
const around = z.int().min(0).max(MAX_AROUND)

export const filtersSchema: z.ZodType<SearchFilters> = z.object({
  project,
  kinds: z.array(z.enum(MEMORY_KINDS)).min(1).max(MAX_VALUES),
  types: z.array(z.enum(OBSERVATION_TYPES)).max(MAX_VALUES),
  concepts: z.array(word).max(MAX_VALUES),
  files: z.array(path).max(MAX_VALUES),
  since: moment,
  until: moment,
  agent: word.nullable(),
  session: word.nullable(),
  pinned: z.boolean(),
})

export const searchSchema: z.ZodType<SearchRequest> = z.object({
  query,
  mode: z.enum(SEARCH_MODES),
  filters: filtersSchema,
  limit: z.int().min(1).max(MAX_HITS),
  offset: z.int().min(0).max(MAX_OFFSET),
})

const rememberFields = {
  title: z.string().max(MAX_TITLE_CHARS).nullable(),
  text: z.string().max(MAX_REMEMBERED_CHARS, `a memory has at most ${MAX_REMEMBERED_CHARS} characters`),
  kind: z.enum(OBSERVATION_TYPES),
  concepts: z.array(word).max(MAX_VALUES),
  files: z.array(path).max(MAX_VALUES),
}

const timelineFields = {
  anchor: memoryId.nullable(),
  query: query.nullable(),
  project,
  before: around,
  after: around,
}

export const timelineSchema: z.ZodType<TimelineRequest> = z.object(timelineFields)

/** A memory by hand over HTTP, where only its text and project are needed. */
export const noteSchema = z.object({
  ...rememberFields,
  project: path,
  title: rememberFields.title.default(null),
  kind: rememberFields.kind.default('discovery'),
  concepts: rememberFields.concepts.default([]),
  files: rememberFields.files.default([]),
})
export type Note = z.infer<typeof noteSchema>

/** The members of the union of requests that are about the memory. */
export function memoryRequestSchemas<E extends z.ZodRawShape>(envelope: E) {
  return [
    z.object({ ...envelope, type: z.literal('search'), request: searchSchema }),
    z.object({ ...envelope, type: z.literal('observations'), ids: z.array(memoryId).min(1).max(MAX_SHOWN) }),
    z.object({ ...envelope, type: z.literal('timeline'), ...timelineFields }),
    z.object({
      ...envelope,
      type: z.literal('summaries'),
      session: word.nullable(),
      project,
      limit: z.int().min(1).max(MAX_SUMMARIES),
    }),
    z.object({
      ...envelope,
      type: z.literal('remember'),
      project: z.object({ key: path, name: z.string().max(MAX_NAME_CHARS) }),
      cwd: z.string().max(32_768),
      ...rememberFields,
    }),
    z.object({
      ...envelope,
      type: z.literal('correct'),
      observation: memoryId,
      kind: rememberFields.kind.exactOptional(),
      title: z.string().max(MAX_TITLE_CHARS).exactOptional(),
      text: rememberFields.text.exactOptional(),
      facts: z.array(z.string().max(MAX_FACT_CHARS)).max(MAX_VALUES).exactOptional(),
      concepts: rememberFields.concepts.exactOptional(),
    }),
    z.object({
      ...envelope,
      type: z.literal('forget'),
      ids: z.array(memoryId).max(MAX_IDS),
      filters: filtersSchema.exactOptional(),
      confirm: z.boolean(),
    }),
    z.object({ ...envelope, type: z.literal('pin'), ids: z.array(memoryId).min(1).max(MAX_IDS), on: z.boolean() }),
    z.object({
      ...envelope,
      type: z.literal('link'),
      from: memoryId,
      to: memoryId,
      kind: z.literal('supersedes'),
      on: z.boolean(),
    }),
    z.object({ ...envelope, type: z.literal('memory_stats'), project }),
    z.object({ ...envelope, type: z.literal('reindex'), what: z.enum(REINDEX_PARTS) }),
    z.object({ ...envelope, type: z.literal('indexing') }),
  ] as const
}
