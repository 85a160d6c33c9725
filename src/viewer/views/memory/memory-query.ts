/**
 * The search text and filters of the memory view, as they are in the address. Filters are read and written with the
 * table `SEARCH_FILTERS`, so a new filter works in the address and in the list of active filters without code here.
 */
import {
  FILTER_NAMES,
  FilterValueError,
  formatFilters,
  HIT_KINDS,
  type HitKind,
  NO_FILTERS,
  parseFilters,
  SEARCH_FILTERS,
  type SearchFilter,
  type SearchFilters,
} from '../../../domain/search-query.ts'

export interface MemoryQuery {
  text: string
  filters: SearchFilters
}

/** No kinds: those that `shownKinds` chooses. */
export const EMPTY_MEMORY_QUERY: MemoryQuery = { text: '', filters: { ...NO_FILTERS, kinds: [] } }

/** A search answers one hit of each turn, of any kind. Without a text each turn would be listed several times: only observations are. */
export function shownKinds({ text, filters: { kinds } }: MemoryQuery): readonly HitKind[] {
  if (kinds.length > 0) return kinds
  return text.trim() === '' ? ['observation'] : HIT_KINDS
}

/** Limits of an address that people wrote. */
const MAX_TEXT_CHARS = 10_000
const MAX_VALUES = 50

/** Invalid values are ignored. */
export function parseMemoryQuery(parameters: URLSearchParams): MemoryQuery {
  const ignored = new Set<string>()
  const valuesOf = (param: string) => (ignored.has(param) ? [] : validValues(param, parameters.getAll(param)))
  for (;;) {
    try {
      const filters = parseFilters(valuesOf, Date.now())
      const kinds = valuesOf(SEARCH_FILTERS.kinds.param).length === 0 ? [] : filters.kinds
      return { text: (parameters.get('q') ?? '').slice(0, MAX_TEXT_CHARS), filters: { ...filters, kinds } }
    } catch (error) {
      if (!(error instanceof FilterValueError) || ignored.has(error.param)) throw error
      ignored.add(error.param)
    }
  }
}

function validValues(param: string, given: readonly string[]): string[] {
  const filter: SearchFilter | undefined = Object.values(SEARCH_FILTERS).find((one) => one.param === param)
  const values = [...new Set(given)].slice(0, MAX_VALUES)
  if (filter?.kind === 'choices') {
    return values.flatMap((value) => value.split(',')).filter((value) => filter.choices.includes(value))
  }
  return filter !== undefined && 'maxChars' in filter ? values.map((value) => value.slice(0, filter.maxChars)) : values
}

/** `id`: the opened memory. */
export function memoryHref({ text, filters }: MemoryQuery, id: string | null = null): string {
  const kindParam = SEARCH_FILTERS.kinds.param
  const parameters = new URLSearchParams([
    ...(text === '' ? [] : [['q', text]]),
    ...formatFilters(filters).filter(([param]) => param !== kindParam),
    ...(filters.kinds.length === 0 ? [] : [[kindParam, filters.kinds.join()]]),
  ])
  const search = parameters.size === 0 ? '' : `?${parameters}`
  return `#/memory${id === null ? '' : `/${encodeURIComponent(id)}`}${search}`
}

/** Link to all memories that match these filters. */
export function filterHref(filters: Partial<SearchFilters>): string {
  return memoryHref({ text: '', filters: { ...EMPTY_MEMORY_QUERY.filters, ...filters } })
}

interface ActiveFilter {
  /** Name of the parameter. */
  param: string
  value: string | number | true
  /** The filters without this value. */
  without: SearchFilters
}

/** Every value of every active filter. */
export function activeFilters(filters: SearchFilters): ActiveFilter[] {
  return FILTER_NAMES.flatMap((name): ActiveFilter[] => {
    const { param } = SEARCH_FILTERS[name]
    const value = filters[name]
    const without = (rest: unknown) => ({ ...filters, [name]: rest })
    if (value === null || value === false) return []
    if (typeof value !== 'object') return [{ param, value, without: without(EMPTY_MEMORY_QUERY.filters[name]) }]
    return value.map((item) => ({ param, value: item, without: without(value.filter((other) => other !== item)) }))
  })
}
