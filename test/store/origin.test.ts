/** What is asked about the origin of memories reads of a real database, and what older or damaged ones make of it. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bindDatabase, Database } from '../../src/store/sqlite/database.ts'
import { openStoreReader, readOperations } from '../../src/store/sqlite/reader.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts'
import { backTo } from './older.ts'
import { type Place, place } from './place.ts'
import {
  accepting,
  callOf,
  claim,
  commitOf,
  DAY_MS,
  NOW,
  observationOf,
  release,
  settle,
  summaryOf,
  toolUse,
  traceOf,
} from './samples.ts'

let here: Place
let core: SqliteStore
beforeEach(async () => {
  here = place()
  core = await openSqliteStore(here.options)
})
afterEach(async () => {
  await core.close()
  here.dispose()
})

const KEEP = {
  payloadDays: 9,
  payloadBytes: 1e9,
  passageDays: 3_650,
  passageBytes: 1e9,
  traceDays: 9,
  tracePerSession: 99,
  observerTurnDays: 9,
}

/** A turn with one batch, its answer and its summary; returns the observation. */
function turn(session: string): number {
  core.commit([accepting(session, 1, [toolUse(session, '1')])])
  const [result] = core.commit([
    commitOf(session, 2, {
      inbox: [claim('e1'), settle('e1')],
      observations: [observationOf(['1'], { effectId: 'e1' })],
      summaries: [summaryOf({ effectId: 'e1' })],
      prompts: [{ eventId: 'p', number: 1, text: 'fix it', private: false, at: NOW }],
      calls: [callOf('e1')],
      trace: [traceOf('began'), { ...traceOf('answered'), effectId: 'e1' }],
    }),
  ])
  if (result?.ok !== true) throw new Error('the turn was not kept')
  return result.observationIds[0] ?? 0
}

describe('what is read', () => {
  test('plans: no question about an origin looks through a table, and days are added up from indexes alone', () => {
    for (let n = 0; n < 50; n += 1) turn(`s${n}`)
    core.sampleQueue(NOW)
    const statements: string[] = []
    const verbose = (sql: unknown) => {
      if (/^\s*(SELECT|WITH)/.test(String(sql))) statements.push(String(sql))
    }
    const db = new Database(here.file, { readonly: true, verbose })
    const queries = bindDatabase(db, readOperations)
    expect(queries.provenance(7)?.calls).toHaveLength(1)
    expect(queries.eventView('1', null)?.observations).toHaveLength(1)
    expect(queries.eventView('1', 's3')?.trace).toHaveLength(1)
    expect(queries.sessionHistory('s3', { trace: 10, rows: 10 })?.summaryRows).toHaveLength(1)
    expect(queries.activity([NOW - DAY_MS, NOW], NOW + DAY_MS).days[1]).toMatchObject({ observations: 50 })
    const asked = [...new Set(statements.splice(0))]
    expect(asked.length).toBeGreaterThan(15)
    for (const sql of asked) {
      for (const { detail } of db.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all()) {
        expect(detail, sql).not.toMatch(/SCAN (?!wanted|json_each|CONSTANT ROW|during|\(subquery|\(join)/)
        if (/created_at_epoch >= /.test(sql) && / observations| session_summaries| user_prompts/.test(detail)) {
          expect(detail, sql).toContain('COVERING INDEX')
        }
      }
    }
    db.close()
  })

  test('payload: one that cannot be read counts as gone', () => {
    const id = turn('s')
    for (const broken of ['{"id":', '3', 'null', '""', '[]']) {
      core.db.prepare('UPDATE payloads SET payload = ?').run(broken)
      expect(core.provenance(id)?.events).toMatchObject([{ eventId: '1', outcome: 'observed', payload: null }])
      expect(core.eventView('1', null)?.event.payload).toBeNull()
    }
  })

  test('payload: what is too much for one answer is left out, the events are all there', () => {
    const events = Array.from({ length: 400 }, (_, n) => toolUse('s', `${n}`, 'x'.repeat(20_000)))
    const sources = events.map(({ id }) => id)
    core.commit([accepting('s', 1, events), commitOf('s', 2, { observations: [observationOf(sources)] })])
    const found = core.provenance(1)?.events ?? []
    expect(found).toHaveLength(300)
    const shown = found.filter(({ payload }) => payload !== null).length
    expect(shown).toBeGreaterThan(100)
    expect(shown).toBeLessThan(250)
  })

  test('queue: a long time is shown by its peaks and by where each piece of it ended', () => {
    const insert = core.db.prepare('INSERT INTO queue_depth (at, pending, processing, failed) VALUES (?, ?, 0, 0)')
    core.db.transaction(() => {
      for (let n = 1; n <= 20_000; n += 1) insert.run(NOW + n * 1_000, n === 5_050 ? 900 : n % 7)
    })()
    const { queue } = core.activity([NOW], NOW + DAY_MS)
    expect(queue.length).toBeGreaterThan(200)
    expect(queue.length).toBeLessThanOrEqual(2_001)
    expect(Math.max(...queue.map(({ pending }) => pending))).toBe(900)
    expect(queue.at(-1)).toEqual({ at: NOW + 20_000_000, pending: 20_000 % 7, processing: 0, failed: 0 })
    expect(queue.map(({ at }) => at)).toEqual(queue.map(({ at }) => at).sort((a, b) => a - b))
  })

  test('queue: only so many samples are kept, the newest', () => {
    const insert = core.db.prepare('INSERT INTO queue_depth (at, pending, processing, failed) VALUES (?, ?, 0, 0)')
    core.db.transaction(() => {
      for (let n = 1; n <= 40_003; n += 1) insert.run(NOW + n, n)
    })()
    expect(core.applyRetention(KEEP, NOW)).toBe(3)
    expect(core.applyRetention(KEEP, NOW)).toBe(0)
    expect(core.activity([NOW], NOW + DAY_MS).queue.at(-1)).toMatchObject({ pending: 40_003 })
  })
})

describe('an older database', () => {
  test('version 5: keeps what it has, knows no effects of it, and goes on with them', async () => {
    const id = turn('s')
    backTo(5, core.db)
    await core.close()
    await expect(openStoreReader(here.file)).rejects.toMatchObject({ code: 'unsupported_version' })
    core = await openSqliteStore(here.options)
    expect(core.startupNotes().join(' ')).toContain('from version 5')
    expect(core.provenance(id)).toMatchObject({
      effectId: null,
      events: [{ eventId: '1', outcome: 'observed', effectId: null, attempts: 0, payload: { id: '1' } }],
      calls: [],
      trace: [],
    })
    expect(core.sessionHistory('s', { trace: 9, rows: 9 })).toMatchObject({
      calls: [{ effectId: 'e1' }],
      observations: 1,
    })
    expect(core.provenance(turn('t'))).toMatchObject({ effectId: 'e1', calls: [{ effectId: 'e1' }] })
    core.sampleQueue(NOW)
  })
})

describe('a damaged database', () => {
  test('keeps the effects and attempts of what it still holds, and forgets how long the queue was', async () => {
    const released = release('e1', true, 'not XML')
    core.commit([accepting('s', 1, [toolUse('s', '1')])])
    await core.backup('daily', 3)
    core.sampleQueue(NOW)
    const made = observationOf(['1'], { effectId: 'e2' })
    core.commit([commitOf('s', 2, { inbox: [claim('e1'), released, claim('e2'), settle('e2')], observations: [made] })])
    await core.close()
    const file = openSync(here.file, 'r+')
    writeSync(file, Buffer.alloc(100, 0xa5), 0, 100, 0)
    closeSync(file)
    core = await openSqliteStore(here.options)
    expect(core.provenance(1)).toMatchObject({ effectId: 'e2', events: [{ effectId: 'e2', attempts: 1 }] })
    expect(core.activity([NOW - DAY_MS], NOW + DAY_MS).queue).toEqual([])
  })
})

test('reader: answers from the file while nobody writes', async () => {
  const id = turn('s')
  const reader = await openStoreReader(here.file)
  expect(await reader.provenance(id)).toEqual(core.provenance(id))
  expect(await reader.eventView('1', null)).toEqual(core.eventView('1', null))
  expect(await reader.sessionHistory('s', { trace: 9, rows: 9 })).toEqual(
    core.sessionHistory('s', { trace: 9, rows: 9 }),
  )
  expect(await reader.activity([NOW], NOW + DAY_MS)).toEqual(core.activity([NOW], NOW + DAY_MS))
  await reader.close()
})
