/** Which directories are one project: real repositories, sessions that start in them. */
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { projectViews } from '../../../src/daemon/project-views.ts'
import { Projects } from '../../../src/daemon/projects.ts'
import type { MemoryEvent } from '../../../src/domain/event.ts'
import { projectOfDirectory } from '../../../src/domain/project.ts'
import { git, repository } from '../../support/repository.ts'
import { type Served, served } from '../../transport/served.ts'
import { events } from '../actors/harness.ts'

const SHOP = 'repo:github.com/acme/shop'
const FORK = 'repo:github.com/me/shop'
const URL = 'https://github.com/acme/shop.git'
const FORK_URL = 'git@github.com:me/shop.git'

let s: Served
let sessions = 0
let together = true
let shared: string[] = []
beforeEach(async () => {
  together = true
  shared = []
  s = await served({ together: () => together, isShared: async (key) => shared.includes(key) })
})
afterEach(() => s.close())

const at = (...parts: string[]) => join(s.directory, ...parts)
const keyAt = (...parts: string[]) => projectOfDirectory(at(...parts)).key
const within = (cwd: string, event: MemoryEvent): MemoryEvent => ({ ...event, cwd, project: projectOfDirectory(cwd) })

interface Started {
  context: string
  message: string
}

/** A session starts and does something that is remembered. What its start was given. */
async function session(cwd: string, file = 'login'): Promise<Started> {
  const id = `session-${++sessions}`
  const event = within(cwd, events.start(id, 'start'))
  const { context = '', message = '' } = await s.client.call('event', { event, version: '1' })
  for (const next of [events.prompt(id, 'p'), events.tool(id, file), events.turnEnd(id, 'end')]) {
    await s.h.supervisor.accept(within(cwd, next))
  }
  await s.h.settle()
  // As the daemon does after each commit.
  s.contextCache.changed(s.projects.keyOf(projectOfDirectory(cwd).key))
  return { context, message }
}

/** A repository whose remote has this address. */
function withRemote(name: string, address = URL): string {
  const directory = repository(at(name))
  git(directory, 'remote', 'add', 'origin', address)
  return directory
}
/** A clone over the network would have that address. It is a project of its own until the user links it. */
function cloneOf(directory: string, name: string): string {
  git(s.directory, 'clone', '--quiet', `file://${directory}`, name)
  git(at(name), 'remote', 'set-url', 'origin', URL)
  return at(name)
}
/** A further clone, by the user's word. */
async function linkedClone(directory: string, name: string): Promise<string> {
  const clone = cloneOf(directory, name)
  await s.client.call('project_link', { directory: keyAt(name), name: null })
  return clone
}
const commit = (directory: string, message = 'more') =>
  git(directory, 'commit', '--quiet', '--allow-empty', '-m', message)
const projects = async () =>
  (await projectViews(s.h.store)).map(({ key, name, sessions: count }) => ({ key, name, sessions: count }))
const states = async () =>
  Object.fromEntries((await s.h.store.projectDirectories()).map(({ key, state }) => [key, state]))

describe('the first directory of a repository', () => {
  test('joins at once: its memory is the repository’s, old and new', async () => {
    const shop = repository(at('my-shop'))
    await session(shop)
    expect(await projects()).toEqual([{ key: keyAt('my-shop'), name: 'my-shop', sessions: 1 }])
    git(shop, 'remote', 'add', 'origin', `https://me:secret-password@github.com/acme/shop.git`)
    const started = await session(shop)
    expect(started.context).toContain('login.ts')
    expect(await projects()).toEqual([{ key: SHOP, name: 'shop', sessions: 2 }])
    expect(await projectViews(s.h.store)).toMatchObject([{ place: shop, places: [shop], gone: false }])
    expect(s.notices).toEqual([])
    expect(JSON.stringify([await s.h.store.projectDirectories(), await s.h.store.projectSettings()])).not.toContain(
      'password',
    )
  })

  test('keeps the name that the user gave it, and its files', async () => {
    const shop = repository(at('my-shop'))
    await session(shop)
    await s.projects.rename('my-shop', 'Web store')
    await s.h.store.updateProjects([{ key: keyAt('my-shop'), files: ['project'] }], 0)
    git(shop, 'remote', 'add', 'origin', URL)
    await session(shop)
    expect(await projects()).toEqual([{ key: SHOP, name: 'Web store', sessions: 2 }])
    const settings = await s.h.store.projectSettings()
    expect(settings.find(({ key }) => key === keyAt('my-shop'))).toMatchObject({ files: ['project'], name: null })
  })

  test('without a remote stays a directory of this machine', async () => {
    await session(repository(at('shop')))
    git(s.directory, 'clone', '--quiet', at('shop'), 'clone')
    await session(at('clone'))
    expect((await projects()).map(({ key }) => key).sort()).toEqual([keyAt('clone'), keyAt('shop')])
    expect(await s.h.store.projectDirectories()).toEqual([])
  })

  test('does not join a repository whose memories came from elsewhere: the user is asked', async () => {
    const elsewhere = { ...within(at('x'), events.start('theirs', 'start')), project: { key: SHOP, name: 'shop' } }
    await s.h.supervisor.accept(elsewhere)
    await s.h.settle()
    const started = await session(withRemote('shop'))
    expect(started.message).toContain('claude-mem projects link')
    expect(await states()).toEqual({ [keyAt('shop')]: 'unconfirmed' })
  })

  test('without any commit joins too, and stays when it has some', async () => {
    mkdirSync(at('new'))
    git(at('new'), 'init', '--quiet')
    git(at('new'), 'remote', 'add', 'origin', URL)
    await session(at('new'))
    await session(at('new'))
    commit(at('new'))
    await session(at('new'))
    expect(await projects()).toEqual([{ key: SHOP, name: 'shop', sessions: 3 }])
  })
})

describe('a further clone', () => {
  test('has one memory with the first once the user says that it is one', async () => {
    const shop = withRemote('shop')
    await session(shop)
    const clone = cloneOf(shop, 'clone')
    expect((await session(clone, 'pay')).message).toContain(`claude-mem projects link ${clone}`)
    await s.client.call('project_link', { directory: keyAt('clone'), name: null })
    expect((await session(clone)).context).toContain('login.ts')
    expect((await session(shop)).context).toContain('pay.ts')
    expect(await projects()).toEqual([{ key: SHOP, name: 'shop', sessions: 4 }])
    const [view] = await projectViews(s.h.store)
    expect(view?.places.sort()).toEqual([clone, shop].sort())
  })

  test('is found by its directory, wherever a project is', async () => {
    const shop = withRemote('shop')
    await session(shop)
    await session(await linkedClone(shop, 'clone'))
    for (const key of [keyAt('shop'), keyAt('clone'), SHOP, 'shop']) {
      expect((await s.client.call('context', { project: key })).context, key).toContain('login.ts')
      const { sessions: found } = await s.client.call('sessions', { project: key })
      expect(found, key).toHaveLength(2)
    }
    await s.contextCache.flush()
    // A hook reads the file of its own key while no daemon runs.
    for (const key of [keyAt('shop'), keyAt('clone')]) {
      expect(readFileSync(s.contextCache.fileOf(key), 'utf8')).toContain('login.ts')
    }
  })

  test('stays apart where the setting says so; the first one still has its identity', async () => {
    together = false
    const shop = withRemote('shop')
    await session(shop)
    const clone = cloneOf(shop, 'clone')
    expect(await session(clone)).toMatchObject({ context: '', message: expect.not.stringContaining('projects link') })
    expect((await projects()).map(({ key }) => key).sort()).toEqual([keyAt('clone'), SHOP].sort())
    together = true
    expect((await session(clone)).message).toContain('projects link')
  })
})

/** What an archive can contain: the remote, and every commit, ref and log of the clone, which anybody can fetch. */
function archiveOf(shop: string, name: string): string {
  const evil = withRemote(name)
  git(evil, 'fetch', '--quiet', `file://${shop}`, '+HEAD:refs/remotes/origin/main')
  git(evil, 'reset', '--quiet', '--hard', 'refs/remotes/origin/main')
  git(evil, 'pack-refs', '--all')
  return evil
}

describe('an archive with the remote and the commits of a clone', () => {
  test('neither reads nor writes the memory of the clone', async () => {
    const shop = withRemote('shop')
    await session(shop)
    const evil = archiveOf(shop, 'evil')
    expect(await session(evil, 'evil')).toMatchObject({
      context: '',
      message: expect.stringContaining('claude-mem projects link'),
    })
    expect((await session(shop)).context).not.toContain('evil.ts')
    expect(await states()).toEqual({ [keyAt('shop')]: 'joined', [keyAt('evil')]: 'unconfirmed' })
  })

  test('gets nothing at the path of a clone that was deleted', async () => {
    const shop = withRemote('shop')
    await session(shop)
    const evil = archiveOf(shop, 'evil')
    rmSync(shop, { recursive: true })
    renameSync(evil, shop)
    expect(await session(shop, 'evil')).toMatchObject({
      context: '',
      message: expect.stringContaining('claude-mem projects link'),
    })
    expect((await projects()).map(({ key, sessions: count }) => [key, count])).toEqual([
      [keyAt('shop'), 1],
      [SHOP, 1],
    ])
  })
})

describe('a directory that merely claims a remote', () => {
  test('gets nothing, and the user is asked once', async () => {
    await session(withRemote('shop'))
    const evil = withRemote('evil')
    const started = await session(evil, 'evil')
    expect(started.context).toBe('')
    expect(started.message).toBe(
      `\`${evil}\` names github.com/acme/shop as its remote, as \`${at('shop')}\` does, which alone does not give it the memory of that repository. Is it a clone of yours? claude-mem projects link ${evil}; if not: claude-mem projects split ${evil}`,
    )
    expect(s.notices).toEqual([started.message])
    expect((await session(evil)).message).not.toContain('projects link')
    expect(s.notices).toHaveLength(1)
    expect((await session(at('shop'))).context).not.toContain('evil.ts')
    expect(await projectViews(s.h.store)).toMatchObject([
      { key: SHOP, sessions: 2, claims: null },
      { key: keyAt('evil'), sessions: 2, claims: 'github.com/acme/shop' },
    ])
  })

  test('cannot put a command or control characters into the question with its name', async () => {
    await session(withRemote('shop'))
    const evil = withRemote("x'; rm -rf ~\n\u001b[2J")
    const { message } = await session(evil)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is the point
    expect(message).not.toMatch(/[\u0000-\u001f]/)
    expect(message).toContain(`claude-mem projects link '${s.directory}/x'\\''; rm -rf ~`)
  })

  test('is asked about again only when it claims another one', async () => {
    await session(withRemote('shop'))
    await session(withRemote('fork', FORK_URL))
    const evil = withRemote('evil')
    await session(evil)
    git(evil, 'remote', 'set-url', 'origin', FORK_URL)
    expect((await session(evil)).message).toContain('github.com/me/shop')
    expect(s.notices).toHaveLength(2)
  })

  test('is linked when the user says that it is a clone', async () => {
    await session(withRemote('shop'))
    const other = withRemote('other')
    await session(other, 'other')
    const { report } = await s.client.call('project_link', { directory: keyAt('other'), name: null })
    expect(report).toMatchObject({ project: { key: SHOP, name: 'shop' }, moved: { sessions: 1 }, stays: null })
    expect(await projects()).toEqual([{ key: SHOP, name: 'shop', sessions: 2 }])
    // Also when it names another one later: the user decided.
    git(other, 'remote', 'set-url', 'origin', FORK_URL)
    await session(other)
    expect(await projects()).toEqual([{ key: SHOP, name: 'shop', sessions: 3 }])
  })

  test('is kept apart for good when the user says so', async () => {
    const shop = withRemote('shop')
    await session(shop)
    const clone = await linkedClone(shop, 'clone')
    await session(clone)
    const { report } = await s.client.call('project_split', { directory: keyAt('clone') })
    expect(report).toMatchObject({ project: { key: keyAt('clone') }, stays: { key: SHOP, name: 'shop' } })
    await s.contextCache.flush()
    // Nor from the file, while no daemon runs.
    expect(existsSync(s.contextCache.fileOf(keyAt('clone')))).toBe(false)
    expect((await session(clone, 'own')).context).toBe('')
    expect((await session(clone)).context).toContain('own.ts')
    expect(await projects()).toEqual([
      { key: keyAt('clone'), name: 'clone', sessions: 2 },
      { key: SHOP, name: 'shop', sessions: 2 },
    ])
    await s.client.call('project_link', { directory: keyAt('clone'), name: null })
    expect(await projects()).toEqual([{ key: SHOP, name: 'shop', sessions: 4 }])
  })
})

describe('a directory without a remote', () => {
  test('gets a name by which other machines find it', async () => {
    mkdirSync(at('notes'))
    await session(at('notes'))
    await expect(s.client.call('project_link', { directory: keyAt('notes'), name: null })).rejects.toThrow(
      'has no remote that other machines can reach',
    )
    const { report } = await s.client.call('project_link', { directory: keyAt('notes'), name: 'My notes' })
    expect(report).toMatchObject({ project: { key: 'named:My notes', name: 'My notes' }, moved: { sessions: 1 } })
    expect((await session(at('notes'))).context).toContain('login.ts')
    // A repository later: it is the same project.
    git(at('notes'), 'init', '--quiet')
    expect((await session(at('notes'))).context).toContain('login.ts')
    expect(await projects()).toEqual([{ key: 'named:My notes', name: 'My notes', sessions: 3 }])
  })

  test.each(['a/b', '', 'repo:x', 'all'])('is not called %j', async (name) => {
    mkdirSync(at('notes'))
    await expect(s.client.call('project_link', { directory: keyAt('notes'), name })).rejects.toThrow(
      'not a valid project name',
    )
  })

  test('can be linked before its first session', async () => {
    mkdirSync(at('notes'))
    await s.client.call('project_link', { directory: keyAt('notes'), name: 'notes' })
    await session(at('notes'))
    expect(await projects()).toEqual([{ key: 'named:notes', name: 'notes', sessions: 1 }])
  })

  test('is a path: a repository cannot be linked', async () => {
    await expect(s.client.call('project_link', { directory: SHOP, name: null })).rejects.toThrow('is not a directory')
  })
})

describe('a remote that changes', () => {
  test('takes the memory along where nobody else is in the old repository', async () => {
    const shop = withRemote('shop')
    await session(shop)
    git(shop, 'remote', 'set-url', 'origin', FORK_URL)
    expect((await session(shop)).context).toContain('login.ts')
    expect(await projects()).toEqual([{ key: FORK, name: 'shop', sessions: 2 }])
    expect(s.notices).toEqual([`the remote of ${shop} is now github.com/me/shop: its memory moved along`])
    // A clone that still has the old address.
    await session(await linkedClone(shop, 'late'))
    expect(await projects()).toEqual([{ key: FORK, name: 'shop', sessions: 3 }])
  })

  test('leaves what was learned where other clones are', async () => {
    const shop = withRemote('shop')
    await session(shop)
    await session(await linkedClone(shop, 'clone'))
    git(shop, 'remote', 'set-url', 'origin', FORK_URL)
    expect((await session(shop)).context).toBe('')
    expect(await projects()).toEqual([
      { key: FORK, name: 'shop', sessions: 1 },
      { key: SHOP, name: 'shop', sessions: 2 },
    ])
    expect(s.notices.at(-1)).toBe(
      `${shop} belongs to github.com/me/shop now; what was learned before stays with github.com/acme/shop`,
    )
  })

  test('leaves what was learned where other machines have it', async () => {
    const shop = withRemote('shop')
    await session(shop)
    shared = [SHOP]
    git(shop, 'remote', 'set-url', 'origin', FORK_URL)
    await session(shop)
    expect((await projects()).map(({ key }) => key)).toEqual([FORK, SHOP])
  })

  test('to a repository whose memory exists changes nothing, and the user is told', async () => {
    const shop = withRemote('shop')
    await session(shop)
    await session(withRemote('fork', FORK_URL))
    git(shop, 'remote', 'set-url', 'origin', FORK_URL)
    expect((await session(shop)).context).toContain('login.ts')
    expect(s.notices.at(-1)).toContain('it stays with github.com/acme/shop')
    expect((await projects()).map(({ sessions: count }) => count)).toEqual([2, 1])
  })

  test('is not left where it is removed', async () => {
    const shop = withRemote('shop')
    await session(shop)
    git(shop, 'remote', 'remove', 'origin')
    expect((await session(shop)).context).toContain('login.ts')
    expect(await projects()).toEqual([{ key: SHOP, name: 'shop', sessions: 2 }])
  })

  test('and changes back finds its memory', async () => {
    const shop = withRemote('shop')
    await session(shop)
    for (const url of [FORK_URL, URL, FORK_URL]) {
      git(shop, 'remote', 'set-url', 'origin', url)
      expect((await session(shop)).context).toContain('login.ts')
    }
    expect(await projects()).toEqual([{ key: FORK, name: 'shop', sessions: 4 }])
  })
})

describe('another repository at the path of a clone', () => {
  test('is a project of its own', async () => {
    const shop = withRemote('shop')
    await session(shop)
    rmSync(shop, { recursive: true })
    repository(shop)
    expect((await session(shop, 'new')).context).toBe('')
    await s.contextCache.flush()
    expect(readFileSync(s.contextCache.fileOf(keyAt('shop')), 'utf8')).not.toContain('login.ts')
    expect((await projects()).map(({ key, sessions: count }) => [key, count])).toEqual([
      [keyAt('shop'), 1],
      [SHOP, 1],
    ])
    expect(s.notices).toEqual([
      `${shop} is another repository than the clone of github.com/acme/shop that was there: it is a project of its own now`,
    ])
  })

  test('is asked about where it claims the same remote', async () => {
    const shop = withRemote('shop')
    await session(shop)
    rmSync(shop, { recursive: true })
    withRemote('shop')
    expect(await session(shop)).toMatchObject({ context: '', message: expect.stringContaining('projects link') })
  })

  test('gets nothing where its repository was merged by hand either', async () => {
    const [shop, blog] = [withRemote('shop'), withRemote('blog', 'git@github.com:acme/blog.git')]
    await session(shop)
    await session(blog, 'posts')
    await s.projects.merge(SHOP, 'blog', true)
    rmSync(shop, { recursive: true })
    withRemote('shop')
    expect((await session(shop)).context).toBe('')
  })
})

describe('a clone that moves', () => {
  test('stays part of its repository, and the path that it left is free', async () => {
    const shop = withRemote('shop')
    await session(shop)
    await s.h.store.updateProjects([{ key: keyAt('shop'), files: ['project'] }], 0)
    const before = keyAt('shop')
    renameSync(shop, at('moved'))
    expect((await session(at('moved'))).context).toContain('login.ts')
    const settings = await s.h.store.projectSettings()
    expect(settings.find(({ key }) => key === keyAt('moved'))).toMatchObject({ files: ['project'], mergedInto: SHOP })
    expect(settings.find(({ key }) => key === before)).toMatchObject({ files: [], root: null })
    expect(await states()).toEqual({ [keyAt('moved')]: 'joined' })
    repository(shop)
    expect((await session(shop)).context).toBe('')
    await s.contextCache.flush()
    expect(await projectViews(s.h.store)).toMatchObject([
      { key: before, sessions: 1 },
      { key: SHOP, sessions: 2, place: at('moved'), gone: false },
    ])
  })

  test('stays apart where the user split it', async () => {
    const shop = withRemote('shop')
    await session(shop)
    const clone = cloneOf(shop, 'clone')
    await s.client.call('project_split', { directory: keyAt('clone') })
    await session(clone)
    renameSync(clone, at('moved'))
    await session(at('moved'))
    expect(await states()).toMatchObject({ [keyAt('moved')]: 'apart' })
    expect((await projects()).map(({ sessions: count }) => count)).toEqual([2, 1])
  })
})

describe('what the user merged by hand', () => {
  test('stays, and a merged repository takes its clones along', async () => {
    const [shop, blog] = [withRemote('shop'), withRemote('blog', 'git@github.com:acme/blog.git')]
    await session(shop)
    await session(blog, 'posts')
    await s.projects.merge(SHOP, 'blog', true)
    expect((await session(shop)).context).toContain('posts.ts')
    expect((await session(await linkedClone(shop, 'clone'))).context).toContain('posts.ts')
    expect(await projects()).toEqual([{ key: 'repo:github.com/acme/blog', name: 'blog', sessions: 4 }])
  })

  test('of two directories stays where one of them names a repository', async () => {
    const [shop, plain] = [repository(at('shop')), repository(at('plain'))]
    await session(shop)
    await session(plain)
    await s.projects.merge('shop', 'plain', true)
    git(shop, 'remote', 'add', 'origin', URL)
    await session(shop)
    expect((await projects()).map(({ key }) => key)).toEqual([keyAt('plain')])
    await expect(s.client.call('project_split', { directory: keyAt('shop') })).rejects.toThrow('merged into')
    await s.client.call('project_link', { directory: keyAt('shop'), name: null })
    expect(await projects()).toEqual([{ key: SHOP, name: 'shop', sessions: 3 }])
  })
})

describe('at the start of the daemon', () => {
  test('the memories of earlier versions are filed under their repositories', async () => {
    const shop = repository(at('shop'))
    const clone = join(s.directory, 'clone')
    git(s.directory, 'clone', '--quiet', `file://${shop}`, 'clone')
    const evil = repository(at('evil'))
    for (const place of [evil, clone, shop]) await session(place)
    rmSync(at('gone'), { recursive: true, force: true })
    for (const place of [shop, evil]) git(place, 'remote', 'add', 'origin', URL)
    git(clone, 'remote', 'set-url', 'origin', URL)
    const next = new Projects({ store: s.h.store })
    await next.load()
    await next.directories.adoptKnown()
    await next.stop()
    expect(await projects()).toEqual([
      { key: SHOP, name: 'shop', sessions: 1 },
      { key: keyAt('clone'), name: 'clone', sessions: 1 },
      { key: keyAt('evil'), name: 'evil', sessions: 1 },
    ])
    expect(await states()).toEqual({
      [keyAt('shop')]: 'joined',
      [keyAt('clone')]: 'unconfirmed',
      [keyAt('evil')]: 'unconfirmed',
    })
    // Another start changes nothing.
    const again = new Projects({ store: s.h.store, notice: (_level, text) => void s.notices.push(text) })
    await again.load()
    await again.directories.adoptKnown()
    await again.stop()
    expect(s.notices).toEqual([])
  })
})

test('a copy of a clone is asked about', async () => {
  const shop = withRemote('shop')
  await session(shop)
  cpSync(shop, at('copy'), { recursive: true })
  expect(await session(at('copy'))).toMatchObject({ context: '', message: expect.stringContaining('projects link') })
})

test('worktrees are one project with their repository, and a submodule has its own', async () => {
  const lib = repository(at('lib'))
  const shop = withRemote('shop')
  git(shop, 'submodule', '--quiet', 'add', lib, 'vendor/lib')
  git(join(shop, 'vendor', 'lib'), 'remote', 'set-url', 'origin', 'git@github.com:acme/lib.git')
  git(shop, 'worktree', 'add', '--quiet', at('fix'))
  for (const cwd of [at('fix'), shop, join(shop, 'vendor', 'lib')]) await session(cwd)
  expect(await projects()).toEqual([
    { key: 'repo:github.com/acme/lib', name: 'lib', sessions: 1 },
    { key: SHOP, name: 'shop', sessions: 2 },
  ])
})
