import { z } from 'zod'
import { MAX_QUERY_CHARS } from '../../channel/memory-limits.ts'
import { MEMORY_KINDS, SEARCH_MODES, type SearchHit } from '../../search/query.ts'
import { filterFields, filtersOf, project } from '../inputs.ts'
import { ALL_PROJECTS } from '../place.ts'
import { type Row, rowOf, rowSchema, rowText } from '../rows.ts'
import { cost, count, few, sum, unlessEmpty, words } from '../text.ts'
import { READS, tool } from '../tool.ts'

/** About 600 tokens: enough to choose from. */
const DEFAULT_ROWS = 10
const MAX_ROWS = 50
const MAX_OFFSET = 10_000
const SNIPPET_CHARS = 160
/** A path says where it was; more of them do not help to choose. */
const FILES_SHOWN = 2
const FILE_CHARS = 100
const SIMILAR_SHOWN = 5
const NOTES_SHOWN = 5
const NOTE_CHARS = 200

const hitSchema = rowSchema.extend({
  snippet: z.string().optional(),
  files: z.array(z.string()).optional(),
  pinned: z.literal(true).optional(),
  superseded_by: z.int().optional().describe('Read that one instead'),
  similar: z.array(z.int()).optional().describe('Near-duplicates left out for this one'),
  filler: z.literal(true).optional().describe('It only passes the filters'),
})
type Hit = z.input<typeof hitSchema>

export const searchMemory = tool({
  name: 'search_memory',
  title: 'Search memory',
  description:
    'Step 1, cheap: finds memories of earlier sessions by words and meaning. Answers with an index: a row of some 60 ' +
    'tokens each, with what reading it whole costs. Choose rows by title and date; `timeline` shows what stood around ' +
    'one, `get_observations` reads the few you need. Use it before redoing work or asking about past decisions, bugs ' +
    'and why code is as it is. Code names, paths, error texts and plain questions all work. Without a query: the ' +
    'newest that pass the filters.',
  input: z.strictObject({
    query: z.string().max(MAX_QUERY_CHARS).default(''),
    project,
    ...filterFields,
    kinds: z
      .array(z.enum(MEMORY_KINDS))
      .min(1)
      .max(MEMORY_KINDS.length)
      .optional()
      .describe('Default: observations only'),
    pinned: z.boolean().optional().describe('Only what the user pinned'),
    mode: z.enum(SEARCH_MODES).default('auto').describe('strict: every word must stand there, newest first'),
    limit: z.int().min(1).max(MAX_ROWS).default(DEFAULT_ROWS),
    offset: z.int().min(0).max(MAX_OFFSET).default(0),
  }),
  output: z.object({
    total: z.int().describe('How many were found, at least'),
    mode: z.string(),
    results: z.array(hitSchema),
    tokens: z.int().describe('What reading all of these whole would cost'),
    notes: z.array(z.string()).optional(),
    next: z.string(),
  }),
  annotations: READS,
  run: async (args, { memory, here }) => {
    const { query, mode, limit, offset } = args
    const filters = {
      ...filtersOf(args, args.kinds ?? ['observation'], here),
      pinned: args.pinned ?? false,
    }
    const answer = await memory.search({ query, mode, filters, limit, offset })
    const hits = answer.hits.slice(0, limit)
    const results = hits.map((hit) => hitOf(hit, filters.project === null))
    const data = {
      total: answer.total,
      mode: answer.mode,
      results,
      tokens: sum(hits.map(({ tokens }) => tokens)),
      notes: few(answer.notes, NOTES_SHOWN, NOTE_CHARS),
      next: nextStep(results, answer.total, offset, filters.project),
    }
    const shown = `${count(results.length)} of ${count(data.total)} found (${data.mode})`
    const head =
      results.length === 0 ? `Nothing found (${data.mode}).` : `${shown}; all of these whole: ${cost(data.tokens)}`
    return { data, text: [head, ...(data.notes ?? []), ...results.map(hitText), data.next].join('\n') }
  },
})

function hitOf(hit: SearchHit, manyProjects: boolean): Hit {
  const row = rowOf(hit, { project: manyProjects, session: false })
  const snippet = words(hit.snippet, SNIPPET_CHARS)
  return {
    ...row,
    snippet: snippet === '' || saysNothingNew(snippet, row.title) ? undefined : snippet,
    files: unlessEmpty(hit.files.slice(0, FILES_SHOWN).map((file) => words(file, FILE_CHARS))),
    pinned: hit.pinned ? true : undefined,
    superseded_by: hit.supersededBy ?? undefined,
    similar: unlessEmpty(hit.similar.slice(0, SIMILAR_SHOWN)),
    filler: hit.completes ? true : undefined,
  }
}

function saysNothingNew(snippet: string, title: string): boolean {
  const said = (text: string) => text.replace(/…/g, '').trim().toLowerCase()
  return said(title).includes(said(snippet))
}

function hitText(hit: Hit): string {
  const remarks = [
    hit.pinned === true ? 'pinned' : '',
    hit.superseded_by === undefined ? '' : `superseded by #${hit.superseded_by}`,
    hit.similar === undefined ? '' : `like #${hit.similar.join(', #')}`,
    hit.filler === true ? 'only passes the filters' : '',
    ...(hit.files ?? []),
  ].filter((remark) => remark !== '')
  const more = [hit.snippet ?? '', remarks.length === 0 ? '' : `(${remarks.join('; ')})`].filter((part) => part !== '')
  return [rowText(hit), ...more].join(' | ')
}

function nextStep(results: readonly Row[], total: number, offset: number, asked: string | null): string {
  const [first] = results
  if (first === undefined) {
    const wider = asked === null ? '' : `, or project "${ALL_PROJECTS}"`
    return offset > 0 ? 'There is no more: use a smaller offset.' : `Try other words, fewer filters${wider}.`
  }
  const seen = offset + results.length
  const more = total > seen ? ` More: offset ${seen}.` : ''
  if (results.every(({ id }) => id === undefined))
    return `get_session_summary(session) tells what its turns came to.${more}`
  return `timeline(anchor: id) for what stood around one, get_observations(ids) for those you need.${more}`
}
