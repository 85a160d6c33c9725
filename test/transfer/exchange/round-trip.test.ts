import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { OBSERVATION_STATUSES, OBSERVATION_TYPES } from '../../../src/domain/observation.ts'
import { PASSAGE_KINDS, type PassageDraft } from '../../../src/domain/passage.ts'
import type { Project } from '../../../src/domain/project.ts'
import { MEMORY_KINDS } from '../../../src/domain/search-query.ts'
import { type Commit, contentHash } from '../../../src/store/commit.ts'
import type { ExportRecord } from '../../../src/store/exchange-records.ts'
import { OTHER_PROJECT, randomFrom, type SearchFixture, searchFixture } from '../../search/search-fixture.ts'
import { NOW, observationOf, PROJECT, stateOf, summaryOf } from '../../store/samples.ts'
import { EVERYTHING, fileText, importInto, NOTHING, recordsOf, textSource, withoutIds } from './exchange.ts'

let from: SearchFixture
let into: SearchFixture
beforeEach(async () => {
  from = await searchFixture(null)
  into = await searchFixture(null)
})
afterEach(async () => {
  await from.dispose()
  await into.dispose()
})

const MOVED: Project = { key: 'dir:/home/me/schön', name: 'schön "quoted"' }
const WORDS = [
  'login',
  'token',
  'pool',
  'zebra',
  'getUserById',
  '登录',
  'crème',
  'line\nbreak',
  '\x1b[2J',
  '\u202eevil',
  '😀',
]

/** Some of them repeat others. */
function randomPassages(seed: number) {
  const random = randomFrom(seed + 1_000)
  const below = (n: number) => Math.floor(random() * n)
  const word = () => WORDS[below(WORDS.length)] ?? ''
  return (at: number, turn: number, promptNumber: number): PassageDraft[] =>
    Array.from({ length: below(5) }, (_, position) => ({
      kind: PASSAGE_KINDS[below(PASSAGE_KINDS.length)] ?? 'words',
      subject: below(2) === 0 ? word() : null,
      outcome: below(2) === 0 ? 'failed' : null,
      text: `${word()} ${word()}`,
      eventId: `p-${turn}`,
      position,
      promptNumber,
      at,
    }))
}

/** A memory of some sessions that take turns, with everything that a memory can hold. */
async function remembered({ commit, store }: SearchFixture, seed: number): Promise<void> {
  const random = randomFrom(seed)
  const below = (n: number) => Math.floor(random() * n)
  const text = () => Array.from({ length: 1 + below(6) }, () => WORDS[below(WORDS.length)]).join(' ')
  const maybe = (make: () => string) => (below(4) === 0 ? null : make())
  const passagesAt = randomPassages(seed)
  const ids: { id: number; project: string }[] = []
  const prompts = new Map<string, number>()
  let clock = NOW - 86_400_000
  for (let turn = 0; turn < 16; turn += 1) {
    const session = `session-${below(5)}`
    const number = (prompts.get(session) ?? 0) + 1
    prompts.set(session, number)
    const project = [PROJECT, OTHER_PROJECT, MOVED][below(3)] ?? PROJECT
    clock += 1 + below(3_600_000)
    const observations = Array.from({ length: below(4) }, () => {
      const plain = observationOf([`event-${below(99)}`], { promptNumber: number })
      const type = OBSERVATION_TYPES[below(6)] ?? 'change'
      const lists = { facts: [text(), text()].slice(below(3)), concepts: [text()].slice(below(2)) }
      const texts = { title: maybe(text), subtitle: maybe(text), narrative: maybe(text) }
      const agent = maybe(() => 'explorer')
      const status = OBSERVATION_STATUSES[below(3)] ?? null
      const changed = { ...plain, type, ...texts, ...lists, agent, status, discoveryTokens: below(999) }
      clock += 1
      return { ...changed, contentHash: contentHash(changed), createdAt: clock, model: maybe(() => 'a-model') }
    })
    const over: Partial<Commit> = {
      at: clock,
      state: stateOf({ project, prompts: number }),
      prompts: [{ eventId: `p-${turn}`, number, text: text(), private: below(5) === 0, at: clock }],
      observations,
      passages: passagesAt(clock, turn, number),
      summaries: below(2) === 0 ? [] : [summaryOf({ promptNumber: number, createdAt: clock + 1 })],
    }
    const added = await commit(session, over)
    ids.push(...added.map((id) => ({ id, project: project.key })))
  }
  for (const { id, project } of ids) {
    const older = ids.find((one) => one.project === project && one.id < id)
    if (older !== undefined && below(3) === 0)
      await store.link({
        from: id,
        to: older.id,
        kind: below(2) === 0 ? 'supersedes' : 'repeats',
        by: 'model',
        at: clock,
      })
    if (below(6) === 0) await store.pin([id], true, clock)
  }
}

/** A file cannot say whose words they were; everything else is the same. */
const asImported = (records: readonly ExportRecord[]): ExportRecord[] =>
  records.map((record) => (record.kind === 'observation' ? { ...record, saidBy: 'tool' } : record))

describe.each([1, 2])('exchange.roundTrip, seed %i', (seed) => {
  test('an export that was imported into an empty memory is exported the same', async () => {
    await remembered(from, seed)
    const before = recordsOf(from.database)
    const report = await importInto(into.store, textSource(fileText(before)))
    expect(report.problems).toEqual([])
    expect(withoutIds(recordsOf(into.database))).toEqual(withoutIds(asImported(before)))

    const again = await importInto(into.store, textSource(fileText(before)))
    expect(again).toMatchObject({ added: NOTHING, known: report.added, refused: 0 })

    // Prompts and passages are indexed later than their commit.
    for (const { store } of [from, into]) await store.indexNext(1_000)
    const titles = async (here: SearchFixture, query: string) =>
      (await here.search(query, { kinds: MEMORY_KINDS, mode: 'strict', limit: 50 })).hits.map(
        ({ kind, title, createdAt, supersededBy }) => [kind, title, createdAt, supersededBy !== null],
      )
    for (const query of ['login token', 'zebra', 'user by id', '登录', 'creme', '']) {
      expect(await titles(into, query)).toEqual(await titles(from, query))
    }
  })

  test('an import that died goes on where it stopped', async () => {
    await remembered(from, seed)
    const text = fileText(recordsOf(from.database))
    let left = 3
    const before = () => {
      left -= 1
      if (left < 0) throw new Error('killed')
    }
    await expect(importInto(into.store, textSource(text), { before, batchBytes: 2_000 })).rejects.toThrow('killed')
    const report = await importInto(into.store, textSource(text), { batchBytes: 2_000 })
    expect(report.refused).toBe(0)
    expect(report.known.prompt).toBeGreaterThan(0)
    expect(withoutIds(recordsOf(into.database))).toEqual(withoutIds(asImported(recordsOf(from.database))))
  })
})

describe('exchange.export', () => {
  test('leaves private prompts out, and says nothing of sessions that gave nothing', async () => {
    await from.commit('quiet', { prompts: [{ eventId: 'p', number: 1, text: '', private: true, at: NOW }] })
    expect(recordsOf(from.database)).toEqual([])
  })

  test('holds what passes the filters, with the links between what is in it', async () => {
    const [a = 0, b = 0] = await from.commit('s', {
      observations: [observationOf([]), observationOf([], { createdAt: NOW + 99 })],
      summaries: [summaryOf()],
    })
    await from.commit('t', { state: stateOf({ project: OTHER_PROJECT }), observations: [observationOf([])] })
    await from.store.link({ from: b, to: a, kind: 'supersedes', by: 'person', at: NOW })
    await from.store.pin([a], true, NOW)
    const kinds = (filters: Parameters<typeof recordsOf>[1]) =>
      recordsOf(from.database, filters).map(({ kind }) => kind)
    const ofShop = ['project', 'session', 'observation', 'observation', 'summary', 'link', 'pin']
    expect(kinds({ project: PROJECT.key })).toEqual(ofShop)
    expect(kinds({ since: NOW + 50 })).toEqual(['project', 'session', 'observation'])
    expect(kinds({ pinned: true })).toEqual(['project', 'session', 'observation', 'pin'])
    expect(kinds({ types: ['feature'] })).toEqual([])
  })

  test('shortens the key that names a project whose session has moved', async () => {
    const left = { key: `dir:/${'deep/'.repeat(600)}`, name: 'deep' }
    await from.commit('s', { state: stateOf({ project: left }), observations: [observationOf([])] })
    await from.commit('s', { state: stateOf({ project: OTHER_PROJECT }) })
    const report = await importInto(into.store, textSource(fileText(recordsOf(from.database))))
    expect(report).toMatchObject({ problems: [], refused: 0, added: { observation: 1 } })
  })

  test('is one state, though the daemon writes meanwhile', async () => {
    const { SqliteExport } = await import('../../../src/store/sqlite/export.ts')
    await from.commit('s', { observations: [observationOf([])] })
    const source = SqliteExport.open(from.database, EVERYTHING)
    const records = source.records()
    records.next()
    await from.commit('s', { observations: [observationOf([], { createdAt: NOW + 99 })] })
    expect([...records].filter(({ kind }) => kind === 'observation')).toHaveLength(1)
    source.close()
  })
})

describe('exchange.import', () => {
  const secret = `ghp_${'a1B2'.repeat(10)}`

  test('masks secrets, and still knows what it has masked', async () => {
    const narrative = `The token is ${secret}.`
    await from.commit('s', {
      observations: [{ ...observationOf([]), narrative }],
      prompts: [{ eventId: 'p', number: 1, text: `use ${secret} <private>mine</private>`, private: false, at: NOW }],
    })
    const text = fileText(recordsOf(from.database))
    await importInto(into.store, textSource(text))
    const copy = fileText(recordsOf(into.database))
    expect(copy).not.toContain(secret)
    expect(copy).not.toContain('mine')
    expect(copy).toContain('[secret:github-token]')
    expect((await importInto(into.store, textSource(text))).added).toEqual(NOTHING)
  })

  test('into the memory it came from adds nothing', async () => {
    await remembered(from, 9)
    const before = recordsOf(from.database)
    const report = await importInto(from.store, textSource(fileText(before)))
    expect(report).toMatchObject({ added: NOTHING, refused: 0 })
    expect(recordsOf(from.database)).toEqual(before)
  })

  test('as a dry run counts the same and keeps nothing', async () => {
    await remembered(from, 4)
    const text = fileText(recordsOf(from.database))
    const dry = await importInto(into.store, textSource(text), { dryRun: true })
    expect(recordsOf(into.database)).toEqual([])
    expect((await importInto(into.store, textSource(text))).added).toEqual(dry.added)
  })

  test('files a project of the file under another one here, by name or key', async () => {
    await from.commit('s', { observations: [observationOf([])] })
    const text = fileText(recordsOf(from.database))
    const map = { [PROJECT.name]: OTHER_PROJECT }
    await expect(importInto(into.store, textSource(text), { map: { shpo: OTHER_PROJECT } })).rejects.toThrow(
      'names shpo, which is not in the file; its projects: shop',
    )
    expect(recordsOf(into.database)).toEqual([])
    const { projects } = await importInto(into.store, textSource(text), { map })
    expect(projects).toEqual([{ from: PROJECT, to: OTHER_PROJECT }])
    expect(await into.store.observations({ project: OTHER_PROJECT.key })).toHaveLength(1)
  })

  test('leaves out what belongs to an excluded project, with everything that hangs on it', async () => {
    const [kept = 0] = await from.commit('s', { observations: [observationOf([])] })
    const state = stateOf({ project: OTHER_PROJECT, prompts: 1 })
    const prompts = [{ eventId: 'p', number: 1, text: 'a secret', private: false, at: NOW }]
    const learned = { state, prompts, observations: [observationOf([]), observationOf([])], summaries: [summaryOf()] }
    const [a = 0, b = 0] = await from.commit('t', learned)
    await from.store.link({ from: b, to: a, kind: 'supersedes', by: 'person', at: NOW })
    await from.store.pin([kept, a], true, NOW)
    const source = () => textSource(fileText(recordsOf(from.database)))
    const isExcluded = (_: string, { key }: { key: string }) => key === OTHER_PROJECT.key
    const report = await importInto(into.store, source(), { isExcluded })
    expect(report).toMatchObject({ added: { ...NOTHING, observation: 1, pin: 1 }, refused: 0, excluded: 6 })
    expect(recordsOf(into.database)).toEqual(asImported(recordsOf(from.database, { session: 's' })))
    // Judged by where it goes.
    const map = { [PROJECT.name]: OTHER_PROJECT }
    expect(await importInto(into.store, source(), { isExcluded, map })).toMatchObject({ added: NOTHING, excluded: 8 })
  })

  test('files what belongs to a merged project where that was merged into', async () => {
    await into.commit('live', { state: stateOf({ project: OTHER_PROJECT }) })
    await into.store.updateProjects([{ key: PROJECT.key, mergedInto: OTHER_PROJECT.key }], NOW)
    await from.commit('s', { observations: [observationOf([])] })
    await importInto(into.store, textSource(fileText(recordsOf(from.database))))
    expect(await into.store.observations({ project: OTHER_PROJECT.key })).toHaveLength(1)
  })
})
