/** Passages: each once in a project, found by their words and by those around them, with what they belong to. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NO_FILTERS, type SearchFilters } from '../../../src/domain/search-query.ts'
import { NOW, observationOf, passageOf, record, settle, toolUse } from '../samples.ts'
import { SearchPlace } from './place.ts'

/** The origin of a memory that this machine made. */
const OWN = { uid: expect.stringMatching(/^[0-9a-f]{32}$/), author: null, machine: null }

let place: SearchPlace
beforeEach(async () => {
  place = await SearchPlace.open()
})
afterEach(async () => place.close())

const WEIGHTS = { text: 1, around: 0.25 }

function index(): void {
  for (;;) {
    const { done, total } = place.core.indexNext(100)
    if (done >= total) return
  }
}

/** Texts of what is found, best first. */
function found(text: string, filters: Partial<SearchFilters> = {}, how: 'every' | 'any' = 'any'): string[] {
  index()
  const hits = place.reader.passages({ text, how }, { ...NO_FILTERS, ...filters }, WEIGHTS, 100)
  return place.reader.loadPassages(hits.map(({ id }) => id)).map((passage) => passage.text)
}

test('passages.areStoredWithTheirCommit', () => {
  const passage = passageOf('The pool had ten connections.', {
    kind: 'command',
    subject: 'npm test',
    outcome: 'failed',
  })
  place.commit('s1', { passages: [passage] })
  expect(place.core.passagesOfEvent('s1', 'e1')).toEqual([
    { ...passage, ...OWN, id: 1, session: 's1', project: 'git:/home/me/shop' },
  ])
})

test('passages.ofAnyTextAreReadAsTheyWere', () => {
  const texts = ['x', '日本語のテキスト', 'a'.repeat(600), '\u0000\u0001 binary', '🙂'.repeat(100), 'Größe: 3 µm']
  place.commit('s1', { passages: texts.map((text, position) => passageOf(text, { position })) })
  expect(place.core.passagesOfTurn('s1', 1).map(({ text }) => text)).toEqual(texts)
})

test('passages.thatAreRepeatedArePartOfTheNewestEvent', () => {
  place.commit('s1', { passages: [passageOf('Deploys go out on Tuesdays.')] })
  place.commit('s2', {
    passages: [passageOf('Deploys go out on Tuesdays.', { eventId: 'e2', at: NOW + 1, promptNumber: 4 })],
  })
  place.commit('s3', { passages: [passageOf('Deploys go out on Tuesdays.', { eventId: 'e0', at: NOW - 1 })] })
  expect(place.core.passagesOfEvent('s1', 'e1')).toEqual([])
  expect(place.core.passagesOfEvent('s3', 'e0')).toEqual([])
  expect(place.core.passagesOfEvent('s2', 'e2')).toMatchObject([{ id: 1, promptNumber: 4, at: NOW + 1, session: 's2' }])
})

test('passages.withAnotherKindOrSubjectAreOthers', () => {
  const same = [
    passageOf('one'),
    passageOf('one', { kind: 'closing', position: 1 }),
    passageOf('one', { subject: 'a', position: 2 }),
  ]
  place.commit('s1', { passages: [...same, passageOf('one', { position: 3 })] })
  expect(place.core.passagesOfEvent('s1', 'e1').map(({ position }) => position)).toEqual([0, 1, 2])
})

test('passages.areFoundByWordsPartsOfNamesAndPairsOfLetters', () => {
  place.commit('s1', {
    passages: [
      passageOf('Call getUserById before the token is checked.'),
      passageOf('数据库连接池太小了', { eventId: 'e2' }),
      passageOf('The build is green.', { kind: 'edit', subject: 'src/auth/jwt.ts', eventId: 'e3' }),
    ],
  })
  expect(found('user')).toEqual(['Call getUserById before the token is checked.'])
  expect(found('连接池')).toEqual(['数据库连接池太小了'])
  expect(found('jwt.ts')).toEqual(['The build is green.'])
  expect(found('green build', {}, 'every')).toEqual(['The build is green.'])
  expect(found('green token', {}, 'every')).toEqual([])
})

test('passages.areFoundByTheWordsAroundThemToo', () => {
  const passages = ['The cache is warm.', 'It expires nightly.', 'Nothing else.'].map((text, position) =>
    passageOf(text, { position }),
  )
  place.commit('s1', { passages })
  expect(found('cache')).toEqual(['The cache is warm.', 'It expires nightly.'])
  expect(found('cache', {}, 'every')).toEqual(['The cache is warm.'])
  const siblings = place.reader.passageSiblings([1, 2, 3])
  expect([...siblings.values()]).toEqual([
    { before: null, after: 2 },
    { before: 1, after: 3 },
    { before: 2, after: null },
  ])
})

test('passages.thatMovedAreNoLongerAroundTheirOldNeighbours', () => {
  place.commit('s1', { passages: [passageOf('Use the quokka queue.'), passageOf('It is faster.', { position: 1 })] })
  expect(found('quokka')).toHaveLength(2)
  place.commit('s2', { passages: [passageOf('Use the quokka queue.', { eventId: 'e2', at: NOW + 1 })] })
  expect(found('quokka')).toEqual(['Use the quokka queue.'])
})

test('passages.areFilteredByProjectSessionTimeAndFile', () => {
  place.commit('s1', { passages: [passageOf('alpha one', { kind: 'edit', subject: 'src/Auth.ts' })] })
  place.commit('s2', { passages: [passageOf('alpha two', { at: NOW + 5, kind: 'prompt' })] })
  expect(found('alpha', { session: 's2' })).toEqual(['alpha two'])
  expect(found('alpha', { project: 'git:/home/me/shop' })).toHaveLength(2)
  expect(found('alpha', { project: 'git:/elsewhere' })).toEqual([])
  expect(found('alpha', { since: NOW + 1 })).toEqual(['alpha two'])
  expect(found('alpha', { until: NOW + 1 })).toEqual(['alpha one'])
  expect(found('alpha', { files: ['src/auth.ts'] })).toEqual(['alpha one'])
  expect(found('alpha', { author: 'user' })).toEqual(['alpha two'])
  expect(found('alpha', { pinned: true })).toEqual([])
})

test('passages.nameTheObservationsOfTheirEvent', () => {
  const event = toolUse('s1', 'e1')
  place.commit('s1', { events: [record(event)], passages: [passageOf('alpha')] })
  const [id] = place.commit('s1', {
    observations: [observationOf(['e1'])],
    inbox: [settle('x', [{ eventId: 'e1', kind: 'observed', reason: null }])],
  })
  expect(place.reader.loadPassages([1])).toMatchObject([{ observationIds: [id], projectName: 'shop' }])
})

test('passages.newestOfSomeKindsAreListed', () => {
  place.commit('s1', { passages: [passageOf('old', { kind: 'closing' })], at: NOW })
  place.commit('s2', {
    at: NOW + 10,
    passages: [
      passageOf('words', { at: NOW + 1 }),
      passageOf('first', { at: NOW + 1, kind: 'closing', eventId: 'e2' }),
      passageOf('second', { at: NOW + 2, kind: 'closing', eventId: 'e3', promptNumber: 2 }),
      passageOf('third', { at: NOW + 2, kind: 'closing', eventId: 'e3', promptNumber: 2, position: 1 }),
    ],
  })
  const newest = (limit: number) =>
    place.core.newestPassages({ project: 'git:/home/me/shop', kinds: ['closing'], limit }).map(({ text }) => text)
  expect(newest(10)).toEqual(['second', 'third', 'first', 'old'])
  expect(newest(2)).toEqual(['second', 'third'])
})
