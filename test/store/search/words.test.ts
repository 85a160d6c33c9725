import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { searchRowId } from '../../../src/store/search-port.ts'
import { NOW, promptOf, record, summaryOf } from '../samples.ts'
import { ALL, chunksOf, EVEN_WEIGHTS, SearchPlace } from './place.ts'

let at: SearchPlace
beforeEach(async () => {
  at = await SearchPlace.open()
})
afterEach(() => at.dispose())

describe('words', () => {
  test.each([
    ['getUserById', 'getUserById', 'getuserbyid', 'user', 'get user'],
    ['ERR_MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND', 'err_module_not_found', 'module'],
    ['src/auth/jwt.ts', 'src/auth/jwt.ts', 'auth/jwt.ts', 'jwt', 'jwt.ts'],
    ['v1.24.3', 'v1.24.3', '1.24.3'.slice(2), '24'],
    ['sha256', 'sha256', 'SHA256', '256'],
    ['HTTPServer', 'HTTPServer', 'http', 'server'],
    ['tokens were expiring', 'token', 'expired', 'expire'],
    ['naïve café', 'naive', 'CAFÉ', 'cafe'],
  ])('%s is found by its whole and its parts', (text, ...queries) => {
    const [id] = at.learn('s', { narrative: `It was ${text} all along.` })
    at.learn('t', { narrative: 'Something else entirely.' })
    for (const query of queries) expect([query, at.find(query)]).toEqual([query, [id]])
  })

  test.each([
    ['用户认证失败时需要重新登录', '认证', '认证失败', '证', '录', '重新登录'],
    ['データベースの接続が切れました', 'データベース', '接続', '切れ', 'ース'],
    ['데이터베이스를 다시 연결했다', '데이터베이스', '연결', '다시'],
    ['การเชื่อมต่อฐานข้อมูลล้มเหลว', 'ฐานข้อมูล', 'เชื่อมต่อ'],
    ['修复 getUserById 的缓存', '缓存', 'getUserById 缓存', '修复 user'],
  ])('%s is found by any part of it', (text, ...queries) => {
    const [id] = at.learn('s', { title: text })
    at.learn('t', { title: '完全不同的内容 まったく別の話 전혀 다른 것 อื่น' })
    for (const query of queries) expect([query, at.find(query)]).toEqual([query, [id]])
    expect(at.find('认失')).toEqual([])
  })

  test('words.standInEveryPartOfAMemory', () => {
    const [id] = at.learn('s', {
      title: 'alpha',
      subtitle: 'bravo',
      narrative: 'charlie',
      facts: ['delta'],
      concepts: ['echo'],
      filesRead: ['foxtrot.ts'],
      filesModified: ['golf.ts'],
      functionsChanged: [{ name: 'hotelLobby', file: 'golf.ts', action: 'new' }],
    })
    for (const word of ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot', 'golf', 'hotelLobby', 'lobby']) {
      expect([word, at.find(word)]).toEqual([word, [id]])
    }
  })

  test('words.ofSummariesAndPromptsAreFoundButNeverOfPrivateOnes', () => {
    const prompt = (number: number, text: string, isPrivate: boolean) => {
      return { eventId: `p${number}`, number, text, private: isPrivate, at: NOW }
    }
    at.commit('s', {
      events: [record(promptOf('s', 'p1')), record(promptOf('s', 'p2'))],
      prompts: [prompt(1, 'make the quokka jump', false), prompt(2, 'the wombat is secret', true)],
      summaries: [summaryOf({ nextSteps: 'feed the numbat' })],
    })
    at.indexAll()
    const rows = (text: string) => at.reader.lexical({ text, how: 'every' }, ALL, EVEN_WEIGHTS, 9).map(({ row }) => row)
    expect(rows('quokka')).toEqual([searchRowId('prompt', 1)])
    expect(rows('numbat')).toEqual([searchRowId('summary', 1)])
    expect(rows('wombat')).toEqual([])
    expect(at.reader.loadMemories([...rows('quokka'), ...rows('numbat')])).toMatchObject([
      { kind: 'prompt', id: 1, title: 'make the quokka jump', projectName: 'shop', type: null },
      { kind: 'summary', id: 1, title: 'fix the login', files: ['a.ts'] },
    ])
    expect(at.reader.count({ ...ALL, kinds: ['prompt'] })).toBe(1)
  })

  test('words.thatSayNothingAreLookedForOnlyAlone', () => {
    const [a] = at.learn('s', { narrative: 'to be or not' })
    const [b] = at.learn('t', { narrative: 'login' })
    expect(at.find('how to fix the login', 'any')).toEqual([b])
    expect(at.find('the login')).toEqual([b])
    expect(at.find('to be')).toEqual([a])
  })

  test('strict.wantsEveryWordInTheMemoryItselfNewestFirst', () => {
    const [a, , c] = at.learn(
      's',
      { title: 'red', narrative: 'blue' },
      { title: 'red' },
      { title: 'blue', facts: ['red'] },
    )
    expect(at.find('red blue')).toEqual([c, a])
    expect(at.find('red green')).toEqual([])
  })

  test('ranked.countsWhatStandsBesideAMemory', () => {
    const [, a, b, , , f] = at.learn('s', ...['x', 'y', 'quokka', 'z', 'v', 'w'].map((title) => ({ title })))
    const found = at.find('quokka', 'any')
    expect(found[0]).toBe(b)
    expect(found).toContain(a)
    expect(found).not.toContain(f)
    const alone = at.reader.lexical({ text: 'quokka', how: 'any' }, ALL, { ...EVEN_WEIGHTS, neighbours: 0 }, 9)
    expect(alone.filter(({ score }) => score > 0).map(({ row }) => row)).toEqual([searchRowId('observation', b ?? 0)])
  })

  test('chunks.sayWhatASessionIsAbout', () => {
    const first = at.learn('s', ...Array.from({ length: 40 }, (_, n) => ({ title: n < 32 ? 'marsupial' : 'bird' })))
    at.learn('t', { title: 'bird' })
    const places = chunksOf(at.reader, first)
    expect(new Set(first.slice(0, 32).map((id) => places.get(id))).size).toBe(1)
    const [best, ...rest] = at.reader.chunks('marsupial', null, 9)
    expect(rest).toEqual([])
    expect(best?.chunk).toBe(places.get(first[0] ?? 0))
    expect(at.reader.chunks('bird', null, 9)).toHaveLength(2)
    expect(at.reader.chunks('bird', 'other', 9)).toEqual([])
  })

  test('matchedWords.areThoseThatStandInIt', () => {
    const [a = 0, b = 0] = at.learn('s', { title: 'quokkas jump' }, { title: 'login' })
    const rows = [searchRowId('observation', a), searchRowId('observation', b)]
    expect(at.reader.matchedWords('the Quokka jumping login', rows)).toEqual(
      new Map([
        [rows[0], ['Quokka', 'jumping']],
        [rows[1], ['login']],
      ]),
    )
  })
})

describe('any query is safe', () => {
  test.each([
    '"quokka',
    "quokka'",
    'quokka*',
    'NEAR(quokka, 2)',
    'quokka AND',
    'OR quokka',
    'title: quokka',
    '{title} : quokka',
    '- quokka',
    '^quokka',
    'quokka 🎉',
    'quokka\0',
    'quokka \ud800',
    '(((quokka',
    'quokka -- ; DROP TABLE observations',
  ])('%j', (query) => {
    const [id] = at.learn('s', { title: 'near and or title quokka drop table observations' })
    expect(at.find(query, 'any')).toEqual([id])
    expect(at.find('', 'any')).toEqual([])
  })

  test.each(['', ' ', '🎉🎉', '"', '""', '*', '\0', '()', '—', '́'])('nothing to look for in %j', (query) => {
    at.learn('s', { title: 'something' })
    expect(at.find(query)).toEqual([])
    expect(at.find(query, 'any')).toEqual([])
    expect(at.reader.chunks(query, null, 9)).toEqual([])
  })

  test.each([
    ['many words', Array.from({ length: 2_500 }, (_, n) => `w${n}`).join(' ')],
    ['one word', 'x'.repeat(10_000)],
    ['one path', 'a/'.repeat(5_000)],
    ['no spaces', '数据'.repeat(5_000)],
    ['quotes', '"'.repeat(10_000)],
  ])('10 KB of %s', (_, query) => {
    at.learn('s', { title: 'w3 数据' })
    for (const how of ['any', 'every'] as const) expect(at.find(query, how).length).toBeLessThanOrEqual(1)
    expect(at.reader.chunks(query, null, 9).length).toBeLessThanOrEqual(1)
  })

  test('whatever it is made of', () => {
    at.learn('s', { title: 'quokka' })
    const nasty = fc.constantFrom(
      '"',
      '*',
      '^',
      ':',
      '(',
      ')',
      '{',
      '}',
      '-',
      '+',
      ' ',
      'AND',
      'OR',
      'NOT',
      'NEAR',
      '数',
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.oneof(nasty, fc.string()), { maxLength: 20 }).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(text, fc.constantFrom('any' as const, 'every' as const), (query, how) => {
        at.find(query, how)
        at.reader.chunks(query, null, 5)
        at.reader.matchedWords(query, [4])
        expect(at.find(`${query} quokka`, 'any')).toHaveLength(1)
      }),
      { numRuns: 300 },
    )
  })
})
