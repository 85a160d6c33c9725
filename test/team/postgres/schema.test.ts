import { describe, expect, test } from 'vitest'
import { findProgram } from '../../../src/lib/find-program.ts'
import { initPostgresLog, openPostgresLog } from '../../../src/team/postgres/log.ts'
import { LOG_MIGRATIONS, LOG_SCHEMA_VERSION } from '../../../src/team/postgres/migrations/index.ts'
import { usePostgres } from '../../support/postgres.ts'
import { runProgram } from '../../support/programs.ts'
import { ORIGIN, observationRecord, pullAll, REPOSITORY } from './records.ts'

const postgres = usePostgres()

describe('init', () => {
  test('init.concurrent: eight at once make one schema', async () => {
    const database = await postgres.database()
    const owner = await database.role('owner')
    await database.sql(`GRANT CREATE ON DATABASE ${database.name} TO ${owner.role}`)
    const results = await Promise.all(Array.from({ length: 8 }, () => initPostgresLog(owner.url)))
    const applied = results.map((result) => result.applied).filter(({ length }) => length > 0)
    expect(applied).toEqual([LOG_MIGRATIONS.map(({ version }) => version)])
    expect(await database.sql('SELECT version FROM claude_mem.log')).toEqual([{ version: LOG_SCHEMA_VERSION }])
    const log = await database.open(owner.url)
    expect(await log.members()).toMatchObject([
      { role: owner.role, grants: [{ repository: '*', mayWrite: true, mayEraseOthers: true, mayGrant: true }] },
    ])
  })

  test('init.member: a member who runs it changes nothing; who may not update is told who may', async () => {
    const database = await postgres.database()
    const owner = await database.owner()
    const bob = await database.member('bob', owner.log, '*')
    expect(await initPostgresLog(bob.url)).toEqual({ applied: [], version: LOG_SCHEMA_VERSION, renewed: false })
    await database.sql('UPDATE claude_mem.log SET version = version - 1')
    await expect(initPostgresLog(bob.url)).rejects.toMatchObject({
      code: 'denied',
      message: expect.stringContaining(owner.role),
    })
    await expect(openPostgresLog(bob.url)).rejects.toMatchObject({ code: 'schema_missing' })
  })

  test('init.foreign: a schema that another role made beforehand is not used', async () => {
    const database = await postgres.database()
    const [mallory, ann] = [await database.role('mallory'), await database.role('ann')]
    await database.sql(`GRANT CREATE ON DATABASE ${database.name} TO ${ann.role}`)
    await database.sql(`CREATE SCHEMA claude_mem AUTHORIZATION ${mallory.role}`)
    await expect(initPostgresLog(ann.url)).rejects.toMatchObject({ code: 'denied' })
  })

  test('init.partial: an init that fails leaves nothing behind', async () => {
    const database = await postgres.database()
    const ann = await database.role('ann')
    await database.sql(`CREATE SCHEMA claude_mem AUTHORIZATION ${ann.role}`)
    await database.sql('CREATE TABLE claude_mem.records (x integer)', [], ann.url)
    await expect(initPostgresLog(ann.url)).rejects.toMatchObject({ name: 'TeamError' })
    const tables = await database.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'claude_mem'")
    expect(tables).toEqual([{ tablename: 'records' }])
  })
})

describe('a schema of the future', () => {
  test('schema.newer: an older program says so, changes nothing and can go on when the change allows it', async () => {
    const database = await postgres.database()
    const owner = await database.owner()
    await owner.log.register(REPOSITORY)
    const cursors = await owner.log.start([REPOSITORY])
    await database.sql('UPDATE claude_mem.log SET version = 99')
    expect((await pullAll(owner.log, cursors)).records).toEqual([])
    expect((await initPostgresLog(owner.url)).applied).toEqual([])
    await database.sql('UPDATE claude_mem.log SET oldest_program = 99')
    const newer = { code: 'schema_newer', retryable: false, message: expect.stringContaining('Update claude-mem') }
    await expect(owner.log.pull(cursors, 10)).rejects.toMatchObject(newer)
    await expect(owner.log.push([observationRecord('x')], ORIGIN)).rejects.toMatchObject(newer)
    expect(await database.sql('SELECT 1 FROM claude_mem.records')).toEqual([])
    await expect(openPostgresLog(owner.url)).rejects.toMatchObject(newer)
    await expect(initPostgresLog(owner.url)).rejects.toMatchObject(newer)
    expect(await database.sql('SELECT version FROM claude_mem.log')).toEqual([{ version: 99 }])
  })
})

describe('a log that moved', () => {
  test('generation: transaction ids of another server are noticed; everybody receives everything again', async () => {
    const database = await postgres.database()
    const owner = await database.owner()
    await owner.log.register(REPOSITORY)
    const records = ['one', 'two', 'three'].map((title) => observationRecord(title))
    await owner.log.push(records, ORIGIN)
    const before = await pullAll(owner.log, await owner.log.start([REPOSITORY]))
    expect(before.records).toHaveLength(3)
    // As after restoring a dump of a server that has counted further.
    await database.sql("UPDATE claude_mem.records SET x = '5000000000000' WHERE seq > 1")
    await database.sql("UPDATE claude_mem.log SET identity = 'another server'")
    const bob = await database.member('bob', owner.log, REPOSITORY)
    const after = await pullAll(bob.log, before.cursors)
    expect(after.records.map(({ id }) => id)).toEqual(records.map(({ id }) => id))
    expect(after.cursors[0]?.generation).not.toBe(before.cursors[0]?.generation)
    await owner.log.push([observationRecord('four')], ORIGIN)
    expect((await pullAll(bob.log, after.cursors)).records).toHaveLength(1)
    expect((await initPostgresLog(owner.url)).renewed).toBe(false)
  })

  test('generation.dump: a dump that is restored into another database works, with its roles and policies', async (context) => {
    const [dump, psql] = [await findProgram('pg_dump', process.env), await findProgram('psql', process.env)]
    const database = await postgres.database()
    if (dump === null || psql === null) return context.skip()
    const owner = await database.owner()
    await owner.log.register(REPOSITORY)
    await owner.log.push([observationRecord('one')], ORIGIN)
    const before = await pullAll(owner.log, await owner.log.start([REPOSITORY]))
    const dumped = await runProgram(dump, [database.url])
    // The program of an older version refuses a newer server.
    if (/server version mismatch/.test(dumped.stderr)) return context.skip()
    const copy = await postgres.database()
    const restored = await runProgram(psql, ['-X', '-v', 'ON_ERROR_STOP=1', copy.url, '-f', '-'], {
      input: dumped.stdout,
    })
    expect(restored.code).toBe(0)
    const url = owner.url.replace(database.name, copy.name)
    expect((await initPostgresLog(url)).renewed).toBe(true)
    const log = await copy.open(url)
    expect((await pullAll(log, before.cursors)).records).toHaveLength(1)
  })
})

describe('size', () => {
  test('pull.plan: a quiet client reads the index from its cursor, whatever lies before it', async () => {
    const database = await postgres.database()
    const owner = await database.owner()
    await owner.log.register(REPOSITORY)
    const bob = await database.member('bob', owner.log, REPOSITORY)
    const client = await database.connect()
    await client.query('ALTER TABLE claude_mem.records DISABLE TRIGGER USER')
    await client.query(
      "INSERT INTO claude_mem.records (repository, id, kind, machine, made_at, body) SELECT 1, md5(n::text), 'observation', 'm', n, '{}' FROM generate_series(1, 20000) n",
    )
    await client.query('ALTER TABLE claude_mem.records ENABLE TRIGGER USER')
    await client.query('ANALYZE claude_mem.records')
    const last = await client.query<{ x: string; seq: string }>(
      'SELECT r.x::text, r.seq::text FROM claude_mem.records r ORDER BY r.x DESC, r.seq DESC LIMIT 1',
    )
    const [start] = await bob.log.start([REPOSITORY])
    const cursor = { ...start, repository: REPOSITORY, transaction: last.rows[0]?.x, sequence: last.rows[0]?.seq }
    const reader = await database.connect(bob.url)
    const buffers = async (cursors: unknown[]) => {
      const plan = await reader.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT claude_mem.pull('${JSON.stringify(cursors)}', 500, 1000000)`,
      )
      const found = plan.rows[0]?.['QUERY PLAN'][0].Plan ?? {}
      return (found['Shared Hit Blocks'] ?? 0) + (found['Shared Read Blocks'] ?? 0)
    }
    await buffers([cursor]) // fills the caches of the connection
    const quiet = await buffers([cursor])
    const [pages] = await database.sql<{ n: number }>("SELECT relpages AS n FROM pg_class WHERE relname = 'records'")
    expect(quiet).toBeLessThan((pages?.n ?? 0) / 2)
    expect(quiet).toBeLessThan(100)
  })
})
