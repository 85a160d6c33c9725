/** Small random memories, stored through the store's own commits, and random questions about them. */
import fc from 'fast-check'
import type { Project } from '../../src/domain/project.ts'
import { MEMORY_KINDS, NO_FILTERS, type SearchFilters } from '../../src/domain/search-query.ts'
import { NOW, observationOf, PROJECT, promptOf, record, stateOf, summaryOf } from '../store/samples.ts'
import { type Stored, TYPES } from './oracle.ts'
import { OTHER_PROJECT, type SearchFixture } from './search-fixture.ts'

/** Short, and without endings that a stemmer would cut. */
export const WORDS = ['token', 'login', 'cache', 'pool', 'retry', 'queue', 'schema', 'index', 'wal', 'hook'] as const
const CONCEPTS = ['auth', 'Data Base', 'speed']
const FILES = ['src/auth/jwt.ts', 'src/store/db.ts', 'docs/README.md', 'C:\\work\\app.cs']
const AGENTS = [null, null, 'explorer']
const SESSIONS: readonly { id: string; project: Project }[] = [
  { id: 's1', project: PROJECT },
  { id: 's2', project: PROJECT },
  { id: 's3', project: OTHER_PROJECT },
]
const TIMES = 6

const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 }).map((words) => words.join(' '))
const some = <T>(values: readonly T[]) => fc.subarray([...values], { maxLength: 2 })

export const memory = fc.record({
  kind: fc.constantFrom('observation', 'observation', 'observation', 'observation', 'summary', 'prompt'),
  session: fc.nat(SESSIONS.length - 1),
  at: fc.nat(TIMES).map((hours) => NOW + hours * 3_600_000),
  type: fc.constantFrom(...TYPES),
  title: text,
  narrative: text,
  facts: fc.array(text, { maxLength: 2 }),
  concepts: some(CONCEPTS),
  filesRead: some(FILES),
  filesModified: some(FILES),
  agent: fc.constantFrom(...AGENTS),
  pinned: fc.boolean(),
  /** How many observations before it in its project it replaces the one of; 0: none. */
  replaces: fc.nat(4),
})
export type Made = typeof memory extends fc.Arbitrary<infer T> ? T : never

export const corpus = fc.array(memory, { minLength: 1, maxLength: 14 })

const either = <T>(values: readonly T[]) => fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, some(values))
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 2 })
const time = fc.nat(TIMES).map((hours) => NOW + hours * 3_600_000)

export const filters: fc.Arbitrary<SearchFilters> = fc
  .record({
    project: fc.constantFrom(null, PROJECT.key, OTHER_PROJECT.key, 'git:/nowhere'),
    kinds: fc.constantFrom(['observation' as const], [...MEMORY_KINDS], ['summary' as const, 'prompt' as const], []),
    types: either(TYPES),
    concepts: either(['AUTH', 'data base', 'data', '%', '']),
    files: either(['auth', 'SRC/', 'work/app', 'work\\app', '.md', '%', '_', 'no such']),
    since: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, time),
    until: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, time),
    agent: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, fc.constantFrom('explorer', 'Explorer', 'nobody')),
    session: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, fc.constantFrom('s1', 's2', 's3', 's')),
    pinned: fc.nat(5).map((n) => n === 0),
  })
  .map((some) => ({ ...NO_FILTERS, ...some }))

export const query = orNull(text).map((words) => words ?? '')

/** As it was stored, for the oracle. */
export async function store(place: SearchFixture, made: readonly Made[]): Promise<Stored[]> {
  const stored: Stored[] = []
  for (const [n, one] of made.entries()) stored.push(await storeOne(place, one, n, stored))
  return stored
}

async function storeOne(place: SearchFixture, one: Made, n: number, earlier: readonly Stored[]): Promise<Stored> {
  const { id: session, project } = SESSIONS[one.session] ?? { id: 's1', project: PROJECT }
  const state = stateOf({ project })
  const base = { session, project: project.key, at: one.at, type: null, concepts: [], agent: null, pinned: false }
  const ofKind = earlier.filter(({ kind }) => kind === one.kind)
  if (one.kind === 'prompt') {
    const event = promptOf(session, `prompt-${n}`, one.narrative)
    const prompt = { eventId: event.id, number: n + 1, text: one.narrative, private: false, at: one.at }
    await place.commit(session, { state, events: [record(event, { kind: 'noted', reason: null })], prompts: [prompt] })
    return { ...base, kind: 'prompt', id: ofKind.length + 1, files: [], text: one.narrative, supersededBy: null }
  }
  if (one.kind === 'summary') {
    const { title: request, narrative: learned, filesRead, filesModified: filesEdited } = one
    const rest = { investigated: null, completed: null, nextSteps: null, notes: null }
    const summary = summaryOf({ ...rest, request, learned, filesRead, filesEdited, createdAt: one.at })
    await place.commit(session, { state, summaries: [summary] })
    const files = [...filesRead, ...filesEdited]
    const said = [request, learned, ...files].join(' ')
    return { ...base, kind: 'summary', id: ofKind.length + 1, files, text: said, supersededBy: null }
  }
  const { type, title, narrative, facts, concepts, filesRead, filesModified, agent, pinned } = one
  const observation = observationOf([], {
    createdAt: one.at,
    type,
    title,
    narrative,
    facts,
    concepts,
    filesRead,
    filesModified,
    functionsChanged: [],
    agent,
  })
  const [id = 0] = await place.commit(session, { state, observations: [observation] })
  if (pinned) await place.store.pin([id], true, NOW)
  const older = ofKind.filter((other) => other.project === project.key).at(-one.replaces)
  if (one.replaces > 0 && older !== undefined) {
    await place.store.link({ from: id, to: older.id, kind: 'supersedes', by: 'person', at: NOW })
    older.supersededBy = id
  }
  const files = [...filesRead, ...filesModified]
  const said = [title, narrative, ...facts, ...concepts, ...files].join(' ')
  return { ...base, kind: 'observation', id, type, concepts, files, agent, pinned, text: said, supersededBy: null }
}
