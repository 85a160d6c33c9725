import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ContextKeeper } from '../../src/context/keeper.ts'
import type { ContextReader } from '../../src/context/load.ts'
import type { Store } from '../../src/store/port.ts'
import { openLocalStore } from '../../src/store/sqlite/local.ts'
import { commitOf, observationOf, PROJECT, stateOf, summaryOf } from '../store/samples.ts'

let dir: string
let store: Store
let keeper: ContextKeeper
const notices: string[] = []

const keeperOn = (reader: ContextReader) =>
  new ContextKeeper({
    reader,
    directory: join(dir, 'context'),
    tokens: () => 2_000,
    notice: (text, error) => notices.push(`${text}: ${String(error)}`),
  })

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'claude-mem-keeper-'))
  store = await openLocalStore({ databaseFile: join(dir, 'db.sqlite'), backupsDir: join(dir, 'backups') })
  keeper = keeperOn(store)
  notices.length = 0
})
afterEach(async () => {
  await keeper.flush()
  await store.close()
  rmSync(dir, { recursive: true, force: true })
})

const file = () => keeper.fileOf(PROJECT.key)
const written = () => readFileSync(file(), 'utf8')
async function learn(revision: number, title: string): Promise<void> {
  const { draft, ...rest } = observationOf([])
  const observations = [{ ...rest, draft: { ...draft, title } }]
  const summaries = revision === 1 ? [summaryOf()] : []
  const [result] = await store.commit([commitOf('s', revision, { observations, summaries })])
  if (result?.ok !== true) throw new Error(JSON.stringify(result))
  keeper.changed(PROJECT.key)
}

describe('keeper', () => {
  test('keeper.file: what is learned is in it a moment later, for the owner only', async () => {
    await learn(1, 'Fix the login')
    await expect.poll(() => existsSync(file())).toBe(true)
    expect(written()).toBe(await keeper.render(PROJECT.key))
    expect(written()).toContain('| Fix the login |')
    expect(written()).toContain('Learned: tokens live an hour')
    if (process.platform !== 'win32') expect(statSync(file()).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(dir, 'context'))).toHaveLength(1)
  })

  test('keeper.debounce: many changes are one rendering', async () => {
    let reads = 0
    const counting = keeperOn({
      projects: (filter) => store.projects(filter),
      summaries: (filter) => store.summaries(filter),
      observations: (filter) => {
        reads++
        return store.observations(filter)
      },
    })
    await learn(1, 'Fix the login')
    for (let i = 0; i < 50; i++) counting.changed(PROJECT.key)
    await counting.flush()
    expect(reads).toBe(1)
  })

  test('keeper.flush writes what waits', async () => {
    await learn(1, 'Fix the login')
    await keeper.flush()
    expect(written()).toContain('Fix the login')
  })

  test('keeper.unchanged is not written again', async () => {
    await learn(1, 'Fix the login')
    await keeper.flush()
    const before = statSync(file()).ino
    keeper.changed(PROJECT.key)
    await keeper.flush()
    expect(statSync(file()).ino).toBe(before)
    await learn(2, 'Add a logout')
    await keeper.flush()
    expect(written()).toContain('Add a logout')
  })

  test('keeper.derived: a lost or damaged file comes back with the next session', async () => {
    await learn(1, 'Fix the login')
    await keeper.flush()
    const text = written()
    for (const lose of [
      () => rmSync(join(dir, 'context'), { recursive: true }),
      () => writeFileSync(file(), 'half a te'),
    ]) {
      lose()
      expect(await keeper.forSession(PROJECT.key)).toBe(text)
      await keeper.flush()
      expect(written()).toBe(text)
    }
    rmSync(file())
    await keeper.refresh()
    await keeper.flush()
    expect(written()).toBe(text)
  })

  test('keeper.nothing known: no file, and one that should not be there goes', async () => {
    expect(await keeper.forSession(PROJECT.key)).toBe('')
    await keeper.flush()
    expect(existsSync(file())).toBe(false)
    await learn(1, 'Fix the login')
    await keeper.flush()
    writeFileSync(keeper.fileOf('git:/gone'), 'forgotten')
    keeper.changed('git:/gone')
    await keeper.flush()
    expect(readdirSync(join(dir, 'context'))).toHaveLength(1)
  })

  test('keeper.failure: a session gets what was rendered last, and people are told', async () => {
    await learn(1, 'Fix the login')
    await keeper.flush()
    const broken = (projects: ContextReader['projects']) =>
      keeperOn({ projects, observations: async () => [], summaries: async () => [] })
    const failing = broken(async () => Promise.reject(new Error('disk on fire')))
    expect(await failing.forSession(PROJECT.key)).toBe(written())
    expect(notices).toEqual([expect.stringContaining('disk on fire')])
    await failing.flush()
    const slow = broken(() => new Promise(() => undefined))
    const before = performance.now()
    expect(await slow.forSession(PROJECT.key)).toBe(written())
    expect(performance.now() - before).toBeLessThan(1_000)
    expect(notices.at(-1)).toContain('within 300 ms')
  })

  test('keeper.projects do not mix', async () => {
    await learn(1, 'Fix the login')
    const other = stateOf({ project: { key: 'git:/other', name: 'other' } })
    await store.commit([commitOf('o', 1, { state: other, observations: [observationOf([])] })])
    expect(await keeper.render('git:/other')).not.toContain('Fix the login')
    expect(await keeper.render('git:/other')).toContain('# other: ')
  })
})
