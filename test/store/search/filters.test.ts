import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OBSERVATION_TYPES, type ObservationType } from '../../../src/domain/observation.ts'
import { MEMORY_KINDS, type MemoryKind, NO_FILTERS, type SearchFilters } from '../../../src/domain/search-query.ts'
import { type FoundMemory, searchRowId } from '../../../src/store/search-port.ts'
import { NOW, promptOf, record, stateOf, summaryOf } from '../samples.ts'
import { ALL, bareObservation, EVEN_WEIGHTS, SearchPlace } from './place.ts'

const WORDS = ['amber', 'birch', 'cedar', 'delta', 'ember']
const CONCEPTS = ['Auth', 'caching', 'Größe', 'how it works', '性能']
const FILES = ['src/Auth/jwt.ts', 'src\\auth\\session.ts', 'README.md', 'src/100%_done.ts', 'Ärger/x.ts']
const PROJECTS = ['git:/a', 'git:/b']
const CLIENTS = ['claude-code', 'codex', 'gemini'] as const
const AGENTS = [null, 'explorer']
const MODELS = ['offline', 'claude-haiku-4-5', null]
/** What the user wrote by hand is in a session with this prefix. */
const BY_HAND = 'remember:a1'
const SPAN = 20

/** What filters mean, in its plainest form. */
interface Filtered {
  kind: MemoryKind
  id: number
  session: string
  project: string
  type: ObservationType | null
  agent: string | null
  author: string | null
  client: string
  concepts: readonly string[]
  files: readonly string[]
  createdAt: number
  pinned: boolean
}

function passes(filters: SearchFilters, memory: Filtered): boolean {
  const { project, kinds, types, concepts, files, since, until, agent, author, clients, session, pinned } = filters
  const anyOf = <T>(wanted: readonly T[], holds: (item: T) => boolean) => wanted.length === 0 || wanted.some(holds)
  const path = (file: string) => file.replaceAll('\\', '/').toLowerCase()
  return (
    (project === null || memory.project === project) &&
    (session === null || memory.session === session) &&
    (agent === null || memory.agent === agent) &&
    (author === null || memory.author === author) &&
    (since === null || memory.createdAt >= since) &&
    (until === null || memory.createdAt <= until) &&
    (!pinned || memory.pinned) &&
    anyOf(kinds, (kind) => memory.kind === kind) &&
    anyOf(clients, (client) => memory.client === client) &&
    anyOf(types, (type) => memory.type === type) &&
    anyOf(concepts, (concept) => memory.concepts.some((own) => own.trim().toLowerCase() === concept.toLowerCase())) &&
    anyOf(files, (part) => memory.files.some((file) => path(file).includes(path(part))))
  )
}

/** The same memories every time: the filters are what varies. */
function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

let at: SearchPlace
const memories: (Filtered & { words: string[] })[] = []

beforeAll(async () => {
  at = await SearchPlace.open()
  const pick = seeded(7)
  const some = <T>(items: readonly T[]) => items.filter(() => pick(3) === 0)
  for (let n = 0; n < 120; n += 1) {
    const session = n % 7 === 6 ? BY_HAND : `s${n % 7}`
    const model = MODELS[pick(MODELS.length)] ?? null
    const author = session === BY_HAND ? 'user' : model
    const project = PROJECTS[(n % 7) % 2] ?? ''
    const createdAt = NOW + pick(SPAN)
    const words = some(WORDS)
    const client = CLIENTS[(n % 7) % 3] ?? ''
    const state = stateOf({ project: { key: project, name: project }, client })
    const base = {
      session,
      project,
      createdAt,
      words,
      type: null,
      agent: null,
      author,
      client,
      concepts: [],
      files: [],
      pinned: false,
    }
    if (n % 6 === 0) {
      const [filesRead, filesEdited] = [some(FILES), some(FILES)]
      const learned = words.join(' ')
      const summary = summaryOf({ request: null, learned, completed: null, filesRead, filesEdited, createdAt, model })
      at.commit(session, { state, summaries: [summary] })
      memories.push({ ...base, kind: 'summary', id: kindCount('summary') + 1, files: [...filesRead, ...filesEdited] })
    } else if (n % 6 === 1) {
      const prompt = { eventId: `p${n}`, number: n, text: words.join(' '), private: false, at: createdAt }
      at.commit(session, { state, events: [record(promptOf(session, `p${n}`))], prompts: [prompt] })
      memories.push({ ...base, kind: 'prompt', author: 'user', id: kindCount('prompt') + 1 })
    } else {
      const [concepts, filesRead, filesModified] = [some(CONCEPTS), some(FILES), some(FILES)]
      const type = OBSERVATION_TYPES[pick(OBSERVATION_TYPES.length)] ?? 'change'
      const agent = AGENTS[pick(2)] ?? null
      const draft = { narrative: words.join(' '), type, agent, concepts, filesRead, filesModified }
      const [id = 0] = at.commit(session, { state, observations: [{ ...bareObservation(draft, createdAt), model }] })
      const pinned = pick(4) === 0
      if (pinned) at.core.pin([id], true, NOW)
      memories.push({
        ...base,
        kind: 'observation',
        id,
        type,
        agent,
        concepts,
        files: [...filesRead, ...filesModified],
        pinned,
      })
    }
  }
  at.indexAll()
})
afterAll(() => at.dispose())

function kindCount(kind: Filtered['kind']): number {
  return memories.filter((memory) => memory.kind === kind).length
}

const subset = <T>(items: readonly T[]) => fc.subarray([...items])
const orNull = <T>(items: readonly T[]) => fc.option(fc.constantFrom(...items), { freq: 2 })
const moment = fc.option(fc.integer({ min: NOW - 2, max: NOW + SPAN }), { freq: 2 })
const anyFilters: fc.Arbitrary<SearchFilters> = fc
  .record({
    project: orNull([...PROJECTS, 'git:/nowhere']),
    kinds: subset(MEMORY_KINDS),
    types: fc.oneof(fc.constant([]), subset(OBSERVATION_TYPES)),
    concepts: fc.oneof(fc.constant([]), subset(['auth', 'CACHING', 'größe', 'it', 'how it WORKS', '性能'])),
    files: fc.oneof(
      fc.constant([]),
      subset(['src/auth', 'SRC\\AUTH', 'jwt', '%', '_', 'readme.md', 'ärger', '.ts', 'nothing', '']),
    ),
    since: moment,
    until: moment,
    agent: orNull(['explorer', 'nobody']),
    author: orNull(['user', 'offline', 'claude-haiku-4-5', 'nobody']),
    clients: fc.oneof(fc.constant([]), subset(CLIENTS)),
    session: orNull(['s0', 's3', BY_HAND, 'nobody']),
    pinned: fc.boolean(),
  })
  .map((some) => ({ ...NO_FILTERS, ...some }))

function expected(filters: SearchFilters): number[] {
  return memories
    .filter((memory) => passes(filters, memory))
    .map((memory) => ({ row: searchRowId(memory.kind, memory.id), at: memory.createdAt }))
    .sort((a, b) => b.at - a.at || b.row - a.row)
    .map(({ row }) => row)
}

describe('filters', () => {
  test('filters.areExactWithoutAQuery', () => {
    fc.assert(
      fc.property(anyFilters, fc.nat(30), fc.nat(10), (filters, limit, offset) => {
        const rows = expected(filters)
        expect(at.reader.listFiltered(filters, limit, offset)).toEqual(rows.slice(offset, offset + limit))
        expect(at.reader.count(filters)).toBe(rows.length)
        const all = memories.map(({ kind, id }) => searchRowId(kind, id))
        expect(at.reader.filterRows([...all, 4_000_000], filters)).toEqual(all.filter((row) => rows.includes(row)))
      }),
      { numRuns: 300 },
    )
  })

  test('filters.areExactInEveryKindOfQuery', () => {
    fc.assert(
      fc.property(anyFilters, fc.subarray(WORDS, { minLength: 1 }), (filters, words) => {
        const text = words.join(' ')
        const rows = expected(filters)
        const holds = new Map(memories.map((memory) => [searchRowId(memory.kind, memory.id), memory.words]))
        const strict = at.reader.lexical({ text, how: 'every' }, filters, EVEN_WEIGHTS, 1_000)
        expect(strict.map(({ row }) => row)).toEqual(
          rows.filter((row) => words.every((word) => holds.get(row)?.includes(word))),
        )
        expect(at.reader.countLexical({ text, how: 'every' }, filters, 1_000)).toBe(strict.length)
        const ranked = at.reader.lexical({ text, how: 'any' }, filters, EVEN_WEIGHTS, 1_000)
        const found = ranked.map(({ row }) => row)
        expect(found.filter((row) => !rows.includes(row))).toEqual([])
        const holding = rows.filter((row) => words.some((word) => holds.get(row)?.includes(word)))
        expect(holding.filter((row) => !found.includes(row))).toEqual([])
        expect(ranked.map(({ score }) => score)).toEqual(ranked.map(({ score }) => score).sort((a, b) => b - a))
        expect(at.reader.lexical({ text, how: 'any' }, filters, EVEN_WEIGHTS, 1_000)).toEqual(ranked)
      }),
      { numRuns: 300 },
    )
  })

  test('filters.bindTheNeighboursInTimeToo', () => {
    fc.assert(
      fc.property(anyFilters, fc.nat(memories.length - 1), fc.nat(5), fc.nat(5), (filters, index, before, after) => {
        const anchor = memories[index]
        if (anchor === undefined) return
        const row = searchRowId(anchor.kind, anchor.id)
        const others = expected(filters).reverse()
        const isBefore = (other: number) => {
          const memory = memories.find(({ kind, id }) => searchRowId(kind, id) === other)
          const time = memory?.createdAt ?? 0
          return time < anchor.createdAt || (time === anchor.createdAt && other < row)
        }
        const earlier = others.filter((other) => other !== row && isBefore(other))
        const later = others.filter((other) => other !== row && !isBefore(other))
        const shown = [...(before === 0 ? [] : earlier.slice(-before)), row, ...later.slice(0, after)]
        expect(at.reader.around(row, filters, before, after)).toEqual(shown)
      }),
      { numRuns: 200 },
    )
    expect(at.reader.around(4_000_000, ALL, 5, 5)).toEqual([])
  })

  test('found.tellsWhatIsKnownOfEachInTheOrderAskedFor', () => {
    const rows = memories.map(({ kind, id }) => searchRowId(kind, id)).reverse()
    const found = at.reader.loadMemories([...rows, 4_000_000])
    expect(found.map(({ row }) => row)).toEqual(rows)
    const facts = ({ kind, id, session, project, type, createdAt, pinned }: Filtered | FoundMemory) => {
      return { kind, id, session, project, type, createdAt, pinned }
    }
    expect(found.map(facts)).toEqual([...memories].reverse().map(facts))
  })
})
