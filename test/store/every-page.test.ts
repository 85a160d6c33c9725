/**
 * One page after the other of a small database is damaged, and the file is cut off at many lengths. A recovery without any
 * backup must keep every row whose own pages can be read.
 */
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DamagedDatabase } from '../../src/store/recovery/damaged-database.ts'
import { Database, raw } from '../../src/store/sqlite/database.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { type Place, place } from './place.ts'
import {
  accepting,
  callOf,
  claim,
  commitOf,
  NOW,
  observationOf,
  passageOf,
  promptOf,
  record,
  settle,
  summaryOf,
  toolUse,
  traceOf,
  turnOf,
} from './samples.ts'

const PAGE_BYTES = 4096
/** Columns that recovery never changes, of every table with rows that cannot be derived from others. */
const TABLES = {
  sdk_sessions: 'content_session_id, project',
  events: 'content_session_id, event_id, kind, received_at',
  user_prompts: 'content_session_id, prompt_number, prompt_text',
  pending_messages: 'content_session_id, event_id, payload',
  payloads: 'content_session_id, event_id, payload',
  observations: 'content_session_id, title, narrative, facts, uid',
  session_summaries: 'content_session_id, learned, uid',
  observer_turns: 'content_session_id, role, content',
  passages: 'content_session_id, event_id, text, digest',
  embeddings: 'observation_id, embedder, vector',
  links: 'from_id, to_id, kind',
  pins: 'at',
  trace: 'content_session_id, reason',
  calls: 'content_session_id, effect_id, sent, cost',
  projects: '"key", name',
  project_directories: '"key", repository',
  forgotten_sessions: 'content_session_id, at',
}
type TableName = keyof typeof TABLES
const NAMES = Object.keys(TABLES) as TableName[]

interface KnownRow {
  table: TableName
  id: number
  content: string
  /** Its leaf and its overflow pages. */
  pages: Set<number>
}

let original: Place
let work: Place
let rows: KnownRow[]
let pageCount: number

function contents(file: string, table: TableName): Map<number, string> {
  const db = new Database(file, { readonly: true })
  const columns = raw(TABLES[table])
  const found = db.all<{ id: number }>`SELECT id, ${columns} FROM ${raw(table)} ORDER BY id`
  db.close()
  return new Map(found.map((row) => [row.id, JSON.stringify(row)]))
}

/** Where every row is: `dbstat` has the leaves in the order of their rows, with the overflow pages of each cell. */
function locate(file: string): KnownRow[] {
  const db = new Database(file, { readonly: true })
  const located = NAMES.flatMap((table) => {
    const known = [...contents(file, table)].map(([id, content]) => ({ table, id, content, pages: new Set<number>() }))
    const pages = db.all<{ path: string; pageno: number; pagetype: string; ncell: number }>`
      SELECT path, pageno, pagetype, ncell FROM dbstat WHERE name = ${table} ORDER BY path`
    let next = 0
    for (const leaf of pages.filter(({ pagetype }) => pagetype === 'leaf')) {
      const cells = known.slice(next, next + leaf.ncell)
      next += leaf.ncell
      for (const cell of cells) cell.pages.add(leaf.pageno)
      for (const { path, pageno, pagetype } of pages) {
        const [of, cell] = [path.slice(0, leaf.path.length), path.slice(leaf.path.length)]
        if (pagetype === 'overflow' && of === leaf.path) cells[Number.parseInt(cell, 16)]?.pages.add(pageno)
      }
    }
    expect(next).toBe(known.length)
    return known
  })
  db.close()
  for (const row of located)
    for (const parent of parentsOf(row, located)) for (const page of parent.pages) row.pages.add(page)
  return located
}

/** Rows without which a row cannot be kept, because it refers to them. */
function parentsOf({ table, id, content }: KnownRow, all: readonly KnownRow[]): KnownRow[] {
  const row = JSON.parse(content)
  const observations =
    table === 'embeddings'
      ? [row.observation_id]
      : table === 'links'
        ? [row.from_id, row.to_id]
        : table === 'pins'
          ? [id]
          : []
  return all.filter(
    (other) =>
      (other.table === 'observations' && observations.includes(other.id)) ||
      (table === 'payloads' && other.table === 'events' && isSameEvent(JSON.parse(other.content), row)),
  )
}

const isSameEvent = (a: Record<string, unknown>, b: Record<string, unknown>) =>
  a.content_session_id === b.content_session_id && a.event_id === b.event_id

beforeAll(async () => {
  original = place()
  work = place()
  const store = await openSqliteStore(original.options)
  const long = (n: number, text: string) => `${n}:${text.repeat(20)}`
  for (let s = 1; s <= 6; s += 1) {
    const session = `session-${s}`
    const numbers = Array.from({ length: 12 }, (_, n) => n + 1)
    const calls = numbers.map((n) => callOf(`${session}-e${n}`, { sent: long(n, 'what was sent ') }))
    const tools = numbers.map((n) => toolUse(session, `t${n}`, 'x'.repeat(n === 3 ? 9_000 : 100)))
    const passages = numbers.map((n) => passageOf(`${session} ${long(n, 'words ')}`, { position: n, eventId: `p${n}` }))
    const prompts = numbers.map((n) => ({
      eventId: `p${n}`,
      number: n,
      text: long(n, 'do this '),
      private: false,
      at: NOW,
    }))
    const observations = numbers.map((n) =>
      observationOf([], { title: `${session} n${n}`, narrative: long(n, 'lesson ').repeat(n === 5 ? 30 : 1) }),
    )
    const turns = numbers.map((n) => turnOf(n % 2 === 0 ? 'user' : 'assistant', long(n, 'said ')))
    const group = [
      commitOf(session, 1, { events: prompts.map(({ eventId }) => record(promptOf(session, eventId))), prompts }),
      accepting(session, 2, tools),
      commitOf(session, 3, { inbox: [claim(`${session}-e`, 'observe', 6)] }),
      commitOf(session, 4, {
        inbox: [settle(`${session}-e`)],
        observations,
        passages,
        turns,
        calls,
        keepPayloads: true,
      }),
      commitOf(session, 5, { summaries: [summaryOf()], trace: numbers.map((n) => traceOf(`why ${n}`)) }),
    ]
    for (const commit of group) expect(store.commit([commit])).toMatchObject([{ ok: true }])
  }
  const ids = store.observations({}).map(({ id }) => id)
  for (const id of ids.slice(0, -1))
    store.link({ from: id, to: Math.min(...ids), kind: 'amends', by: 'model', at: NOW })
  store.pin(ids.slice(0, 30), true, NOW)
  store.updateProjects([{ key: 'git:/a', name: 'A' }], NOW, [
    { key: 'git:/a', repository: 'repo:host/a', state: 'linked', told: true, createdAt: NOW },
  ])
  store.putEmbeddings(
    ids
      .slice(0, 40)
      .map((id) => ({ observationId: id, fragment: 'narrative' as const, embedder: 'm', vector: new Float32Array(8) })),
  )
  for (let state = store.indexState(); state.done < state.total; state = store.indexNext(1_000));
  await store.eraseSession('session-6', NOW)
  await store.close()
  rows = locate(original.file)
  pageCount = statSync(original.file).size / PAGE_BYTES
  for (const table of NAMES) expect(rows.filter((row) => row.table === table).length, table).toBeGreaterThan(0)
})
afterAll(() => {
  original.dispose()
  work.dispose()
})

/** Reads a damaged copy and returns the rows that it should have and has not, or has with other content. */
function unreadAfter(damage: (file: string) => void, isReadable: (row: KnownRow) => boolean): string[] {
  mkdirSync(join(work.directory, 'data'), { recursive: true })
  copyFileSync(original.file, work.file)
  damage(work.file)
  const source = DamagedDatabase.open(work.file)
  try {
    return missing(isReadable, (table) => {
      const columns = TABLES[table].replaceAll('"', '').split(', ')
      const found = [...source.rows(table, ['id', ...columns])]
      return new Map(found.map((row) => [Number(row.id), JSON.stringify(ordered(row, columns))]))
    })
  } finally {
    source.close()
  }
}

const ordered = (row: Record<string, unknown>, columns: string[]) =>
  Object.fromEntries(['id', ...columns].map((column) => [column, row[column]]))

/** The same for a recovery at the start of a store. */
async function lostAfter(damage: (file: string) => void, isReadable: (row: KnownRow) => boolean): Promise<string[]> {
  rmSync(join(work.directory, 'data'), { recursive: true, force: true })
  mkdirSync(join(work.directory, 'data'))
  copyFileSync(original.file, work.file)
  damage(work.file)
  const recovered = await openSqliteStore({ ...work.options, now: () => NOW })
  await recovered.close()
  expect(recovered.startupNotes().join(' ')).toContain('was damaged')
  return missing(isReadable, (table) => contents(work.file, table))
}

function missing(isReadable: (row: KnownRow) => boolean, read: (table: TableName) => Map<number, string>): string[] {
  const found = new Map(NAMES.map((table) => [table, read(table)]))
  return rows
    .filter((row) => isReadable(row) && found.get(row.table)?.get(row.id) !== row.content)
    .map(({ table, id }) => `${table} ${id}`)
}

function overwrite(file: string, at: number, bytes: Buffer): void {
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, bytes, 0, bytes.length, at)
  closeSync(descriptor)
}

const damages: [string, (file: string, at: number) => void][] = [
  ['overwritten with noise', (file, at) => overwrite(file, at, Buffer.alloc(PAGE_BYTES, 0xa5))],
  ['zeroed', (file, at) => overwrite(file, at, Buffer.alloc(PAGE_BYTES))],
  [
    'with its first bytes flipped',
    (file, at) => {
      const start = at === 0 ? 100 : at
      const bytes = readFileSync(file).subarray(start, start + 12)
      overwrite(file, start, Buffer.from(bytes.map((byte) => byte ^ 0xff)))
    },
  ],
]

describe('every row whose pages can be read is read', () => {
  test.each(damages)('when one page is %s', (_, damage) => {
    const problems: string[] = []
    for (let page = 1; page <= pageCount; page += 1) {
      const unread = unreadAfter(
        (file) => damage(file, (page - 1) * PAGE_BYTES),
        ({ pages }) => !pages.has(page),
      )
      if (unread.length > 0) problems.push(`page ${page}: ${unread.length} rows, such as ${unread[0]}`)
    }
    expect(problems).toEqual([])
  })

  test('when the file is cut off', () => {
    const problems: string[] = []
    for (let bytes = 1; bytes < pageCount * PAGE_BYTES; bytes += 7 * PAGE_BYTES + 700) {
      const unread = unreadAfter((file) => truncateSync(file, bytes), isBefore(bytes))
      if (unread.length > 0) problems.push(`${bytes} bytes: ${unread.length} rows, such as ${unread[0]}`)
    }
    expect(problems).toEqual([])
  })
})

const isBefore =
  (bytes: number) =>
  ({ pages }: KnownRow) =>
    [...pages].every((page) => page * PAGE_BYTES <= bytes)

/** The last page of a tree that leads to others, or is its root; the schema and the tables that need more than one page. */
function pagesAbove(table: string): number[] {
  const db = new Database(original.file, { readonly: true })
  const found = db.ids`SELECT pageno AS id FROM dbstat WHERE name = ${table} AND pagetype = 'internal'`
  const leaf = db.ids`SELECT pageno AS id FROM dbstat WHERE name = ${table} AND pagetype = 'leaf' AND name = 'sqlite_schema' LIMIT 1 OFFSET 5`
  db.close()
  return [...found, ...leaf]
}

describe('a recovery without a backup loses no row whose pages can be read', () => {
  test.each(['sqlite_schema', 'observations', 'passages'])(
    'when a page of %s that leads to others is lost',
    async (table) => {
      const noise = damages[0]?.[1]
      const pages = pagesAbove(table)
      expect(pages.length).toBeGreaterThan(0)
      for (const page of pages) {
        const lost = await lostAfter(
          (file) => noise?.(file, (page - 1) * PAGE_BYTES),
          (row) => !row.pages.has(page),
        )
        expect(lost, `page ${page}`).toEqual([])
      }
    },
  )

  test('when the second half of the file is lost', async () => {
    const bytes = Math.floor(pageCount / 2) * PAGE_BYTES + 100
    expect(await lostAfter((file) => truncateSync(file, bytes), isBefore(bytes))).toEqual([])
  })
})
