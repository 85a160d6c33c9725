/** To which project a past session belongs, told from hand-made transcripts and real repositories. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { loadSettings } from '../../../src/settings/settings.ts'
import { surveyTranscripts } from '../../../src/transfer/backfill/survey.ts'
import { readTranscriptEvents } from '../../../src/transfer/transcripts/index.ts'
import { namedTranscripts } from '../../../src/transfer/transcripts/readers.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { git, repository } from '../../support/repository.ts'

const settings = loadSettings('', {}).values
const REMOTE = 'git@GitHub.com:acme/shop.git'
const SHOP = { key: 'repo:github.com/acme/shop', name: 'shop' }
let root: string
let written: string[]
beforeEach(() => {
  root = temporaryDirectory('filing')
  written = []
})

function write(name: string, lines: readonly object[]): string {
  const file = join(root, 'transcripts', `${name}.jsonl`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  written.push(file)
  return file
}

/** Each directory with the number of prompts typed there. */
function claudeCode(session: string, ...directories: [string, number][]): string {
  const prompts = directories.flatMap(([cwd, count]) => Array.from({ length: count }, () => cwd))
  const line = (cwd: string, n: number) => ({
    type: 'user',
    sessionId: session,
    uuid: `${session}-${n}`,
    timestamp: new Date(Date.UTC(2026, 2, 2, 10, 0, n)).toISOString(),
    cwd,
    message: { role: 'user', content: `step ${n}` },
  })
  return write(session, prompts.map(line))
}

function codex(session: string, cwd: string, meta: object = {}): string {
  const line = (type: string, payload: object) => ({ timestamp: '2026-03-02T10:00:00.000Z', type, payload })
  const git = { repository_url: REMOTE, branch: 'main' }
  return write(session, [
    line('session_meta', { id: session, session_id: session, cwd, source: 'cli', git, ...meta }),
    line('turn_context', { cwd }),
    line('event_msg', { type: 'user_message', message: 'go' }),
  ])
}

async function survey(options: { known?: string[]; excluded?: string[] } = {}) {
  return await surveyTranscripts(namedTranscripts(written), {
    settings: { ...settings, CLAUDE_MEM_EXCLUDED_PROJECTS: options.excluded ?? [] },
    since: null,
    named: true,
    known: options.known ?? [],
  })
}

async function filed(known: string[] = []) {
  const { sessions } = await survey({ known })
  return Object.fromEntries(sessions.map(({ session, project: { key } }) => [session, key]))
}

describe('a session', () => {
  it('belongs to the directory where most of it happened, not to the first or last one', async () => {
    const [home, shop] = [join(root, 'home'), join(root, 'home', 'shop')]
    mkdirSync(shop, { recursive: true })
    claudeCode('here', [home, 1], [shop, 5], [home, 2])
    claudeCode('gone', ['/no/such/home', 1], ['/no/such/home/shop', 5], ['/no/such/other', 2])
    expect(await filed()).toEqual({ here: `dir:${shop}`, gone: 'dir:/no/such/home/shop' })
  })

  it('counts the folders of a repository as one place', async () => {
    const shop = repository(join(root, 'shop'))
    const [src, docs, other] = [join(shop, 'src'), join(shop, 'docs'), join(root, 'other')]
    for (const directory of [src, docs, other]) mkdirSync(directory)
    claudeCode('s', [other, 3], [src, 2], [docs, 2])
    expect(await filed()).toEqual({ s: `git:${join(shop, '.git')}` })
  })

  it('has one project in all its events, each with its own directory', async () => {
    const file = claudeCode('s', ['/no/such/home', 1], ['/no/such/shop', 2])
    const [session] = (await survey()).sessions
    if (session === undefined) throw new Error('no session was found')
    const events = []
    for await (const event of readTranscriptEvents(file, { settings, filed: session })) events.push(event)
    expect(events[0]).toMatchObject({ kind: 'session_start', cwd: '/no/such/shop' })
    expect(new Set(events.map((event) => event.project.key))).toEqual(new Set(['dir:/no/such/shop']))
    expect(new Set(events.map(({ cwd }) => cwd))).toEqual(new Set(['/no/such/home', '/no/such/shop']))
  })
})

describe('a repository that a transcript names', () => {
  it('has all sessions of its worktrees that are gone, whatever address the remote had', async () => {
    codex('one', '/no/such/.codex/worktrees/1a2b/shop')
    codex('two', '/no/such/.codex/worktrees/3c4d/shop', {
      git: { repository_url: 'https://me:secret@github.com/acme/shop' },
    })
    const { sessions } = await survey()
    expect(sessions.map(({ session, project }) => ({ session, project }))).toEqual([
      { session: 'one', project: SHOP },
      { session: 'two', project: SHOP },
    ])
    expect(JSON.stringify(sessions)).not.toContain('secret')
  })

  it('has sessions of other clients in the same directory', async () => {
    codex('codex', '/no/such/shop')
    claudeCode('same', ['/no/such/shop', 1])
    claudeCode('below', ['/no/such/shop/.claude/worktrees/fix', 1])
    claudeCode('beside', ['/no/such/shop-two', 1])
    expect(await filed()).toEqual({ codex: SHOP.key, same: SHOP.key, below: SHOP.key, beside: 'dir:/no/such/shop-two' })
  })

  it('leaves a clone that exists to itself: the daemon decides to which repository it belongs', async () => {
    const shop = repository(join(root, 'shop'))
    codex('s', shop)
    expect(await filed()).toEqual({ s: `git:${join(shop, '.git')}` })
  })

  it('counts only if other machines can reach it', async () => {
    codex('path', '/no/such/a', { git: { repository_url: '/srv/shop.git' } })
    codex('none', '/no/such/b', { git: null })
    expect(await filed()).toEqual({ path: 'dir:/no/such/a', none: 'dir:/no/such/b' })
  })

  it('is excluded with its worktrees that are gone if its clone is', async () => {
    const shop = repository(join(root, 'work', 'shop'))
    git(shop, 'remote', 'add', 'origin', REMOTE)
    codex('s', '/no/such/.codex/worktrees/1a2b/shop')
    const isExcluded = async (options: Parameters<typeof survey>[0]) => (await survey(options)).sessions[0]?.excluded
    expect(await isExcluded({ excluded: [shop] })).toBe(true)
    expect(await isExcluded({ excluded: [dirname(shop)], known: [`git:${join(shop, '.git')}`] })).toBe(true)
    expect(await isExcluded({ excluded: [join(shop, 'docs')] })).toBe(false)
  })
})

describe('a worktree that is gone', () => {
  it('belongs to the clone in which it was', async () => {
    const shop = repository(join(root, 'shop'))
    claudeCode('s', [join(shop, '.claude', 'worktrees', 'fix', 'src'), 1])
    expect(await filed()).toEqual({ s: `git:${join(shop, '.git')}` })
  })

  it('belongs to the clone that still lists it', async () => {
    const shop = repository(join(root, 'shop'))
    const tree = join(root, 'trees', 'fix')
    git(shop, 'worktree', 'add', '--quiet', tree)
    rmSync(tree, { recursive: true })
    claudeCode('tree', [join(tree, 'src'), 1])
    expect(await filed()).toEqual({ tree: `dir:${join(tree, 'src')}` })
    expect(await filed([`git:${join(shop, '.git')}`])).toEqual({ tree: `git:${join(shop, '.git')}` })
    claudeCode('shop', [shop, 1])
    expect(await filed()).toMatchObject({ tree: `git:${join(shop, '.git')}` })
  })

  it('belongs to a clone that the memory knows, though that is gone too', async () => {
    claudeCode('s', ['/no/such/shop/.worktrees/fix', 1])
    expect(await filed(['git:/no/such/shop/.git'])).toEqual({ s: 'git:/no/such/shop/.git' })
  })

  it('belongs to the directory of another session in whose worktrees it was, else to its own', async () => {
    claudeCode('s', ['/no/such/shop/.claude/worktrees/fix', 1])
    claudeCode('t', ['/no/such/trees/worktrees/shop', 1])
    claudeCode('main', ['/no/such/shop', 1])
    expect(await filed()).toEqual({
      s: 'dir:/no/such/shop',
      t: 'dir:/no/such/trees/worktrees/shop',
      main: 'dir:/no/such/shop',
    })
  })
})

describe("a subagent's thread", () => {
  it('is listed with its session, and is no session', async () => {
    const meta = { thread_source: 'subagent', source: { subagent: 'review' }, parent_thread_id: 'parent' }
    const review = codex('review', '/no/such/shop', { ...meta, session_id: 'parent' })
    const side = { type: 'user', sessionId: 'main', isSidechain: true, agentId: 'a1', cwd: '/no/such/shop' }
    const agent = write('agent-a1', [
      { ...side, uuid: 'u1', timestamp: '2026-03-02T10:00:00.000Z', message: { content: 'find it' } },
    ])
    const { sessions, threads, problems } = await survey()
    expect({ sessions, problems }).toEqual({ sessions: [], problems: [] })
    expect(threads).toEqual([
      { file: review, session: 'parent' },
      { file: agent, session: 'main' },
    ])
  })

  it('that begins with a copy of its parent stays one', async () => {
    const file = codex('child', '/no/such/shop', { session_id: 'parent', thread_source: 'subagent' })
    const copied = codex('parent', '/no/such/shop', { thread_source: 'user' })
    writeFileSync(file, readFileSync(file, 'utf8') + readFileSync(copied, 'utf8'))
    const { sessions, threads } = await survey()
    expect(sessions.map(({ session, file: from }) => [session, from])).toEqual([['parent', copied]])
    expect(threads).toEqual([{ file, session: 'parent' }])
  })
})
