import * as z from 'zod'
import { MAX_QUERY_CHARS, memoryId } from '../../api/schemas.ts'
import { quoted, quotedName } from '../../domain/reported-speech.ts'
import { SEARCH_MODES, type SearchHit } from '../../domain/search-query.ts'
import { MemError } from '../../lib/errors.ts'
import { ALL_PROJECTS, filterInputs, projectInput, resolveProjectInput, searchFilters } from '../inputs.ts'
import {
  groupedNumber,
  type IndexRow,
  idList,
  indexRow,
  indexRowText,
  joinParts,
  limitedList,
  oneLine,
  rowSchema,
  sum,
  tokenCost,
  unlessEmpty,
} from '../text.ts'
import { defineTool, READ_ONLY } from '../tool.ts'

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
type SearchRow = z.input<typeof hitSchema>

export const searchMemory = defineTool({
  name: 'search_memory',
  title: 'Search memory',
  description:
    'Step 1, cheap: finds memories of earlier sessions by words and meaning. Answers with an index: a row of some 60 ' +
    'tokens each, with what reading it whole costs. Choose rows by title and date; `timeline` shows what happened around ' +
    'one, `get_observations` reads the few you need. Use it before redoing work or asking about past decisions, bugs ' +
    'and why code is as it is. Code names, paths, error texts and plain questions all work. Without a query: the ' +
    'newest that pass the filters.',
  input: z.strictObject({
    query: z.string().max(MAX_QUERY_CHARS).default(''),
    project: projectInput,
    ...filterInputs,
    mode: z.enum(SEARCH_MODES).default('auto').describe('strict: every word must match, newest first'),
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
  annotations: READ_ONLY,
  run: async (args, { call, here }) => {
    const { query, mode, limit, offset } = args
    const filters = searchFilters(args, here)
    const { answer } = await call('search', { query, mode, ...filters, limit, offset })
    const hits = answer.hits.slice(0, limit)
    const results = hits.map((hit) => searchRow(hit, filters.project === null))
    const data = {
      total: answer.total,
      mode: answer.mode,
      results,
      tokens: sum(hits.map(({ tokens }) => tokens)),
      notes: limitedList(answer.notes, NOTES_SHOWN, NOTE_CHARS),
      next: searchNextStep(results, answer.total, offset, filters.project),
    }
    const shown = `${groupedNumber(results.length)} of ${groupedNumber(data.total)} found (${data.mode})`
    const head =
      results.length === 0 ? `Nothing found (${data.mode}).` : `${shown}; all of these whole: ${tokenCost(data.tokens)}`
    return { data, text: [head, ...(data.notes ?? []), ...results.map(searchRowText), data.next].join('\n') }
  },
})

/** A hit as a model reads it. `manyProjects`: several were searched, so that it names its own. */
export function searchHitText(hit: SearchHit, manyProjects: boolean): string {
  return searchRowText(searchRow(hit, manyProjects))
}

function searchRow(hit: SearchHit, manyProjects: boolean): SearchRow {
  const row = indexRow(hit, { project: manyProjects, session: false })
  const snippet = oneLine(hit.snippet, SNIPPET_CHARS)
  return {
    ...row,
    // An excerpt, perhaps of somebody else's words: always a quotation.
    snippet: snippet === '' || isInTitle(snippet, row.title) ? undefined : quoted(snippet),
    files: unlessEmpty(hit.files.slice(0, FILES_SHOWN).map((file) => quotedName(oneLine(file, FILE_CHARS)))),
    pinned: hit.pinned ? true : undefined,
    superseded_by: hit.supersededBy ?? undefined,
    similar: unlessEmpty(hit.similar.slice(0, SIMILAR_SHOWN)),
    filler: hit.completes ? true : undefined,
  }
}

function isInTitle(snippet: string, title: string): boolean {
  const said = (text: string) => text.replace(/…/g, '').trim().toLowerCase()
  return said(title).includes(said(snippet))
}

function searchRowText(hit: SearchRow): string {
  const remarks = [
    hit.pinned === true ? 'pinned' : '',
    hit.superseded_by === undefined ? '' : `superseded by #${hit.superseded_by}`,
    hit.similar === undefined ? '' : `like ${idList(hit.similar)}`,
    hit.filler === true ? 'only passes the filters' : '',
    ...(hit.files ?? []),
  ]
  const remarkText = joinParts(remarks, '; ')
  return joinParts([indexRowText(hit), hit.snippet ?? '', remarkText === '' ? '' : `(${remarkText})`], ' | ')
}

function searchNextStep(results: readonly IndexRow[], total: number, offset: number, asked: string | null): string {
  const [first] = results
  if (first === undefined) {
    const wider = asked === null ? '' : `, or project "${ALL_PROJECTS}"`
    return offset > 0 ? 'There is no more: use a smaller offset.' : `Try other words, fewer filters${wider}.`
  }
  const seen = offset + results.length
  const more = total > seen ? ` More: offset ${seen}.` : ''
  if (results.every(({ id }) => id === undefined))
    return `get_session_summary(session) returns the summaries of its turns.${more}`
  return `timeline(anchor: id) for what happened around one, get_observations(ids) for those you need.${more}`
}

const DEFAULT_AROUND = 5
const MAX_AROUND = 25

export const timeline = defineTool({
  name: 'timeline',
  title: 'What happened around a memory',
  description:
    'Step 2, cheap: the observations, summaries and prompts before and after one, oldest first, as rows. Give the id ' +
    'of an observation as anchor, or a query whose best hit is it; with neither, the newest of the project. Shows what ' +
    'led to a change and what came of it. Then read only the ids you need with `get_observations`.',
  input: z.strictObject({
    anchor: memoryId.optional().describe("An observation's id"),
    query: z.string().trim().min(1).max(MAX_QUERY_CHARS).optional().describe('Instead of an anchor'),
    project: projectInput,
    before: z.int().min(0).max(MAX_AROUND).default(DEFAULT_AROUND),
    after: z.int().min(0).max(MAX_AROUND).default(DEFAULT_AROUND),
  }),
  output: z.object({
    anchor: z.int().optional(),
    items: z.array(rowSchema),
    tokens: z.int().describe('What reading all of these whole would cost'),
    next: z.string(),
  }),
  annotations: READ_ONLY,
  run: async (args, { call, here }) => {
    const { anchor = null, query = null, before, after } = args
    if (anchor !== null && query !== null) {
      throw new MemError('bad_request', 'give an anchor or a query, not both: an anchor is an id from search_memory')
    }
    // An id says its project itself.
    const asked = anchor !== null && args.project === undefined ? null : resolveProjectInput(args.project, here)
    const found = await call('timeline', { anchor, query, project: asked, before, after })
    const items = found.items.slice(0, MAX_AROUND * 2 + 1)
    const several = (values: readonly string[]) => new Set(values).size > 1
    const named = {
      project: several([here.project.key, ...items.map((item) => item.project)]),
      session: several(items.map((item) => item.session)),
    }
    const rows = items.map((item) => indexRow(item, named))
    const data = {
      anchor: found.anchor ?? undefined,
      items: rows,
      tokens: sum(items.map(({ tokens }) => tokens)),
      next:
        rows.length > 0
          ? 'get_observations(ids) reads those you need.'
          : query === null
            ? 'Nothing is remembered here yet; another project may have it: search_memory with project "all".'
            : 'The query found nothing: try other words with search_memory.',
    }
    const lines = rows.map((row) => {
      const isAnchor = row.id !== undefined && row.id === found.anchor
      return `${isAnchor ? '> ' : ''}${indexRowText(row)}`
    })
    return {
      data,
      text: [...lines, `${rows.length === 0 ? '' : `All whole: ${tokenCost(data.tokens)}. `}${data.next}`].join('\n'),
    }
  },
})
