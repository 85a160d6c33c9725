import * as z from 'zod'
import { MAX_QUERY_CHARS, memoryId } from '../../api/schemas.ts'
import { PASSAGE_LABELS } from '../../domain/passage.ts'
import { plainText } from '../../domain/plain-text.ts'
import { hitSpeaker, nameSpan, passageSubject, quotedLines } from '../../domain/quotation.ts'
import { type HitPiece, SEARCH_MODES, type SearchHit } from '../../domain/search-query.ts'
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

/** Some ten passages: enough to answer most questions from. */
const DEFAULT_TOKENS = 1_000
const MIN_TOKENS = 100
const MAX_TOKENS = 8_000
/** The tokens end a list earlier. */
const DEFAULT_ROWS = 30
const MAX_ROWS = 50
const MAX_OFFSET = 10_000
/** Longer than any excerpt. */
const SNIPPET_CHARS = 640
const FILE_CHARS = 100
const SIMILAR_SHOWN = 5
const NOTES_SHOWN = 5
const NOTE_CHARS = 200

const pieceFields = {
  passage: z.string().optional().describe('The id of a passage: p12'),
  label: z.string().optional().describe('What the passage is: command, closing words, …'),
  about: z.string().optional().describe('Command, file or commit of the passage'),
  outcome: z.enum(['ok', 'failed']).optional(),
  text: z.string().optional().describe('What was said or done: a quotation with its speaker'),
}
const furtherSchema = rowSchema
  .pick({ id: true, kind: true, type: true, title: true, said_by: true })
  .extend(pieceFields)
const hitSchema = rowSchema.extend({
  ...pieceFields,
  further: z.array(furtherSchema).optional().describe('The next best of the same turn'),
  pinned: z.literal(true).optional(),
  superseded_by: z.int().optional().describe('Read that one instead'),
  amended_by: z.array(z.int()).optional().describe('They replace a statement of it'),
  similar: z.array(z.int()).optional().describe('Near-duplicates left out for this one'),
})
type SearchRow = z.input<typeof hitSchema>
type FurtherRow = z.input<typeof furtherSchema>

export const searchMemory = defineTool({
  name: 'search_memory',
  title: 'Search memory',
  description:
    'Finds what earlier sessions said, did and learned, by words and meaning: observations, summaries and passages (pieces ' +
    'of what was said, run and edited), the best of each turn together, with the text to answer from. `tokens` is the length of ' +
    'the answer: raise it to see more. Often that is the answer; else `get_observations` reads an observation (#12) ' +
    'whole, or a passage (p12) with what is around it, and `timeline` shows what happened around an observation. Use it ' +
    'before redoing work or asking about past decisions, bugs and why code is as it is. Code names, paths, error texts and ' +
    'plain questions all work. Without a query: the newest that pass the filters.',
  input: z.strictObject({
    query: z.string().max(MAX_QUERY_CHARS).default(''),
    project: projectInput,
    ...filterInputs,
    mode: z.enum(SEARCH_MODES).default('auto').describe('strict: every word must match, newest first'),
    tokens: z
      .int()
      .min(MIN_TOKENS)
      .max(MAX_TOKENS)
      .default(DEFAULT_TOKENS)
      .describe('About how long the answer may be; filled best first'),
    limit: z.int().min(1).max(MAX_ROWS).default(DEFAULT_ROWS),
    offset: z.int().min(0).max(MAX_OFFSET).default(0),
  }),
  output: z.object({
    total: z.int().describe('How many were found, at least'),
    mode: z.string(),
    results: z.array(hitSchema),
    notes: z.array(z.string()).optional(),
    next: z.string(),
  }),
  annotations: READ_ONLY,
  run: async (args, { call, here }) => {
    const { query, mode, limit, offset, tokens } = args
    const filters = searchFilters(args, here)
    const { answer } = await call('search', { query, mode, ...filters, limit, offset, tokens })
    const hits = answer.hits.slice(0, limit)
    const results = hits.map((hit) => searchRow(hit, filters.project === null))
    const data = {
      total: answer.total,
      mode: answer.mode,
      results,
      notes: limitedList(answer.notes, NOTES_SHOWN, (note) => oneLine(note, NOTE_CHARS)),
      next: searchNextStep(results, answer.total, offset, filters.project),
    }
    const shown = `${groupedNumber(results.length)} of ${groupedNumber(data.total)} found (${data.mode})`
    const head = results.length === 0 ? `Nothing found (${data.mode}).` : shown
    return { data, text: [head, ...(data.notes ?? []), ...results.map(searchRowText), data.next].join('\n') }
  },
})

/** A hit as a model reads it. `manyProjects`: several were searched, so that it names its own. */
export function searchHitText(hit: SearchHit, manyProjects: boolean): string {
  return searchRowText(searchRow(hit, manyProjects))
}

function searchRow(hit: SearchHit, manyProjects: boolean): SearchRow {
  const row = indexRow(hit, { project: manyProjects, session: false })
  const [file] = hit.files
  const ownFile = file === undefined ? undefined : nameSpan(file, FILE_CHARS)
  return {
    ...row,
    ...pieceOf(hit, hit),
    about: hit.passage === null ? ownFile : passageSubject(hit.passage),
    pinned: hit.pinned ? true : undefined,
    superseded_by: hit.supersededBy ?? undefined,
    amended_by: unlessEmpty(hit.amendedBy.slice(0, SIMILAR_SHOWN)),
    similar: unlessEmpty(hit.similar.slice(0, SIMILAR_SHOWN)),
    further: unlessEmpty(hit.further.map((piece) => furtherRow(piece, hit))),
  }
}

function furtherRow(piece: HitPiece, hit: SearchHit): FurtherRow {
  const { id, kind, type, title, said_by } = indexRow({ ...hit, ...piece }, { project: false, session: false })
  return { id, kind, type, title, said_by, ...pieceOf(piece, hit) }
}

function pieceOf(piece: HitPiece, { session, author }: SearchHit): z.input<z.ZodObject<typeof pieceFields>> {
  const { passage, snippet, title } = piece
  const text = quotedLines(hitSpeaker({ ...piece, session, author }), snippet, SNIPPET_CHARS)
  return {
    passage: passage === null ? undefined : `p${passage.id}`,
    label: passage === null ? undefined : PASSAGE_LABELS[passage.kind],
    about: passage === null ? undefined : passageSubject(passage),
    outcome: passage?.outcome ?? undefined,
    text: text === '' || (passage === null && contains(title, snippet)) ? undefined : text,
  }
}

/** Whether one text says the other, with or without its speaker and its marks. */
function contains(text: string, part: string): boolean {
  return foldText(text).includes(foldText(part))
}

const SPEAKER = /^(?:member “[^”\n]*”|[a-z ]{1,20}):\s/
const foldText = (text: string): string => plainText(text.replace(SPEAKER, '').replace(/[…“”"'>]/g, '')).toLowerCase()

/**
 * `#12 2026-11-16 14:30 bugfix Fix JWT expiry (superseded by #15)`, the text below it, and the further pieces, each with its
 * id.
 */
function searchRowText(hit: SearchRow): string {
  const remarks = [
    hit.kind === 'passage' ? '' : (hit.about ?? ''),
    hit.pinned === true ? 'pinned' : '',
    hit.superseded_by === undefined ? '' : `superseded by #${hit.superseded_by}`,
    hit.amended_by === undefined ? '' : `amended by ${idList(hit.amended_by)}`,
    hit.similar === undefined ? '' : `like ${idList(hit.similar)}`,
  ]
  const remarkText = joinParts(remarks, '; ')
  const head = joinParts([rowHead(hit), remarkText === '' ? '' : `(${remarkText})`], ' ')
  const further = (hit.further ?? []).map((piece) => joinParts([pieceHead(piece, ''), piece.text ?? ''], ' '))
  return joinParts([head, hit.text ?? '', ...further], '\n')
}

function rowHead(hit: SearchRow): string {
  const project = hit.project === undefined ? '' : `[${hit.project}]`
  const session = hit.kind === undefined || hit.kind === 'passage' ? '' : `of session ${hit.session}`
  return pieceHead(hit, hit.at, joinParts([session, project], ' '))
}

/** The label of a passage and what it is about say more than a title made of them. */
function pieceHead(piece: FurtherRow, when: string, where = ''): string {
  const { kind, passage, label, about, outcome, text, title } = piece
  const isTold = text !== undefined && contains(text, title)
  const failed = outcome === 'failed' ? 'failed' : ''
  if (kind === 'passage') return joinParts([passage ?? '', when, label ?? '', about ?? '', failed, where], ' ')
  const id = kind === undefined ? `#${piece.id}` : ''
  return joinParts([id, when, kind ?? piece.type ?? 'observation', where, isTold ? '' : title], ' ')
}

function searchNextStep(results: readonly IndexRow[], total: number, offset: number, asked: string | null): string {
  const [first] = results
  if (first === undefined) {
    const wider = asked === null ? '' : `; if the user wants other projects searched, too, project "${ALL_PROJECTS}"`
    return offset > 0 ? 'There is no more: use a smaller offset.' : `Try other words, fewer filters${wider}.`
  }
  const seen = offset + results.length
  const more = total > seen ? ` More: offset ${seen}.` : ''
  if (results.every(({ kind }) => kind === 'summary' || kind === 'prompt'))
    return `get_session_summary(session) returns the summaries of its turns.${more}`
  return `get_observations(ids) reads #ids whole, and p-ids with what is around them.${more}`
}

const DEFAULT_AROUND = 5
const MAX_AROUND = 25

export const timeline = defineTool({
  name: 'timeline',
  title: 'What happened around a memory',
  description:
    'The observations, summaries and prompts before and after an observation, oldest first, as rows. Give the id ' +
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
            ? 'Nothing is remembered here yet; if the user wants other projects searched: search_memory with project "all".'
            : 'The query found nothing: try other words with search_memory.',
    }
    const lines = rows.map((row) => {
      const isAnchor = row.id !== undefined && row.id === found.anchor
      return `${isAnchor ? '→ ' : ''}${indexRowText(row)}`
    })
    return {
      data,
      text: [...lines, `${rows.length === 0 ? '' : `All whole: ${tokenCost(data.tokens)}. `}${data.next}`].join('\n'),
    }
  },
})
