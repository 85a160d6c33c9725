/** docs/protocol.md names everything that can be said. The lists are complete, or this does not compile. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { MemoryChange, StreamItem } from '../../src/actors/stream.ts'
import type { Answer, Request } from '../../src/channel/protocol.ts'
import { ROUTES } from '../../src/channel/rest.ts'

const page = readFileSync(new URL('../../docs/protocol.md', import.meta.url), 'utf8')

const REQUESTS: Record<Request['type'], true> = {
  hello: true,
  event: true,
  file_context: true,
  status: true,
  sessions: true,
  session: true,
  context: true,
  queue: true,
  usage: true,
  calls: true,
  queue_retry: true,
  queue_clear: true,
  flush: true,
  close_session: true,
  reopen_session: true,
  reported: true,
  import: true,
  backup: true,
  backups: true,
  stop: true,
  handover: true,
  subscribe: true,
  search: true,
  observations: true,
  timeline: true,
  summaries: true,
  remember: true,
  correct: true,
  forget: true,
  pin: true,
  link: true,
  memory_stats: true,
  reindex: true,
  indexing: true,
  origin: true,
  event_view: true,
  story: true,
  activity: true,
  payloads: true,
  viewer_link: true,
  settings: true,
  setting_set: true,
  projects: true,
  project_rename: true,
  project_merge: true,
  files: true,
}
const ANSWERS: Record<Answer['type'], true> = {
  hello: true,
  ack: true,
  recalled: true,
  status: true,
  sessions: true,
  session: true,
  context: true,
  queue: true,
  usage: true,
  calls: true,
  reported: true,
  imported: true,
  done: true,
  backups: true,
  subscribed: true,
  found: true,
  observations: true,
  timeline: true,
  summaries: true,
  remembered: true,
  forgotten: true,
  pinned: true,
  linked: true,
  memory_stats: true,
  indexing: true,
  projects: true,
  project: true,
  project_merged: true,
  origin: true,
  event_view: true,
  story: true,
  activity: true,
  payloads: true,
  viewer_link: true,
  settings: true,
  files: true,
  error: true,
}
const ITEMS: Record<StreamItem['type'] | MemoryChange['change'], true> = {
  commit: true,
  change: true,
  forgotten: true,
  pinned: true,
  linked: true,
  imported: true,
  projects: true,
  quarantined: true,
  erased: true,
}

test.each(Object.keys(REQUESTS))('the request %s has a row', (type) => {
  expect(page).toMatch(new RegExp(`^\\| \`${type}\` \\|`, 'm'))
})

test('every answer and item is named', () => {
  const named = (type: string) => page.includes(`\`${type}\``) || page.includes(`"type":"${type}"`)
  expect([...Object.keys(ANSWERS), ...Object.keys(ITEMS)].filter((type) => !named(type))).toEqual([])
})

test('every address has a row, and every row an address', () => {
  const rows = [...page.matchAll(/^\| `(GET|POST|PUT|DELETE) (\/api\/[^`?]*)/gm)].map(([, method, path = '']) => ({
    method,
    path: path.replaceAll(/:\w+/g, '1'),
  }))
  const matches = (route: (typeof ROUTES)[number], row: (typeof rows)[number]) =>
    route.method === row.method && route.path.test(row.path)
  expect(rows.filter((row) => !ROUTES.some((route) => matches(route, row)))).toEqual([])
  expect(ROUTES.filter((route) => !rows.some((row) => matches(route, row)))).toEqual([])
})
