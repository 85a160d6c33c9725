import { describe, expect, test } from 'vitest'
import { type TestDatabase, usePostgres } from '../../support/postgres.ts'
import { waitUntil } from '../../support/waiting.ts'
import { ORIGIN, observationRecord, pinRecord, pullAll, REPOSITORY, recordId, tombstone } from './records.ts'

const postgres = usePostgres()
const SECRET = 'the-text-that-must-be-gone'

async function sharedRepository() {
  const database = await postgres.database()
  const owner = await database.owner()
  await owner.log.register(REPOSITORY)
  const ann = await database.member('ann', owner.log, REPOSITORY)
  const bob = await database.member('bob', owner.log, REPOSITORY)
  return { database, owner: owner.log, ann, bob }
}

/** Rows that have the text, as the superuser sees them, and files of the table, its indexes and its long values that do. */
async function placesOf(database: TestDatabase, text: string): Promise<{ rows: number; files: number }> {
  const [rows] = await database.sql<{ n: number }>(
    'SELECT count(*)::integer AS n FROM claude_mem.records r WHERE r::text LIKE $1',
    [`%${text}%`],
  )
  await database.sql('CHECKPOINT')
  const [files] = await database.sql<{ n: number }>(
    `SELECT count(*)::integer AS n FROM (
       SELECT oid FROM pg_class WHERE oid = 'claude_mem.records'::regclass
       UNION SELECT reltoastrelid FROM pg_class WHERE oid = 'claude_mem.records'::regclass
       UNION SELECT indexrelid FROM pg_index WHERE indrelid = 'claude_mem.records'::regclass
     ) parts WHERE position(convert_to($1, 'UTF8') IN pg_read_binary_file(pg_relation_filepath(parts.oid))) > 0`,
    [text],
  )
  return { rows: rows?.n ?? -1, files: files?.n ?? -1 }
}

async function storedBodies(database: TestDatabase): Promise<unknown[]> {
  const rows = await database.sql<{ body: unknown }>(
    "SELECT body FROM claude_mem.records WHERE kind <> 'tombstone' ORDER BY seq",
  )
  return rows.map(({ body }) => body)
}

describe('tombstones', () => {
  test('tombstone.ofAnotherRepository: who may write elsewhere erases and changes nothing here', async () => {
    const { database, owner, ann, bob } = await sharedRepository()
    const OTHER = 'repo:example.org/bob/own'
    await owner.register(OTHER)
    await owner.grant(bob.role, { repository: OTHER, mayWrite: true, mayEraseOthers: true, mayGrant: false })
    const record = observationRecord(SECRET)
    await ann.log.push([record], ORIGIN)
    const inOther = <T extends object>(one: T) => ({ ...one, repository: OTHER })
    const outcomes = await bob.log.push(
      [
        inOther(tombstone(record.id)),
        inOther(pinRecord(record.id)),
        inOther({ ...observationRecord('fake'), id: record.id }),
      ],
      ORIGIN,
    )
    expect(outcomes.map(({ is }) => is)).toEqual(['refused', 'refused', 'known'])
    expect(await placesOf(database, SECRET)).toMatchObject({ rows: 1 })
    expect(await placesOf(database, 'fake')).toMatchObject({ rows: 0 })
  })

  test('tombstone.after: the body is erased; others receive the record without body and the tombstone', async () => {
    const { database, ann, bob } = await sharedRepository()
    const record = observationRecord(SECRET)
    const start = await bob.log.start([REPOSITORY])
    await ann.log.push([record], ORIGIN)
    const before = await pullAll(bob.log, start)
    const grave = tombstone(record.id)
    expect(await ann.log.push([grave], ORIGIN)).toEqual([{ is: 'stored' }])
    expect(await ann.log.push([record, grave], ORIGIN)).toEqual([{ is: 'known' }, { is: 'known' }])
    expect((await pullAll(bob.log, before.cursors)).records).toMatchObject([
      { id: grave.id, kind: 'tombstone', body: { target: record.id } },
    ])
    expect((await pullAll(bob.log, start)).records).toMatchObject([
      { id: record.id, body: null },
      { id: grave.id, body: { target: record.id } },
    ])
    expect(await bob.log.newest(REPOSITORY, 10)).toEqual([])
    expect(await storedBodies(database)).toEqual([null])
  })

  test('tombstone.before, tombstone.same-push: a record that arrives after its tombstone, or with it, is stored without body', async () => {
    const { database, ann } = await sharedRepository()
    const [early, first, second] = [observationRecord(SECRET), observationRecord(SECRET), observationRecord(SECRET)]
    await ann.log.push([tombstone(early.id)], ORIGIN)
    expect(await ann.log.push([early], ORIGIN)).toEqual([{ is: 'known' }])
    await ann.log.push([first, tombstone(first.id)], ORIGIN)
    await ann.log.push([tombstone(second.id), second], ORIGIN)
    expect(await storedBodies(database)).toEqual([null, null, null])
    expect((await placesOf(database, SECRET)).rows).toBe(0)
  })

  test('tombstone.race: record and tombstone in two transactions at once, whichever commits first', async () => {
    const { database, ann } = await sharedRepository()
    await ann.log.setMember('')
    const insert = (values: string) =>
      `INSERT INTO claude_mem.records (repository, id, kind, machine, made_at, body, target) SELECT id, ${values} FROM claude_mem.repositories ON CONFLICT DO NOTHING`
    for (const recordFirst of [true, false]) {
      const record = observationRecord(SECRET)
      const store = insert(`'${record.id}', 'observation', 'm', 1, '{"title":"${SECRET}"}', NULL`)
      const erase = insert(`'${recordId()}', 'tombstone', 'm', 1, NULL, '${record.id}'`)
      const [one, two] = [await database.connect(ann.url), await database.connect(ann.url)]
      await one.query('BEGIN')
      await one.query(recordFirst ? store : erase)
      const second = two.query(recordFirst ? erase : store)
      await waitUntil(
        'the second waits for the first',
        async () =>
          (await database.sql("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'INSERT%'"))
            .length === 1,
      )
      await one.query('COMMIT')
      await second
    }
    expect(await storedBodies(database)).toEqual([null, null])
  })

  test('tombstone.clean: after the clean-up no file of the table has the text, short or long', async () => {
    const { database, owner, ann } = await sharedRepository()
    const short = observationRecord(SECRET)
    // Random, so that it is not compressed away: it goes to the table of long values.
    const long = observationRecord(`${Array.from({ length: 300 }, recordId).join(' ')} ${SECRET}`)
    const stays = observationRecord('this stays')
    await ann.log.push([short, long, stays], ORIGIN)
    expect((await placesOf(database, SECRET)).files).toBeGreaterThan(0)
    await ann.log.push([tombstone(short.id), tombstone(long.id)], ORIGIN)
    await owner.cleanBodies(false)
    await owner.cleanBodies(true)
    expect(await placesOf(database, SECRET)).toEqual({ rows: 0, files: 0 })
    expect((await placesOf(database, 'this stays')).files).toBeGreaterThan(0)
    await expect(ann.log.cleanBodies(false)).resolves.toBeUndefined() // PostgreSQL only warns, and skips the table
    const [options] = await database.sql<{ reloptions: string[] }>(
      "SELECT reloptions FROM pg_class WHERE oid = 'claude_mem.records'::regclass",
    )
    expect(options?.reloptions).toContain('autovacuum_vacuum_threshold=20')
  })

  test("tombstone.others: another's record is erased only by a role that may erase", async () => {
    const { database, owner, ann, bob } = await sharedRepository()
    const record = observationRecord('of ann')
    await ann.log.push([record], ORIGIN)
    const other = observationRecord('of bob')
    expect(await bob.log.push([tombstone(record.id), other], ORIGIN)).toEqual([
      { is: 'refused', reason: "the record is another author's, and this role may not erase those" },
      { is: 'stored' },
    ])
    expect((await storedBodies(database)).every((body) => body !== null)).toBe(true)
    await owner.grant(bob.role, { repository: REPOSITORY, mayWrite: true, mayEraseOthers: true, mayGrant: false })
    expect(await bob.log.push([tombstone(record.id)], ORIGIN)).toEqual([{ is: 'stored' }])
    expect(await storedBodies(database)).toMatchObject([null, { title: 'of bob' }])
  })

  test('tombstone.of-tombstone: a tombstone cannot be erased', async () => {
    const { ann } = await sharedRepository()
    const record = observationRecord('x')
    const grave = tombstone(record.id)
    await ann.log.push([record, grave], ORIGIN)
    expect(await ann.log.push([tombstone(grave.id), pinRecord(record.id)], ORIGIN)).toMatchObject([
      { is: 'refused', reason: expect.stringContaining('A tombstone cannot be erased') },
      { is: 'stored' },
    ])
  })

  test('tombstone.unknown: tombstones of records that never arrived are counted and limited', async () => {
    const { database, ann, bob } = await sharedRepository()
    await ann.log.push(
      Array.from({ length: 500 }, () => tombstone(recordId())),
      ORIGIN,
    )
    const counted = await database.sql<{ tombstones: number }>('SELECT tombstones FROM claude_mem.unknown_tombstones')
    expect(counted).toEqual([{ tombstones: 500 }])
    await database.sql('UPDATE claude_mem.unknown_tombstones SET tombstones = 100000')
    const good = observationRecord('still accepted')
    expect(await ann.log.push([tombstone(recordId()), good], ORIGIN)).toMatchObject([
      { is: 'refused', reason: expect.stringContaining('Too many tombstones') },
      { is: 'stored' },
    ])
    expect(await bob.log.push([tombstone(recordId())], ORIGIN)).toEqual([{ is: 'stored' }])
  })
})
