import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dataPaths } from '../../src/lib/paths.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import { openStoreReader } from '../../src/store/sqlite/reader.ts'
import { type BackfillPlan, planBackfill } from '../../src/transfer/backfill/plan.ts'
import { isDaemonGone, newBackfillProgress, runBackfill, sendSession } from '../../src/transfer/backfill/run.ts'
import { surveyTranscripts } from '../../src/transfer/backfill/survey.ts'
import { findTranscripts } from '../../src/transfer/transcripts/claude-code.ts'
import { DaemonClient } from '../../src/transport/client.ts'
import { git, repository } from '../support/repository.ts'
import { DAY_MS, TranscriptFixture } from '../transfer/backfill/fixture.ts'
import { Program } from './program.ts'

const settings = loadSettings('', {}).values
const never = new AbortController().signal
let program: Program
let past: TranscriptFixture
/** Each test has its own data directory. */
let dataDir: string
let env: NodeJS.ProcessEnv
beforeAll(async () => {
  program = await Program.make()
}, 60_000)
afterAll(() => program.end(), 60_000)
beforeEach(() => {
  past = new TranscriptFixture()
  dataDir = join(past.root, 'data')
  env = { CLAUDE_MEM_DATA_DIR: dataDir, CLAUDE_CONFIG_DIR: past.configDir, CLAUDE_MEM_PROVIDER: 'offline' }
})
afterEach(async () => {
  await program.run(['stop'], { env })
  past.remove()
})

const turn = { prompt: 'mend the login', tools: 3 }
const ago = (days: number) => Date.now() - days * DAY_MS
const run = (...args: string[]) => program.run(args, { env })
async function json(...args: string[]) {
  const { stdout, stderr } = await run(...args, '--json')
  if (stdout === '') throw new Error(`claude-mem ${args.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}
async function startDaemon(fault?: string): Promise<DaemonClient> {
  await program.run(['start'], { env: { ...env, ...(fault === undefined ? {} : { CLAUDE_MEM_FAULT: fault }) } })
  return await DaemonClient.connect(dataPaths(dataDir))
}
async function planSessions(client: DaemonClient): Promise<BackfillPlan> {
  const surveyed = await surveyTranscripts(findTranscripts(past.configDir), { settings, since: null, named: false })
  const reported = async (sessions: Parameters<Parameters<typeof planBackfill>[1]['reported']>[0]) =>
    (await client.call('reported', { sessions })).sessions
  return await planBackfill(surveyed, { now: Date.now(), dataDir, project: null, forgotten: false, reported })
}
/** What is stored of a session, without values that differ between runs. */
async function memoryOf(sessions: readonly string[]) {
  const reader = await openStoreReader(dataPaths(dataDir).database)
  try {
    return await Promise.all(
      sessions.map(async (session) => ({
        status: (await reader.session(session))?.status,
        events: (await reader.events(session, 10_000)).map(({ eventId, kind, at }) => `${kind} ${eventId} ${at}`),
        observations: (await reader.observations({ session })).map(({ title, createdAt }) => `${title} ${createdAt}`),
        summaries: (await reader.summaries({ session })).map(({ request, createdAt }) => `${request} ${createdAt}`),
      })),
    )
  } finally {
    await reader.close()
  }
}

describe('backfill', () => {
  it('dry run prints what would be read and changes nothing', async () => {
    past.session('one', ago(1), [turn, turn])
    past.session('two', ago(2), [turn], 'blog')
    past.session('long-ago', ago(60), [turn])
    const { code, stdout } = await run('backfill', '--dry-run')
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^project +sessions +tool uses +from +to\nshop +1 +6 .*\nblog +1 +3 .*\n2 sessions, 9 tool uses\n$/,
    )
    expect(existsSync(dataDir)).toBe(false)
  })

  it('imports past sessions with their original dates, once', async () => {
    past.session('one', ago(1), [turn, { ...turn, prompt: 'and the logout' }])
    past.session('two', ago(20), [{ ...turn, interrupted: true }], 'blog')
    const first = await json('backfill')
    expect(first).toMatchObject({ sessions: 2, toolUses: 9, summaries: 3, failed: [], left: 0, error: null })
    const [one, two] = await memoryOf(['one', 'two'])
    expect([one?.status, two?.status]).toEqual(['completed', 'completed'])
    const day = (text: string | undefined) => Math.round((Date.now() - Number(text?.split(' ').at(-1))) / DAY_MS)
    expect(one?.observations.map(day)).toEqual(one?.observations.map(() => 1))
    expect(one?.summaries.map(day)).toEqual([1, 1])
    expect(two?.observations.map(day)).toEqual(two?.observations.map(() => 20))
    expect(first.observations).toBe((one?.observations.length ?? 0) + (two?.observations.length ?? 0))
    expect(await json('backfill')).toMatchObject({ sessions: 0, events: 0, skipped: { read: 2 }, error: null })
    expect(await memoryOf(['one', 'two'])).toEqual([one, two])
    expect((await run('backfill')).stdout).toContain('Nothing new to read')
  })

  it('continues a session that has grown and skips sessions reported by hooks', async () => {
    past.session('goes-on', ago(2), [turn])
    await json('backfill')
    past.goesOn('goes-on', ago(1), [turn])
    past.session('hooked', ago(1), [turn])
    const client = await startDaemon()
    const project = { key: 'dir:/w', name: 'w' }
    const base = { session: 'hooked', at: ago(1), client: 'claude-code', project, cwd: '/w', transcriptPath: null }
    const prompt = { ...base, id: 'UserPromptSubmit:1', promptId: 'p', agent: null, kind: 'prompt' as const }
    await client.call('event', { event: { ...prompt, text: 'x', private: false }, version: '0' })
    client.close()
    expect(await json('backfill')).toMatchObject({ sessions: 1, skipped: { hooks: 1 } })
    const [grown] = await memoryOf(['goes-on'])
    expect(grown?.status).toBe('completed')
    expect(grown?.events.filter((event) => event.startsWith('tool_use'))).toHaveLength(6)
    expect(grown?.summaries).toHaveLength(2)
  })

  it('asks for confirmation before a model is called, and without a terminal prints how to confirm', async () => {
    past.session('one', ago(1), [{ ...turn, tools: 100 }])
    // Nothing listens there.
    const model = { CLAUDE_MEM_PROVIDER: 'anthropic', CLAUDE_MEM_ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' }
    env = { ...env, ...model, CLAUDE_MEM_ANTHROPIC_API_KEY: 'sk-test' }
    await startDaemon().then((client) => client.close())
    const { code, stdout, stderr } = await run('backfill')
    expect(code).toBe(1)
    expect(stdout).toContain('anthropic (claude-haiku-4-5) would observe them: about 76k tokens, about $0.097')
    expect(stderr).toContain('Nothing was read: a model would be called; pass --yes to confirm')
    expect(await json('backfill', '--dry-run')).toMatchObject({ estimate: { sessions: 1, toolUses: 100 } })
    expect((await json('status')).sessions).toBe(0)
  })

  it('reports unreadable files and reads the others', async () => {
    const good = past.session('good', ago(400), [turn])
    const noise = past.write('noise', 'not a transcript\n')
    const { code, stdout } = await run('backfill', good, noise, past.root, join(past.root, 'missing.jsonl'))
    expect(code).toBe(1)
    expect(stdout).toContain('1 session read: 3 tool uses')
    expect(stdout).toContain(`! ${noise}: it is not a transcript: no line is JSON`)
    expect(stdout).toContain(`! ${past.root}: it is a directory; name the .jsonl files in it`)
    expect(stdout).toContain('missing.jsonl: it does not exist')
    expect((await run('backfill', '--since', 'soon')).stderr).toContain('--since "soon" is not a date')
  })

  it('files sessions of worktrees that are gone under their repository, which a directory joins by the user’s word', async () => {
    const clone = (name: string) => {
      const directory = repository(past.work(name))
      git(directory, 'remote', 'add', 'origin', 'https://github.com/acme/shop.git')
      return directory
    }
    for (const name of ['shop', 'archive']) clone(name)
    const remote = { repository_url: 'git@github.com:acme/shop.git' }
    const rollout = (session: string, meta: object) => {
      const line = (type: string, payload: object) =>
        JSON.stringify({ timestamp: new Date(ago(1)).toISOString(), type, payload })
      const cwd = `/no/such/.codex/worktrees/${session}/shop`
      const lines = [
        line('session_meta', { id: session, session_id: session, cwd, git: remote, ...meta }),
        line('event_msg', { type: 'user_message', message: 'mend the login' }),
      ]
      return past.write(session, `${lines.join('\n')}\n`)
    }
    const thread = rollout('review', { thread_source: 'subagent', parent_thread_id: 'one' })
    await json('backfill', rollout('one', {}), rollout('two', {}))
    const files = [past.session('live', ago(1), [turn]), past.session('other', ago(1), [turn], 'archive'), thread]
    const { stdout } = await run('backfill', ...files)
    expect(stdout).toMatch(/^✓ 2 sessions read: 6 tool uses.*\n\nproject +sessions .*\n(?:shop|archive) +1 /)
    expect(stdout).toContain(`  skipped: subagent's thread of one: ${thread}`)
    const sessionsByKey = async () => {
      const { projects } = await json('projects')
      return projects.map(({ key, sessions }: { key: string; sessions: number }) => [key, sessions]).sort()
    }
    const [archive, shop] = ['archive', 'shop'].map((name) => `git:${join(past.work(name), '.git')}`)
    expect(await sessionsByKey()).toEqual([
      [archive, 1],
      [shop, 1],
      ['repo:github.com/acme/shop', 2],
    ])
    await run('projects', 'link', past.work('shop'))
    expect(await sessionsByKey()).toEqual([
      [archive, 1],
      ['repo:github.com/acme/shop', 3],
    ])
  })

  it('reads a transcript that is larger than the heap', async () => {
    // 34 MB of text do not fit into this heap.
    past.session('huge', ago(1), new Array(7).fill({ prompt: 'look', tools: 20, output: 120_000 }))
    const small = { ...env, NODE_OPTIONS: '--max-old-space-size=32' }
    await startDaemon().then((client) => client.close())
    const { code, stdout, stderr } = await program.run(['backfill', '--json'], { env: small })
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toMatchObject({ sessions: 1, toolUses: 140 })
  }, 60_000)
})

describe('backfill.interrupted', () => {
  const sessions = ['a', 'b', 'c', 'd', 'e', 'f']
  const write = () => {
    for (const [n, session] of sessions.entries()) {
      const long = { ...turn, tools: 40 }
      past.session(session, Date.UTC(2026, 9, 1 + n), session === 'f' ? [long, turn] : [turn, turn])
    }
  }
  const finish = async (client: DaemonClient) => {
    const { sessions: left } = await planSessions(client)
    const progress = newBackfillProgress(left)
    await runBackfill(progress, { client, settings, stop: never, onProgress: () => undefined })
    expect(progress).toMatchObject({ failed: [], left: [] })
    return left
  }
  /** What an uninterrupted one makes of the same transcripts. */
  let reference: Awaited<ReturnType<typeof memoryOf>> | null = null
  const whole = async () => {
    if (reference !== null) return reference
    const kept = dataDir
    env = { ...env, CLAUDE_MEM_DATA_DIR: `${kept}-whole` }
    dataDir = `${kept}-whole`
    const client = await startDaemon()
    await finish(client)
    client.close()
    await run('stop')
    reference = await memoryOf(sessions)
    dataDir = kept
    env = { ...env, CLAUDE_MEM_DATA_DIR: kept }
    return reference
  }

  it('finishes the current sessions and leaves the others for the next run', async () => {
    write()
    const client = await startDaemon()
    const progress = newBackfillProgress((await planSessions(client)).sessions)
    const stop = new AbortController()
    await runBackfill(progress, { client, settings, stop: stop.signal, onProgress: () => stop.abort() })
    expect([progress.done.length, progress.failed]).toEqual([4, []])
    expect(progress.left.map(({ session }) => session)).toEqual(['b', 'a'])
    expect((await finish(client)).map(({ begun }) => begun)).toEqual([false, false])
    client.close()
    expect(await memoryOf(sessions)).toEqual(await whole())
  })

  it('in the middle of a session loses and duplicates nothing', async () => {
    write()
    const client = await startDaemon()
    const [newest] = (await planSessions(client)).sessions
    const cut = new AbortController()
    const { file, session } = newest ?? { file: '', session: '' }
    const acked = ({ kind }: { kind: string }) => (kind === 'tool_use' ? cut.abort() : undefined)
    await expect(sendSession({ client, file, session, settings, acked, signal: cut.signal })).rejects.toThrow()
    expect((await finish(client)).filter(({ begun }) => begun)).toMatchObject([{ session: 'f' }])
    client.close()
    expect(await memoryOf(sessions)).toEqual(await whole())
  })

  it.each(['ack:30', 'effect.result:3'])('continues with the next daemon after a crash (%s)', async (fault) => {
    write()
    const client = await startDaemon(fault)
    const progress = newBackfillProgress((await planSessions(client)).sessions)
    const lost = runBackfill(progress, { client, settings, stop: never, onProgress: () => undefined })
    await expect(lost).rejects.toSatisfy(isDaemonGone)
    expect(progress.left.length + progress.done.length).toBe(sessions.length)
    expect(await json('backfill', '--since', '2026-01-01')).toMatchObject({ failed: [], left: 0, error: null })
    expect(await memoryOf(sessions)).toEqual(await whole())
  })
})
