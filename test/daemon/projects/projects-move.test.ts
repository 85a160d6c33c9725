import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { projectViews } from '../../../src/daemon/project-views.ts'
import type { MemoryEvent } from '../../../src/domain/event.ts'
import { projectOfDirectory } from '../../../src/domain/project.ts'
import { git, repository } from '../../support/repository.ts'
import { type Served, served } from '../../transport/served.ts'
import { events } from '../actors/harness.ts'

let s: Served
let sessions = 0
beforeEach(async () => {
  s = await served()
})
afterEach(() => s.close())

const at = (...parts: string[]) => join(s.directory, ...parts)
const within = (cwd: string, event: MemoryEvent): MemoryEvent => ({ ...event, cwd, project: projectOfDirectory(cwd) })

/** A session starts, is told something, and does something that is remembered. What it was told. */
async function session(cwd: string, file = 'login'): Promise<string> {
  const id = `session-${++sessions}`
  const event = within(cwd, events.start(id, 'start'))
  const { context = '' } = await s.client.call('event', { event, version: '1' })
  for (const next of [events.prompt(id, 'p'), events.tool(id, file), events.turnEnd(id, 'end')]) {
    await s.h.supervisor.accept(within(cwd, next))
  }
  await s.h.settle()
  return context
}
function move(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  renameSync(from, to)
}
const places = async () =>
  (await projectViews(s.h.store)).map(({ place, sessions, gone }) => ({ place, sessions, gone }))

test('a repository that moves takes its memory along, into the first session there', async () => {
  const old = repository(at('work', 'shop'))
  expect(await session(old)).toBe('')
  move(old, at('elsewhere', 'store'))
  expect(await projectViews(s.h.store)).toMatchObject([{ name: 'shop', place: old, gone: true }])
  expect(await session(at('elsewhere', 'store'))).toContain('login.ts')
  expect(await projectViews(s.h.store)).toMatchObject([{ name: 'store', place: at('elsewhere', 'store'), gone: false }])
  expect(await places()).toMatchObject([{ sessions: 2 }])
  expect(s.notices).toEqual([`shop moved from ${old} to ${at('elsewhere', 'store')}: its memory moved too`])
})

test('its name by hand and its files come along', async () => {
  const old = repository(at('shop'))
  await session(old)
  await s.projects.rename('shop', 'Web store')
  await s.h.store.updateProjects([{ key: projectOfDirectory(old).key, files: ['project'] }], 0)
  move(old, at('moved'))
  await session(at('moved'))
  expect(await projectViews(s.h.store)).toMatchObject([{ name: 'Web store', place: at('moved') }])
  const settings = await s.h.store.projectSettings()
  expect(settings.find(({ key }) => key === projectOfDirectory(at('moved')).key)).toMatchObject({ files: ['project'] })
  expect(settings.find(({ key }) => key.includes('shop'))).toMatchObject({ files: [], root: null, name: null })
})

test('a copy stays apart, also when the first one is deleted later', async () => {
  const first = repository(at('shop'))
  await session(first)
  cpSync(first, at('copy'), { recursive: true })
  expect(await session(at('copy'))).toBe('')
  rmSync(first, { recursive: true })
  await session(at('copy'))
  expect(await places()).toEqual([
    { place: at('copy'), sessions: 2, gone: false },
    { place: first, sessions: 1, gone: true },
  ])
  expect(s.notices).toEqual([])
})

test('another repository with the log of one that was deleted gets none of its memory', async () => {
  const first = repository(at('shop'))
  await session(first)
  // It can be written from the first commit, which is public.
  const log = readFileSync(join(first, '.git', 'logs', 'HEAD'))
  rmSync(first, { recursive: true })
  writeFileSync(join(repository(at('evil')), '.git', 'logs', 'HEAD'), log)
  expect(await session(at('evil'))).toBe('')
  expect(await places()).toHaveLength(2)
})

test('a clone is another repository', async () => {
  const first = repository(at('shop'))
  await session(first)
  git(s.directory, 'clone', '--quiet', first, 'clone')
  rmSync(first, { recursive: true })
  expect(await session(at('clone'))).toBe('')
  expect(await places()).toHaveLength(2)
})

test('a repository that comes back is at home again', async () => {
  const home = repository(at('shop'))
  await session(home)
  move(home, at('away'))
  await session(at('away'))
  move(at('away'), home)
  expect(await session(home)).toContain('login.ts')
  expect(await places()).toEqual([{ place: home, sessions: 3, gone: false }])
  expect(s.notices).toHaveLength(2)
})

test('another repository at the place that was left begins anew', async () => {
  const place = repository(at('shop'))
  await session(place)
  move(place, at('away'))
  await session(at('away'))
  await s.contextCache.flush()
  repository(place)
  // Nor from the file, while no daemon runs.
  expect(existsSync(s.contextCache.fileOf(projectOfDirectory(place).key))).toBe(false)
  expect(await session(place)).toBe('')
  expect(await places()).toEqual([
    { place, sessions: 1, gone: false },
    { place: at('away'), sessions: 2, gone: false },
  ])
})

test('what was merged by hand stays merged, whatever starts there', async () => {
  const [shop, blog] = [repository(at('shop')), repository(at('blog'))]
  await session(shop)
  await session(blog)
  await s.projects.merge('blog', 'shop', true)
  rmSync(blog, { recursive: true })
  repository(blog)
  expect(await session(blog)).toContain('login.ts')
  expect(await places()).toEqual([{ place: shop, sessions: 3, gone: false }])
})

test('what was merged by hand and moves stays with the other', async () => {
  const [shop, blog] = [repository(at('shop')), repository(at('blog'))]
  await session(shop)
  await session(blog)
  await s.projects.merge('blog', 'shop', true)
  move(blog, at('elsewhere'))
  expect(await session(at('elsewhere'))).toContain('login.ts')
  expect(await places()).toEqual([{ place: shop, sessions: 3, gone: false }])
})

test('a directory that becomes a repository takes its memory along', async () => {
  mkdirSync(at('notes'))
  await session(at('notes'))
  git(at('notes'), 'init', '--quiet')
  expect(await session(at('notes'))).toContain('login.ts')
  expect(await places()).toEqual([{ place: at('notes'), sessions: 2, gone: false }])
  expect(s.notices).toEqual(['notes is a repository now: its memory moved too'])
  git(at('notes'), 'commit', '--quiet', '--allow-empty', '-m', 'first')
  await session(at('notes'))
  expect(s.notices).toHaveLength(1)
})

test('two moves make one project of three keys', async () => {
  const first = repository(at('a'))
  await session(first)
  move(first, at('b'))
  await session(at('b'))
  move(at('b'), at('c'))
  await session(at('c'))
  expect(await projectViews(s.h.store)).toMatchObject([
    { name: 'c', sessions: 3, merged: [expect.any(String), expect.any(String)] },
  ])
  expect(s.projects.keyOf(projectOfDirectory(at('c')).key)).toBe(projectOfDirectory(at('c')).key)
})

test('worktrees move with their repository, and a submodule with the one around it', async () => {
  const lib = repository(at('lib'))
  const shop = repository(at('shop'))
  git(shop, 'submodule', '--quiet', 'add', lib, 'vendor/lib')
  git(shop, 'worktree', 'add', '--quiet', at('shop-fix'))
  await session(at('shop-fix'))
  await session(join(shop, 'vendor', 'lib'))
  expect((await projectViews(s.h.store)).map(({ name }) => name)).toEqual(['lib', 'shop'])
  rmSync(at('shop-fix'), { recursive: true })
  move(shop, at('store'))
  git(at('store'), 'worktree', 'prune')
  expect(await session(at('store'))).toContain('login.ts')
  expect(await session(at('store', 'vendor', 'lib'))).toContain('login.ts')
  expect((await projectViews(s.h.store)).map(({ name, sessions }) => [name, sessions])).toEqual([
    ['lib', 2],
    ['store', 2],
  ])
})

test('a place without commits, without a repository, or that is gone starts as it is', async () => {
  mkdirSync(at('empty'))
  git(at('empty'), 'init', '--quiet')
  mkdirSync(at('plain'))
  for (const cwd of [at('empty'), at('plain'), at('deleted')]) await session(cwd)
  const known = await projectViews(s.h.store)
  expect(known.map(({ name, gone }) => [name, gone])).toEqual([
    ['deleted', true],
    ['plain', false],
    ['empty', false],
  ])
  symlinkSync(at('plain'), at('link'))
  expect(projectOfDirectory(at('link')).key).toBe(`dir:${realpathSync.native(at('plain'))}`)
  expect(s.notices).toEqual([])
})

test('a session starts though its place cannot be noted', async () => {
  const shop = repository(at('shop'))
  const { store } = s.h
  store.updateProjects = async () => {
    throw new Error('disk full')
  }
  await session(shop)
  expect(await projectViews(s.h.store)).toMatchObject([{ name: 'shop', sessions: 1 }])
  expect(s.notices).toEqual([
    expect.stringMatching(/^the directory of project git:.*shop.* could not be recorded; .*: disk full$/),
  ])
})
