/** What holds for every operation, and for requests of older clients. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { OPERATIONS, readOnlyCall } from '../../src/api/index.ts'
import { openApiDocument } from '../../src/api/openapi.ts'
import type { RestRoute } from '../../src/api/operation.ts'
import { ROUTES } from '../../src/api/routes.ts'
import { PROTOCOL_VERSION } from '../../src/domain/protocol.ts'
import { FILTER_NAMES, formatFilters, NO_FILTERS, parseFilters, SEARCH_FILTERS } from '../../src/domain/search-query.ts'
import { parseRequest } from '../../src/transport/server.ts'

const all = Object.entries(OPERATIONS)

test.each(all)('operations.%s describes itself', (name, { about, answerDescription, answerType = name }) => {
  expect(about).toMatch(/^[A-Z].*\.$/)
  expect(answerDescription).not.toBe('')
  expect(answerType).toMatch(/^[a-z_]+$/)
})

test.each(all)('operations.%s has routes whose parameters are fields of its input', (_name, { input, rest }) => {
  const fields = Object.keys(z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }).properties ?? {})
  for (const { path, params = {} } of rest as readonly RestRoute<object, object>[]) {
    const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => params[name] ?? name)
    expect(fields).toEqual(expect.arrayContaining(names))
  }
})

test('operations.no two routes answer the same request', () => {
  const keys = ROUTES.map(({ definition: { method, path, when } }) => `${method} ${path} ${JSON.stringify(when)}`)
  expect(new Set(keys).size).toBe(keys.length)
})

test('operations.a request of another protocol version is refused with the version', () => {
  for (const v of [0, 2, undefined, '1']) {
    expect(() => parseRequest({ v, id: '1', type: 'status' })).toThrow(`version ${PROTOCOL_VERSION} of the protocol`)
  }
  expect(() => parseRequest([])).toThrow('not a JSON object')
  expect(() => parseRequest({ v: 1, id: '1', type: 'toString' })).toThrow('unknown operation')
})

test('operations.clients before 0.2 nest fields', () => {
  const filters = { ...NO_FILTERS, project: 'shop' }
  const search = { v: 1, id: '1', type: 'search', request: { query: 'x', mode: 'auto', filters, limit: 5, offset: 0 } }
  expect(parseRequest(search)).toMatchObject({ name: 'search', input: { query: 'x', project: 'shop', limit: 5 } })
  const sessions = { v: 1, id: '1', type: 'sessions', filter: { limit: 3 } }
  expect(parseRequest(sessions).input).toEqual({ limit: 3 })
  const forget = { v: 1, id: '1', type: 'forget', ids: [], filters, confirm: false }
  expect(parseRequest(forget).input).toMatchObject({ project: 'shop', confirm: false })
})

test('operations.without a daemon only reading is possible', async () => {
  const call = readOnlyCall({
    reader: new Proxy({}, { get: () => async () => [] }) as never,
    search: () => Promise.reject(new Error('not used')),
    previewContext: () => Promise.reject(new Error('not used')),
    now: () => 0,
    me: () => null,
  })
  await expect(call('flush', { wait: true })).rejects.toMatchObject({ code: 'not_running', retryable: true })
  expect(await call('sessions')).toEqual({ sessions: [] })
})

test('operations.every filter has a field, a parameter and survives its written form', () => {
  const params = FILTER_NAMES.map((name) => SEARCH_FILTERS[name].param)
  expect(new Set(params).size).toBe(params.length)
  const filters = {
    ...NO_FILTERS,
    project: 'a shop',
    kinds: ['observation', 'summary'] as const,
    types: ['bugfix'] as const,
    concepts: ['auth', 'jwt'],
    files: ['a.ts', 'c.ts'],
    since: 1_700_000_000_000,
    pinned: true,
  }
  const written = new URLSearchParams(formatFilters(filters))
  expect(parseFilters((param) => written.getAll(param), 0)).toEqual(filters)
  expect(formatFilters(NO_FILTERS)).toEqual([])
})

test('operations.the OpenAPI document has every route', () => {
  const { paths } = openApiDocument() as { paths: Record<string, Record<string, object>> }
  for (const {
    definition: { method, path },
  } of ROUTES) {
    expect(paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]).toBeDefined()
  }
  const page = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8')
  expect(JSON.parse(page)).toEqual(JSON.parse(JSON.stringify(openApiDocument('0'))))
})
