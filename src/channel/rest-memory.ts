/** The memory as plain HTTP. */
import { MemError } from '../errors.ts'
import { OBSERVATION_TYPES } from '../memory/observation.ts'
import { MEMORY_KINDS, SEARCH_MODES, type SearchRequest } from '../search/query.ts'
import { REINDEX_PARTS } from './memory.ts'
import { MAX_AROUND, MAX_HITS, MAX_OFFSET, MAX_SUMMARIES } from './memory-limits.ts'
import {
  type Call,
  choicesOf,
  limitOf,
  momentIn,
  onlyKnown,
  type Route,
  textOf,
  wholeNumberOf,
  wordsOf,
} from './rest-route.ts'
import { parseNote, parseSearch, parseTimeline } from './schema.ts'

const DEFAULT_HITS = 20
const DEFAULT_AROUND = 10
const DEFAULT_SUMMARIES = 10

const OBSERVATION = /^\/api\/observations\/(\d{1,15})$/
const PIN = /^\/api\/observations\/(\d{1,15})\/pin$/
const SUPERSEDES = /^\/api\/observations\/(\d{1,15})\/supersedes\/(\d{1,15})$/

export const memoryRoutes: Route[] = [
  { method: 'GET', path: /^\/api\/search$/, handle: ({ service, query }) => service.memory.search(searchOf(query)) },
  {
    method: 'GET',
    path: /^\/api\/timeline$/,
    handle: ({ service, query }) => service.memory.timeline(timelineOf(query)),
  },
  { method: 'GET', path: /^\/api\/summaries$/, handle: summaries },
  {
    method: 'GET',
    path: /^\/api\/stats$/,
    handle: ({ service, query }) => service.memory.stats(textOf(query, 'project')),
  },
  { method: 'POST', path: /^\/api\/observations$/, handle: remember },
  { method: 'GET', path: OBSERVATION, handle: observation },
  { method: 'DELETE', path: OBSERVATION, handle: forget },
  { method: 'PUT', path: PIN, handle: (call) => pin(call, true) },
  { method: 'DELETE', path: PIN, handle: (call) => pin(call, false) },
  { method: 'PUT', path: SUPERSEDES, handle: (call) => supersede(call, true) },
  { method: 'DELETE', path: SUPERSEDES, handle: (call) => supersede(call, false) },
  { method: 'POST', path: /^\/api\/reindex$/, handle: reindex },
]

const SEARCH_NAMES = [
  'q',
  'mode',
  'project',
  'kind',
  'type',
  'concept',
  'file',
  'since',
  'until',
  'session',
  'agent',
  'pinned',
  'limit',
  'offset',
]

function searchOf(query: URLSearchParams): SearchRequest {
  onlyKnown(query, SEARCH_NAMES)
  const kinds = choicesOf(query, 'kind', [...MEMORY_KINDS, 'all'])
  return parseSearch({
    query: query.get('q') ?? '',
    mode: choicesOf(query, 'mode', SEARCH_MODES)[0] ?? 'auto',
    filters: {
      project: textOf(query, 'project'),
      kinds: kinds.includes('all') ? MEMORY_KINDS : kinds.length === 0 ? ['observation'] : kinds,
      types: choicesOf(query, 'type', OBSERVATION_TYPES),
      concepts: wordsOf(query, 'concept'),
      // A path may have a comma.
      files: query.getAll('file').filter(Boolean),
      since: momentIn(query, 'since', 'start'),
      until: momentIn(query, 'until', 'end'),
      session: textOf(query, 'session'),
      agent: textOf(query, 'agent'),
      pinned: query.get('pinned') === '1',
    },
    limit: limitOf(query, DEFAULT_HITS, MAX_HITS),
    offset: wholeNumberOf(query, 'offset', 0, MAX_OFFSET, 0),
  })
}

function timelineOf(query: URLSearchParams) {
  onlyKnown(query, ['anchor', 'query', 'project', 'before', 'after'])
  return parseTimeline({
    anchor: query.has('anchor') ? wholeNumberOf(query, 'anchor', 0, Number.MAX_SAFE_INTEGER) : null,
    query: textOf(query, 'query'),
    project: textOf(query, 'project'),
    before: wholeNumberOf(query, 'before', DEFAULT_AROUND, MAX_AROUND, 0),
    after: wholeNumberOf(query, 'after', DEFAULT_AROUND, MAX_AROUND, 0),
  })
}

async function summaries({ service, query }: Call): Promise<unknown> {
  onlyKnown(query, ['session', 'project', 'limit'])
  return await service.memory.summaries({
    session: textOf(query, 'session'),
    project: textOf(query, 'project'),
    limit: limitOf(query, DEFAULT_SUMMARIES, MAX_SUMMARIES),
  })
}

async function observation({ service, params }: Call): Promise<unknown> {
  const { observations } = await service.memory.observations([Number(params[0])])
  if (observations[0] === undefined) throw noObservation(params[0])
  return observations[0]
}

/** The project has to be given: whoever calls stands in none. */
async function remember({ service, body }: Call): Promise<unknown> {
  const { project, ...note } = parseNote(await body())
  return await service.memory.remember({ ...note, project: await service.memory.project(project), cwd: '' })
}

async function forget({ service, params, query }: Call): Promise<unknown> {
  if (query.get('confirm') !== '1')
    throw new MemError('bad_request', 'what is forgotten does not come back: add ?confirm=1 if you mean it')
  const report = await service.memory.forget({ ids: [Number(params[0])], filters: null, confirm: true })
  if (report.observations === 0) throw noObservation(params[0])
  return report
}

async function pin({ service, params }: Call, on: boolean): Promise<unknown> {
  const { changed, missing } = await service.memory.pin([Number(params[0])], on)
  if (missing.length > 0) throw noObservation(params[0])
  return { pinned: on, changed: changed > 0 }
}

async function supersede({ service, params }: Call, on: boolean): Promise<unknown> {
  const [from, to] = params.map(Number)
  await service.memory.link(from ?? 0, to ?? 0, 'supersedes', on)
  return { supersedes: on }
}

async function reindex({ service, query }: Call): Promise<unknown> {
  return { indexing: await service.memory.reindex(choicesOf(query, 'what', REINDEX_PARTS)[0] ?? 'all') }
}

function noObservation(id: string | undefined): MemError {
  return new MemError('not_found', `there is no observation ${id}`)
}
