/** Operations on memories: search, read, write, correct, forget. */
import * as z from 'zod'
import { REINDEX_PARTS } from '../../daemon/memory-changes.ts'
import { withoutOwnAuthor } from '../../domain/authorship.ts'
import { hitsWithinTokens } from '../../domain/hit-budget.ts'
import { observationNotFound } from '../../domain/observation.ts'
import { findProject } from '../../domain/project.ts'
import {
  areFiltersNarrow,
  MEMORY_KINDS,
  NO_FILTERS,
  OBSERVATIONS_ONLY,
  SEARCH_MODES,
  type SearchFilters,
  type SearchHit,
} from '../../domain/search-query.ts'
import { MemError } from '../../lib/errors.ts'
import { type FoundMemory, type FoundPassage, type LinkedObservation, searchRowId } from '../../store/search-port.ts'
import type { ReadContext, SearchReader } from '../context.ts'
import { AGENTS_TOO, type Caller, daemonOperation, LOCAL_ONLY, readOperation } from '../operation.ts'
import { resolveFilters, resolveProjectKey, resolveSession } from '../resolve.ts'
import {
  client as clientName,
  cwd,
  filterFields,
  id,
  MAX_AROUND,
  MAX_HITS,
  MAX_IDS,
  MAX_OFFSET,
  MAX_SHOWN,
  MAX_SUMMARIES,
  MAX_TITLE_CHARS,
  MAX_VALUES,
  memoryId,
  project,
  projectName,
  projectOrAll,
  query,
  rememberFields,
  sessionOrAll,
} from '../schemas.ts'
import { isInScope, limitNotes, limitToScope } from '../scope.ts'

/** More than any client accepts as one answer. */
const MAX_ANSWER_TOKENS = 100_000
/** Passages that are listed as evidence of all observations of one answer. */
const MAX_EVIDENCE = 200
const MAX_PASSAGES_AROUND = 20
/** A fact is a sentence. */
const MAX_FACT_CHARS = 2_000
/** Projects in the statistics; the rest is only in the sums. */
const MAX_LISTED_PROJECTS = 200
const around = z.int().min(0).max(MAX_AROUND).default(10)
const timelineInput = z.object({
  anchor: memoryId.nullable().default(null).describe('Id of an observation'),
  query: query.nullable().default(null).describe('Instead of an anchor'),
  project: projectOrAll,
  before: around.describe('Rows before the anchor'),
  after: around.describe('Rows after the anchor'),
})
const observationPath = '/api/observations/:id'

export const memoryOperations = {
  search: readOperation({
    about: 'Finds memories by words and by meaning. Without a query: the newest that pass the filters.',
    doors: AGENTS_TOO,
    input: z.object({
      query: query.default('').describe('Words, a question, a file name or an error text'),
      mode: z.enum(SEARCH_MODES).default('auto').describe('strict: every word must match, newest first'),
      ...filterFields,
      limit: z.int().min(1).max(MAX_HITS).default(20),
      offset: z.int().min(0).max(MAX_OFFSET).default(0),
      tokens: z
        .int()
        .min(1)
        .max(MAX_ANSWER_TOKENS)
        .nullable()
        .default(null)
        .describe('About how many tokens all hits may have; the last one is cut. null: as many as limit says'),
    }),
    nested: ['request', 'filters'],
    answerType: 'found',
    answerDescription: '`answer`: `mode`, `notes`, `hits`, `total`, `tookMs`, `embedder`',
    handle: async (context, { query, mode, limit, offset, tokens, ...filters }, caller) => {
      const request = { query, mode, limit, offset, filters: await scopedFilters(context, filters, caller) }
      const answer = await (await context.search()).search(request)
      const hits = answer.hits.map((hit) => withoutOwnAuthor(hit, context.me()))
      const notes = [...answer.notes, ...limitNotes(filters.project, caller)]
      return { answer: { ...answer, notes, hits: tokens === null ? hits : hitsWithinTokens(hits, tokens) } }
    },
    rest: [{ method: 'GET', path: '/api/search', params: { q: 'query' }, pick: 'answer' }],
  }),

  observations: readOperation({
    about: 'Reads whole observations by id.',
    doors: AGENTS_TOO,
    input: z.object({ ids: z.array(memoryId).min(1).max(MAX_SHOWN) }),
    answerDescription: '`observations` in the order of the ids, `passages` (their evidence), `missing`',
    handle: async ({ search, me }, input, caller) => {
      const ids = [...new Set(input.ids)]
      const reader = await search()
      const stored = await reader.observations(ids)
      const observations = stored
        .filter(({ project }) => isInScope(project, caller))
        .map((one) => withoutOwnAuthor(one, me()))
      const found = new Set(observations.map(({ id }) => id))
      const passages = (await reader.evidence([...found], MAX_EVIDENCE)).map((one) => withoutOwnAuthor(one, me()))
      return { observations, passages, missing: ids.filter((id) => !found.has(id)) }
    },
  }),

  passages: readOperation({
    about: 'Reads passages by id, each with those before and after it in its turn.',
    doors: AGENTS_TOO,
    input: z.object({
      ids: z.array(memoryId).min(1).max(MAX_SHOWN),
      around: z.int().min(0).max(MAX_PASSAGES_AROUND).default(2).describe('Passages before and after each'),
    }),
    answerDescription: '`passages`: for each id `id` and `around`, the passages in the order of the session; `missing`',
    handle: async ({ search, me }, { ids, around }, caller) => {
      const reader = await search()
      const passages: { id: number; around: FoundPassage[] }[] = []
      for (const id of new Set(ids)) {
        const found = (await reader.passagesAround(id, around))
          .filter(({ project }) => isInScope(project, caller))
          .map((one) => withoutOwnAuthor(one, me()))
        if (found.some((one) => one.id === id)) passages.push({ id, around: found })
      }
      const found = new Set(passages.map(({ id }) => id))
      return { passages, missing: [...new Set(ids)].filter((id) => !found.has(id)) }
    },
    rest: [{ method: 'GET', path: '/api/passages/:ids', pick: 'passages' }],
  }),

  observation: readOperation({
    about: 'Reads one whole observation.',
    input: z.object({ id: memoryId }),
    answerDescription: '`observation`',
    handle: async (context, { id }) => ({ observation: await readObservation(context, id) }),
    rest: [{ method: 'GET', path: observationPath, pick: 'observation' }],
  }),

  timeline: readOperation({
    about: 'Lists what happened around an observation or around the best hit of a query; with neither, the newest.',
    doors: AGENTS_TOO,
    input: timelineInput,
    answerDescription: '`anchor`, `items` oldest first',
    handle: async ({ reader, search, me }, { project: given, ...request }, caller) => {
      const project = limitToScope(await resolveProjectKey(reader, given), caller)
      const { anchor, items } = await loadTimeline(await search(), { ...request, project }, caller)
      return { anchor, items: items.map((item) => withoutOwnAuthor(item, me())) }
    },
    rest: [{ method: 'GET', path: '/api/timeline' }],
  }),

  summaries: readOperation({
    about: 'Lists summaries of turns, newest first.',
    doors: AGENTS_TOO,
    input: z.object({
      session: sessionOrAll,
      project: projectOrAll,
      limit: z.int().min(1).max(MAX_SUMMARIES).default(10),
    }),
    answerDescription: '`summaries`',
    handle: async ({ reader, me }, { session, project: given, limit }, caller) => {
      const project = limitToScope(await resolveProjectKey(reader, given), caller)
      const summaries = await reader.summaries({
        limit,
        ...(session === null ? {} : { session: await resolveSession(reader, session) }),
        ...(project === null ? {} : { project }),
      })
      return { summaries: summaries.map((one) => withoutOwnAuthor(one, me())) }
    },
    rest: [{ method: 'GET', path: '/api/summaries', pick: 'summaries' }],
  }),

  memory_stats: readOperation({
    about: 'Counts memories by type and month, and says how far the indexes are.',
    input: z.object({ project: projectOrAll }),
    answerDescription: '`stats`',
    handle: async (context, { project }) => ({
      stats: await memoryStats(context, await resolveProjectKey(context.reader, project)),
    }),
    rest: [{ method: 'GET', path: '/api/stats', pick: 'stats' }],
  }),

  origin: readOperation({
    about: 'Says where an observation comes from: its session, prompt, events and the call that made it.',
    input: z.object({ observation: memoryId }),
    answerDescription: '`observation`, `origin`',
    handle: async (context, { observation: id }) => {
      const observation = await readObservation(context, id)
      const origin = await context.reader.provenance(id)
      if (origin === null) throw observationNotFound(id)
      return { observation, origin }
    },
    rest: [{ method: 'GET', path: '/api/observations/:observation/origin' }],
  }),

  remember: daemonOperation({
    about:
      'Writes a memory by hand. Without a title, the first words of the text become the title. It is marked as the ' +
      "agent's, with its session, unless `by` says that it is the user's.",
    doors: AGENTS_TOO,
    input: z.object({
      project: z.union([project, projectName]).describe('Key and name, or a known key or name'),
      cwd: cwd.default(''),
      ...rememberFields,
      by: z.enum(['person', 'agent']).default('agent').describe('Who says it: the user, or an agent'),
      client: clientName.default('api').describe('The program that writes it'),
      session: id.nullable().default(null).describe('Session of the agent; null: the newest open one of the project'),
    }),
    answerType: 'remembered',
    answerDescription: '`observation`: the new id',
    handle: async ({ store, memory }, { project: given, ...note }, caller) => {
      const project = typeof given === 'string' ? await findProject(store, given) : given
      limitToScope(project.key, caller)
      return { observation: await memory.remember({ ...note, project }) }
    },
    rest: [{ method: 'POST', path: '/api/observations', respond: ({ observation }) => ({ id: observation }) }],
  }),

  correct: daemonOperation({
    about:
      'Replaces an observation by a corrected one, which supersedes it. Fields that are not given stay as they were.',
    input: z.object({
      observation: memoryId,
      kind: rememberFields.kind.unwrap().exactOptional(),
      title: z.string().max(MAX_TITLE_CHARS).exactOptional(),
      text: rememberFields.text.exactOptional(),
      facts: z.array(z.string().max(MAX_FACT_CHARS)).max(MAX_VALUES).exactOptional(),
      concepts: rememberFields.concepts.unwrap().exactOptional(),
    }),
    answerType: 'remembered',
    answerDescription: '`observation`: the new id',
    handle: async ({ memory }, input) => ({ observation: await memory.correct(input) }),
  }),

  forget: daemonOperation({
    about: 'Erases memories by ids or by filters. Without `confirm` nothing is erased; the report says what would be.',
    doors: AGENTS_TOO,
    input: z.object({
      ids: z.array(memoryId).max(MAX_IDS).default([]),
      ...filterFields,
      // What else is lost is chosen, not a default.
      kinds: filterFields.kinds.unwrap().default(OBSERVATIONS_ONLY.kinds).describe('observation unless given'),
      related: z
        .boolean()
        .default(false)
        .describe(
          'Also prompts and summaries of the same turns, and observations that are linked as repeated or superseded',
        ),
      confirm: z.boolean().default(false),
    }),
    nested: ['filters'],
    answerType: 'forgotten',
    answerDescription:
      '`report`: counts, `ids`, `missing`, `related` (what stays although it may say the same), `copies` (files that may still contain it)',
    handle: async ({ forgetting, ...context }, { ids, confirm, related, ...filters }, caller) => {
      const isNarrow = areFiltersNarrow(filters)
      if (ids.length > 0 && isNarrow) throw new MemError('bad_request', 'forget takes ids or filters, not both')
      if (ids.length === 0 && !isNarrow) {
        throw new MemError('bad_request', 'forget needs ids, or a filter such as a project, a session or dates')
      }
      if (ids.length === 0 && filters.kinds.every((kind) => kind === 'passage')) {
        throw new MemError('bad_request', 'passages are forgotten with the memories of their turns: take kind "all"')
      }
      const resolved = ids.length > 0 ? null : await scopedFilters(context, filters, caller)
      await checkInScope(context.search, ids, caller)
      return { report: await forgetting.forget({ ids: [...new Set(ids)], filters: resolved, related, confirm }) }
    },
    rest: [
      {
        method: 'DELETE',
        path: observationPath,
        params: { id: 'ids' },
        respond: ({ report }, { confirm, ids }) => {
          if (!confirm) {
            throw new MemError('bad_request', 'forgetting cannot be undone: add ?confirm=1 to the address')
          }
          if (report.observations === 0) throw observationNotFound(...ids)
          return report
        },
      },
    ],
  }),

  forget_everywhere: daemonOperation({
    about:
      'Removes everything that was forgotten so far from backups, set-aside databases, logs and other files of the data directory. What was interrupted is completed.',
    doors: LOCAL_ONLY,
    input: z.object({}),
    answerType: 'forgotten_everywhere',
    answerDescription: '`cleaned`: `rewritten`, `removed`, `failed` files',
    handle: async ({ forgottenCopies }) => ({ cleaned: await forgottenCopies.clean() }),
  }),

  forgetting: daemonOperation({
    about: 'Says how far `forget_everywhere` is.',
    input: z.object({}),
    answerDescription: '`progress`: `done` and `total` files, `file`; null when it is not running',
    handle: ({ forgottenCopies }) => ({ progress: forgottenCopies.progress }),
  }),

  pin: daemonOperation({
    about: 'Pins observations, or unpins them with `on: false`. Pinned ones are always part of the context.',
    input: z.object({ ids: z.array(memoryId).min(1).max(MAX_IDS), on: z.boolean() }),
    answerType: 'pinned',
    answerDescription: '`changed`, `missing`',
    handle: async ({ memory }, { ids, on }) => await memory.pin([...new Set(ids)], on),
    rest: [
      ...([true, false] as const).map((on) => ({
        method: on ? ('PUT' as const) : ('DELETE' as const),
        path: `${observationPath}/pin`,
        params: { id: 'ids' },
        fixed: { on },
        respond: ({ changed, missing }: { changed: number; missing: number[] }) => {
          if (missing.length > 0) throw observationNotFound(...missing)
          return { pinned: on, changed: changed > 0 }
        },
      })),
    ],
  }),

  link: daemonOperation({
    about: 'Marks that observation `from`, the newer one, supersedes `to`; `on: false` removes the mark.',
    input: z.object({
      from: memoryId,
      to: memoryId,
      kind: z.literal('supersedes').default('supersedes'),
      on: z.boolean(),
    }),
    answerType: 'linked',
    answerDescription: 'nothing',
    handle: async ({ memory }, { from, to, kind, on }) => {
      if (from === to) throw new MemError('bad_request', `observation ${from} cannot supersede itself`)
      await memory.link(from, to, kind, on)
      return {}
    },
    rest: [
      ...([true, false] as const).map((on) => ({
        method: on ? ('PUT' as const) : ('DELETE' as const),
        path: '/api/observations/:from/supersedes/:to',
        fixed: { on },
        respond: () => ({ supersedes: on }),
      })),
    ],
  }),

  reindex: daemonOperation({
    about: 'Rebuilds the search indexes in the background. Answered as soon as it has begun.',
    input: z.object({ what: z.enum(REINDEX_PARTS).default('all') }),
    answerType: 'indexing',
    answerDescription: '`progress`: `what`, `done`, `total`, `embedder`; null when there is nothing to index',
    handle: async ({ memory }, { what }) => {
      await memory.reindex(what)
      return { progress: memory.indexing() }
    },
    rest: [{ method: 'POST', path: '/api/reindex', respond: ({ progress }) => ({ indexing: progress }) }],
  }),

  indexing: daemonOperation({
    about: 'Says how far indexing is.',
    input: z.object({}),
    answerDescription: '`progress`; null when there is nothing to index',
    handle: ({ memory }) => ({ progress: memory.indexing() }),
  }),
}

async function scopedFilters(
  { reader, me }: Pick<ReadContext, 'reader' | 'me'>,
  filters: SearchFilters,
  caller: Caller,
): Promise<SearchFilters> {
  const resolved = await resolveFilters(reader, filters, me())
  return { ...resolved, project: limitToScope(resolved.project, caller) }
}

/** Throws where one of these observations belongs to a project that the caller may not see. */
async function checkInScope(search: ReadContext['search'], ids: readonly number[], caller: Caller): Promise<void> {
  if (caller.scope === null || ids.length === 0) return
  for (const { project } of await (await search()).observations([...new Set(ids)])) limitToScope(project, caller)
}

async function readObservation({ search, me }: ReadContext, id: number): Promise<LinkedObservation> {
  const [observation] = await (await search()).observations([id])
  if (observation === undefined) throw observationNotFound(id)
  return withoutOwnAuthor(observation, me())
}

export type TimelineItem = Pick<
  SearchHit,
  | 'kind'
  | 'id'
  | 'session'
  | 'project'
  | 'projectName'
  | 'type'
  | 'title'
  | 'saidBy'
  | 'createdAt'
  | 'promptNumber'
  | 'tokens'
  | 'author'
  | 'machine'
>

export interface Timeline {
  /** The observation in the middle; null where the newest was asked for, or the query found nothing. */
  anchor: number | null
  /** Oldest first, with the anchor among them. */
  items: TimelineItem[]
}

/** `project`: its key. Null: the anchor's own project; for a query, all. */
async function loadTimeline(
  search: SearchReader,
  request: z.output<typeof timelineInput>,
  caller: Caller,
): Promise<Timeline> {
  const { before, after } = request
  const filters: SearchFilters = { ...NO_FILTERS, kinds: MEMORY_KINDS, project: request.project }
  if (request.anchor === null && request.query === null) {
    const newest = await search.listFiltered(filters, before + after + 1, 0)
    return { anchor: null, items: (await search.loadMemories(newest.reverse())).map(timelineItem) }
  }
  const anchor = request.anchor ?? (await bestHit(search, request.query ?? '', request.project))
  if (anchor === null) return { anchor: null, items: [] }
  const [observation] = await search.observations([anchor])
  if (observation === undefined || !isInScope(observation.project, caller)) throw observationNotFound(anchor)
  const nearby = { ...filters, project: request.project ?? observation.project }
  const rows = await search.around(searchRowId('observation', anchor), nearby, before, after)
  return { anchor, items: (await search.loadMemories(rows)).map(timelineItem) }
}

async function bestHit(search: SearchReader, query: string, project: string | null): Promise<number | null> {
  const filters = { ...OBSERVATIONS_ONLY, project }
  const { hits } = await search.search({ query, mode: 'auto', filters, limit: 1, offset: 0 })
  return hits[0]?.id ?? null
}

function timelineItem(found: FoundMemory): TimelineItem {
  const { kind, id, session, project, projectName, type, title, saidBy = null, createdAt, promptNumber, tokens } = found
  const item = { kind, id, session, project, projectName, type, title, saidBy, createdAt, promptNumber, tokens }
  const { author = null, machine = null } = found
  return author === null && machine === null ? item : { ...item, author, machine }
}

async function memoryStats({ reader, search, now }: ReadContext, project: string | null) {
  const calls = await search()
  const [state, counts, projects, { databaseBytes }] = await Promise.all([
    calls.state(),
    calls.counts(project),
    reader.projects({ limit: MAX_LISTED_PROJECTS, ...(project === null ? {} : { key: project }) }),
    reader.stats(now()),
  ])
  const { indexed, vectors, ...rest } = counts
  const [known] = projects
  return {
    ...rest,
    /** Null: all projects. */
    project: project === null ? null : { key: project, name: known?.name ?? project },
    /** Most observations first. */
    projects: projects
      .map(({ key, name, observations, updatedAt }) => ({ key, name, observations, updatedAt }))
      .sort((a, b) => b.observations - a.observations),
    databaseBytes,
    index: {
      /** Observations, summaries and prompts in the word index. */
      lexical: indexed,
      /** Observations with vectors. */
      vectors: {
        done: vectors?.observations ?? 0,
        total: rest.observations,
        fragments: vectors?.fragments ?? 0,
        bytes: vectors?.bytes ?? 0,
      },
      embedder: state.embedder,
      method: state.method,
    },
  }
}
export type MemoryStats = Awaited<ReturnType<typeof memoryStats>>
