import { mkdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { projectOfDirectory } from '../../src/domain/project.ts'
import { dataPaths } from '../../src/lib/paths.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { DaemonServer } from '../../src/transport/server.ts'
import { Harness } from '../daemon/actors/harness.ts'
import { commitOf, observationOf, stateOf, summaryOf } from '../store/samples.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { type TestContext, testContext } from '../transport/context.ts'
import { Program } from './program.ts'

const AT = new Date(2026, 10, 10, 12).getTime()
/** A separate directory is a separate project. */
const shopDir = temporaryDirectory('shop')
const shop = projectOfDirectory(shopDir)
const blog = { key: 'git:/home/me/blog', name: 'blog' }

const observation = (title: string, narrative: string, minutes: number, over: object = {}) => {
  return observationOf([], { createdAt: AT + minutes * 60_000, title, narrative, facts: [], ...over })
}
const commits = () => [
  commitOf('session-shop', 1, {
    state: stateOf({ project: shop }),
    observations: [
      observation('Login fixed', 'The JWT had expired: getUserById ran too late.', 0),
      observation('Pool enlarged', 'Connections ran out under load.', 60, { type: 'change' }),
    ],
    summaries: [summaryOf({ createdAt: AT + 70 * 60_000 })],
  }),
  commitOf('session-blog', 1, {
    state: stateOf({ project: blog }),
    observations: [observation('Posts \x1b[2Jpaged', 'Zebras are shown ten at a time.', 120)],
  }),
]

let program: Program
beforeAll(async () => {
  program = await Program.make()
  mkdirSync(program.dataDir, { recursive: true })
}, 60_000)
afterAll(async () => {
  await program.end()
}, 60_000)

const inShop = (...args: string[]) => program.run(args, { cwd: shopDir })
const jsonInShop = async (...args: string[]) => JSON.parse((await inShop(...args, '--json')).stdout)

describe('usage errors', () => {
  it.each([
    [['search', 'x', '--type', 'bugfx'], 'unknown type "bugfx"; did you mean bugfix?'],
    [['search', 'x', '--mode', 'fuzzy'], 'unknown mode "fuzzy"; it is one of auto, strict, semantic, hybrid'],
    [['search', 'x', '--since', 'soon'], '--since "soon" is not a date; it is a date or time such as 2026-11-01'],
    [['search', 'x', '--limt', '3'], 'unknown option --limt; did you mean --limit?'],
    [['show'], 'show needs the id of an observation'],
    [['show', 'twelve'], '"twelve" is not the id of an observation'],
    [['timeline', '12', '--before', '-1'], '--before takes a whole number from 0 to 200'],
    [['remember'], 'remember needs a text'],
    [['remember', 'x', '--type', 'fact'], 'unknown type "fact"'],
    [['forget'], 'name what to forget'],
    [['forget', '--kind', 'all'], 'name what to forget'],
    [['forget', '1', '--type', 'bugfix'], 'ids or filters, not both'],
    [['supersede', '1'], 'claude-mem supersede OLD --by NEW'],
    [['supersede', '1', '--by', '1'], 'cannot replace itself'],
    [['reindex', '--what', 'world'], 'it is one of all, lexical, vectors'],
  ])('%j is refused before a daemon is called', (args, message) => refused(args, message))

  it('search.refuses a query that is too long', () =>
    refused(['search', 'x'.repeat(10_001)], 'a query has at most 10000 characters'))

  const refused = async (args: string[], message: string) => {
    const { code, stdout, stderr } = await program.run(args)
    expect(stderr).toContain(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  }
})

describe('without a daemon', () => {
  it('search.finds nothing before the first start', async () => {
    expect(await inShop('search', 'jwt')).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing found') })
    expect(await inShop('show', '1')).toMatchObject({
      code: 1,
      stderr: 'claude-mem: there is no observation #1; claude-mem search lists them\n',
    })
    expect((await inShop('stats')).stdout).toContain('Nothing is remembered')
    expect((await inShop('timeline')).stderr).toContain('Nothing is remembered')
  })

  it('search, show and timeline read the database file', async () => {
    const { database, backups } = dataPaths(program.dataDir)
    const store = await openLocalStore({ databaseFile: database, backupsDir: backups })
    await store.commit(commits())
    await store.close()
    expect(await jsonInShop('search', 'jwt')).toMatchObject({
      running: false,
      project: shop.key,
      mode: 'hybrid',
      notes: ['no daemon is running: searched by words only'],
      hits: [{ id: 1 }],
    })
    expect(await jsonInShop('search', 'jwt', '--mode', 'strict')).toMatchObject({ hits: [{ id: 1 }], total: 1 })
    expect((await inShop('show', '2', '1')).stdout).toMatch(
      /^#2 {2}📝 change {2}agent: “Pool enlarged”\n(?:.*\n)+#1 {2}🐛/,
    )
    expect(await jsonInShop('timeline', '2', '--after', '0')).toMatchObject({
      anchor: 2,
      items: [{ id: 1 }, { id: 2 }],
    })
    expect(await jsonInShop('stats')).toMatchObject({ running: false, observations: 3, projects: [{}, {}] })
    expect((await inShop('stats', '--project', '.')).stdout).toMatch(/by words +all 3 can be found/)
  })
})

describe('with a daemon', () => {
  const h = new Harness()
  let server: DaemonServer
  let context: TestContext
  beforeAll(async () => {
    await h.start()
    await h.store.commit(commits())
    const paths = dataPaths(program.dataDir)
    context = testContext(h, paths, { process: { port: () => server.port } })
    server = new DaemonServer({
      paths,
      token: 'token',
      context,
      port: 0,
      maxMessageBytes: 2_000_000,
      seq: 0,
      log: () => undefined,
    })
    await server.listen()
  })
  afterAll(async () => {
    await context.close()
    await server.close()
    await h.dispose()
  })

  it('search.shows rows of the current project', async () => {
    const { code, stdout } = await inShop('search', 'jwt', 'expired', '--mode', 'strict')
    expect(code).toBe(0)
    expect(stdout).toMatch(/#1 {2}2026-11-10 12:00 {2}🐛 {2}agent: “Login fixed”/)
    expect(stdout).toContain('1 of 1; every word, newest first (strict)')
    expect(stdout).toContain('claude-mem show 1')
    expect((await inShop('search', 'jwt', '--explain')).stdout).toMatch(/words ██████ 1\.00/)
  })

  it('search.prints the number of hits in other projects', async () => {
    const { stdout, stderr } = await inShop('search', 'zebras')
    expect(stdout).toContain('Nothing found')
    expect(stderr).toBe('Nothing in this project, but 1 in others: --project all\n')
    const everywhere = await inShop('search', 'zebras', '--project', 'all')
    expect(everywhere.stdout).toMatch(/agent: “Posts paged” {2}blog/)
    expect((await inShop('search', '--project', 'blog')).stdout).toContain('#3')
  })

  it('search.without words lists the newest that pass the filters', async () => {
    expect(
      await jsonInShop('search', '--type', 'change,bugfix', '--since', '2026-11-10', '--limit', '1'),
    ).toMatchObject({
      running: true,
      mode: 'filter',
      total: 2,
      hits: [{ id: 2 }],
    })
    expect(await jsonInShop('search', '--session', 'session-b')).toMatchObject({ hits: [{ id: 3 }] })
    expect((await inShop('search', '--session', 'nope')).stderr).toContain('no session starts with "nope"')
    expect((await inShop('search', '--project', 'nope')).stderr).toContain('no project is called "nope"')
  })

  it('show.prints the known observations and names the missing ones', async () => {
    const { code, stdout, stderr } = await inShop('show', '1,98', '#99')
    expect(stdout).toContain('Login fixed')
    expect(stderr).toBe('claude-mem: there are no observations #98, #99; claude-mem search lists them\n')
    expect(code).toBe(1)
  })

  it('timeline.marks the anchor', async () => {
    expect((await inShop('timeline', 'connections', 'ran')).stdout).toMatch(
      /Nov 10, 2026\n(?:.*\n)*▶ +#2 {2}13:00 {2}📝 agent: “Pool/,
    )
    expect(await inShop('timeline', '99')).toMatchObject({
      code: 1,
      stderr: 'claude-mem: there is no observation #99; claude-mem search lists them\n',
    })
  })

  it('remember, pin and supersede', async () => {
    const { id, project } = await jsonInShop('remember', 'Staging has', 'port 5433.', '--type', 'decision')
    expect(project).toBe(shop.key)
    expect((await inShop('show', String(id))).stdout).toContain('Staging has port 5433.')
    const piped = await program.run(['remember', '-', '--title', 'From git'], {
      cwd: shopDir,
      input: 'Deploys wait.\n',
    })
    expect(piped.stdout).toMatch(/^Remembered as #\d+; to remove it: claude-mem forget \d+\n$/)
    expect((await inShop('search', 'deploys', '--mode', 'strict')).stdout).toContain('From git')
    expect((await inShop('pin', '1', '99')).stdout).toBe('1 observation pinned\n')
    expect((await inShop('pin', '1')).stdout).toBe('Already pinned\n')
    expect((await inShop('supersede', '1', '--by', String(id))).stdout).toBe(`#${id} replaces #1\n`)
    expect((await inShop('show', '1')).stdout).toContain(`pinned; replaced by #${id}`)
    expect((await inShop('supersede', '1', '--by', String(id), '--undo')).code).toBe(0)
    expect((await inShop('pin', '1', '--off')).stdout).toBe('1 observation no longer pinned\n')
  })

  it('forget.previews first and removes only after confirmation', async () => {
    const dry = await inShop('forget', '--file', 'a.ts', '--type', 'change')
    expect(dry.stdout).toContain('To be forgotten: 1 observation\n')
    expect(dry.stdout).toContain('Pool enlarged')
    expect(dry).toMatchObject({ code: 0, stderr: 'Nothing was forgotten: pass --yes to confirm\n' })
    expect(await jsonInShop('forget', '2')).toMatchObject({ dryRun: true, ids: [2] })
    const done = await inShop('forget', '2', '99', '--yes')
    expect(done.stdout).toMatch(
      /Forgotten: 1 observation\.\nWhat may say the same stays: 1 summary .*\nNo backup contains it\./,
    )
    expect(done).toMatchObject({
      code: 1,
      stderr: 'claude-mem: there is no observation #99; claude-mem search lists them\n',
    })
    expect((await inShop('show', '2')).code).toBe(1)
    expect((await inShop('forget', '--type', 'change', '--yes')).stdout).toBe('There is nothing to forget\n')
    expect(await inShop('forget', '--project', 'all', '--yes')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('name what to forget'),
    })
    expect(await jsonInShop('stats')).toMatchObject({ types: { change: 0 } })
  })

  it('forget.everywhere also cleans backups, and can be repeated', async () => {
    await jsonInShop('remember', 'The quokkavlatigo is in the cellar')
    await jsonInShop('backup', 'now')
    const { hits } = await jsonInShop('search', 'quokkavlatigo')
    const done = await jsonInShop('forget', String(hits[0].id), '--everywhere', '--yes')
    expect(done).toMatchObject({ observations: 1, cleaned: { failed: [] } })
    expect(done.cleaned.rewritten.length).toBeGreaterThan(0)
    const again = await inShop('forget', '--everywhere', '--yes')
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('0 backups rewritten') })
    expect(await inShop('forget', '--everywhere')).toMatchObject({ code: 1 })
  })

  it('reindex.waits until everything is indexed again', async () => {
    expect(await jsonInShop('reindex', '--what', 'lexical')).toMatchObject({ what: 'lexical' })
    expect(context.memory.indexing()).toBeNull()
    expect((await inShop('search', 'jwt', '--mode', 'strict')).stdout).toContain('#1')
  })
})
