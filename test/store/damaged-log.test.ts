/** One frame after the other of the write-ahead log of a store that was killed is damaged; SQLite ignores all after it. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { listSetAside } from '../../src/store/recovery/backup.ts'
import { recentRecoveryNotes } from '../../src/store/recovery/recovery-notes.ts'
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite/store.ts'
import { type Place, place } from './place.ts'
import { accepting, NOW, toolUse } from './samples.ts'

const COMMITS = 12
const HEADER_BYTES = 32
const FRAME_BYTES = 24 + 4096
/** Every frame takes a minute on a slow disk. */
const STEP = 7
const NAMES = ['', '-wal', '-shm']

let original: Place
let running: SqliteStore
let work: Place
let logged: Buffer
/** The log and its index before the last commit. */
let beforeLast: { log: Buffer; index: Buffer }
beforeAll(async () => {
  original = place()
  running = await openSqliteStore(original.options)
  // What is in the database file cannot be lost with the log.
  running.db.pragma('wal_checkpoint(TRUNCATE)')
  for (let n = 1; n <= COMMITS; n += 1) {
    if (n === COMMITS)
      beforeLast = { log: readFileSync(`${original.file}-wal`), index: readFileSync(`${original.file}-shm`) }
    running.commit([accepting('s', n, [toolUse('s', `t${n}`)])])
  }
  logged = readFileSync(`${original.file}-wal`)
  work = place()
})
afterAll(async () => {
  await running.close()
  original.dispose()
  work.dispose()
})

/** As a process that was killed leaves its files. */
beforeEach(() => {
  rmSync(dirname(work.file), { recursive: true, force: true })
  mkdirSync(dirname(work.file), { recursive: true })
  for (const name of NAMES) copyFileSync(original.file + name, work.file + name)
})

function damageLog(at: number): void {
  const bytes = Buffer.from(logged)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  writeFileSync(`${work.file}-wal`, bytes)
}

/** How many events are left after a start, and what it reported. */
async function start(): Promise<{ events: number; notes: string }> {
  const store = await openSqliteStore({ ...work.options, now: () => NOW })
  const events = store.events('s', 1_000).length
  await store.close()
  return { events, notes: store.startupNotes().join(' ') }
}

const frames = () => Math.floor((logged.length - HEADER_BYTES) / FRAME_BYTES)
const asideFiles = () => readdirSync(dirname(work.file)).filter((name) => name.includes('-wal.corrupt-'))

test('log.thatIsIntactIsTakenInAndNothingIsReported', async () => {
  expect(await start()).toEqual({ events: COMMITS, notes: '' })
  expect(asideFiles()).toEqual([])
})

test.each([
  ['with the index of the log', true],
  ['without the index of the log', false],
])('log.withADamagedFrameIsReportedAndKeptWheneverAnEventIsLost, %s', async (_, hasIndex) => {
  let lost = 0
  const tried = Array.from({ length: Math.ceil(frames() / STEP) }, (_, n) => frames() - 1 - n * STEP)
  for (const frame of tried) {
    for (const name of NAMES) copyFileSync(original.file + name, work.file + name)
    damageLog(HEADER_BYTES + frame * FRAME_BYTES + 24 + ((frame * 331) % 4096))
    const damaged = readFileSync(`${work.file}-wal`)
    if (!hasIndex) rmSync(`${work.file}-shm`)
    const { events, notes } = await start()
    const aside = asideFiles().at(-1)
    // Without the index, a damaged last frame looks like that of a commit that was never finished.
    if (events === COMMITS || (!hasIndex && frame === frames() - 1)) continue
    lost += 1
    expect(notes, `frame ${frame}, ${events} events left`).toContain('The write-ahead log was damaged')
    expect(readFileSync(`${dirname(work.file)}/${aside}`).equals(damaged)).toBe(true)
    expect(listSetAside(work.file)).toHaveLength(1)
    for (const name of asideFiles()) rmSync(`${dirname(work.file)}/${name}`)
  }
  expect(lost).toBe(hasIndex ? tried.length : tried.length - 1)
  expect(recentRecoveryNotes(work.file, NOW).length).toBeGreaterThan(0)
})

test('log.withACommitThatWasNeverFinishedIsIntact', async () => {
  const partOfLast = beforeLast.log.length + 2 * FRAME_BYTES
  expect(partOfLast).toBeLessThan(logged.length)
  writeFileSync(`${work.file}-shm`, beforeLast.index)
  writeFileSync(`${work.file}-wal`, logged.subarray(0, partOfLast + 1_000))
  expect(await start()).toEqual({ events: COMMITS - 1, notes: '' })
})

test.each([0, 9, 17, 30])('log.withADamagedHeaderIsReported, byte %i', async (at) => {
  damageLog(at)
  const { events, notes } = await start()
  expect(events).toBe(0)
  expect(notes).toContain('The write-ahead log was damaged')
})

test('log.thatWasCutOffIsReported', async () => {
  truncateSync(`${work.file}-wal`, HEADER_BYTES + Math.floor(frames() / 2) * FRAME_BYTES)
  const { events, notes } = await start()
  expect(events).toBeLessThan(COMMITS)
  expect(notes).toContain('The write-ahead log was damaged')
})

test('log.damageIsReportedOnceAlsoIfTheNextProcessIsKilled', async () => {
  damageLog(HEADER_BYTES + FRAME_BYTES + 100)
  const store = await openSqliteStore(work.options)
  expect(store.startupNotes().join(' ')).toContain('The write-ahead log was damaged')
  store.commit([accepting('other', 1, [toolUse('other', 't1')])])
  const killed = place()
  mkdirSync(dirname(killed.file), { recursive: true })
  for (const name of NAMES) copyFileSync(work.file + name, killed.file + name)
  await store.close()
  const next = await openSqliteStore(killed.options)
  expect(next.startupNotes()).toEqual([])
  expect(next.events('other', 10)).toHaveLength(1)
  await next.close()
  killed.dispose()
})
