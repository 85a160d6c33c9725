import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { TeamError, toTeamError } from '../../../src/team/errors.ts'
import { ConnectionTarget } from '../../../src/team/postgres/connection.ts'
import { initPostgresLog, openPostgresLog } from '../../../src/team/postgres/log.ts'
import { selfSignedCertificate } from '../../support/certificate.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import {
  type PostgresServer,
  startPostgres,
  usePostgres,
  usesEmbeddedServer,
  withParts,
} from '../../support/postgres.ts'
import { waitUntil } from '../../support/waiting.ts'
import { ORIGIN, observationRecord, pullAll, REPOSITORY } from './records.ts'

const PASSWORD = 'pass word/%'
const URL_PASSWORD = encodeURIComponent(PASSWORD)

function refusal(url: string, insecure = false): TeamError {
  try {
    new ConnectionTarget(url, { insecure })
  } catch (error) {
    if (error instanceof TeamError) return error
    throw error
  }
  throw new Error('the URL was accepted')
}

async function failure(promise: Promise<unknown>): Promise<TeamError> {
  const error = await promise.then(
    () => new Error('it succeeded'),
    (reason: unknown) => reason,
  )
  if (error instanceof TeamError) return error
  throw error
}

describe('connection URL', () => {
  test('url.parts: role, password, host, port, database and protection are read', () => {
    const target = new ConnectionTarget(`postgresql://ann%40home:${URL_PASSWORD}@db.example.org/team%20one`)
    expect(target).toMatchObject({
      role: 'ann@home',
      host: 'db.example.org',
      port: 5432,
      database: 'team one',
      tls: 'verify-full',
      hasPassword: true,
    })
    expect(target.clientConfig({})).toMatchObject({ password: PASSWORD, application_name: 'claude-mem' })
    expect(new ConnectionTarget('postgres://ann@[::1]:6000/db')).toMatchObject({ host: '::1', port: 6000, tls: 'off' })
    expect(new ConnectionTarget('postgres://ann@/db?host=/run/postgresql')).toMatchObject({
      host: '/run/postgresql',
      tls: 'off',
    })
  })

  test('url.tls: required except on this machine; without a check only with insecure', () => {
    const level = (parameters: string, insecure = false, host = 'db.example.org') =>
      new ConnectionTarget(`postgres://ann:x@${host}/db${parameters}`, { insecure }).tls
    for (const mode of ['', '?sslmode=require', '?sslmode=prefer', '?sslmode=allow', '?sslmode=verify-full']) {
      expect(level(mode)).toBe('verify-full')
    }
    expect(level('?sslmode=verify-ca')).toBe('verify-ca')
    expect(refusal('postgres://ann:x@db.example.org/db?sslmode=disable').code).toBe('tls')
    expect(level('?sslmode=disable', true)).toBe('off')
    expect(level('', true)).toBe('encrypted')
    expect(level('?sslmode=verify-full', true)).toBe('verify-full')
    for (const host of ['localhost', '127.0.0.1', '127.8.9.1', '[::1]']) expect(level('', false, host)).toBe('off')
    expect(level('?sslmode=require', false, 'localhost')).toBe('verify-full')
    for (const host of ['127.0.0.1.example.org', 'localhost.example.org', '10.0.0.1']) {
      expect(level('', false, host)).toBe('verify-full')
    }
  })

  test.each([
    ['mysql://ann:x@host/db', 'does not start with postgres://'],
    ['host=db user=ann', 'does not start with postgres://'],
    [`postgres://ann:${URL_PASSWORD}@/db`, 'has no host'],
    [`postgres://:${URL_PASSWORD}@host/db`, 'has no role'],
    [`postgres://ann:${URL_PASSWORD}@host`, 'has no database'],
    [`postgres://ann:${URL_PASSWORD}@host/db?sslmode=perhaps`, 'is unknown'],
    [`postgres://ann:${URL_PASSWORD}@host/db?options=-c%20x`, 'unknown parameter'],
    [`postgres://ann:${PASSWORD}@host:port/db`, 'cannot be read'],
    ['postgres://ann:pass%zz@host/db', 'not followed by two hexadecimal digits'],
  ])('url.refused: %s', (url, reason) => {
    const error = refusal(url)
    expect(error.message).toContain(reason)
    expect(error.message).toContain('postgres://ROLE:PASSWORD@HOST:PORT/DATABASE')
    expect(inspect(error, { depth: 9 })).not.toMatch(/pass word|pass%zz/)
  })

  test('url.secret: no way of printing a target or an error shows the password', async () => {
    const target = new ConnectionTarget(`postgres://ann:${URL_PASSWORD}@127.0.0.1:1/db`)
    const error = await failure(openPostgresLog(`postgres://ann:${URL_PASSWORD}@127.0.0.1:1/db`))
    for (const text of [String(target), JSON.stringify(target), inspect(target, { depth: 9, showHidden: true })]) {
      expect(text).toContain('postgres://ann@127.0.0.1:1/db')
      expect(text).not.toContain('pass')
    }
    expect(`${inspect(error, { depth: 9, showHidden: true })}${error.stack}`).not.toContain('pass word')
  })
})

describe('a server that cannot be used', () => {
  const postgres = usePostgres()

  test('auth: wrong password, no password, a role that does not exist', async () => {
    const database = await postgres.database()
    const ann = await database.role('ann')
    for (const parts of [{ password: 'wrong' }, { password: '' }, { role: 'nobody-here' }]) {
      const error = await failure(openPostgresLog(withParts(ann.url, parts)))
      expect([error.code, error.retryable]).toEqual(['auth', false])
      expect(error.message).not.toContain('secret of')
    }
  })

  test('unreachable: nothing listens, no such host, a server that never answers', async () => {
    const silent = createServer(() => undefined)
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const urls = [
      'postgres://ann:x@127.0.0.1:1/db',
      'postgres://ann:x@does-not-exist.invalid/db',
      `postgres://ann:x@127.0.0.1:${port}/db`,
    ]
    for (const url of urls) {
      const error = await failure(openPostgresLog(url, { connectTimeoutMs: 300 }))
      expect([url, error.code, error.retryable]).toEqual([url, 'unreachable', true])
    }
    silent.close()
  })

  test('database: one that does not exist', async () => {
    const database = await postgres.database()
    const error = await failure(openPostgresLog(withParts(database.url, { database: 'no_such_database' })))
    expect(error.code).toBe('refused')
    expect(error.message).toContain('no_such_database')
  })

  test('read_only: a role or a server that accepts no writes is told apart, and reading still works', async () => {
    const database = await postgres.database()
    const owner = await database.owner()
    await owner.log.register(REPOSITORY)
    await owner.log.push([observationRecord('one')], ORIGIN)
    await database.sql(`ALTER ROLE ${owner.role} SET default_transaction_read_only = on`)
    const log = await database.open(owner.url)
    const error = await failure(log.push([observationRecord('two')], ORIGIN))
    expect([error.code, error.retryable]).toEqual(['read_only', true])
    expect((await pullAll(log, await log.start([REPOSITORY]))).records).toHaveLength(1)
  })

  test('init.denied: a role that may not create a schema is told so', async () => {
    const database = await postgres.database()
    const ann = await database.role('ann')
    expect((await failure(initPostgresLog(ann.url))).code).toBe('denied')
    expect((await failure(openPostgresLog(ann.url))).code).toBe('schema_missing')
  })
})

describe('a server that fails', () => {
  const blocked = usePostgres()

  test.skipIf(!usesEmbeddedServer)(
    'server.killed: requests fail as retryable and work after it is back, with all that was stored',
    async () => {
      const server = await startPostgres()
      try {
        await initPostgresLog(server.url())
        const log = await openPostgresLog(server.url())
        await log.register(REPOSITORY)
        const [before, after] = [observationRecord('before'), observationRecord('after')]
        await log.push([before], ORIGIN)
        const { cursors } = await pullAll(log, await log.start([REPOSITORY]))
        await server.kill()
        expect(await failure(log.push([after], ORIGIN))).toMatchObject({ code: 'unreachable', retryable: true })
        expect((await failure(log.pull(cursors, 10))).retryable).toBe(true)
        await server.start()
        expect(await log.push([before, after], ORIGIN)).toEqual([{ is: 'known' }, { is: 'stored' }])
        expect((await pullAll(log, cursors)).records.map(({ id }) => id)).toEqual([after.id])
        await log.close()
      } finally {
        await server.dispose()
      }
    },
  )

  test('close: requests that wait for the server end at once', async () => {
    const database = await blocked.database()
    const owner = await database.owner()
    await owner.log.register(REPOSITORY)
    const blocker = await database.connect(owner.url)
    await blocker.query('BEGIN')
    await blocker.query('LOCK TABLE claude_mem.records')
    const waiting = failure(owner.log.push([observationRecord('waits')], ORIGIN))
    await waitUntil('the push waits for the lock', async () => {
      const rows = await database.sql("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
      return rows.length > 0
    })
    await owner.log.close()
    expect((await waiting).retryable).toBe(true)
  })
})

describe('TLS', () => {
  const name = 'db.test.invalid'
  const { certificate, key } = selfSignedCertificate(name)
  const authority = join(temporaryDirectory('tls'), 'authority.pem')
  writeFileSync(authority, certificate)
  let starting: Promise<PostgresServer> | null = null
  const start = () => {
    starting ??= startPostgres({ tls: { certificate, key } })
    return starting
  }
  afterAll(async () => {
    await (await starting)?.dispose()
  })

  test('tls.unknown-authority, tls.wrong-name: a certificate that does not fit is refused with what to do', async () => {
    const server = await start()
    const unknown = await failure(initPostgresLog(`${server.url()}?sslmode=require`))
    expect(unknown.code).toBe('tls')
    expect(unknown.message).toContain('sslrootcert=FILE')
    const wrongName = await failure(initPostgresLog(`${server.url()}?sslmode=verify-full&sslrootcert=${authority}`))
    expect(wrongName.code).toBe('tls')
    expect(wrongName.message).toContain('another host name')
    const noFile = await failure(initPostgresLog(`${server.url()}?sslmode=verify-full&sslrootcert=/no/such/file`))
    expect(noFile.code).toBe('tls')
  })

  test('tls.verified: with the authority the connection is encrypted; unverified only with insecure', async () => {
    const server = await start()
    await initPostgresLog(`${server.url()}?sslmode=verify-ca&sslrootcert=${authority}`)
    const log = await openPostgresLog(`${server.url()}?sslmode=require`, { insecure: true })
    expect(log.target.tls).toBe('encrypted')
    expect(await log.repositories()).toEqual([])
    await log.close()
  })

  test('tls.missing: a server without TLS is refused where it is required', async () => {
    const plain = await startPostgres()
    try {
      const error = await failure(openPostgresLog(`${plain.url()}?sslmode=verify-full`))
      expect(error.code).toBe('tls')
      expect(error.message).toContain('offers no TLS')
    } finally {
      await plain.dispose()
    }
  })
})

describe('errors', () => {
  test('errors.map: codes of PostgreSQL and of sockets become codes that say what to do', () => {
    const codeOf = (code: string, message = 'text of the server') => {
      const error = Object.assign(new Error(message), {
        code,
        severity: 'ERROR',
        detail: 'Failing row contains (secret)',
      })
      return toTeamError(error, 'host:5432')
    }
    const expected: Record<string, [string, boolean]> = {
      '28P01': ['auth', false],
      '25006': ['read_only', true],
      '42501': ['denied', false],
      '53100': ['server_full', true],
      '53300': ['server_full', true],
      '57014': ['timeout', true],
      '57P01': ['unreachable', true],
      '57P03': ['unreachable', true],
      '08006': ['unreachable', true],
      '40P01': ['internal', true],
      '23514': ['refused', false],
      '22P05': ['refused', false],
      '3F000': ['schema_missing', false],
      XX000: ['internal', false],
    }
    for (const [state, [code, retryable]] of Object.entries(expected)) {
      const error = codeOf(state)
      expect([state, error.code, error.retryable]).toEqual([state, code, retryable])
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('Failing row')
    }
    expect(codeOf('28000', 'no pg_hba.conf entry for host "1.2.3.4", user "x", no encryption').code).toBe('tls')
    expect(codeOf('22P02', 'invalid input syntax for type json: "secret text"').message).not.toContain('secret text')
    expect(toTeamError(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'host:5432').code).toBe('unreachable')
  })
})
