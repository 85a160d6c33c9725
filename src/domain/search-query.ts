/**
 * A search: its modes, its filters, its request and its answer. The filters are declared once, in `SEARCH_FILTERS`: the
 * types, the validation at the daemon, REST parameters, MCP inputs, command-line flags and the viewer's addresses are
 * derived from that table. A new filter is a row there and a condition in src/store/sqlite/search-rows.ts.
 */
import { CLIENT_NAMES } from './clients.ts'
import { DATE_FORMS, parseMoment } from './dates.ts'
import { type MemoryOrigin, OBSERVATION_TYPES, type ObservationType } from './observation.ts'
import type { Passage } from './passage.ts'
import type { Speaker } from './speaker.ts'

/**
 * `strict`: every word must match, newest first. `semantic`: by meaning only. `hybrid`: words and meaning ranked
 * together. `auto` picks by the query and by what is available; the answer says which one it was.
 */
export const SEARCH_MODES = ['auto', 'strict', 'semantic', 'hybrid'] as const
export type SearchMode = (typeof SEARCH_MODES)[number]
export type AnsweredMode = Exclude<SearchMode, 'auto'> | 'filter'

export const MEMORY_KINDS = ['observation', 'summary', 'prompt'] as const
export type MemoryKind = (typeof MEMORY_KINDS)[number]

/** What a search finds: memories, and passages, the evidence behind them. */
export const HIT_KINDS = [...MEMORY_KINDS, 'passage'] as const
export type HitKind = (typeof HIT_KINDS)[number]
/** Prompts repeat what passages have; a search for prompts alone names them. */
const SEARCHED_KINDS = ['observation', 'summary', 'passage'] as const satisfies readonly HitKind[]

/** `text` and `moment` are null when not set; `texts` and `choices` match any of their values; empty means no filter. */
export type SearchFilter<Choice extends string = string> = {
  /** Name of the REST parameter, the command-line flag and the parameter in the viewer's address. */
  param: string
  /** One-letter command-line flag. */
  alias?: string
  /** Help text. */
  about: string
} & (
  | { kind: 'text'; maxChars: number }
  /** "a,b" is two values, on the command line and as a REST parameter. */
  | { kind: 'texts'; maxChars: number }
  /** `all`: this word selects every choice. `standard`: the value when the filter is not given. */
  | { kind: 'choices'; choices: readonly Choice[]; all?: string; standard: readonly Choice[] }
  /** Epoch milliseconds. A whole day means its first moment for `start` and its last for `end`. */
  | { kind: 'moment'; edge: 'start' | 'end' }
  | { kind: 'flag' }
)

/** Longest value of a filter that is a word, and of one that is a path or a project key, in characters. */
const MAX_WORD_CHARS = 200
const MAX_PATH_CHARS = 4_096

/** Exact, and the same in every mode. */
export const SEARCH_FILTERS = {
  project: {
    param: 'project',
    alias: 'p',
    kind: 'text',
    maxChars: MAX_PATH_CHARS,
    about: 'Project name, key or path, or all',
  },
  kinds: {
    param: 'kind',
    kind: 'choices',
    choices: HIT_KINDS,
    all: 'all',
    standard: SEARCHED_KINDS,
    about: `${HIT_KINDS.join(', ')} or all`,
  },
  types: {
    param: 'type',
    alias: 't',
    kind: 'choices',
    choices: OBSERVATION_TYPES,
    standard: [],
    about: `${OBSERVATION_TYPES.join(', ')}; several with commas`,
  },
  concepts: {
    param: 'concept',
    kind: 'texts',
    maxChars: MAX_WORD_CHARS,
    about: 'Concept of an observation; several with commas match any of them',
  },
  files: {
    param: 'file',
    alias: 'f',
    kind: 'texts',
    maxChars: MAX_PATH_CHARS,
    about: 'Part of the path of a file that was read or changed; several with commas match any of them',
  },
  since: { param: 'since', kind: 'moment', edge: 'start', about: 'Not older than: 7d, 2w, 12h, yesterday, 2026-11-01' },
  until: { param: 'until', kind: 'moment', edge: 'end', about: 'Not newer than, in the same forms as since' },
  agent: { param: 'agent', kind: 'text', maxChars: MAX_WORD_CHARS, about: 'Name of the subagent it came from' },
  author: {
    param: 'author',
    kind: 'text',
    maxChars: MAX_WORD_CHARS,
    about: 'Who wrote it: me, a member of the team, or of your own: user, offline, or the name of a model',
  },
  clients: {
    param: 'client',
    kind: 'choices',
    choices: CLIENT_NAMES,
    standard: [],
    about: `Client of the session it came from: ${CLIENT_NAMES.join(', ')}; several with commas`,
  },
  session: {
    param: 'session',
    alias: 's',
    kind: 'text',
    maxChars: MAX_WORD_CHARS,
    about: 'First characters of a session id; in any project',
  },
  pinned: { param: 'pinned', kind: 'flag', about: 'Only pinned memories' },
} as const satisfies Record<string, SearchFilter>

/** What this machine learned itself. */
export const OWN_AUTHOR = 'me'

/** The value of the filter `author` for one's own memories: of this machine, and of one's other machines under that name. */
export function ownAuthorFilter(name: string | null): string {
  return name === null || name === '' ? OWN_AUTHOR : `${OWN_AUTHOR}:${name}`
}

/** The name in a value of `ownAuthorFilter`, null where it has none; undefined for the filter of another author. */
export function ownAuthorName(filter: string): string | null | undefined {
  if (filter === OWN_AUTHOR) return null
  return filter.startsWith(`${OWN_AUTHOR}:`) ? filter.slice(OWN_AUTHOR.length + 1) : undefined
}

type FilterValue<F> = F extends { kind: 'choices'; choices: readonly (infer C)[] }
  ? readonly C[]
  : F extends { kind: 'texts' }
    ? readonly string[]
    : F extends { kind: 'text' }
      ? string | null
      : F extends { kind: 'moment' }
        ? number | null
        : boolean

export type FilterName = keyof typeof SEARCH_FILTERS
export type SearchFilters = { readonly [N in FilterName]: FilterValue<(typeof SEARCH_FILTERS)[N]> }

/** Keys in the order of the table. */
export const FILTER_NAMES = Object.keys(SEARCH_FILTERS) as FilterName[]

export const NO_FILTERS: SearchFilters = parseFilters(() => [], 0)
/** For what works on observations: recall, links, forgetting. */
export const OBSERVATIONS_ONLY: SearchFilters = { ...NO_FILTERS, kinds: ['observation'] }

/** Whether the filters exclude anything. The kinds do not count: they have no value that means "everything". */
export function areFiltersNarrow({ kinds: _kinds, ...filters }: SearchFilters): boolean {
  return Object.values(filters).some((value) =>
    Array.isArray(value) ? value.length > 0 : value !== null && value !== false,
  )
}

/** Whether the filters exclude anything inside a project. */
export function narrowsProject(filters: SearchFilters): boolean {
  return areFiltersNarrow({ ...filters, project: null })
}

/** Filters compare without case and with forward slashes. The triggers that fill `search_rows` do the same for ASCII letters. */
export function foldConcept(concept: string): string {
  return concept.replace(/\s+/g, ' ').trim().toLowerCase()
}

export function foldPath(path: string): string {
  return path
    .replace(/[\r\n]+/g, ' ')
    .replaceAll('\\', '/')
    .toLowerCase()
}

/** A filter value that cannot be used. `param` names it as the user wrote it. */
export class FilterValueError extends Error {
  readonly param: string
  constructor(param: string, expected: string) {
    super(`${param} must be ${expected}`)
    this.param = param
  }
}

/**
 * Reads filters from REST parameters and the viewer's address (the command line has its own errors). `values` gives all
 * values of a parameter, none when it was not given; empty values are ignored, because forms send empty fields.
 */
export function parseFilters(values: (param: string) => readonly string[], now: number): SearchFilters {
  const read = (filter: SearchFilter) => {
    const given = values(filter.param).filter((value) => value !== '')
    switch (filter.kind) {
      case 'text':
        return given[0] ?? null
      case 'texts':
        return splitAtCommas(given)
      case 'choices':
        return parseChoices(filter, splitAtCommas(given))
      case 'moment':
        return given[0] === undefined ? null : parseMomentFilter(filter, given[0], now)
      case 'flag':
        return given[0] === '1' || given[0] === 'true'
    }
  }
  return Object.fromEntries(FILTER_NAMES.map((name) => [name, read(SEARCH_FILTERS[name])])) as unknown as SearchFilters
}

/** The inverse of `parseFilters`: parameters with their values, without those that filter nothing. */
export function formatFilters(filters: SearchFilters): [param: string, value: string][] {
  return FILTER_NAMES.flatMap((name): [string, string][] => {
    const filter: SearchFilter = SEARCH_FILTERS[name]
    const value: unknown = filters[name]
    if (Array.isArray(value)) {
      if (filter.kind === 'choices' && String(value) === String(filter.standard)) return []
      return value.length === 0 ? [] : [[filter.param, value.join(',')]]
    }
    if (value === null || value === false) return []
    return [[filter.param, value === true ? '1' : String(value)]]
  })
}

function splitAtCommas(given: readonly string[]): string[] {
  return given.flatMap((text) => text.split(',').map((word) => word.trim())).filter(Boolean)
}

function parseChoices(filter: SearchFilter & { kind: 'choices' }, words: readonly string[]): readonly string[] {
  if (filter.all !== undefined && words.includes(filter.all)) return filter.choices
  const wrong = words.find((word) => !filter.choices.includes(word))
  if (wrong !== undefined) {
    const known = filter.all === undefined ? filter.choices : [...filter.choices, filter.all]
    throw new FilterValueError(filter.param, `one of ${known.join(', ')}, not "${wrong.slice(0, 40)}"`)
  }
  return words.length === 0 ? filter.standard : filter.choices.filter((choice) => words.includes(choice))
}

function parseMomentFilter(filter: SearchFilter & { kind: 'moment' }, text: string, now: number): number {
  const at = parseMoment(text, filter.edge, now)
  if (at === null) throw new FilterValueError(filter.param, `${DATE_FORMS}, or epoch milliseconds`)
  return at
}

export interface SearchRequest {
  /** Empty: the newest memories that pass the filters. */
  query: string
  mode: SearchMode
  filters: SearchFilters
  limit: number
  offset: number
}

/** The passage that a piece is. */
export type HitPassage = Pick<Passage, 'id' | 'kind' | 'subject' | 'outcome'>

/** How much each part of a score counts (src/search/ranking.ts). */
export const SCORE_WEIGHTS = { words: 1, meaning: 0.7, around: 0.5, recency: 0.2, names: 3 } as const
export type ScorePart = keyof typeof SCORE_WEIGHTS

/** Why a hit has its rank: the parts of the score of its first piece, each from 0 to 1 before its weight. */
export interface Explanation extends Record<ScorePart, number> {
  /** The weight of its kind, by which all parts but `names` are multiplied. */
  kind: number
  /** Superseded observations come after all others, whatever their score is. */
  score: number
  /** The fragment that is closest in meaning: `narrative`, `fact 2`, … Null if it has no vector. */
  fragment: string | null
}

/** A text that answers the query: a memory or a passage. */
export interface HitPiece {
  kind: HitKind
  /** Of a passage it is shown with a p: `p12`. */
  id: number
  /** Null for all but observations. */
  type: ObservationType | null
  /** Of a passage: what it is about, or its beginning. */
  title: string
  /** Whose words it is made of; null or absent: unknown. */
  saidBy?: Speaker | null
  /** What answers the query: its best sentences. May have several lines. */
  snippet: string
  /** Null for a memory. */
  passage: HitPassage | null
  /** Words of the query that it contains. */
  matched: string[]
}

/** The best pieces of a turn; of a list without a query one memory or passage. The hit itself is the best of them. */
export interface SearchHit extends HitPiece, MemoryOrigin {
  session: string
  project: string
  projectName: string
  files: string[]
  createdAt: number
  promptNumber: number
  pinned: boolean
  /** The newer observation that replaces it. */
  supersededBy: number | null
  /** Newer observations that replace one statement of it. */
  amendedBy: number[]
  /** Ids of observations that say the same and are not listed. */
  similar: number[]
  /** Estimated tokens of the whole memory. */
  tokens: number
  explanation: Explanation
  /** The next best of the same turn, none of which repeats another. */
  further: HitPiece[]
}

export interface SearchAnswer {
  mode: AnsweredMode
  /** For the user: why another mode was used, and similar. */
  notes: string[]
  hits: SearchHit[]
  /** Number of hits on all pages; a lower bound if counting would take long. */
  total: number
  tookMs: number
  embedder: string | null
}
