/** What several tools take, and how much of it. */
import { z } from 'zod'
import { DATE_FORMS, momentOf } from '../channel/dates.ts'
import { MemError } from '../errors.ts'
import { OBSERVATION_TYPES } from '../memory/observation.ts'
import { type MemoryKind, NO_FILTERS, type SearchFilters } from '../search/query.ts'
import { type Place, projectAsked } from './place.ts'

const MAX_NAME_CHARS = 4_096
/** Of one filter: more is no question any more. */
const MAX_VALUES = 20
const MAX_WORD_CHARS = 200
const MAX_PATH_CHARS = 1_024
const MAX_DATE_CHARS = 40

export const memoryId = z.int().positive()
const word = z.string().trim().min(1).max(MAX_WORD_CHARS)
const path = z.string().trim().min(1).max(MAX_PATH_CHARS)
const date = z.string().max(MAX_DATE_CHARS)

export const project = z
  .string()
  .max(MAX_NAME_CHARS)
  .optional()
  .describe('Name, key or path; "all" for every project. Default: this one')

export const session = word.optional().describe('Its id, or the first characters of it')

export const concepts = z.array(word).max(MAX_VALUES)
export const files = z.array(path).max(MAX_VALUES)
export const observationType = z.enum(OBSERVATION_TYPES)

/** Of observations. Each of them narrows; within a list any will do. */
export const filterFields = {
  types: z.array(observationType).max(OBSERVATION_TYPES.length).optional(),
  concepts: concepts.optional(),
  files: files.optional().describe('Parts of paths'),
  since: date.optional().describe('Like 2026-11-16, 2026-11-16T14:30, 7d, today'),
  until: date.optional(),
  session,
}

const filterSchema = z.object({ project, ...filterFields })

export function filtersOf(
  given: z.output<typeof filterSchema>,
  kinds: readonly MemoryKind[],
  here: Place,
): SearchFilters {
  return {
    ...NO_FILTERS,
    project: projectAsked(given.project, here),
    kinds,
    types: given.types ?? [],
    concepts: given.concepts ?? [],
    files: given.files ?? [],
    session: given.session ?? null,
    since: moment('since', given.since, 'start'),
    until: moment('until', given.until, 'end'),
  }
}

function moment(name: string, given: string | undefined, edge: 'start' | 'end'): number | null {
  if (given === undefined) return null
  const at = momentOf(given, edge, Date.now())
  if (at === null) throw new MemError('bad_request', `${name} has to be ${DATE_FORMS}`)
  return at
}
