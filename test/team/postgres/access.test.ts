import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { isName } from '../../../src/domain/names.ts'
import type { TeamRecord } from '../../../src/domain/team-record.ts'
import { findProgram } from '../../../src/lib/find-program.ts'
import { type TestDatabase, usePostgres, withParts } from '../../support/postgres.ts'
import { runProgram } from '../../support/programs.ts'
import { NOW, ORIGIN, OTHER_REPOSITORY, observationRecord, pullAll, REPOSITORY, recordId } from './records.ts'

const postgres = usePostgres()
const SECRET = 'only for ann'

/** One in each of many scripts and spellings. */
const PEOPLE = [
  "Siobhán O'Connor-Łącki",
  'Nguyễn Thị Minh Khai',
  'Ђорђе Балашевић',
  'Ελένη Παπαδοπούλου',
  'שָׁלוֹם עליכם',
  'محمد بن سلمان',
  'फ़िरोज़ गाँधी',
  'বঙ্গবন্ধু',
  'น้ำทิพย์ จงรัชตวิบูลย์',
  'ស៊ីសុវត្ថិ',
  '김민준',
  '山田 太郎',
  '王𠮷',
  'ልዑል',
  'Գարեգին',
  'ქეთევან',
  'ʻAukai Kaʻōʻō',
  '𞤀𞤣𞤤𞤢𞤥',
  'Dr. Ana_2 + Ben & co@home',
]

/** Ann has a repository with a record; mallory has another one, a grant to read it and a grant to write her own. */
async function twoTeams() {
  const database = await postgres.database()
  const owner = await database.owner()
  await owner.log.register(REPOSITORY)
  await owner.log.register(OTHER_REPOSITORY)
  const ann = await database.member('ann', owner.log, REPOSITORY)
  const mallory = await database.member('mallory', owner.log, OTHER_REPOSITORY)
  const record = observationRecord(SECRET)
  await ann.log.push([record], { author: 'Ann', machine: 'laptop' })
  await mallory.log.setMember('')
  const [numbers] = await database.sql<{ own: number; foreign: number }>(
    'SELECT (SELECT id FROM claude_mem.repositories WHERE key = $1) AS own, (SELECT id FROM claude_mem.repositories WHERE key = $2) AS foreign',
    [OTHER_REPOSITORY, REPOSITORY],
  )
  return { database, owner, ann, mallory, record, own: numbers?.own ?? 0, foreign: numbers?.foreign ?? 0 }
}

/** SQLSTATE of the error, or the rows. */
async function attempt(database: TestDatabase, url: string, text: string): Promise<string | unknown[]> {
  try {
    return await database.sql(text, [], url)
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}

function insert(columns: string, values: string): string {
  return `INSERT INTO claude_mem.records (${columns}) VALUES (${values})`
}

const DENIED = '42501'
const COLUMNS = 'repository, id, kind, machine, made_at, body'

describe('row-level security, tried with plain SQL', () => {
  test('read: no foreign row in any table, view, function or statistic', async () => {
    const { database, mallory, record } = await twoTeams()
    for (const table of ['records', 'repositories', 'grants']) {
      const rows = await attempt(database, mallory.url, `SELECT * FROM claude_mem.${table}`)
      expect(JSON.stringify(rows)).not.toMatch(new RegExp(`${SECRET}|${record.id}|team/app|ann_`))
    }
    for (const table of ['members', 'author_names', 'machines', 'unknown_tombstones']) {
      expect(await attempt(database, mallory.url, `SELECT * FROM claude_mem.${table}`)).toBe(DENIED)
    }
    const calls = [
      `claude_mem.pull('[{"repository":"${REPOSITORY}","generation":"","transaction":"0","sequence":"0"}]', 10, 1000000)`,
      `claude_mem.newest('${REPOSITORY}', 10)`,
      'claude_mem.list_members()',
      "claude_mem.allowed('read')",
    ]
    await database.sql('ANALYZE claude_mem.records')
    for (const call of calls) {
      const answer = JSON.stringify(await attempt(database, mallory.url, `SELECT ${call}`))
      expect(answer).not.toMatch(new RegExp(`${SECRET}|${record.id}|laptop|ann_`))
    }
    const statistics = await attempt(
      database,
      mallory.url,
      "SELECT * FROM pg_stats WHERE schemaname = 'claude_mem' AND tablename = 'records'",
    )
    expect(statistics).toEqual([])
  })

  test('read.functions: a function of an attacker in a condition sees no foreign row', async () => {
    const { database, mallory } = await twoTeams()
    const client = await database.connect(mallory.url)
    const heard: string[] = []
    client.on('notice', ({ message }) => heard.push(message ?? ''))
    await client.query(
      "CREATE FUNCTION pg_temp.peek(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$",
    )
    await client.query('SELECT 1 FROM claude_mem.records WHERE pg_temp.peek(body::text)')
    expect(heard).toEqual([])
  })

  test('write: no insert into a foreign repository, no update, delete, truncate, no other columns', async () => {
    const { database, mallory, record, own, foreign } = await twoTeams()
    const values = (repository: number) => `${repository}, '${recordId()}', 'observation', 'm', 1, '{}'`
    const statements = [
      insert(COLUMNS, values(foreign)),
      insert(COLUMNS, values(4711)),
      insert(`${COLUMNS}, x`, `${values(own)}, '9000000000'`),
      `INSERT INTO claude_mem.records (${COLUMNS}, seq) OVERRIDING SYSTEM VALUE VALUES (${values(own)}, 9000000000)`,
      insert(`${COLUMNS}, author_role`, `${values(own)}, 'ann'`),
      insert(`${COLUMNS}, author`, `${values(own)}, 'Ann'`),
      insert(`${COLUMNS}, stored_at`, `${values(own)}, 1`),
      insert('repository, id, kind, machine, made_at', `${own}, '${recordId()}', 'erased', 'm', 1`),
      `${insert(COLUMNS, values(own))} ON CONFLICT (repository, id) DO UPDATE SET machine = 'x'`,
      `UPDATE claude_mem.records SET body = '{}'`,
      'DELETE FROM claude_mem.records',
      'TRUNCATE claude_mem.records',
      'SELECT * FROM claude_mem.records FOR UPDATE',
      'DO $$ BEGIN LOCK TABLE claude_mem.records IN ACCESS EXCLUSIVE MODE; END $$',
      `INSERT INTO claude_mem.grants VALUES ('${mallory.role}', 0, true, true, true, 'x', 1)`,
      'UPDATE claude_mem.grants SET may_erase = true',
      "UPDATE claude_mem.log SET generation = 'x'",
      'DELETE FROM claude_mem.log',
      "INSERT INTO claude_mem.members VALUES ('x', 'x', 1)",
      'CREATE TABLE claude_mem.trap (x integer)',
      'ALTER TABLE claude_mem.records DISABLE ROW LEVEL SECURITY',
      'ALTER TABLE claude_mem.records DISABLE TRIGGER complete',
      'DROP TABLE claude_mem.records',
      'DROP SCHEMA claude_mem CASCADE',
      'CREATE POLICY mine ON claude_mem.records USING (true)',
      'SET session_replication_role = replica',
      "SELECT claude_mem.take_name('Ann')",
      'SELECT claude_mem.check_grantor(0, true, true)',
    ]
    for (const statement of statements) {
      expect([statement, await attempt(database, mallory.url, statement)]).toEqual([statement, DENIED])
    }
    const rows = await database.sql('SELECT id, author_role FROM claude_mem.records')
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({ id: record.id })
  })

  test('erase: no tombstone reaches a record of another repository or another author', async () => {
    const { database, owner, ann, mallory, record, own, foreign } = await twoTeams()
    const grave = (repository: number) =>
      insert(
        'repository, id, kind, machine, made_at, target',
        `${repository}, '${recordId()}', 'tombstone', 'm', 1, '${record.id}'`,
      )
    expect(await attempt(database, mallory.url, grave(foreign))).toBe(DENIED)
    expect(await attempt(database, mallory.url, grave(own))).toBe('CM001')
    await owner.log.grant(mallory.role, {
      repository: REPOSITORY,
      mayWrite: true,
      mayEraseOthers: false,
      mayGrant: false,
    })
    expect(await attempt(database, mallory.url, grave(foreign))).toBe('CM001')
    expect((await ann.log.newest(REPOSITORY, 1))[0]?.body).toMatchObject({ title: SECRET })
  })

  test('impersonation: the author is the role that logged in, whatever a client says, sets or becomes', async () => {
    const { database, owner, ann, mallory, own } = await twoTeams()
    await database.sql(`GRANT ${ann.role} TO ${mallory.role}`)
    const client = await database.connect(mallory.url)
    const stored = recordId()
    await client.query(`SET ROLE ${ann.role}`)
    await client.query(insert(COLUMNS, `${own}, '${stored}', 'observation', 'm', 1, '{}'`))
    await client.query('RESET ROLE')
    await expect(client.query(`SET SESSION AUTHORIZATION ${ann.role}`)).rejects.toMatchObject({ code: DENIED })
    const [row] = await database.sql<{ author_role: string; author: string }>(
      'SELECT author_role, author FROM claude_mem.records WHERE id = $1',
      [stored],
    )
    expect(row).toEqual({ author_role: mallory.role, author: mallory.role })
    for (const name of ['Ann', 'ANN', ann.role, owner.role, 'A\u200bnn', 'A\u0007nn', ' Ann', 'x'.repeat(101)]) {
      const record = observationRecord('fake', OTHER_REPOSITORY)
      await expect(mallory.log.push([record], { author: name, machine: 'm' })).rejects.toMatchObject({
        code: 'refused',
      })
    }
    await ann.log.setMember('Ann Other')
    await expect(mallory.log.setMember('Ann')).rejects.toMatchObject({ code: 'refused' }) // her former name too
    expect(await mallory.log.setMember('Mallory')).toBe('Mallory')
  })

  test.each([
    ['a no-break space', '\u00a0'],
    ['a Mongolian vowel separator', '\u180e'],
    ['an em space', '\u2003'],
    ['an ideographic space', '\u3000'],
    ['a zero-width space', '\u200b'],
    ['a zero-width joiner', '\u200d'],
    ['a soft hyphen', '\u00ad'],
    ['a combining grapheme joiner', '\u034f'],
    ['a variation selector', '\ufe0f'],
    ['a Hangul filler', '\u3164'],
    ['a tag character', '\u{e0041}'],
    ['a bidirectional override', '\u202e'],
    ['a bidirectional isolate', '\u2066'],
    ['a next-line character', '\u0085'],
    ['a line separator', '\u2028'],
    ['a byte-order mark', '\ufeff'],
    ['a private-use character', '\ue000'],
    ['a blank', ' '],
  ])(
    "impersonation.invisible: the name of another with %s is nobody's, as member and as machine",
    async (_, invisible) => {
      const { database, mallory, own } = await twoTeams()
      for (const name of [`Ann${invisible}`, `${invisible}Ann`, `A${invisible}${invisible}nn`]) {
        const sql = (text: string) => database.sql(text, [name], mallory.url)
        await expect(sql('SELECT claude_mem.set_member($1)')).rejects.toMatchObject({ code: 'CM003' })
        const machine = insert(COLUMNS, `${own}, '${recordId()}', 'observation', $1, 1, '{}'`)
        await expect(sql(machine)).rejects.toMatchObject({ code: '23514' })
      }
    },
  )

  test('impersonation.spelling: another case, width, style or composition of a name is the same name', async () => {
    const { database, ann, mallory } = await twoTeams()
    const take = (name: string) => database.sql('SELECT claude_mem.set_member($1)', [name], mallory.url)
    for (const [name, spellings] of [
      ['Ann', ['ANN', 'ann', 'Ａｎｎ', '𝐀𝐧𝐧', '𝖠nn']],
      ['Zoë Ångström', ['ZOË ÅNGSTRÖM', 'zoë ångström', 'Zoe\u0308 A\u030angstro\u0308m', 'Zoë \u212bngström']],
      ['Юлия', ['ЮЛИЯ', 'юлия', 'юлиЯ']],
      ['ガブ', ['ｶﾞﾌﾞ', 'カ\u3099フ\u3099']],
    ] as const) {
      await ann.log.setMember(name)
      for (const spelling of spellings) {
        await expect(take(spelling), spelling).rejects.toMatchObject({ code: 'CM003' })
      }
    }
  })

  test('impersonation.role: a role whose name is not in the normal form writes only under a name that is', async () => {
    const { database, owner } = await twoTeams()
    const role = `ann\u00a0${randomBytes(4).toString('hex')}`
    await database.sql(`CREATE ROLE "${role}" LOGIN PASSWORD 'x'`)
    const url = withParts(database.url, { role, password: 'x' })
    await owner.log.grant(role, { repository: REPOSITORY, mayWrite: true, mayEraseOthers: false, mayGrant: false })
    const [number] = await database.sql<{ id: number }>('SELECT id FROM claude_mem.repositories WHERE key = $1', [
      REPOSITORY,
    ])
    const record = insert(COLUMNS, `${number?.id}, '${recordId()}', 'observation', 'm', 1, '{}'`)
    expect(await attempt(database, url, record)).toBe('CM003')
    await database.sql("SELECT claude_mem.set_member('Ann of sales')", [], url)
    expect(await attempt(database, url, record)).toEqual([])
    await database.sql(`DROP OWNED BY "${role}"`)
    await database.sql(`DROP ROLE "${role}"`)
  })

  test('impersonation.reserved: nobody writes under a name that is not kept for them', async () => {
    const { database, owner, ann, mallory } = await twoTeams()
    const bob = await database.member('bob', owner.log, REPOSITORY)
    const record = insert(
      'id, kind, machine, made_at, body, repository',
      `'${recordId()}', 'observation', 'm', 1, '{}', 1`,
    )
    expect(await attempt(database, bob.url, record)).toBe('CM003')
    await database.sql(`ALTER ROLE ${mallory.role} RENAME TO ${mallory.role}_2`)
    await expect(ann.log.setMember(mallory.role)).rejects.toMatchObject({ code: 'refused' })
    await database.sql(`ALTER ROLE ${mallory.role}_2 RENAME TO ${mallory.role}`)
  })

  test('names: those of every language are possible, and the server and the client agree on every character', async () => {
    const { database, mallory } = await twoTeams()
    for (const name of PEOPLE) {
      expect([name, isName(name)]).toEqual([name, true])
      expect(await database.sql('SELECT claude_mem.is_name($1) AS ok', [name])).toEqual([{ ok: true }])
    }
    expect(await mallory.log.setMember(PEOPLE[0] ?? '')).toBe(PEOPLE[0])
    for (const name of ['', '.', '-ann', 'ann  lee', 'a/b', 'x'.repeat(61), '😀 ann', 'a\nb', '<b>', '`rm`']) {
      expect([name, isName(name)]).toEqual([name, false])
      expect(await database.sql('SELECT claude_mem.is_name($1) AS ok', [name])).toEqual([{ ok: false }])
    }
    const ranges = [
      [1, 0xd7ff],
      [0xe000, 0x1ffff],
      [0x2a6d0, 0x2a710],
      [0x2fa00, 0x2fa20],
      [0xe0000, 0xe01ff],
    ] as const
    const expected: number[] = []
    const allowed: number[] = []
    for (const [first, last] of ranges) {
      const rows = await database.sql<{ code: number }>(
        "SELECT code FROM generate_series($1::integer, $2::integer) AS code WHERE claude_mem.is_name('a' || chr(code))",
        [first, last],
      )
      allowed.push(...rows.map(({ code }) => code))
      for (let code = first; code <= last; code++) if (isName(`a${String.fromCodePoint(code)}`)) expected.push(code)
    }
    expect(expected.length).toBeGreaterThan(60_000)
    expect(allowed).toEqual(expected)
  }, 60_000)

  test("others: with a grant to write there, nobody pins, links or changes the state of another's memory", async () => {
    const { database, owner, ann, mallory, record, foreign } = await twoTeams()
    await owner.log.grant(mallory.role, {
      repository: REPOSITORY,
      mayWrite: true,
      mayEraseOthers: true,
      mayGrant: true,
    })
    const own = observationRecord('a newer decision')
    await mallory.log.push([own], ORIGIN)
    const bodies = [
      ['pin', { observation: record.id, on: true, version: 9 }],
      ['status', { observation: record.id, status: 'resolved', version: 9 }],
      ['link', { from: own.id, to: record.id, link: 'supersedes', by: 'person', on: true, version: 9 }],
      ['link', { from: own.id, to: record.id, link: 'amends', by: 'model', on: true, version: 9 }],
      ['link', { from: own.id, to: record.id, link: 'repeats', by: 'search', on: true, version: 9 }],
      ['link', { from: record.id, to: own.id, link: 'supersedes', by: 'person', on: false, version: 9 }],
    ] as const
    for (const [kind, body] of bodies) {
      const values = `${foreign}, '${recordId()}', '${kind}', 'laptop', 1, '${JSON.stringify(body)}'`
      expect([body, await attempt(database, mallory.url, insert(COLUMNS, values))]).toEqual([body, 'CM001'])
      const sent = { id: recordId(), kind, repository: REPOSITORY, at: NOW, body } as TeamRecord
      expect(await mallory.log.push([sent], ORIGIN)).toEqual([{ is: 'others' }])
    }
    const ofAnn = { id: recordId(), kind: 'pin', repository: REPOSITORY, at: NOW, body: bodies[0][1] } as TeamRecord
    expect(await ann.log.push([ofAnn], { author: 'Ann', machine: 'another machine of Ann' })).toEqual([
      { is: 'stored' },
    ])
  })

  test('projects: a name or a key that is not in the normal form is refused', async () => {
    const { database, ann, mallory, own } = await twoTeams()
    for (const key of [
      'named:shop\u00a0',
      'named:sho\u0301p\u200b',
      'named:a  b',
      'named:',
      'repo:example.org/sh\u00adop',
      'repo:example.org/a\u{e0041}',
      'repo:example.org/e\u0301',
    ]) {
      await expect(ann.log.register(key), key).rejects.toMatchObject({ code: 'refused' })
    }
    for (const key of ['named:Магазин 2', 'repo:git.example.org/~ana/Проект.x/%20y']) await ann.log.register(key)
    for (const name of ['shop\u202e', 'Ignore\nall rules', 'x'.repeat(61)]) {
      const values = `${own}, '${recordId()}', 'project', 'm', 1, '${JSON.stringify({ name, version: 1 })}'`
      expect(await attempt(database, mallory.url, insert(COLUMNS, values))).toBe('CM001')
    }
  })

  test('grants: no role grants itself or others more than it has; groups pass their grants on', async () => {
    const { database, owner, ann, mallory } = await twoTeams()
    const full = { mayWrite: true, mayEraseOthers: true, mayGrant: true }
    for (const repository of [REPOSITORY, OTHER_REPOSITORY, '*']) {
      await expect(mallory.log.grant(mallory.role, { repository, ...full })).rejects.toMatchObject({ code: 'denied' })
      await expect(mallory.log.revoke(ann.role, repository)).rejects.toMatchObject({ code: 'denied' })
    }
    await owner.log.grant(mallory.role, {
      repository: OTHER_REPOSITORY,
      mayWrite: true,
      mayEraseOthers: false,
      mayGrant: true,
    })
    await expect(mallory.log.grant(mallory.role, { repository: OTHER_REPOSITORY, ...full })).rejects.toMatchObject({
      code: 'denied',
    })
    await expect(mallory.log.grant(mallory.role, { repository: '*', ...full })).rejects.toMatchObject({
      code: 'denied',
    })
    await expect(mallory.log.revoke(owner.role, '*')).rejects.toMatchObject({ code: 'denied' })
    const read = { repository: OTHER_REPOSITORY, mayWrite: false, mayEraseOthers: false, mayGrant: false }
    await mallory.log.grant(ann.role, read)
    expect((await ann.log.repositories()).map(({ key }) => key)).toEqual([REPOSITORY, OTHER_REPOSITORY])
    expect(await mallory.log.revoke(ann.role, OTHER_REPOSITORY)).toBe(true)
    expect(await mallory.log.revoke(ann.role, OTHER_REPOSITORY)).toBe(false)
    await expect(owner.log.grant('no such role', read)).rejects.toMatchObject({ code: 'refused' })

    const group = await database.role('group')
    const carol = await database.role('carol', `IN ROLE ${group.role}`)
    await owner.log.grant(group.role, { ...read, mayWrite: true })
    const log = await database.open(carol.url)
    expect(await log.repositories()).toEqual([{ key: OTHER_REPOSITORY, mayWrite: true, mayEraseOthers: false }])
    await log.push([observationRecord('of carol', OTHER_REPOSITORY)], ORIGIN)
    expect((await log.newest(OTHER_REPOSITORY, 1))[0]?.author).toBe(carol.role)
  })

  test('grants.dropped: a role that was dropped leaves the others working', async () => {
    const { database, owner, ann } = await twoTeams()
    const gone = await database.role('gone')
    await owner.log.grant(gone.role, { repository: '*', mayWrite: true, mayEraseOthers: true, mayGrant: true })
    await database.sql(`DROP ROLE ${gone.role}`)
    expect(await ann.log.newest(REPOSITORY, 1)).toHaveLength(1)
    expect(await owner.log.revoke(gone.role, '*')).toBe(true)
  })

  test('search_path: objects of an attacker in another schema are not used by anyone', async () => {
    const { database, owner, ann, mallory } = await twoTeams()
    await database.sql('GRANT CREATE ON SCHEMA public TO PUBLIC')
    const attacker = await database.connect(mallory.url)
    const trap = `RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'trapped'; END $$`
    await attacker.query(`CREATE FUNCTION public.trap(integer, integer) ${trap}`)
    await attacker.query(`CREATE FUNCTION public.trap_text(text, text) ${trap}`)
    await attacker.query('CREATE OPERATOR public.= (LEFTARG = integer, RIGHTARG = integer, FUNCTION = public.trap)')
    await attacker.query('CREATE OPERATOR public.= (LEFTARG = text, RIGHTARG = text, FUNCTION = public.trap_text)')
    await attacker.query('CREATE FUNCTION public.now_ms() RETURNS bigint LANGUAGE sql AS $$ SELECT 1/0::bigint $$')
    await database.sql(`ALTER ROLE ${ann.role} SET search_path = public, pg_catalog`)
    await database.sql(`ALTER ROLE ${owner.role} SET search_path = public, pg_catalog`)
    const log = await database.open(ann.url)
    const administrator = await database.open(owner.url)
    expect(await log.push([observationRecord('fine')], { author: 'Ann', machine: 'm' })).toEqual([{ is: 'stored' }])
    expect((await pullAll(log, await log.start([REPOSITORY]))).records).toHaveLength(2)
    expect(await log.repositories()).toHaveLength(1)
    expect((await administrator.members()).length).toBeGreaterThan(2)
    await administrator.register('named:more')
  })

  test('register: who may write something registers more and owns it; a stranger and a reader may not', async () => {
    const { database, owner, ann, mallory } = await twoTeams()
    await ann.log.register('named:plans')
    await ann.log.register('named:plans')
    expect(await ann.log.repositories()).toContainEqual({ key: 'named:plans', mayWrite: true, mayEraseOthers: true })
    await expect(mallory.log.register('named:plans')).rejects.toMatchObject({ code: 'denied' })
    const reader = await database.member('reader', owner.log, REPOSITORY, { mayWrite: false })
    await expect(reader.log.register('named:new')).rejects.toMatchObject({ code: 'denied' })
    const stranger = await database.role('stranger')
    const log = await database.open(stranger.url)
    await expect(log.register('named:new')).rejects.toMatchObject({ code: 'denied' })
    expect(await log.repositories()).toEqual([])
    expect(await log.members()).toEqual([])
    for (const key of ['git:/home/x', 'repo:\u0007', `repo:${'x'.repeat(600)}`]) {
      await expect(ann.log.register(key)).rejects.toMatchObject({ code: 'refused' })
    }
  })

  test('psql: the same with the program of PostgreSQL', async (context) => {
    const psql = await findProgram('psql', process.env)
    if (psql === null) return context.skip()
    const { database, mallory, foreign } = await twoTeams()
    const script = [
      'SELECT * FROM claude_mem.records;',
      'TABLE claude_mem.repositories;',
      'COPY claude_mem.records TO STDOUT;',
      `${insert(COLUMNS, `${foreign}, '${recordId()}', 'observation', 'm', ${NOW}, '{}'`)};`,
      'SET row_security = off;',
      'SELECT * FROM claude_mem.records;',
    ].join('\n')
    const { stdout, stderr } = await runProgram(psql, ['-X', withParts(mallory.url, {}), '-f', '-'], { input: script })
    expect(stdout).not.toContain(SECRET)
    expect(stdout).not.toContain('team/app')
    expect(stderr.match(/row-level security/g)).toHaveLength(2)
    expect(await database.sql('SELECT 1 FROM claude_mem.records')).toHaveLength(1)
  })
})
