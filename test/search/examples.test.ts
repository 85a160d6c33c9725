/** What people type, and what they expect to find: with the embedder that comes with the program. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { staticEmbedder } from '../../src/search/embedders/static.ts'
import { learn, type SearchFixture, searchFixture } from './search-fixture.ts'

/** Each in a session of its own: what stands beside a memory is not the subject here. */
const MEMORIES = {
  jwt: {
    title: 'Expired sessions are refused',
    narrative: 'verifyToken in src/auth/jwt.ts compares the expiry with the clock before anything else.',
    filesModified: ['src/auth/jwt.ts'],
  },
  user: {
    title: 'Lookup by key made one query',
    narrative: 'getUserById ran two statements; it now reads the row and its roles at once.',
    functionsChanged: [{ name: 'getUserById', file: 'src/users.ts', action: 'modified' as const }],
  },
  esm: {
    title: 'Build works on Node 20 again',
    narrative: 'It ended with ERR_MODULE_NOT_FOUND because an import lacked its extension.',
    facts: ['typescript 5.9.3 emits no extensions', 'node v20.11.1 wants them'],
  },
  retry: {
    title: 'Backoff between attempts',
    narrative: 'max_retry_count limits how often a delivery is tried; parse_http_header reads Retry-After.',
  },
  sqlite: {
    title: 'SQLite instead of Postgres',
    type: 'decision' as const,
    narrative: 'We chose SQLite: one file, no server to install, and a single writer is enough for one user.',
  },
  upload: {
    title: 'Uploads are received in parts',
    narrative: 'The server now receives large files in pieces and puts them together.',
  },
  auth: {
    title: 'Authentication moved to the gateway',
    narrative: 'Requests are authenticated once, before they reach a service.',
  },
  color: { title: 'Colours of the theme', narrative: 'The palette of the dark theme has more contrast.' },
  chinese: {
    title: '修复了登录问题',
    narrative: '用户登录时令牌已过期，因为数据库连接池太小。',
    facts: ['把连接池大小改为二十'],
  },
  japanese: {
    title: 'ログイン画面の不具合を修正',
    narrative: 'セッションの有効期限が切れると、データベース接続が閉じられていなかった。',
  },
  korean: {
    title: '로그인 오류를 수정했다',
    narrative: '데이터베이스연결이 닫히지 않아서 사용자인증이 실패했다.',
  },
}
type Name = keyof typeof MEMORIES

let here: SearchFixture
const names = new Map<number, Name>()

beforeAll(async () => {
  here = await searchFixture(await staticEmbedder())
  for (const name of Object.keys(MEMORIES) as Name[]) {
    const [id = 0] = await learn(here, name, [MEMORIES[name]])
    names.set(id, name)
  }
  await here.index()
})
afterAll(() => here.dispose())

async function best(query: string, mode: 'auto' | 'strict' | 'semantic' = 'auto'): Promise<Name | undefined> {
  const [first] = await here.found(query, { mode })
  return first === undefined ? undefined : names.get(first)
}

describe('languages without spaces', () => {
  test.each<[string, Name]>([
    ['登录', 'chinese'],
    ['令牌过期', 'chinese'],
    ['数据库连接池', 'chinese'],
    ['为什么用户登录失败', 'chinese'],
    ['池', 'chinese'],
    ['ログイン', 'japanese'],
    ['有効期限', 'japanese'],
    ['データベース接続', 'japanese'],
    ['로그인', 'korean'],
    ['데이터베이스', 'korean'],
    ['인증', 'korean'],
  ])('%s finds it inside a longer text', async (query, name) => {
    expect(await best(query)).toBe(name)
  })

  test.each<[string, Name]>([
    ['数据库', 'chinese'],
    ['二十', 'chinese'],
    ['画面', 'japanese'],
    ['사용자', 'korean'],
  ])('%s is found word for word', async (query, name) => {
    expect(await best(query, 'strict')).toBe(name)
  })

  test('a snippet shows the words that were found', async () => {
    const { hits } = await here.search('连接池')
    expect(hits[0]?.snippet).toContain('连接池')
    expect(hits[0]?.matched).toEqual(['连接池'])
  })
})

describe('code', () => {
  test.each<[string, Name]>([
    ['getUserById', 'user'],
    ['getuserbyid', 'user'],
    ['get user', 'user'],
    ['get_user_by_id', 'user'],
    ['userById', 'user'],
    ['ERR_MODULE_NOT_FOUND', 'esm'],
    ['module not found', 'esm'],
    ['err_module_not_found', 'esm'],
    ['src/auth/jwt.ts', 'jwt'],
    ['auth/jwt', 'jwt'],
    ['jwt.ts', 'jwt'],
    ['jwt', 'jwt'],
    ['src\\auth\\jwt.ts', 'jwt'],
    ['verify token', 'jwt'],
    ['5.9.3', 'esm'],
    ['v20.11.1', 'esm'],
    ['20.11', 'esm'],
    ['maxRetryCount', 'retry'],
    ['parseHttpHeader', 'retry'],
    ['parseHTTPHeader', 'retry'],
    ['retry-after', 'retry'],
  ])('%s is found', async (query, name) => {
    expect(await best(query)).toBe(name)
  })

  test.each<[string, Name]>([
    ['getUserById', 'user'],
    ['ERR_MODULE_NOT_FOUND', 'esm'],
    ['auth/jwt', 'jwt'],
    ['jwt.ts', 'jwt'],
    ['"src/auth/jwt.ts"', 'jwt'],
    ['5.9.3', 'esm'],
    ['max_retry_count', 'retry'],
  ])('%s is found word for word', async (query, name) => {
    expect(await here.found(query, { mode: 'strict' })).toEqual(
      [...names].flatMap(([id, one]) => (one === name ? [id] : [])),
    )
  })
})

describe('questions', () => {
  test.each<[string, Name]>([
    ['why did we choose SQLite over Postgres?', 'sqlite'],
    ['Which database did we pick, and why?', 'sqlite'],
    ['how do we check that a session has expired?', 'jwt'],
    ['what was wrong with the build?', 'esm'],
    ['how are big files sent to the server?', 'upload'],
    ["what's the limit of tries for a delivery?", 'retry'],
  ])('%s', async (query, name) => {
    expect(await best(query)).toBe(name)
  })

  test('the answer explains a hit with the matched words and the closest fragment', async () => {
    const { hits } = await here.search('which typescript emits extensions?')
    expect(hits[0]).toMatchObject({
      matched: ['typescript', 'emits', 'extensions'],
      explanation: { fragment: 'fact 1' },
    })
    expect(hits[0]?.snippet).toContain('typescript 5.9.3 emits no extensions')
  })
})

describe('misspelt', () => {
  test.each<[string, Name]>([
    ['authentification', 'auth'],
    ['authentcation', 'auth'],
    ['recieve files', 'upload'],
    ['recieves', 'upload'],
    ['postgress', 'sqlite'],
    ['sqllite', 'sqlite'],
    ['palete', 'color'],
    ['gatway', 'auth'],
    ['getUserByld', 'user'],
  ])('%s is still found', async (query, name) => {
    expect(await best(query)).toBe(name)
  })

  test('spelling variants are only searched for unknown words, and not in strict mode', async () => {
    const { notes } = await here.search('authentification at the gateway')
    expect(notes).toEqual(['no memory contains "authentification": words with a similar spelling were searched too'])
    expect((await here.search('authentication at the gateway')).notes).toEqual([])
    expect(await here.found('authentification', { mode: 'strict' })).toEqual([])
  })

  test.each(['kubernetes', 'zzzzzzzz', 'authoritarianism'])('%s has no spelling variant', async (query) => {
    expect((await here.search(query)).notes).toEqual([])
  })
})
