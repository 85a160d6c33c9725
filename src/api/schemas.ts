/** Schemas and limits that several operations share. */
import * as z from 'zod'
import { MAX_EPOCH_MS } from '../domain/dates.ts'
import type { MemoryEvent } from '../domain/event.ts'
import {
  MAX_ID_CHARS,
  MAX_PROJECT_KEY_CHARS,
  MAX_PROJECT_NAME_CHARS,
  MAX_TOOL_NAME_CHARS,
} from '../domain/event-names.ts'
import { OBSERVATION_TYPES } from '../domain/observation.ts'
import { FILTER_NAMES, SEARCH_FILTERS, type SearchFilter, type SearchFilters } from '../domain/search-query.ts'
import { MemError } from '../lib/errors.ts'

/** Longest query, in characters: longer than any question; a pasted log is longer. */
export const MAX_QUERY_CHARS = 10_000
/** Hits of one search: rows of a few hundred bytes. */
export const MAX_HITS = 500
/** Larger than any memory: a scrolled list asks for pages anywhere. */
export const MAX_OFFSET = 1_000_000
/** Whole observations in one answer, a few KB each. */
export const MAX_SHOWN = 200
/** Rows of each kind in a session's story: a long day makes some hundred. */
export const MAX_STORY_ROWS = 10_000
/** Ids in one request to forget or pin; for more, use a filter. */
export const MAX_IDS = 10_000
/** Rows on either side of a timeline's anchor. */
export const MAX_AROUND = 200
export const MAX_SUMMARIES = 200
/** Longest text that is remembered by hand, in characters; a longer text belongs in a file. */
export const MAX_REMEMBERED_CHARS = 20_000
export const MAX_TITLE_CHARS = 300
/** Values of one filter, and concepts or files of one observation. */
export const MAX_VALUES = 50
/** Days that usage and activity go back. */
export const MAX_USAGE_DAYS = 3_650
/** Longest path a client may send, in characters. */
export const MAX_PATH_CHARS = 32_768
const MAX_WORD_CHARS = 200
const MAX_LIMIT = 10_000

export const id = z.string().min(1).max(MAX_ID_CHARS)
/** May be empty. */
export const label = z.string().max(MAX_ID_CHARS)
export const memoryId = z.int().positive()
export const version = z.string().max(100)
/** A key or a name. */
export const projectName = z.string().min(1).max(MAX_PROJECT_KEY_CHARS)
/** Null: all projects. */
export const projectOrAll = projectName.nullable().default(null)
/** The first characters of a session's id; null: all sessions. */
export const sessionOrAll = id.nullable().default(null)
export const projectNewName = z.string().max(MAX_PROJECT_NAME_CHARS)
export const project = z.object({ key: projectName, name: projectNewName })
export const client = z.string().min(1).max(100)
const word = z.string().min(1).max(MAX_WORD_CHARS)
export const path = z.string().min(1).max(MAX_PROJECT_KEY_CHARS)
export const cwd = z.string().max(MAX_PATH_CHARS)
export const query = z.string().max(MAX_QUERY_CHARS, `a query has at most ${MAX_QUERY_CHARS} characters`)
export const limit = z.int().min(1).max(MAX_LIMIT)

export const rememberFields = {
  title: z.string().max(MAX_TITLE_CHARS).nullable().default(null),
  text: z.string().max(MAX_REMEMBERED_CHARS, `a memory has at most ${MAX_REMEMBERED_CHARS} characters`),
  kind: z.enum(OBSERVATION_TYPES).default('discovery'),
  concepts: z.array(word).max(MAX_VALUES).default([]),
  files: z.array(path).max(MAX_VALUES).default([]),
}

/** One field for each filter of `SEARCH_FILTERS`. */
export const filterFields = Object.fromEntries(
  FILTER_NAMES.map((name) => [name, filterField(SEARCH_FILTERS[name])]),
) as unknown as { [N in keyof SearchFilters]: z.ZodDefault<z.ZodType<SearchFilters[N], SearchFilters[N]>> }

function filterField(filter: SearchFilter): z.ZodType {
  switch (filter.kind) {
    case 'text':
      return z.string().min(1).max(filter.maxChars).nullable().default(null).describe(filter.about)
    case 'texts':
      return z.array(z.string().min(1).max(filter.maxChars)).max(MAX_VALUES).default([]).describe(filter.about)
    case 'choices': {
      const choices = z.array(z.enum(filter.choices)).max(MAX_VALUES)
      // Where an empty list cannot mean "any", it is an error.
      return (filter.standard.length > 0 ? choices.min(1) : choices)
        .default([...filter.standard])
        .describe(filter.about)
    }
    case 'moment':
      return z.number().min(-MAX_EPOCH_MS).max(MAX_EPOCH_MS).nullable().default(null).describe(filter.about)
    case 'flag':
      return z.boolean().default(false).describe(filter.about)
  }
}

const eventBase = {
  id,
  session: id,
  // An impossible time is corrected by `cleanEvent`: no event is refused for its client's clock.
  at: z.number(),
  client,
  project,
  cwd,
  transcriptPath: z.string().max(MAX_PATH_CHARS).nullable(),
  promptId: id.nullable(),
  agent: z.object({ id: label, type: label }).nullable(),
}
const tool = {
  tool: z.string().min(1).max(MAX_TOOL_NAME_CHARS),
  input: z.unknown(),
  durationMs: z.number().nullable().default(null),
}
const text = z.string()

export const eventSchema: z.ZodType<MemoryEvent> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('session_start'), ...eventBase, source: text }),
  z.object({ kind: z.literal('prompt'), ...eventBase, text, private: z.boolean() }),
  z.object({ kind: z.literal('tool_use'), ...eventBase, ...tool, response: z.unknown() }),
  z.object({ kind: z.literal('tool_failure'), ...eventBase, ...tool, error: text, interrupted: z.boolean() }),
  z.object({ kind: z.literal('subagent_end'), ...eventBase, lastMessage: text }),
  z.object({ kind: z.literal('pre_compact'), ...eventBase, trigger: text }),
  z.object({
    kind: z.literal('turn_end'),
    ...eventBase,
    lastMessage: text.nullable(),
    error: text.nullable(),
    // Hooks and spooled events of earlier versions have none.
    words: z.array(text).default([]),
  }),
  z.object({ kind: z.literal('session_end'), ...eventBase, reason: text }),
])

/** Throws `bad_request` with the first complaint. */
export function parseInput<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  // Names the field, never quotes the content: it may be private.
  const field = issue?.path.join('.') || 'message'
  const expected = issue === undefined ? null : expectedValue(schema, issue.path)
  const what = expected === null ? `${field}: ${issue?.message ?? 'invalid input'}` : `${field} must be ${expected}`
  throw new MemError('bad_request', `the request is not valid: ${what}`)
}

/** "a whole number from 1 to 500", "one of a, b", for a field of the input itself; null where zod's own words are better. */
function expectedValue(schema: z.ZodType, [name, ...deeper]: readonly PropertyKey[]): string | null {
  const isField = schema instanceof z.ZodObject && typeof name === 'string' && Object.hasOwn(schema.shape, name)
  if (!isField || deeper.length > 0) return null
  const json = z.toJSONSchema(schema.shape[name], { io: 'input', unrepresentable: 'any' })
  for (const variant of [json, ...(json.anyOf ?? [])]) {
    if (typeof variant === 'boolean') continue
    if (Array.isArray(variant.enum)) return `one of ${variant.enum.join(', ')}`
    const { type, minimum, maximum } = variant
    if ((type === 'integer' || type === 'number') && maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) {
      return `a ${type === 'integer' ? 'whole ' : ''}number from ${minimum ?? 0} to ${maximum}`
    }
  }
  return null
}
