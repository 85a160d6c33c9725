import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { MAX_RECORD_BYTES } from '../../../src/team/postgres/push.ts'
import { usePostgres } from '../../support/postgres.ts'
import { waitUntil } from '../../support/waiting.ts'
import {
  NOW,
  ORIGIN,
  OTHER_REPOSITORY,
  observationRecord,
  pinRecord,
  pullAll,
  REPOSITORY,
  recordId,
} from './records.ts'

const postgres = usePostgres()

async function sharedRepository() {
  const database = await postgres.database()
  const owner = await database.owner()
  await owner.log.register(REPOSITORY)
  return { database, owner, log: owner.log }
}

describe('push and pull', () => {
  test('push.pull: what one machine pushes the other receives, in the order of the log, with author and machine', async () => {
    const { database, owner, log } = await sharedRepository()
    const bob = await database.member('bob', log, REPOSITORY)
    const records = [observationRecord('first'), observationRecord('second "quoted" \u{1f600}')]
    const pin = pinRecord(records[0]?.id ?? '')
    expect(await log.push([...records, pin], { author: 'Ann', machine: 'laptop' })).toEqual([
      { is: 'stored' },
      { is: 'stored' },
      { is: 'stored' },
    ])
    const received = await pullAll(bob.log, await bob.log.start([REPOSITORY]))
    expect(received.records).toEqual(
      [...records, pin].map((record) => ({ ...record, author: 'Ann', machine: 'laptop' })),
    )
    expect(received.heldBackMs).toBeNull()
    expect(await pullAll(bob.log, received.cursors)).toEqual({ ...received, records: [] })
    expect((await log.members()).find(({ role }) => role === owner.role)).toMatchObject({
      author: 'Ann',
      machines: ['laptop'],
    })
  })

  test('push.idempotent: a record that is known is not stored again, also twice in one push and from two at once', async () => {
    const { log } = await sharedRepository()
    const records = Array.from({ length: 20 }, (_, n) => observationRecord(`number ${n}`))
    const outcomes = await Promise.all([log.push([...records, ...records], ORIGIN), log.push(records, ORIGIN)])
    expect(outcomes.flat().filter(({ is }) => is === 'stored')).toHaveLength(records.length)
    expect((await log.push(records, ORIGIN)).every(({ is }) => is === 'known')).toBe(true)
    const { records: received } = await pullAll(log, await log.start([REPOSITORY]))
    expect(received.map(({ id }) => id).sort()).toEqual(records.map(({ id }) => id).sort())
  })

  test('push.refused: bad records are refused with the reason and do not hold up the others', async () => {
    const { database, log } = await sharedRepository()
    const reader = await database.member('reader', log, REPOSITORY, { mayWrite: false })
    const large = observationRecord('x'.repeat(MAX_RECORD_BYTES))
    const manySmallNumbers = observationRecord('')
    Object.assign(manySmallNumbers.body, { numbers: Array.from({ length: 60_000 }, () => 1) })
    const badId = { ...observationRecord('bad id'), id: 'nothing' }
    const badTime = { ...observationRecord('bad time'), at: -1 }
    const unknown = observationRecord('elsewhere', OTHER_REPOSITORY)
    const controls = observationRecord('control \u0000\u0007\u001b[31m and half a pair \ud83d')
    const good = Array.from({ length: 10 }, (_, n) => observationRecord(`good ${n}`))
    const pushed = await log.push(
      [large, ...good.slice(0, 5), manySmallNumbers, badId, controls, badTime, ...good.slice(5), unknown],
      ORIGIN,
    )
    expect(pushed.map((outcome) => (outcome.is === 'refused' ? outcome.reason : outcome.is))).toEqual([
      'it is too large',
      ...Array(5).fill('stored'),
      'it is too large, or its body is not an object',
      'its id is not 32 hexadecimal digits',
      'stored',
      'its time is out of range',
      ...Array(5).fill('stored'),
      'the repository is not in the shared log, or this role has no grant for it',
    ])
    const { records } = await pullAll(log, await log.start([REPOSITORY]))
    expect(records.find(({ id }) => id === controls.id)?.body).toMatchObject({
      title: 'control \u0007\u001b[31m and half a pair \ufffd',
    })
    expect(await reader.log.push([observationRecord('no')], ORIGIN)).toEqual([
      { is: 'refused', reason: 'this role may only read this repository' },
    ])
  })

  test('pull.bounded: many large records arrive in several pulls, each at most of some MB', async () => {
    const { log } = await sharedRepository()
    const records = Array.from({ length: 60 }, (_, n) => observationRecord(String(n % 10).repeat(200_000)))
    await log.push(records, ORIGIN)
    const start = await log.start([REPOSITORY])
    const all = await pullAll(log, start, 500)
    const first = await log.pull(start, 500)
    expect(first.more).toBe(true)
    expect(first.records.length).toBeLessThan(30)
    expect(all.records.map(({ id }) => id)).toEqual(records.map(({ id }) => id))
  })

  test.each([
    ['that is compressed', `jsonb_build_object('text', repeat('a', 20000000))`],
    [
      'of numbers with many digits',
      `(SELECT jsonb_build_object('n', jsonb_agg(1e131071::numeric)) FROM generate_series(1, 100))`,
    ],
  ])('pull.bounded: a body %s counts with all that it is when it is sent', async (_, body) => {
    const { database, log } = await sharedRepository()
    const { url } = await database.member('mallory', log, REPOSITORY)
    const mallory = await database.connect(url)
    await mallory.query("SELECT claude_mem.set_member('')")
    // From a table, so that it is as small as PostgreSQL stores it.
    await mallory.query(`CREATE TEMP TABLE small AS SELECT ${body} AS body`)
    const insert = `INSERT INTO claude_mem.records (repository, id, kind, machine, made_at, body)
      SELECT p.id, $1, 'observation', 'm', 1, s.body FROM claude_mem.repositories p, small s`
    await expect(mallory.query(insert, [recordId()])).rejects.toMatchObject({ constraint: 'records_body' })
  })

  test('pull.repositories: cursors of several repositories move on their own, and one that is not granted gives nothing', async () => {
    const { database, log } = await sharedRepository()
    await log.register(OTHER_REPOSITORY)
    const bob = await database.member('bob', log, REPOSITORY)
    await log.push([observationRecord('one'), observationRecord('two', OTHER_REPOSITORY)], ORIGIN)
    const start = await log.start([REPOSITORY, OTHER_REPOSITORY])
    const both = await pullAll(log, start, 1)
    expect(both.records.map(({ repository }) => repository)).toEqual([REPOSITORY, OTHER_REPOSITORY])
    await log.push([observationRecord('three', OTHER_REPOSITORY)], ORIGIN)
    expect((await pullAll(log, both.cursors)).records.map(({ repository }) => repository)).toEqual([OTHER_REPOSITORY])
    expect((await pullAll(bob.log, start)).records.map(({ repository }) => repository)).toEqual([REPOSITORY])
    expect(await bob.log.repositories()).toEqual([{ key: REPOSITORY, mayWrite: true, mayEraseOthers: false }])
  })

  test('newest: observations and summaries, newest first; a clock that is years ahead does not come first for ever', async () => {
    const { log } = await sharedRepository()
    const [old, recent] = [observationRecord('old', REPOSITORY, 1_000), observationRecord('recent', REPOSITORY, NOW)]
    const ahead = observationRecord('ahead', REPOSITORY, 8_000_000_000_000_000)
    await log.push([ahead, old, recent, pinRecord(old.id)], ORIGIN)
    const later = observationRecord('later', REPOSITORY, 8_000_000_000_000_000)
    await log.push([later], ORIGIN)
    expect((await log.newest(REPOSITORY, 3)).map(({ id }) => id)).toEqual([later.id, ahead.id, recent.id])
    expect(await log.newest(OTHER_REPOSITORY, 3)).toEqual([])
  })
})

describe('late commits', () => {
  test('pull.late: eight writers with open transactions; the cursor misses nothing, a bare serial number does', async () => {
    const { database, owner, log } = await sharedRepository()
    await owner.log.setMember('')
    const writers = 8
    const rounds = 12
    let writing = writers
    let open = true
    const insert =
      'INSERT INTO claude_mem.records (repository, id, kind, machine, made_at, body) ' +
      "SELECT id, $1, 'observation', 'm', 1, '{}' FROM claude_mem.repositories"
    const seen: string[] = []
    const seenBySerial: string[] = []
    // The one that must be missed by a bare number: it gets the first and commits last.
    const late = await database.connect(owner.url)
    await late.query('BEGIN')
    await late.query(insert, [recordId()])
    const commitLate = async () => {
      await waitUntil('the others are done and seen', () => writing === 0 && seenBySerial.length > 0)
      await late.query('COMMIT')
      open = false
    }
    const write = async (writer: number) => {
      const client = await database.connect(owner.url)
      for (let round = 0; round < rounds; round++) {
        await client.query('BEGIN')
        await client.query(insert, [recordId()])
        for (let wait = 0; wait < ((writer * 7 + round * 3) % 5) * 3; wait++) await client.query('SELECT 1')
        await client.query('COMMIT')
      }
      writing -= 1
    }
    const follow = async () => {
      let cursors = await log.start([REPOSITORY])
      for (let done = false; ; ) {
        const pulled = await log.pull(cursors, 1000)
        cursors = pulled.cursors
        seen.push(...pulled.records.map(({ id }) => id))
        if (done && pulled.heldBackMs === null) return
        done = !open
        await nextTurn()
      }
    }
    const followSerial = async () => {
      const client = await database.connect()
      let serial = '0'
      for (let done = false; ; ) {
        const { rows } = await client.query<{ id: string; seq: string }>(
          'SELECT id, seq FROM claude_mem.records WHERE seq > $1 ORDER BY seq',
          [serial],
        )
        serial = rows.at(-1)?.seq ?? serial
        seenBySerial.push(...rows.map(({ id }) => id))
        if (done) return
        done = !open
        await nextTurn()
      }
    }
    await Promise.all([...Array.from({ length: writers }, (_, n) => write(n)), follow(), followSerial(), commitLate()])
    expect(new Set(seen).size).toBe(writers * rounds + 1)
    expect(seen).toHaveLength(writers * rounds + 1)
    expect(seenBySerial.length).toBeLessThan(writers * rounds + 1)
  })

  test('pull.held-back: an open transaction holds newer records back, and the pull says for how long', async () => {
    const { database, owner, log } = await sharedRepository()
    const open = await database.connect(owner.url)
    await open.query('BEGIN')
    await open.query('SELECT pg_current_xact_id()')
    await log.push([observationRecord('waits')], ORIGIN)
    const start = await log.start([REPOSITORY])
    const held = await log.pull(start, 10)
    expect(held.records).toEqual([])
    expect(held.heldBackMs).toBeGreaterThanOrEqual(0)
    await open.query('ROLLBACK')
    const released = await pullAll(log, held.cursors)
    expect(released.records).toHaveLength(1)
    expect(released.heldBackMs).toBeNull()
  })
})

describe('listen', () => {
  test('listen: a push of another is announced with its repository, also one registered later and after a lost connection', async () => {
    const { database, owner, log } = await sharedRepository()
    const bob = await database.member('bob', log, '*')
    const heard: string[] = []
    const stop = await bob.log.listen((repository) => heard.push(repository))
    expect(stop).not.toBeNull()
    await log.push([observationRecord('one')], ORIGIN)
    await waitUntil('the push is announced', () => heard.includes(REPOSITORY))
    await log.register(OTHER_REPOSITORY)
    await log.push([observationRecord('two', OTHER_REPOSITORY)], ORIGIN)
    await waitUntil('the new repository is announced', () => heard.includes(OTHER_REPOSITORY))
    heard.length = 0
    await database.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
    await waitUntil('everything is announced after the connection returned', () => heard.length >= 2)
    await stop?.()
    heard.length = 0
    await log.push([observationRecord('three')], ORIGIN)
    await database.sql('SELECT 1', [], owner.url)
    expect(heard).toEqual([])
  })

  test('listen.off: no connection is made where listening is off', async () => {
    const { database, owner } = await sharedRepository()
    const quiet = await database.open(owner.url, { listen: false })
    expect(await quiet.listen(() => undefined)).toBeNull()
  })
})

describe('connections that end', () => {
  test('push.cut: a connection that is cut in mid-push is retried without loss and without a double', async () => {
    const { database, owner, log } = await sharedRepository()
    const records = Array.from({ length: 50 }, (_, n) => observationRecord(`number ${n}`))
    const blocker = await database.connect(owner.url)
    await blocker.query('BEGIN')
    await blocker.query('LOCK TABLE claude_mem.records IN SHARE MODE')
    const failed = log.push(records, ORIGIN).catch((error: unknown) => error)
    const waiting = "FROM pg_stat_activity WHERE query LIKE '%claude_mem.push%' AND wait_event_type = 'Lock'"
    await waitUntil('the push waits for the lock', async () => (await database.sql(`SELECT 1 ${waiting}`)).length > 0)
    await database.sql(`SELECT pg_terminate_backend(pid) ${waiting}`)
    expect(await failed).toMatchObject({ name: 'TeamError', code: 'unreachable', retryable: true })
    await blocker.query('ROLLBACK')
    expect((await log.push(records, ORIGIN)).every(({ is }) => is === 'stored')).toBe(true)
    expect((await pullAll(log, await log.start([REPOSITORY]))).records).toHaveLength(records.length)
  })

  test('push.timeout: a server that does not answer in time gives a retryable timeout; the statement limit of a role too', async () => {
    const { database, owner } = await sharedRepository()
    const impatient = await database.open(owner.url, { requestTimeoutMs: 200 })
    const blocker = await database.connect(owner.url)
    await blocker.query('BEGIN')
    await blocker.query('LOCK TABLE claude_mem.records IN SHARE MODE')
    const record = observationRecord('slow')
    await expect(impatient.push([record], ORIGIN)).rejects.toMatchObject({ code: 'timeout', retryable: true })
    await database.sql(`ALTER ROLE ${owner.role} SET statement_timeout = '200ms'`)
    const limited = await database.open(owner.url)
    await expect(limited.push([record], ORIGIN)).rejects.toMatchObject({ code: 'timeout', retryable: true })
    await blocker.query('ROLLBACK')
    expect(['stored', 'known']).toContain((await limited.push([record], ORIGIN))[0]?.is)
  })

  test('connection.idle: an idle connection that the server ended is replaced', async () => {
    const { database, log } = await sharedRepository()
    await log.repositories()
    await database.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'claude-mem'")
    await waitUntil('the connection is gone', async () => {
      const rows = await database.sql(
        "SELECT 1 FROM pg_stat_activity WHERE application_name = 'claude-mem' AND datname = current_database()",
      )
      return rows.length === 0
    })
    await waitUntil('requests work again', () =>
      log.repositories().then(
        () => true,
        () => false,
      ),
    )
  })
})
