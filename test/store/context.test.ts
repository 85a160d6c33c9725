/** What a session's context reads of a real database, and how its totals stay right. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { OBSERVATION_TYPES } from '../../src/domain/observation.ts'
import { bindDatabase, Database } from '../../src/store/sqlite/database.ts'
import { readOperations } from '../../src/store/sqlite/reader.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts'
import { backTo } from './older.ts'
import { type Place, place } from './place.ts'
import { commitOf, NOW, observationOf, PROJECT, summaryOf } from './samples.ts'

const QUERY = {
  project: PROJECT.key,
  observations: 10,
  summaries: 5,
  pinned: 5,
  passages: [],
  prompts: 5,
}

let at: Place
let core: SqliteStore
beforeEach(async () => {
  at = place()
  core = await openSqliteStore(at.options)
  const observations = Array.from({ length: 300 }, (_, i) => {
    return observationOf([], { createdAt: NOW + i, type: OBSERVATION_TYPES[i % 6] ?? 'change' })
  })
  core.commit([commitOf('s', 1, { observations, summaries: [summaryOf()] })])
  core.pin([7], true, NOW)
  core.link({ from: 300, to: 290, kind: 'amends', by: 'person', at: NOW })
})
afterEach(async () => {
  await core.close()
  at.dispose()
})

const totals = () =>
  core.db.prepare('SELECT project, observations, discovery_tokens AS tokens FROM project_totals ORDER BY 1').all()

describe('context material', () => {
  test('material.readsTheBeginningsOfIndexes: no statement looks through a project', () => {
    const statements: string[] = []
    const db = new Database(at.file, {
      readonly: true,
      verbose: (sql) => {
        if (/^\s*SELECT/.test(String(sql))) statements.push(String(sql))
      },
    })
    const material = bindDatabase(db, readOperations).contextMaterial(QUERY)
    expect(material?.observations.length).toBeGreaterThan(9)
    expect(statements.length).toBeGreaterThan(9)
    for (const sql of statements.splice(0)) {
      const plan = db.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all()
      for (const { detail } of plan) {
        // Pins are few, in all projects together; lists of ids are as long as was asked for.
        expect(detail, sql).not.toMatch(/SCAN (?!wanted VIRTUAL|CONSTANT ROW|p\b)/)
        if (!/pins|json_each/.test(sql)) expect(detail, sql).not.toMatch(/TEMP B-TREE FOR ORDER BY$/)
      }
    }
    db.close()
  })

  test('totals.followEveryChange: what is moved, and what is there already', () => {
    const before = [{ project: PROJECT.key, observations: 300, tokens: 36_000 }]
    expect(totals()).toEqual(before)
    // As a salvage does it.
    core.db.exec('INSERT INTO observations SELECT * FROM observations WHERE TRUE ON CONFLICT DO NOTHING')
    expect(totals()).toEqual(before)
    core.db.exec(`UPDATE observations SET project = 'git:/moved' WHERE id <= 100`)
    expect(totals()).toEqual([
      { project: PROJECT.key, observations: 200, tokens: 24_000 },
      { project: 'git:/moved', observations: 100, tokens: 12_000 },
    ])
    core.db.exec(`UPDATE observations SET project = 'git:/moved'; DELETE FROM observations WHERE id = 1`)
    expect(totals()).toEqual([{ project: 'git:/moved', observations: 299, tokens: 35_880 }])
    core.db.exec('DELETE FROM sdk_sessions')
    expect(totals()).toEqual([])
  })

  test('totals.ofWhatWasThereBefore are counted once', async () => {
    backTo(4, core.db)
    await core.close()
    core = await openSqliteStore(at.options)
    expect(totals()).toEqual([{ project: PROJECT.key, observations: 300, tokens: 36_000 }])
    expect(core.contextMaterial(QUERY)).toMatchObject({ totals: { observations: 300, since: NOW } })
  })
})
