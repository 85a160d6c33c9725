import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { projectViews } from '../../../src/daemon/project-views.ts'
import { Projects } from '../../../src/daemon/projects.ts'
import type { MemoryEvent } from '../../../src/domain/event.ts'
import type { Project } from '../../../src/domain/project.ts'
import { plainObserver } from '../../../src/observer/plain.ts'
import { commitOf, NOW, observationOf, stateOf, summaryOf } from '../../store/samples.ts'
import { type Served, served } from '../../transport/served.ts'
import { events } from '../actors/harness.ts'

const SHOP = { key: 'git:/home/me/shop/.git', name: 'shop' }
const BLOG = { key: 'git:/home/me/blog/.git', name: 'blog' }
const NOTES = { key: 'dir:/home/me/notes', name: 'notes' }

let s: Served
beforeEach(async () => {
  s = await served()
})
afterEach(() => s.close())

const remembered = async (project: Project, session: string, title: string) => {
  const observations = [observationOf([], { createdAt: NOW, title, narrative: `${title} at length` })]
  // A start leaves out observations that say nothing that a summary does not say, so this one says something else.
  const summaries = [summaryOf({ createdAt: NOW, request: 'the next ticket', learned: null, completed: 'closed it' })]
  await s.h.store.commit([commitOf(session, 1, { state: stateOf({ project }), observations, summaries })])
}
const rename = async (project: string, name: string | null) =>
  (await s.client.call('project_rename', { project, name })).project
const merge = async (from: string, into: string, confirm = true) =>
  (await s.client.call('project_merge', { from, into, confirm })).report
const found = async (query: string, project: string | null) => {
  const request = { query, mode: 'strict', kinds: ['observation'], project, limit: 10 } as const
  return (await s.client.call('search', request)).answer.hits
}
const context = async (project: string) => await s.client.call('context', { project })
const inProject = (event: MemoryEvent, project: Project): MemoryEvent => ({ ...event, project })

describe('a name by hand', () => {
  test('is shown wherever a name is, and is found by', async () => {
    await remembered(SHOP, 'a', 'Login fixed')
    expect(await rename('shop', 'Web store')).toEqual({ key: SHOP.key, name: 'Web store' })
    expect(await found('login', 'Web store')).toMatchObject([{ projectName: 'Web store' }])
    expect((await context('Web store')).context).toMatch(/^.*\n?# `Web store`: /)
    expect((await s.client.call('sessions', { project: 'Web store' })).sessions).toMatchObject([
      { session: 'a', projectName: 'Web store' },
    ])
    const { stats } = await s.client.call('memory_stats', { project: SHOP.key })
    expect(stats).toMatchObject({ project: { name: 'Web store' }, projects: [{ name: 'Web store' }] })
    expect(await s.rest('/api/projects')).toMatchObject([{ key: SHOP.key, name: 'Web store', named: true, gone: true }])
  })

  test('outlasts sessions that say another, until it is reset', async () => {
    await remembered(SHOP, 'a', 'Login fixed')
    await rename('shop', 'store')
    await s.h.supervisor.accept(inProject(events.prompt('b', 'p'), SHOP))
    expect((await projectViews(s.h.store))[0]?.name).toBe('store')
    expect(await rename('store', null)).toEqual(SHOP)
    expect(await found('login', 'shop')).toHaveLength(1)
  })

  test.each([
    ['', '1 to 60 letters, marks and digits'],
    ['a/b', '1 to 60 letters, marks and digits'],
    ['..', 'not beginning with punctuation'],
    ['git:x', '1 to 60 letters, marks and digits'],
    ['all', '"all" means every project'],
    ['a\u0000b', '1 to 60 letters, marks and digits'],
    [' Web store', 'single blanks between words'],
    ['Web  store', 'single blanks between words'],
    ['Web\u00a0store', 'single blanks between words'],
    ['store\u200b', '1 to 60 letters, marks and digits'],
    ['cafe\u0301', 'composed (Unicode NFC)'],
    ['x'.repeat(61), '1 to 60 letters, marks and digits'],
    ['blog', `another project is called "blog" (${BLOG.key}): choose another name`],
  ])('is not %j', async (name, why) => {
    await remembered(SHOP, 'a', 'Login fixed')
    await remembered(BLOG, 'b', 'Posts paged')
    await expect(rename('shop', name)).rejects.toThrow(why)
    expect((await projectViews(s.h.store)).map((project) => project.name).sort()).toEqual(['blog', 'shop'])
  })

  test('needs a project that is remembered', async () => {
    await expect(rename('nope', 'x')).rejects.toThrow('no project is called "nope"')
    await expect(rename('git:/nowhere/.git', 'x')).rejects.toThrow('nothing is remembered about git:/nowhere/.git')
  })
})

describe('a merge', () => {
  beforeEach(async () => {
    await remembered(SHOP, 'a', 'Login fixed')
    await remembered(BLOG, 'b', 'Posts paged')
  })

  test('says first what it would move', async () => {
    const contents = { observations: 1, summaries: 1, prompts: 0, sessions: 1 }
    expect(await merge('blog', 'shop', false)).toEqual({ dryRun: true, from: BLOG, into: SHOP, ...contents })
    expect(await found('posts', 'blog')).toHaveLength(1)
    expect(await merge('blog', 'shop')).toEqual({ dryRun: false, from: BLOG, into: SHOP, ...contents })
  })

  test('makes one of two, for search and context too', async () => {
    await merge('blog', 'shop')
    expect(await found('posts', 'shop')).toMatchObject([{ project: SHOP.key, projectName: 'shop' }])
    // Whoever stands in the merged project asks by its key.
    expect(await found('fixed at length', BLOG.key)).toMatchObject([{ title: 'Login fixed' }])
    expect(await context(BLOG.key)).toMatchObject({ project: SHOP, context: expect.stringContaining('Posts paged') })
    expect(await projectViews(s.h.store)).toMatchObject([{ ...SHOP, observations: 2, sessions: 2, merged: [BLOG.key] }])
    expect(s.moved).toEqual([`${BLOG.key} -> ${SHOP.key}`])
    await s.contextCache.flush()
    expect(await s.contextCache.forSession(SHOP.key)).toMatchObject({ context: expect.stringContaining('Posts paged') })
  })

  test('takes along what is reported later, and tells the new session what the whole project knows', async () => {
    await merge('blog', 'shop')
    const event = inProject(events.start('c', 'start'), BLOG)
    const { context } = await s.client.call('event', { event, version: '1' })
    expect(context).toContain('Login fixed')
    expect((await s.h.store.session('c'))?.project).toEqual(SHOP)
  })

  test('holds for a session that is awake and observed while it happens', async () => {
    const heard: string[] = []
    s.h.supervisor.subscribe((item) => {
      if (item.type !== 'commit') return
      const { project, observations } = item
      if (observations.length > 0) heard.push(project)
    })
    let answer: () => void = () => undefined
    const asked = new Promise<void>((resolve) => {
      s.h.observer = {
        ...plainObserver,
        observe: async (...args) => {
          resolve()
          await new Promise<void>((go) => {
            answer = go
          })
          return await plainObserver.observe(...args)
        },
      }
    })
    for (const event of [events.prompt('c', 'p'), events.tool('c', 't'), events.turnEnd('c', 'e')]) {
      await s.h.supervisor.accept(inProject(event, BLOG))
    }
    await asked
    await merge('blog', 'shop')
    answer()
    await s.h.settle()
    const observations = await s.h.store.observations({ session: 'c' })
    expect(observations.length).toBeGreaterThan(0)
    expect(new Set(observations.map(({ project }) => project))).toEqual(new Set([SHOP.key]))
    expect(new Set(heard)).toEqual(new Set([SHOP.key]))
    expect(await s.h.store.projectContents(BLOG.key)).toMatchObject({ sessions: 0, observations: 0, summaries: 0 })
  })

  test('of a merged project takes everything along that was merged into it', async () => {
    await remembered(NOTES, 'n', 'Ideas listed')
    await merge('blog', 'shop')
    await merge('shop', 'notes')
    expect(s.projects.keyOf(BLOG.key)).toBe(NOTES.key)
    expect(await projectViews(s.h.store)).toMatchObject([{ ...NOTES, observations: 3, merged: [BLOG.key, SHOP.key] }])
    await s.h.supervisor.accept(inProject(events.prompt('late', 'p'), BLOG))
    expect((await s.h.store.session('late'))?.project).toEqual(NOTES)
  })

  test.each([
    ['shop', 'shop', 'shop cannot be merged into itself'],
    ['shop', SHOP.key, `are one project already: shop (${SHOP.key})`],
    ['nope', 'shop', 'no project is called "nope"'],
    ['shop', 'git:/nowhere/.git', 'nothing is remembered about git:/nowhere/.git'],
  ])('of %s into %s is refused', async (from, into, why) => {
    await expect(merge(from, into)).rejects.toThrow(why)
    expect(await projectViews(s.h.store)).toHaveLength(2)
  })

  test('is not made twice, nor the other way round', async () => {
    await merge('blog', 'shop')
    await expect(merge(BLOG.key, 'shop')).rejects.toThrow('are one project already')
    await expect(merge('shop', BLOG.key)).rejects.toThrow('are one project already')
  })

  test('asks which, where two have one name', async () => {
    const other = { key: 'git:/work/shop/.git', name: 'shop' }
    await remembered(other, 'o', 'Prices rounded')
    await expect(merge('shop', 'blog')).rejects.toThrow(
      /2 projects are called "shop"; give the key of one of them: git:.*, git:/,
    )
    expect(await merge(other.key, 'blog')).toMatchObject({ from: other, observations: 1 })
  })

  test('that a dead process left is finished by the next one', async () => {
    await s.h.store.updateProjects([{ key: BLOG.key, mergedInto: SHOP.key, root: '/home/me/blog' }], NOW)
    expect(await s.h.store.projectContents(BLOG.key)).toMatchObject({ observations: 1 })
    const next = new Projects({ store: s.h.store })
    await next.load()
    await next.stop()
    // A piece that is under way is finished, the rest is the next one's: here all of it was one piece.
    expect(await s.h.store.projectContents(BLOG.key)).toMatchObject({ observations: 0, sessions: 0 })
    expect(next.keyOf(BLOG.key)).toBe(SHOP.key)
  })
})
