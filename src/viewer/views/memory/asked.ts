/** What the memory is asked for, as it stands in the address: it can be linked to and survives a reload. */
import { OBSERVATION_TYPES, type ObservationType } from '../../../memory/observation.ts'
import { MEMORY_KINDS, type MemoryKind, type SearchFilters } from '../../../search/query.ts'

export interface Asked {
  text: string
  /** A project's key; empty: all of them. */
  project: string
  /** Empty: any. */
  kinds: readonly MemoryKind[]
  types: readonly ObservationType[]
  concepts: readonly string[]
  files: readonly string[]
  /** Days as `2026-11-30`, both included; empty: any. */
  from: string
  to: string
  session: string
  agent: string
  pinned: boolean
}

export const ASKED_FOR_ALL: Asked = {
  text: '',
  project: '',
  kinds: [],
  types: [],
  concepts: [],
  files: [],
  from: '',
  to: '',
  session: '',
  agent: '',
  pinned: false,
}

const DAY = /^\d{4}-\d{2}-\d{2}$/
/** As long as a filter may be. */
const LONGEST_WORD = 200

/** Whatever somebody may have written into the address: what makes no sense is left out. */
export function askedOf(query: URLSearchParams): Asked {
  const one = (name: string) => query.get(name) ?? ''
  const all = (name: string) => [...new Set(query.getAll(name))].filter((value) => value !== '').slice(0, 50)
  const short = (name: string) => all(name).map((value) => value.slice(0, LONGEST_WORD))
  const day = (name: string) => (DAY.test(one(name)) && !Number.isNaN(Date.parse(one(name))) ? one(name) : '')
  return {
    text: one('q').slice(0, 10_000),
    project: one('project'),
    kinds: MEMORY_KINDS.filter((kind) => all('kind').includes(kind)),
    types: OBSERVATION_TYPES.filter((type) => all('type').includes(type)),
    concepts: short('concept'),
    files: short('file'),
    from: day('from'),
    to: day('to'),
    session: one('session').slice(0, LONGEST_WORD),
    agent: one('agent').slice(0, LONGEST_WORD),
    pinned: one('pinned') === '1',
  }
}

/** `id`: what is open beside the list. */
export function memoryHref(asked: Asked, id: string | null = null): string {
  return hrefsOf(asked)(id)
}

/** The same for many ids. */
export function hrefsOf(asked: Asked): (id: string | null) => string {
  const query = new URLSearchParams()
  const add = (name: string, values: readonly string[]) => {
    for (const value of values) if (value !== '') query.append(name, value)
  }
  add('q', [asked.text])
  add('project', [asked.project])
  add('kind', asked.kinds)
  add('type', asked.types)
  add('concept', asked.concepts)
  add('file', asked.files)
  add('from', [asked.from])
  add('to', [asked.to])
  add('session', [asked.session])
  add('agent', [asked.agent])
  add('pinned', [asked.pinned ? '1' : ''])
  const search = query.size === 0 ? '' : `?${query}`
  return (id) => `#/memory${id === null ? '' : `/${encodeURIComponent(id)}`}${search}`
}

export function filtersOf(asked: Asked): SearchFilters {
  const { project, kinds, types, concepts, files, from, to, session, agent, pinned } = asked
  return {
    project: project === '' ? null : project,
    kinds: kinds.length === 0 ? MEMORY_KINDS : kinds,
    types,
    concepts,
    files,
    since: from === '' ? null : new Date(`${from}T00:00:00`).getTime(),
    until: to === '' ? null : new Date(`${to}T23:59:59.999`).getTime(),
    agent: agent === '' ? null : agent,
    session: session === '' ? null : session,
    pinned,
  }
}

/** How many filters are set, the text aside. */
export function filterCount({ text: _, ...asked }: Asked): number {
  return Object.values(asked).reduce(
    (sum, value) => sum + (Array.isArray(value) ? value.length : value === '' || value === false ? 0 : 1),
    0,
  )
}
