import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MemError } from '../../../src/lib/errors.ts'
import { type NewVector, searchRowId } from '../../../src/store/search-port.ts'
import { openSearchDatabase } from '../../../src/store/sqlite/search-reader.ts'
import { NOW, stateOf } from '../samples.ts'
import { bareObservation, SearchPlace } from './place.ts'

let at: SearchPlace
beforeEach(async () => {
  at = await SearchPlace.open()
})
afterEach(() => at.dispose())

describe('what is known beside the words', () => {
  test('links.areShownOnBothSides', () => {
    const [a = 0, b = 0, c = 0] = at.learn('s', { title: 'old' }, { title: 'new' }, { title: 'newer' })
    at.core.link({ from: b, to: a, kind: 'supersedes', by: 'person', at: NOW })
    at.core.link({ from: c, to: a, kind: 'supersedes', by: 'model', at: NOW })
    at.core.link({ from: c, to: b, kind: 'repeats', by: 'search', at: NOW })
    at.core.link({ from: c, to: b, kind: 'amends', by: 'model', at: NOW })
    at.core.pin([b], true, NOW)
    expect(at.reader.observations([c, a, 99, b])).toMatchObject([
      { id: c, supersededBy: null, supersedes: [a], amends: [b], repeats: [b], pinned: false, projectName: 'shop' },
      { id: a, supersededBy: c, supersedes: [], repeats: [], tokens: 1 },
      { id: b, supersededBy: null, supersedes: [a], amendedBy: [c], pinned: true },
    ])
    expect(at.reader.loadMemories([searchRowId('observation', a)])).toMatchObject([
      { title: 'old', supersededBy: c, repeats: [] },
    ])
  })

  test('found.aMemoryWithoutATitleIsCalledByItsBeginning', () => {
    const [a = 0, b = 0] = at.learn('s', { narrative: `${'😀'.repeat(200)}\nmore` }, { subtitle: 'under' })
    const [first, second] = at.reader.loadMemories([searchRowId('observation', a), searchRowId('observation', b)])
    expect(first?.title).toBe('😀'.repeat(120))
    expect(second?.title).toBe('under')
  })

  test('reader.refusesWhatIsNoDatabaseOfOurs', () => {
    expect(() => openSearchDatabase(`${at.here.file}.missing`)).toThrow(MemError)
  })

  test('reader.seesOneStateAtOnceThoughTheWriterGoesOn', () => {
    at.learn('s', { title: 'quokka' })
    at.reader.snapshot(() => {
      expect(at.find('quokka')).toHaveLength(1)
      at.learn('s', { title: 'quokka' })
      expect(at.find('quokka')).toHaveLength(1)
    })
    expect(at.find('quokka')).toHaveLength(2)
  })
})

describe('vectors', () => {
  const vectorOf = (observationId: number, ...values: number[]): NewVector => {
    return { observationId, fragment: 'narrative', embedder: 'static-1', vector: new Float32Array(values) }
  }
  const read = (project: string | null, embedder = 'static-1', afterId = 0) =>
    [...at.reader.vectors(project, embedder, afterId)].flat()

  test('vectors.comeBackAsTheyWereByProjectAndEmbedder', () => {
    const other = stateOf({ project: { key: 'other', name: 'other' } })
    const [a = 0, b = 0] = at.learn('s', { title: 'a' }, { title: 'b' })
    const [c = 0] = at.commit('t', { state: other, observations: [bareObservation({ title: 'c' })] })
    // A view into a larger buffer, as embedders return them.
    const view = new Float32Array([9, 0.1, -1.5, 9]).subarray(1, 3)
    at.core.putEmbeddings([
      { ...vectorOf(a), vector: view },
      { ...vectorOf(a, 3, 4), fragment: 'fact_0' },
      { ...vectorOf(b), vector: null },
      { ...vectorOf(b, 7), embedder: 'model' },
      vectorOf(c, 5, 6),
    ])
    const [project] = at.reader.observations([a]).map((row) => row.project)
    expect(read(project ?? '')).toMatchObject([
      { observationId: a, fragment: 'narrative', vector: new Float32Array([0.1, -1.5]) },
      { observationId: a, fragment: 'fact_0', vector: new Float32Array([3, 4]) },
    ])
    expect(read('other')).toMatchObject([{ observationId: c }])
    expect(read(null)).toHaveLength(3)
    expect(at.reader.vectorCount(project ?? '', 'static-1')).toBe(2)
    expect(at.reader.vectorCount(null, 'model')).toBe(1)
    expect(at.reader.vectorCount('nowhere', 'model')).toBe(0)
    const last = read(null).at(-1)?.id ?? 0
    expect(read(null, 'static-1', last)).toEqual([])
  })

  test('vectors.ofOneFragmentAreReplaced', () => {
    const [a = 0] = at.learn('s', { title: 'a' })
    at.core.putEmbeddings([vectorOf(a, 1)])
    at.core.putEmbeddings([vectorOf(a, 2)])
    expect(read(null)).toMatchObject([{ vector: new Float32Array([2]) }])
  })

  test('vectors.thatAreNoNumbersAreRefusedWhole', () => {
    const [a = 0, b = 0] = at.learn('s', { title: 'a' }, { title: 'b' })
    expect(() => at.core.putEmbeddings([vectorOf(a, 1), vectorOf(b, Number.NaN)])).toThrow(/not a number/)
    expect(read(null)).toEqual([])
  })

  test('vectors.areReadInPages', () => {
    const ids = at.learn('s', ...Array.from({ length: 500 }, () => ({ title: 'a' })))
    const fragments = ['narrative', 'fact_0', 'fact_1', 'fact_2', 'fact_3'] as const
    at.core.putEmbeddings(fragments.flatMap((fragment) => ids.map((id) => ({ ...vectorOf(id, 1), fragment }))))
    const pages = [...at.reader.vectors(null, 'static-1', 0)]
    expect(pages.map((page) => page.length)).toEqual([2_000, 500])
    expect(new Set(pages.flat().map(({ id }) => id)).size).toBe(2_500)
    expect(at.core.dropEmbeddings('static-1')).toBe(2_000)
    expect(at.core.dropEmbeddings('static-1')).toBe(500)
  })
})
