import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Commit } from '../../src/store/commit.ts'
import { MIGRATIONS, migrate, SCHEMA_VERSION, schemaVersion } from '../../src/store/migrations/index.ts'
import type { Store } from '../../src/store/port.ts'
import { listBackups } from '../../src/store/recovery/backup.ts'
import { checkIntegrity } from '../../src/store/recovery/database-files.ts'
import { restoreBackup } from '../../src/store/recovery/recover.ts'
import { commitGroup } from '../../src/store/sqlite/commit.ts'
import { Database } from '../../src/store/sqlite/database.ts'
import { upgrade } from '../../src/store/sqlite/open.ts'
import { openStoreReader } from '../../src/store/sqlite/reader.ts'
import { openLocalStore, openSqliteStore } from '../../src/store/sqlite/store.ts'
import { committed } from './contract.ts'
import { columnsOf } from './older.ts'
import { type Place, place } from './place.ts'
import {
  accepting,
  callOf,
  claim,
  commitOf,
  effectOf,
  NOW,
  observationOf,
  PROJECT,
  promptOf,
  record,
  settle,
  stateOf,
  toolUse,
  traceOf,
} from './samples.ts'

const PAGE_BYTES = 4096

let here: Place
let store: Store | undefined
beforeEach(() => {
  here = place()
})
afterEach(async () => {
  await store?.close()
  store = undefined
  here.dispose()
})

async function open(over: { checkUpToBytes?: number; now?: () => number } = {}): Promise<Store> {
  store = await openLocalStore({ ...here.options, ...over })
  return store
}
async function close(): Promise<void> {
  await store?.close()
  store = undefined
}

function overwrite(at: number, bytes: number, file = here.file): void {
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(bytes, 0xa5), 0, bytes, at)
  closeSync(descriptor)
}

/** The pages that hold a table's rows, in the rows' order. */
function leavesOf(table: string): { pageno: number; ncell: number }[] {
  const raw = new Database(here.file, { readonly: true })
  const leaves = raw
    .prepare<[string], { pageno: number; ncell: number }>(
      "SELECT pageno, ncell FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path",
    )
    .all(table)
  raw.close()
  return leaves
}

function damagedFiles(): string[] {
  return readdirSync(dirname(here.file)).filter((name) => /\.corrupt-[^-]*$/.test(name))
}

/** Session `s` with one more observation for each number. */
async function learn(into: Store, from: number, to: number): Promise<void> {
  const row = await into.session('s')
  let revision = row?.revision ?? 0
  for (let n = from; n <= to; n += 1) {
    revision += 1
    const narrative = `${n}:${'lesson '.repeat(60)}`
    await committed(
      into,
      commitOf('s', revision, {
        observations: [observationOf([], { title: `n${n}`, narrative, createdAt: NOW + n })],
        trace: [traceOf(`n${n}`)],
      }),
    )
  }
}
/** A database as the first version left it: its tables hold what commits of today write to them. */
function versionOne(commits: readonly Commit[]): void {
  mkdirSync(dirname(here.file), { recursive: true })
  const today = join(here.directory, 'today.sqlite')
  const source = new Database(today)
  migrate(source)
  expect(commitGroup(source, commits).every(({ ok }) => ok)).toBe(true)
  source.close()
  const db = new Database(here.file)
  db.pragma('journal_mode = WAL')
  migrate(db, MIGRATIONS.slice(0, 1))
  db.prepare('ATTACH ? AS today').run(today)
  db.pragma('foreign_keys = OFF')
  const tables = db.prepare<[], { name: string }>(
    "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND (name NOT LIKE 'sqlite_%' OR name = 'sqlite_sequence')",
  )
  for (const { name } of tables.all()) {
    const columns = name === 'sqlite_sequence' ? 'name, seq' : columnsOf(db, name).join(', ')
    db.exec(`DELETE FROM main.${name}; INSERT INTO main.${name} (${columns}) SELECT ${columns} FROM today.${name}`)
  }
  db.exec('DELETE FROM sqlite_sequence WHERE name NOT IN (SELECT name FROM sqlite_schema); DETACH today')
  db.close()
}
async function learned(from: Store): Promise<number[]> {
  const rows = await from.observations({})
  return rows.map((row) => Number(row.title?.slice(1))).sort((a, b) => a - b)
}
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

describe('opening', () => {
  test('open.makesAPrivateDatabase', async () => {
    await learn(await open(), 1, 1)
    expect(statSync(here.file).mode & 0o777).toBe(0o600)
    expect(statSync(`${here.file}-wal`).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(here.file)).mode & 0o777).toBe(0o700)
  })

  test('open.closesAFileThatOthersCouldRead', async () => {
    await learn(await open(), 1, 1)
    await close()
    chmodSync(here.file, 0o644)
    await open()
    expect(statSync(here.file).mode & 0o777).toBe(0o600)
  })

  test('open.setsDurableModes', async () => {
    const core = await openSqliteStore(here.options)
    const pragma = (name: string) => core.db.pragma(name, { simple: true })
    expect(pragma('journal_mode')).toBe('wal')
    expect(pragma('synchronous')).toBe(2)
    expect(pragma('fullfsync')).toBe(1)
    expect(pragma('checkpoint_fullfsync')).toBe(1)
    expect(pragma('foreign_keys')).toBe(1)
    expect(pragma('secure_delete')).toBe(1)
    expect(pragma('user_version')).toBe(SCHEMA_VERSION)
    await core.close()
  })

  test('open.againKeepsEverythingAndMakesNoBackup', async () => {
    await learn(await open(), 1, 3)
    await close()
    const again = await open()
    expect(await learned(again)).toEqual([1, 2, 3])
    expect(await again.startupNotes()).toEqual([])
    expect(await again.backups()).toEqual([])
  })

  test('open.refusesANewerDatabaseAndLeavesItUntouched', async () => {
    await learn(await open(), 1, 3)
    await close()
    const raw = new Database(here.file)
    raw.pragma('user_version = 99')
    raw.close()
    const before = readFileSync(here.file)
    await expect(open()).rejects.toMatchObject({ code: 'newer_database', retryable: false })
    await expect(open()).rejects.toThrow(/schema 99.*Install the newer claude-mem/)
    expect(readFileSync(here.file).equals(before)).toBe(true)
    await expect(openStoreReader(here.file)).rejects.toMatchObject({ code: 'newer_database' })
  })

  test('open.refusesAnotherProgramsDatabase', async () => {
    mkdirSync(dirname(here.file), { recursive: true })
    const raw = new Database(here.file)
    raw.exec('CREATE TABLE songs (title TEXT)')
    raw.close()
    await expect(open()).rejects.toThrow(/belongs to another program/)
  })

  test('open.inAnImpossiblePlaceIsAStorageError', async () => {
    writeFileSync(join(here.directory, 'data'), 'a file where a directory should be')
    await expect(open()).rejects.toMatchObject({ code: 'storage' })
  })
})

describe('migrations', () => {
  const next = { version: SCHEMA_VERSION + 1, sql: 'CREATE TABLE later (id INTEGER PRIMARY KEY) STRICT' }

  test('migration.backsUpFirstAndSaysSo', async () => {
    const core = await openSqliteStore(here.options)
    commitGroup(core.db, [commitOf('s', 1)])
    const [note] = await upgrade(core.db, here.options, NOW, [...MIGRATIONS, next])
    expect(note).toContain(`from version ${SCHEMA_VERSION} to ${SCHEMA_VERSION + 1}`)
    expect(listBackups(here.options.backupsDir)).toMatchObject([{ reason: 'migration', at: NOW }])
    expect(schemaVersion(core.db)).toBe(SCHEMA_VERSION + 1)
    expect(core.session('s')?.revision).toBe(1)
    await core.close()
  })

  test('migration.thatFailsChangesNothing', async () => {
    const core = await openSqliteStore(here.options)
    const broken = { ...next, sql: `${next.sql}; CREATE TABLE later (id INTEGER)` }
    expect(() => migrate(core.db, [...MIGRATIONS, broken])).toThrow(/already exists/)
    expect(schemaVersion(core.db)).toBe(SCHEMA_VERSION)
    expect(core.db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'later'").get()).toBeUndefined()
    await core.close()
  })

  test('migration.ofAVersionOneDatabaseKeepsItsRowsAndCountsCallsFromNowOn', async () => {
    versionOne([accepting('s', 1, [toolUse('s', '1')]), commitOf('s', 2, { observations: [observationOf([])] })])
    const lifted = await open()
    expect((await lifted.startupNotes()).join(' ')).toContain(`from version 1 to ${SCHEMA_VERSION}`)
    expect(await lifted.backups()).toMatchObject([{ reason: 'migration' }])
    expect(await lifted.sessionView('s', 10)).toMatchObject({ row: { revision: 2 }, messages: [{ eventId: '1' }] })
    expect(await lifted.observations({})).toHaveLength(1)
    expect(await lifted.calls({})).toEqual([])
    const seen = [{ subject: 'a.ts', digest: '1' }]
    await committed(lifted, commitOf('s', 3, { calls: [callOf('e1')], seen }))
    expect(await lifted.spentSince(0)).toMatchObject({ cost: 0.25 })
    expect(await lifted.seenDigests('s', ['a.ts'])).toEqual(new Map([['a.ts', '1']]))
  })

  test('migrations.areNumberedWithoutGaps', () => {
    expect(MIGRATIONS.map(({ version }) => version)).toEqual(MIGRATIONS.map((_, i) => i + 1))
  })
})

describe('a session that is erased', () => {
  test('erased.leavesItsCallsOnTheBillWithoutTheirWords', async () => {
    const core = await openSqliteStore(here.options)
    const calls = [callOf('e1'), callOf('e2', { error: 'not XML: my secret plan' })]
    const seen = [{ subject: 'a.ts', digest: '1' }]
    core.commit([commitOf('gone', 1, { calls, seen }), commitOf('kept', 1, { calls: [callOf('e3')], seen })])
    core.db.prepare('DELETE FROM sdk_sessions WHERE content_session_id = ?').run('gone')
    const nameless = { session: null, sent: null, received: null, cost: 0.25 }
    expect(core.calls({})).toMatchObject([
      { ...nameless, effectId: 'e1', error: null },
      { ...nameless, effectId: 'e2', error: 'erased with its session' },
      { session: 'kept', effectId: 'e3', sent: 'what happened' },
    ])
    expect(core.usage({ by: 'session', since: 0 })).toMatchObject([
      { key: '', calls: 2, cost: 0.5 },
      { key: 'kept', calls: 1 },
    ])
    expect(core.seenDigests('gone', ['a.ts']).size).toBe(0)
    expect(core.seenDigests('kept', ['a.ts']).size).toBe(1)
    await core.close()
  })
})

describe('a damaged database', () => {
  test('damage.keepsTheBillAndForgetsWhatWasSeen', async () => {
    const first = await open()
    const seen = [{ subject: 'a.ts', digest: '1' }]
    await committed(first, commitOf('s', 1, { calls: [callOf('e1')], seen }))
    await first.backup('daily', 7)
    await committed(first, commitOf('s', 2, { calls: [callOf('e2'), callOf('e2')] }))
    await close()
    overwrite(0, 16)
    const again = await open()
    expect((await again.calls({})).map(({ effectId }) => effectId)).toEqual(['e1', 'e2', 'e2'])
    expect((await again.seenDigests('s', ['a.ts'])).size).toBe(0)
    expect((await again.startupNotes()).join(' ')).toContain('model calls 2')
  })

  test('damage.keepsWhatWasDecidedAboutAProjectSinceTheBackup', async () => {
    const made = await open()
    await made.updateProjects([{ key: 'git:/old', root: '/old', fingerprint: 'f' }], NOW)
    await made.backup('daily', 3)
    const place = { key: 'git:/old', repository: 'repo:host/shop', state: 'linked', told: true, createdAt: 17 } as const
    await made.updateProjects(
      [{ key: 'git:/old', name: 'Shop', mergedInto: 'git:/new', files: ['project'] }],
      NOW + 1,
      [place],
    )
    await close()
    overwrite(0, 100)
    const again = await open()
    expect(await again.projectDirectories()).toEqual([place])
    const [settings] = await again.projectSettings()
    const decided = { name: 'Shop', mergedInto: 'git:/new', root: '/old', fingerprint: 'f', files: ['project'] }
    expect(settings).toEqual({ key: 'git:/old', ...decided })
  })

  test('damage.toTheFilesOfAProjectKeepsNobodyFromStarting', async () => {
    await (await open()).updateProjects([{ key: 'git:/old', name: 'Shop', files: ['project'] }], NOW)
    await close()
    const raw = new Database(here.file)
    raw.exec(`UPDATE projects SET files = '["proj'`)
    raw.close()
    expect(await (await open()).projectSettings()).toMatchObject([{ name: 'Shop', files: [] }])
  })

  test('damage.toAVersionOneDatabaseMissesNoTableItNeverHad', async () => {
    versionOne([accepting('s', 1, [toolUse('s', '1')]), commitOf('s', 2, { observations: [observationOf([])] })])
    overwrite(0, 100)
    const again = await open()
    expect(await again.observations({})).toHaveLength(1)
    expect(await again.queue({})).toMatchObject([{ eventId: '1' }])
    expect((await again.startupNotes()).join(' ')).not.toContain('could not be read')
  })

  test('damage.inTheHeaderOfAMigratedDatabaseWithoutBackupsLosesNothing', async () => {
    versionOne(range(1, 50).map((n) => commitOf(`s${n}`, 1, { observations: [observationOf([])] })))
    const lifted = await open()
    await committed(lifted, commitOf('s1', 2, { calls: [callOf('e1')] }))
    for (const { file } of await lifted.backups()) rmSync(file)
    await close()
    overwrite(0, 100)
    const again = await open()
    expect(await again.observations({})).toHaveLength(50)
    expect(await again.calls({})).toHaveLength(1)
  })

  test('damage.ofTheWholeFirstPageIsHealedFromTheBackupBeforeTheMigration', async () => {
    versionOne(range(1, 50).map((n) => commitOf(`s${n}`, 1, { observations: [observationOf([])] })))
    const lifted = await open()
    await committed(lifted, commitOf('s1', 2, { calls: [callOf('e1')], observations: [observationOf([])] }))
    await close()
    overwrite(0, PAGE_BYTES)
    const again = await open()
    expect(await again.observations({})).toHaveLength(51)
    expect(await again.calls({})).toHaveLength(1)
  })

  test('damage.inTheHeaderWithoutABackupLosesNothing', async () => {
    await learn(await open(), 1, 50)
    await close()
    overwrite(0, 100)
    const again = await open()
    expect(await learned(again)).toEqual(range(1, 50))
    expect((await again.session('s'))?.revision).toBe(50)
    expect(damagedFiles()).toHaveLength(1)
    const notes = (await again.startupNotes()).join(' ')
    expect(notes).toContain('was damaged')
    expect(notes).toContain('no intact backup')
    expect(notes).toContain('observations 50')
    await learn(again, 51, 52)
  })

  test('damage.ofTheWholeFirstPageIsHealedFromTheBackup', async () => {
    const first = await open()
    await learn(first, 1, 20)
    await first.backup('daily', 7)
    await learn(first, 21, 40)
    await close()
    overwrite(0, PAGE_BYTES)
    expect(await learned(await open())).toEqual(range(1, 40))
  })

  test('damage.inTheMiddleCostsOnlyWhatWasInItAndNotInTheBackup', async () => {
    const first = await open()
    await learn(first, 1, 600)
    await first.backup('daily', 7)
    await learn(first, 601, 1_200)
    await close()
    const size = statSync(here.file).size
    const leaves = leavesOf('observations')
    const damaged = [0.3, 0.5, 0.8].map((part) => leaves.at(Math.floor(leaves.length * part))?.pageno ?? 0)
    for (const page of damaged) overwrite((page - 1) * PAGE_BYTES, PAGE_BYTES)

    const again = await open()
    const known = await learned(again)
    expect(known.filter((n) => n <= 600)).toEqual(range(1, 600))
    // Each page holds a handful of observations.
    expect(known.length).toBeGreaterThan(1_200 - 3 * 10)
    expect(known.at(-1)).toBe(1_200)
    expect((await again.session('s'))?.revision).toBe(1_200)
    const notes = (await again.startupNotes()).join(' ')
    expect(notes).toMatch(/The backup of .* was restored\./)
    expect(notes).toMatch(/Recovered from the damaged file: .*observations 5\d\d/)
    const [aside] = damagedFiles()
    expect(statSync(join(dirname(here.file), aside ?? '')).size).toBe(size)
    expect((await committed(again, commitOf('s', 1_201))).seq).toBeGreaterThan(1_200)
  })

  test.each([
    ['the first leaf', [0]],
    ['a leaf in the middle', [20]],
    ['two neighbours and one further on', [10, 11, 30]],
    ['the last leaf but one', [-2]],
    ['the last leaves', [-3, -2, -1]],
  ])('damage of %s of a table costs exactly the rows in it', async (_, which) => {
    await learn(await open(), 1, 300)
    await close()
    const leaves = leavesOf('observations')
    const damaged = which.map((index) => leaves.at(index) ?? { pageno: 0, ncell: 0 })
    for (const { pageno } of damaged) overwrite((pageno - 1) * PAGE_BYTES, PAGE_BYTES)
    const lost = damaged.reduce((rows, { ncell }) => rows + ncell, 0)
    expect(lost).toBeGreaterThan(0)
    expect(await learned(await open())).toHaveLength(300 - lost)
  })

  test('damage.doesNotBringBackMessagesThatWereSettledSinceTheBackup', async () => {
    const first = await open()
    await committed(
      first,
      accepting(
        's',
        1,
        ['1', '2', '3'].map((id) => toolUse('s', id)),
      ),
    )
    await first.backup('daily', 7)
    await committed(first, commitOf('s', 2, { inbox: [claim('e1', 'observe', 1)] }))
    await committed(
      first,
      commitOf('s', 3, {
        inbox: [settle('e1'), claim('e2', 'observe', 1)],
        observations: [observationOf(['1'])],
        state: stateOf({ effect: effectOf('e2') }),
      }),
    )
    await close()
    overwrite(0, 16)
    const again = await open()
    expect((await again.queue({})).map(({ eventId, status }) => `${eventId}:${status}`)).toEqual([
      '2:processing',
      '3:pending',
    ])
    expect(await again.observations({})).toHaveLength(1)
    expect((await again.events('s', 10)).map(({ outcome }) => outcome)).toEqual(['observed', null, null])
    expect((await again.claimedMessages('s', 'e2'))[0]?.event).toEqual(toolUse('s', '2'))
  })

  test('damage.releasesClaimsThatTheRestoredRowKnowsNothingOf', async () => {
    const first = await open()
    await committed(first, accepting('s', 1, [toolUse('s', '1')]))
    await committed(first, commitOf('s', 2, { inbox: [claim('gone')] }))
    await close()
    overwrite(0, 16)
    expect(await (await open()).queue({})).toMatchObject([{ eventId: '1', status: 'pending', effectId: null }])
  })

  test('damage.keepsWhatASessionLearnedThoughItsRowIsGone', async () => {
    const first = await open()
    await committed(first, accepting('s', 1, [toolUse('s', '1')]))
    await learn(first, 2, 3)
    await close()
    const raw = new Database(here.file)
    raw.pragma('foreign_keys = OFF')
    raw.exec('DELETE FROM sdk_sessions')
    raw.close()
    overwrite(0, 16)
    const again = await open()
    expect(await learned(again)).toEqual([2, 3])
    expect(await again.session('s')).toMatchObject({
      quarantine: null,
      status: 'active',
      project: { key: PROJECT.key },
    })
    expect(await again.strandedSessions()).toEqual(['s'])
    expect(await again.queue({})).toMatchObject([{ eventId: '1' }])
  })

  test('damage.beyondAllReadingBeginsAnewAndKeepsTheFile', async () => {
    await learn(await open(), 1, 5)
    await close()
    const size = statSync(here.file).size
    overwrite(0, size)
    const again = await open()
    expect(await learned(again)).toEqual([])
    expect(damagedFiles()).toHaveLength(1)
    expect((await again.startupNotes()).join(' ')).toContain('Nothing newer could be read')
    await learn(again, 1, 1)
  })

  test('damage.aTruncatedFileIsNotTakenForANewOne', async () => {
    const first = await open()
    await learn(first, 1, 5)
    await first.backup('daily', 7)
    await close()
    truncateSync(here.file, 0)
    expect(await learned(await open())).toEqual(range(1, 5))
  })

  test('damage.skipsABackupThatIsDamagedToo', async () => {
    let at = NOW
    const first = await open({ now: () => at })
    await learn(first, 1, 10)
    await first.backup('daily', 7)
    at += 1_000
    await learn(first, 11, 20)
    const newest = await first.backup('daily', 7)
    await close()
    overwrite(0, statSync(newest.file).size, newest.file)
    overwrite(0, statSync(here.file).size)
    const again = await open({ now: () => at })
    expect(await learned(again)).toEqual(range(1, 10))
    expect((await again.startupNotes()).join(' ')).toContain(new Date(NOW).toISOString())
  })

  test('damage.isHealedFromTheBackupThatWasMadeLastWhateverTheClockSaid', async () => {
    const DAY_MS = 24 * 3_600_000
    let at = NOW + 400 * DAY_MS
    const first = await open({ now: () => at })
    await learn(first, 1, 10)
    await first.backup('daily', 1)
    at = NOW
    await learn(first, 11, 20)
    await first.backup('daily', 2)
    await close()
    overwrite(0, statSync(here.file).size)
    expect(await learned(await open({ now: () => at }))).toEqual(range(1, 20))
  })

  test('damage.foundLaterInALargeFileIsMendedAtTheNextStart', async () => {
    await learn(await open(), 1, 300)
    await close()
    overwrite(Math.floor(statSync(here.file).size / PAGE_BYTES / 2) * PAGE_BYTES, PAGE_BYTES)
    const large = await openLocalStore({ ...here.options, checkUpToBytes: 0 })
    store = large
    expect(await large.startupNotes()).toEqual([])
    await expect(large.backup('daily', 7)).rejects.toMatchObject({ code: 'corrupt_database' })
    expect(await large.backups()).toEqual([])
    await close()
    const again = await open({ checkUpToBytes: 0 })
    expect((await again.startupNotes()).join(' ')).toContain('was damaged')
    expect((await learned(again)).length).toBeGreaterThan(280)
    await close()
    expect(await (await open({ checkUpToBytes: 0 })).startupNotes()).toEqual([])
  })

  test('recovery.thatWasInterruptedIsFinished', async () => {
    await learn(await open(), 1, 5)
    await close()
    copyFileSync(here.file, `${here.file}.recovered`)
    renameSync(here.file, `${here.file}.corrupt-20260101T000000000Z`)
    writeFileSync(`${here.file}-wal`, 'the log of the file that was moved')
    const again = await open()
    expect(await learned(again)).toEqual(range(1, 5))
    expect(existsSync(`${here.file}.recovered`)).toBe(false)
    expect((await again.startupNotes()).join(' ')).toContain('interrupted recovery was completed')
  })
})

describe('backups', () => {
  test('backup.isAWholePrivateFile', async () => {
    const first = await open({ now: () => NOW })
    await learn(first, 1, 5)
    const info = await first.backup('manual', 7)
    expect(info).toMatchObject({ reason: 'manual', at: NOW, bytes: statSync(info.file).size })
    expect(info.file).toMatch(/db-000001-20261130T120000000Z-manual\.sqlite$/)
    expect(statSync(info.file).mode & 0o777).toBe(0o600)
    const reader = await openStoreReader(info.file)
    expect(await reader.observations({})).toHaveLength(5)
    await reader.close()
    expect(readdirSync(here.options.backupsDir)).toHaveLength(1)
  })

  test('backup.takesInCommitsThatLandWhileItRuns', async () => {
    const first = await open()
    await learn(first, 1, 400)
    const running = first.backup('manual', 7)
    await learn(first, 401, 420)
    const { file } = await running
    const reader = await openStoreReader(file)
    const count = (await reader.observations({})).length
    expect(count).toBeGreaterThanOrEqual(400)
    await reader.close()
    expect(await learned(first)).toEqual(range(1, 420))
  })

  test('backups.keepTheNewestOfEachReason', async () => {
    let at = NOW
    const first = await open({ now: () => at })
    for (const reason of ['daily', 'manual']) {
      for (let n = 0; n < 5; n += 1) {
        await first.backup(reason, 2)
        at += 1_000
      }
    }
    expect((await first.backups()).map((backup) => [backup.reason, (backup.at - NOW) / 1_000])).toEqual([
      ['manual', 9],
      ['manual', 8],
      ['manual', 7],
      ['daily', 4],
      ['daily', 3],
    ])
  })

  test('backup.clearsAwayWhatADeadOneLeft', async () => {
    mkdirSync(here.options.backupsDir, { recursive: true })
    writeFileSync(join(here.options.backupsDir, 'db-000001-20260101T000000000Z-daily.sqlite.partial'), 'half')
    const first = await open()
    await Promise.all([first.backup('daily', 7), first.backup('daily', 7)])
    expect(readdirSync(here.options.backupsDir).filter((name) => name.endsWith('.partial'))).toEqual([])
    expect(await first.backups()).toHaveLength(2)
  })

  test('backup.reasonMustBeAFileName', async () => {
    const first = await open()
    await expect(first.backup('../../etc', 7)).rejects.toMatchObject({ code: 'bad_request' })
  })
})

describe('restoring', () => {
  const paths = () => ({ database: here.file, backups: here.options.backupsDir })

  test('restore.bringsTheBackupBackAndKeepsWhatWasThere', async () => {
    const first = await open()
    await learn(first, 1, 5)
    const { file } = await first.backup('manual', 7)
    await learn(first, 6, 9)
    await close()
    const { before } = await restoreBackup(paths(), file)
    expect(before).toContain('before-restore')
    const again = await open()
    expect(await learned(again)).toEqual(range(1, 5))
    expect(await again.startupNotes()).toEqual([])
    const reader = await openStoreReader(before ?? '')
    expect(await reader.observations({})).toHaveLength(9)
    await reader.close()
  })

  test('restore.isWhatALaterRecoveryComesBackTo', async () => {
    const first = await open()
    await learn(first, 1, 5)
    const { file } = await first.backup('manual', 7)
    await learn(first, 6, 9)
    await close()
    await restoreBackup(paths(), file)
    overwrite(0, statSync(here.file).size)
    expect(await learned(await open())).toEqual(range(1, 5))
  })

  test('restore.overADamagedDatabaseSetsItAside', async () => {
    const first = await open()
    await learn(first, 1, 5)
    const { file } = await first.backup('manual', 7)
    await close()
    overwrite(0, statSync(here.file).size)
    const { before } = await restoreBackup(paths(), file)
    expect(before).toContain('.corrupt-')
    expect(await learned(await open())).toEqual(range(1, 5))
  })

  test('restore.refusesWhatItCannotUseAndChangesNothing', async () => {
    const first = await open()
    await learn(first, 1, 5)
    const { file } = await first.backup('manual', 7)
    await close()
    const newer = new Database(file)
    newer.pragma('user_version = 99')
    newer.close()
    await expect(restoreBackup(paths(), file)).rejects.toMatchObject({ code: 'newer_database' })
    overwrite(0, 100, file)
    await expect(restoreBackup(paths(), file)).rejects.toMatchObject({ code: 'corrupt_database' })
    await expect(restoreBackup(paths(), `${file}.not-there`)).rejects.toMatchObject({ code: 'not_found' })
    expect(await learned(await open())).toEqual(range(1, 5))
  })
})

describe('reading without a daemon', () => {
  test('reader.seesCommitsThatAreOnlyInTheLog', async () => {
    const first = await open()
    await learn(first, 1, 5)
    await committed(
      first,
      commitOf('p', 1, {
        events: [record(promptOf('p', 'p1'), { kind: 'noted', reason: null })],
        prompts: [{ eventId: 'p1', number: 1, text: 'hello', private: false, at: NOW }],
      }),
    )
    // What a killed process leaves: the file and its log, no index.
    const copy = join(here.directory, 'copy.sqlite')
    copyFileSync(here.file, copy)
    copyFileSync(`${here.file}-wal`, `${copy}-wal`)
    const reader = await openStoreReader(copy)
    expect(await reader.observations({ session: 's' })).toHaveLength(5)
    expect(await reader.sessionView('s', 3)).toMatchObject({ row: { revision: 5 }, trace: [{}, {}, {}] })
    expect(await reader.events('p', 5)).toHaveLength(1)
    expect(await reader.lastSeq()).toBe(6)
    await reader.close()
    expect(existsSync(`${copy}-wal`)).toBe(true)
  })

  test('reader.worksBesideAWriter', async () => {
    const first = await open()
    await learn(first, 1, 1)
    const reader = await openStoreReader(here.file)
    await learn(first, 2, 2)
    expect(await reader.observations({})).toHaveLength(2)
    await reader.close()
  })

  test('reader.saysThatThereIsNoMemoryYet', async () => {
    await expect(openStoreReader(here.file)).rejects.toMatchObject({ code: 'not_found' })
    mkdirSync(dirname(here.file), { recursive: true })
    writeFileSync(here.file, '')
    await expect(openStoreReader(here.file)).rejects.toMatchObject({ code: 'not_found' })
  })

  test('reader.saysThatTheFileIsDamaged', async () => {
    mkdirSync(dirname(here.file), { recursive: true })
    writeFileSync(here.file, 'not a database'.repeat(100))
    await expect(openStoreReader(here.file)).rejects.toMatchObject({ code: 'corrupt_database' })
  })
})

describe('trouble with the disk', () => {
  const large = (revision: number) =>
    accepting(
      's',
      revision,
      range(1, 50).map((n) => toolUse('s', `${revision}-${n}`, 'x'.repeat(10_000))),
    )

  test('fullDisk.refusesTheGroupWholeAndGoesOnAfterwards', async () => {
    const core = await openSqliteStore(here.options)
    core.commit([commitOf('s', 1)])
    const pages = core.db.pragma('page_count', { simple: true })
    core.db.pragma(`max_page_count = ${pages}`)
    expect(() => core.commit([commitOf('small', 1), large(2)])).toThrow(
      expect.objectContaining({ code: 'storage', retryable: true, message: expect.stringContaining('disk is full') }),
    )
    expect(core.db.inTransaction).toBe(false)
    expect(core.session('small')).toBeNull()
    expect(core.session('s')?.revision).toBe(1)
    expect(core.lastSeq()).toBe(1)
    core.db.pragma('max_page_count = 1000000')
    expect(core.commit([commitOf('small', 1), large(2)])).toMatchObject([{ ok: true }, { ok: true }])
    expect(checkIntegrity(core.db).problems).toEqual([])
    await core.close()
  })

  test('readOnly.refusesTheGroupUntilItIsWritable', async () => {
    await learn(await open(), 1, 1)
    const db = new Database(here.file, { readonly: true })
    expect(() => commitGroup(db, [commitOf('t', 1)])).toThrow(
      expect.objectContaining({ code: 'storage', retryable: true, message: expect.stringContaining('writable') }),
    )
    expect(db.inTransaction).toBe(false)
    db.close()
  })

  // Root may write anything: there is nothing to see then.
  test.skipIf(process.getuid?.() === 0)('readOnly.fileCannotBeOpenedForWriting', async () => {
    await learn(await open(), 1, 1)
    await close()
    chmodSync(here.file, 0o400)
    await expect(open()).rejects.toMatchObject({ code: 'storage', retryable: true })
  })

  test('locked.byAnotherProgramIsWorthARetry', async () => {
    const core = await openSqliteStore(here.options)
    core.db.pragma('busy_timeout = 1')
    const other = new Database(here.file)
    other.exec('BEGIN IMMEDIATE')
    expect(() => core.commit([commitOf('s', 1)])).toThrow(expect.objectContaining({ code: 'storage', retryable: true }))
    other.exec('ROLLBACK')
    expect(core.commit([commitOf('s', 1)])).toMatchObject([{ ok: true }])
    other.close()
    await core.close()
  })

  test('damage.metByACommitRejectsTheGroupAndIsRememberedForTheNextStart', async () => {
    await learn(await open(), 1, 300)
    await close()
    const core = await openSqliteStore({ ...here.options, checkUpToBytes: 0 })
    const root = core.db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'trace'").pluck().get()
    await core.close()
    overwrite((Number(root) - 1) * PAGE_BYTES, PAGE_BYTES)
    const damaged = await open({ checkUpToBytes: 0 })
    await expect(damaged.commit([commitOf('s', 301, { trace: [traceOf('x')] })])).rejects.toMatchObject({
      code: 'corrupt_database',
      retryable: true,
    })
    await close()
    const again = await open({ checkUpToBytes: 0 })
    expect((await again.startupNotes()).join(' ')).toContain('trace entries')
    expect(await learned(again)).toEqual(range(1, 300))
  })
})
