import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RenderedContextCache, type RenderedContextCacheOptions } from '../../src/daemon/rendered-context-cache.ts'
import { stripColors } from '../../src/lib/format.ts'
import type { Store } from '../../src/store/port.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { commitOf, NOW, observationOf, PROJECT, stateOf, summaryOf } from '../store/samples.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { CONTEXT_SETTINGS } from './samples.ts'

let dir: string
let store: Store
let cache: RenderedContextCache
const notices: string[] = []

const cacheOn = (reader: RenderedContextCacheOptions['reader'], over: Partial<RenderedContextCacheOptions> = {}) =>
  new RenderedContextCache({
    reader,
    directory: join(dir, 'context'),
    settings: () => CONTEXT_SETTINGS,
    notice: (text, error) => notices.push(`${text}: ${String(error)}`),
    now: () => NOW,
    ...over,
  })
/** The real store, but for what a test wants otherwise. */
const readerWith = (over: Partial<RenderedContextCacheOptions['reader']>): RenderedContextCacheOptions['reader'] => ({
  contextMaterial: (query) => store.contextMaterial(query),
  projects: (filter) => store.projects(filter),
  aliases: (key) => store.aliases(key),
  queueStats: () => store.queueStats(),
  ...over,
})

beforeEach(async () => {
  dir = temporaryDirectory('cache')
  store = await openLocalStore({ databaseFile: join(dir, 'db.sqlite'), backupsDir: join(dir, 'backups') })
  cache = cacheOn(store)
  notices.length = 0
})
afterEach(async () => {
  await cache.flush()
  await store.close()
})

const file = () => cache.fileOf(PROJECT.key)
const written = (): unknown => JSON.parse(readFileSync(file(), 'utf8'))
const context = (text: string) => expect.objectContaining({ v: 1, context: expect.stringContaining(text) })
async function learn(revision: number, title: string): Promise<void> {
  const observations = [{ ...observationOf([]), title }]
  const summaries = revision === 1 ? [summaryOf()] : []
  const [result] = await store.commit([commitOf('s', revision, { observations, summaries })])
  if (result?.ok !== true) throw new Error(JSON.stringify(result))
  cache.changed(PROJECT.key)
}

describe('contextCache', () => {
  test('contextCache.file: contains a new observation shortly after, readable by the owner only', async () => {
    await learn(1, 'Fix the login')
    await expect.poll(() => existsSync(file())).toBe(true)
    expect(written()).toEqual({ v: 1, ...(await cache.render(PROJECT.key)) })
    expect(written()).toEqual(context('Fix the login'))
    expect(written()).toEqual(context('tokens live an hour'))
    if (process.platform !== 'win32') expect(statSync(file()).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(dir, 'context'))).toHaveLength(1)
  })

  test('contextCache.coalesces: many changes are one rendering', async () => {
    let reads = 0
    const counting = cacheOn(
      readerWith({
        contextMaterial: (query) => {
          reads++
          return store.contextMaterial(query)
        },
      }),
    )
    await learn(1, 'Fix the login')
    for (let i = 0; i < 50; i++) counting.changed(PROJECT.key)
    await counting.flush()
    expect(reads).toBe(1)
  })

  test('contextCache.kept: a session start reads nothing while nothing has changed', async () => {
    let reads = 0
    let day = NOW
    let settings = CONTEXT_SETTINGS
    const counting = cacheOn(
      readerWith({
        contextMaterial: (query) => {
          reads++
          return store.contextMaterial(query)
        },
      }),
      { now: () => day, settings: () => settings },
    )
    await learn(1, 'Fix the login')
    const given = await counting.forSession(PROJECT.key)
    expect(given.context).toContain('Fix the login')
    expect(await counting.forSession(PROJECT.key)).toEqual(given)
    await counting.flush()
    expect(reads).toBe(1)
    const readsAfter = async (change: () => unknown) => {
      await change()
      await counting.forSession(PROJECT.key)
      await counting.forSession(PROJECT.key)
      return reads
    }
    expect(await readsAfter(() => counting.outdated(PROJECT.key))).toBe(2)
    expect(await readsAfter(() => counting.outdated('dir:/other'))).toBe(2)
    expect(await readsAfter(() => counting.outdated())).toBe(3)
    expect(await readsAfter(() => (day += 86_400_000))).toBe(4)
    expect(await readsAfter(() => (settings = { ...settings, tokens: 500 }))).toBe(5)
    await counting.flush()
  })

  test('contextCache.kept: what changes while it is rendered is rendered again', async () => {
    await learn(1, 'Fix the login')
    const rendering = cache.render(PROJECT.key)
    await learn(2, 'Add a logout')
    await rendering
    expect((await cache.forSession(PROJECT.key)).context).toContain('Add a logout')
  })

  test('contextCache.kept: a failed rendering is not kept', async () => {
    let isBroken = true
    const broken = cacheOn(
      readerWith({
        contextMaterial: (query) =>
          isBroken ? Promise.reject(new Error('the disk is gone')) : store.contextMaterial(query),
      }),
    )
    await learn(1, 'Fix the login')
    await expect(broken.render(PROJECT.key)).rejects.toThrow('the disk is gone')
    isBroken = false
    expect((await broken.render(PROJECT.key)).context).toContain('Fix the login')
  })

  test('contextCache.flush writes what is scheduled', async () => {
    await learn(1, 'Fix the login')
    await cache.flush()
    expect(written()).toEqual(context('Fix the login'))
  })

  test('contextCache.unchanged is not written again', async () => {
    await learn(1, 'Fix the login')
    await cache.flush()
    const before = statSync(file()).ino
    cache.changed(PROJECT.key)
    await cache.flush()
    expect(statSync(file()).ino).toBe(before)
    await learn(2, 'Add a logout')
    await cache.flush()
    expect(written()).toEqual(context('Add a logout'))
  })

  test('contextCache.derived: a lost or damaged file is written again at the next session start', async () => {
    await learn(1, 'Fix the login')
    await cache.flush()
    const text = written()
    for (const lose of [
      () => rmSync(join(dir, 'context'), { recursive: true }),
      () => writeFileSync(file(), '{"v":1,"context":"half a te'),
      () => writeFileSync(file(), '{"v":2,"context":"","message":""}'),
      () => writeFileSync(file(), 'null'),
    ]) {
      lose()
      expect({ v: 1, ...(await cache.forSession(PROJECT.key)) }).toEqual(text)
      await cache.flush()
      expect(written()).toEqual(text)
    }
    rmSync(file())
    await cache.refresh()
    await cache.flush()
    expect(written()).toEqual(text)
  })

  test('contextCache.legacy: text files of earlier versions are removed', async () => {
    await learn(1, 'Fix the login')
    await cache.flush()
    writeFileSync(file().replace(/json$/, 'txt'), 'what is forgotten since')
    await cache.refresh()
    expect(readdirSync(join(dir, 'context'))).toEqual([expect.stringMatching(/json$/)])
  })

  test('contextCache.empty: no file is written, and an existing one is removed', async () => {
    expect(await cache.forSession(PROJECT.key)).toEqual({ context: '', message: '' })
    await cache.flush()
    expect(existsSync(file())).toBe(false)
    await learn(1, 'Fix the login')
    await cache.flush()
    writeFileSync(cache.fileOf('git:/gone'), 'forgotten')
    cache.changed('git:/gone')
    await cache.flush()
    expect(readdirSync(join(dir, 'context'))).toHaveLength(1)
  })

  test('contextCache.failure: a session gets the last file, and the user gets a notice', async () => {
    await learn(1, 'Fix the login')
    await cache.flush()
    const { context: last, message } = await cache.render(PROJECT.key)
    const failing = cacheOn(readerWith({ contextMaterial: () => Promise.reject(new Error('disk on fire')) }))
    expect(await failing.forSession(PROJECT.key)).toEqual({ context: last, message })
    expect(notices).toEqual([expect.stringContaining('disk on fire')])
    await failing.flush()
    const slow = cacheOn(readerWith({ contextMaterial: () => new Promise(() => undefined) }))
    expect(await slow.forSession(PROJECT.key)).toEqual({ context: last, message })
    expect(notices.at(-1)).toContain('within 300 ms')
  })

  test('contextCache.aliases: sessions of a merged project get the memory of the other one', async () => {
    await learn(1, 'Fix the login')
    const keys = ['git:/old', 'git:/older']
    const merged = cacheOn(readerWith({ aliases: async () => keys.map((key) => ({ key, moved: false })) }))
    merged.changed(PROJECT.key)
    await merged.flush()
    for (const key of keys) {
      expect(JSON.parse(readFileSync(cache.fileOf(key), 'utf8'))).toEqual(written())
    }
  })

  test('contextCache.moved: the directory that a project moved away from has no file', async () => {
    await learn(1, 'Fix the login')
    await cache.flush()
    writeFileSync(cache.fileOf('git:/left'), readFileSync(file()))
    const moved = cacheOn(readerWith({ aliases: async () => [{ key: 'git:/left', moved: true }] }))
    moved.changed(PROJECT.key)
    await moved.flush()
    expect(existsSync(cache.fileOf('git:/left'))).toBe(false)
    expect(written()).toEqual(context('Fix the login'))
  })

  test('contextCache.merged: a scheduled rendering of the old key does not overwrite the merged file', async () => {
    await learn(1, 'Fix the login')
    let into: string | null = null
    const late = cacheOn(readerWith({ aliases: async () => [{ key: 'git:/old', moved: false }] }), {
      keyOf: (key) => (key === 'git:/old' && into !== null ? into : key),
    })
    late.changed(PROJECT.key)
    late.changed('git:/old')
    into = PROJECT.key
    await late.flush()
    expect(JSON.parse(readFileSync(cache.fileOf('git:/old'), 'utf8'))).toEqual(written())
  })

  test('contextCache.setWaitReason: the message shows the reason until it is over, the context never', async () => {
    await learn(1, 'Fix the login')
    let reason: string | null = 'key rejected'
    const waiting = () => (reason === null ? null : { reason, offline: false })
    const told = cacheOn(readerWith({}), { waiting })
    told.setWaitReason(PROJECT.key, reason)
    await told.flush()
    const kept = await told.forSession(PROJECT.key)
    expect(stripColors(kept.message)).toMatch(/; the observer waits: key rejected \(claude-mem status\)$/)
    expect(kept.context).not.toContain('key rejected')
    expect(written()).toEqual({ v: 1, ...kept })
    reason = null
    told.setWaitReason(PROJECT.key, reason)
    await told.flush()
    expect(written()).not.toEqual({ v: 1, ...kept })
    expect(JSON.stringify(written())).not.toContain('key rejected')
  })

  test('contextCache.projects do not mix', async () => {
    await learn(1, 'Fix the login')
    const other = stateOf({ project: { key: 'git:/other', name: 'other' } })
    await store.commit([commitOf('o', 1, { state: other, observations: [observationOf([])] })])
    const { context: text } = await cache.render('git:/other')
    expect(text).not.toContain('Fix the login')
    expect(text).toContain('# `other`: ')
  })
})
