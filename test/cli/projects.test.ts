import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { projectsCommand } from '../../src/cli/commands/projects.ts'
import { isExcluded, type Project } from '../../src/domain/project.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import { commitOf, NOW, observationOf, stateOf, summaryOf } from '../store/samples.ts'
import { type Served, served } from '../transport/served.ts'
import { InProcessProgram } from './in-process-program.ts'
import type { ProgramResult } from './program.ts'

let s: Served
beforeEach(async () => {
  s = await served()
})
afterEach(() => s.close())

interface RunOptions {
  answer?: boolean
  env?: NodeJS.ProcessEnv
  dataDir?: string
}

/** Runs the command in this process. */
async function run(
  args: readonly string[],
  { answer, env = {}, dataDir = s.paths.dataDir }: RunOptions = {},
): Promise<ProgramResult> {
  const program = new InProcessProgram(dataDir, [projectsCommand])
  return await program.run(['projects', ...args], {
    env,
    now: NOW + 60_000,
    ...(answer === undefined ? {} : { answer }),
  })
}
const json = async (...args: string[]) => JSON.parse((await run([...args, '--json'])).stdout)

/** The directory of shop exists, that of blog does not. */
async function twoProjects(): Promise<{ shop: Project; blog: Project }> {
  mkdirSync(join(s.directory, 'shop'))
  const shop = { key: `dir:${join(s.directory, 'shop')}`, name: 'shop' }
  const blog = { key: `dir:${join(s.directory, 'blog')}`, name: 'blog' }
  for (const [project, at] of [
    [blog, 1],
    [shop, 2],
  ] as const) {
    const observations = [observationOf([], { createdAt: NOW })]
    const rows = { observations, summaries: [summaryOf({ createdAt: NOW })] }
    await s.h.store.commit([commitOf(project.name, 1, { at: NOW + at, state: stateOf({ project }), ...rows })])
  }
  return { shop, blog }
}

describe('projects', () => {
  it('lists projects with their directories and whether they are gone', async () => {
    const { shop, blog } = await twoProjects()
    expect(await json()).toMatchObject({
      running: true,
      excluded: [],
      projects: [
        { ...shop, observations: 1, sessions: 1, gone: false, excluded: false, place: join(s.directory, 'shop') },
        { ...blog, observations: 1, sessions: 1, gone: true },
      ],
    })
    const { stdout } = await run(['list'])
    expect(stdout).toMatch(/^PROJECT +OBS +SESSIONS +LAST +PLACE +KEY *\nshop +1 +1 +59 s ago +\/.*\/shop +dir:/)
    expect(stdout).toMatch(/\nblog .* gone\n$/)
  })

  it('prints that there is no project yet, without a daemon', async () => {
    const { code, stdout } = await run([], { dataDir: join(s.directory, 'never') })
    expect([code, stdout]).toEqual([0, 'No project yet: the first session creates one.\n'])
  })

  it('sanitises names', async () => {
    const project = { key: 'git:/x/\u001b[2J/.git', name: 'evil\u001b[2J' }
    await s.h.store.commit([commitOf('s', 1, { state: stateOf({ project }) })])
    expect((await run([])).stdout).not.toContain('\u001b')
  })

  it('renames and resets a name', async () => {
    const { shop } = await twoProjects()
    expect((await run(['rename', 'shop', 'Web store'])).stdout).toBe(`${shop.key} is now called Web store\n`)
    expect(await json('rename', 'Web store', '--reset')).toEqual(shop)
    expect(await run(['rename', 'shop', 'blog'])).toMatchObject({ code: 1, stderr: expect.stringContaining('merge') })
  })

  it('merges only after confirmation', async () => {
    const { shop, blog } = await twoProjects()
    const planned = await run(['merge', 'blog', join(s.directory, 'shop')])
    expect(planned.stdout).toContain('To be merged: blog into shop')
    expect(planned.stdout).toContain('1 observation, 1 summary, 1 session of blog would belong to shop')
    expect(planned.stderr).toBe('Nothing was merged: pass --yes to confirm\n')
    expect(await run(['merge', 'blog', 'shop'], { answer: false })).toMatchObject({
      code: 1,
      stderr: 'Nothing was merged\n',
    })
    expect(await json('merge', 'blog', 'shop')).toMatchObject({ dryRun: true, from: blog, into: shop })
    expect((await json()).projects).toHaveLength(2)
    const done = await run(['merge', 'blog', 'shop'], { answer: true })
    expect(done.stdout).toContain('blog is now part of shop: 1 observation, 1 summary')
    expect((await json()).projects).toMatchObject([{ ...shop, observations: 2, merged: [blog.key] }])
    expect((await run([])).stdout).toContain('with 1 merged')
  })

  it('links and splits directories', async () => {
    const { shop } = await twoProjects()
    const path = join(s.directory, 'shop')
    expect(await run(['link', path])).toMatchObject({ code: 1, stderr: expect.stringContaining('PATH NAME') })
    expect((await run(['link', path, 'My shop'])).stdout).toBe(
      `${path} belongs to My shop (named:My shop)\n` +
        'What was learned there belongs to it too: 1 observation, 1 summary, 1 session\n',
    )
    const [view] = (await json()).projects
    expect(view).toMatchObject({ key: 'named:My shop', name: 'My shop', place: path, gone: false })
    expect((await run([])).stdout).not.toContain('merged')
    expect((await run(['split', path])).stdout).toBe(
      `${path} is a project of its own from now on (${shop.key})\n` +
        'What was learned there before stays with My shop (named:My shop)\n',
    )
    expect(await json('link', path, 'My shop')).toMatchObject({ project: { key: 'named:My shop' }, stays: null })
    expect((await json('exclude', 'My shop')).place).toBe(path)
  })

  it.each([
    [['rename', 'shop'], 'rename needs a new name, or --reset'],
    [['rename', 'shop', 'x', '--reset'], 'a new name or --reset, not both'],
    [['rename'], 'projects rename needs a project'],
    [['merge', 'shop'], 'merge needs two projects'],
    [['list', 'shop'], 'projects list takes no other argument'],
    [['exclude', 'a', 'b'], 'takes one project or directory'],
    [['merge', 'a', 'b', '--remove'], '--remove is an option of exclude'],
    [['exclude', 'a', '--yes'], '--yes is an option of merge'],
    [['divide', 'shop'], 'unknown action "divide"'],
    [['split', 'a', 'b'], 'projects split takes one directory'],
    [['link'], 'projects link needs a project'],
  ])('refuses %j', async (args, why) => {
    expect(await run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(why) })
  })
})

describe('projects exclude', () => {
  const excluded = () => loadSettings(s.paths.dataDir, {}).values.CLAUDE_MEM_EXCLUDED_PROJECTS
  const at = (...parts: string[]) => join(s.directory, ...parts)

  it('accepts the name of a project, prints what stays, and lists it', async () => {
    const { shop } = await twoProjects()
    const { stdout } = await run(['exclude', 'shop'])
    expect(stdout).toBe(
      `Nothing is recorded in ${at('shop')} and below from now on\n` +
        `What is already stored stays. To forget it: claude-mem forget --kind all --project ${at('shop')}\n`,
    )
    expect(excluded()).toEqual([at('shop')])
    expect(isExcluded(at('shop', 'src'), shop, excluded())).toBe(true)
    expect((await run([])).stdout).toMatch(/\bshop .* excluded\n/)
    expect((await run(['exclude', 'shop'])).stdout).toContain('is already excluded')
    expect((await run(['exclude', 'shop', '--remove'])).stdout).toBe(`${at('shop')} is recorded again\n`)
    expect(excluded()).toEqual([])
  })

  it('accepts any directory, also with a comma in its name, and keeps the other settings', async () => {
    const file = join(s.paths.dataDir, 'settings.json')
    writeFileSync(file, JSON.stringify({ CLAUDE_MEM_EXCLUDED_PROJECTS: ['~/old'], CLAUDE_MEM_KEEP_BACKUPS: 3 }))
    expect(await json('exclude', at('a, b'))).toEqual({ place: at('a, b'), excluded: true, changed: true })
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      CLAUDE_MEM_EXCLUDED_PROJECTS: ['~/old', at('a, b')],
      CLAUDE_MEM_KEEP_BACKUPS: 3,
    })
    expect((await json()).excluded).toEqual(['~/old', at('a, b')])
    expect((await run([])).stdout).toContain('Excluded, with everything below:\n  ~/old\n')
    expect(await json('exclude', '~/old', '--remove')).toMatchObject({ excluded: false, changed: true })
    expect(await json('exclude', '~/old', '--remove')).toMatchObject({ changed: false })
  })

  it('refuses an unknown project, a directory inside an excluded one, and a broken settings file', async () => {
    await twoProjects()
    await run(['exclude', s.directory])
    expect(await run(['exclude', 'shop', '--remove'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`is in ${s.directory}, which is excluded`),
    })
    expect(await run(['exclude', 'nope'])).toMatchObject({ code: 1, stderr: expect.stringContaining('./nope') })
    writeFileSync(join(s.paths.dataDir, 'settings.json'), '{ half')
    expect(await run(['exclude', at('x')])).toMatchObject({ code: 1, stderr: expect.stringContaining('settings.json') })
    expect(readFileSync(join(s.paths.dataDir, 'settings.json'), 'utf8')).toBe('{ half')
  })

  it('names the environment variable that overrides the list', async () => {
    const { stdout } = await run(['exclude', at('x')], { env: { CLAUDE_MEM_EXCLUDED_PROJECTS: '/y' } })
    expect(stdout).toContain('The environment variable CLAUDE_MEM_EXCLUDED_PROJECTS=/y overrides this setting.')
  })
})
