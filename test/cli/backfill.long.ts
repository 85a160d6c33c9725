import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findTranscripts } from '../../src/backfill/find.ts'
import { type Plan, planOf } from '../../src/backfill/plan.ts'
import { isGone, newProgress, runBackfill } from '../../src/backfill/run.ts'
import { sendSession } from '../../src/backfill/send.ts'
import { survey } from '../../src/backfill/survey.ts'
import { ChannelClient } from '../../src/channel/client.ts'
import { pathsOf } from '../../src/paths.ts'
import { loadSettings } from '../../src/settings.ts'
import { SqliteReader } from '../../src/store/sqlite/reader.ts'
import { DAY_MS, Past } from '../backfill/past.ts'
import { Program } from './program.ts'

const settings = loadSettings('', {}).values
const never = new AbortController().signal
let program: Program
let past: Past
/** Each test has a memory of its own. */
let dataDir: string
let env: NodeJS.ProcessEnv
beforeAll(async () => {
  program = await Program.make()
}, 60_000)
afterAll(() => program.end(), 60_000)
beforeEach(() => {
  past = new Past()
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
async function started(fault?: string): Promise<ChannelClient> {
  await program.run(['start'], { env: { ...env, ...(fault === undefined ? {} : { CLAUDE_MEM_FAULT: fault }) } })
  return await ChannelClient.connect(pathsOf(dataDir))
}
async function planned(client: ChannelClient): Promise<Plan> {
  const surveyed = await survey(findTranscripts(past.configDir), { settings, since: null, named: false })
  const reported = async (sessions: Parameters<Parameters<typeof planOf>[1]['reported']>[0]) =>
    (await client.request('reported', { type: 'reported', sessions })).sessions
  return await planOf(surveyed, { now: Date.now(), dataDir, project: null, reported })
}
/** Everything that a session left behind, without what differs from run to run. */
async function memoryOf(sessions: readonly string[]) {
  const reader = await SqliteReader.open(pathsOf(dataDir).database)
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
  it('shows first what it would read, and touches nothing', async () => {
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

  it('brings in the past with its own dates, once', async () => {
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
    expect((await run('backfill')).stdout).toContain('Nothing new to read in')
  })

  it('goes on with a session that went on, and leaves those alone that hooks reported', async () => {
    past.session('goes-on', ago(2), [turn])
    await json('backfill')
    past.goesOn('goes-on', ago(1), [turn])
    past.session('hooked', ago(1), [turn])
    const client = await started()
    const project = { key: 'dir:/w', name: 'w' }
    const base = { session: 'hooked', at: ago(1), client: 'claude-code', project, cwd: '/w', transcriptPath: null }
    const prompt = { ...base, id: 'UserPromptSubmit:1', promptId: 'p', agent: null, kind: 'prompt' as const }
    await client.request('ack', { type: 'event', event: { ...prompt, text: 'x', private: false }, version: '0' })
    client.close()
    expect(await json('backfill')).toMatchObject({ sessions: 1, skipped: { hooks: 1 } })
    const [grown] = await memoryOf(['goes-on'])
    expect(grown?.status).toBe('completed')
    expect(grown?.events.filter((event) => event.startsWith('tool_use'))).toHaveLength(6)
    expect(grown?.summaries).toHaveLength(2)
  })

  it('asks before a model is asked: without a terminal it says what to do', async () => {
    past.session('one', ago(1), [{ ...turn, tools: 100 }])
    // Nothing listens there.
    const model = { CLAUDE_MEM_PROVIDER: 'anthropic', CLAUDE_MEM_ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' }
    env = { ...env, ...model, CLAUDE_MEM_ANTHROPIC_API_KEY: 'sk-test' }
    const { code, stdout, stderr } = await run('backfill')
    expect(code).toBe(1)
    expect(stdout).toContain('anthropic (claude-haiku-4-5) would observe them: about 76k tokens, about $0.097')
    expect(stderr).toContain('Nothing was read in: a model would be asked; say --yes if you mean it')
    expect(await json('backfill', '--dry-run')).toMatchObject({ estimate: { sessions: 1, toolUses: 100 } })
    expect((await json('status')).sessions).toBe(0)
  })

  it('names files that are no good, and reads the rest', async () => {
    const good = past.session('good', ago(400), [turn])
    const noise = past.write('noise', 'not a transcript\n')
    const { code, stdout } = await run('backfill', good, noise, past.root, join(past.root, 'missing.jsonl'))
    expect(code).toBe(1)
    expect(stdout).toContain('1 session read in: 3 tool uses')
    expect(stdout).toContain(`! ${noise}: it is not a transcript: no line of it is JSON`)
    expect(stdout).toContain(`! ${past.root}: it is a directory; name the .jsonl files in it`)
    expect(stdout).toContain('missing.jsonl: there is no such file')
    expect((await run('backfill', '--since', 'soon')).stderr).toContain('--since "soon" is no date')
  })

  it('reads a transcript that is larger than its memory', async () => {
    // 34 MB of text: a heap of this size does not hold it.
    past.session('huge', ago(1), new Array(7).fill({ prompt: 'look', tools: 20, output: 120_000 }))
    const small = { ...env, NODE_OPTIONS: '--max-old-space-size=32' }
    await started().then((client) => client.close())
    const { code, stdout, stderr } = await program.run(['backfill', '--json'], { env: small })
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toMatchObject({ sessions: 1, toolUses: 140 })
  }, 60_000)
})

describe('a backfill that is cut off', () => {
  const sessions = ['a', 'b', 'c', 'd', 'e', 'f']
  const write = () => {
    for (const [n, session] of sessions.entries()) {
      const long = { ...turn, tools: 40 }
      past.session(session, Date.UTC(2026, 9, 1 + n), session === 'f' ? [long, turn] : [turn, turn])
    }
  }
  const finish = async (client: ChannelClient) => {
    const { sessions: left } = await planned(client)
    const progress = newProgress(left)
    await runBackfill(progress, { client, settings, stop: never, moved: () => undefined })
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
    const client = await started()
    await finish(client)
    client.close()
    await run('stop')
    reference = await memoryOf(sessions)
    dataDir = kept
    env = { ...env, CLAUDE_MEM_DATA_DIR: kept }
    return reference
  }

  it('after the sessions under way leaves the others for the next run', async () => {
    write()
    const client = await started()
    const progress = newProgress((await planned(client)).sessions)
    const stop = new AbortController()
    await runBackfill(progress, { client, settings, stop: stop.signal, moved: () => stop.abort() })
    expect(progress).toMatchObject({ done: 4, failed: [] })
    expect(progress.left.map(({ session }) => session)).toEqual(['b', 'a'])
    expect((await finish(client)).map(({ begun }) => begun)).toEqual([false, false])
    client.close()
    expect(await memoryOf(sessions)).toEqual(await whole())
  })

  it('in the middle of a session loses and doubles nothing', async () => {
    write()
    const client = await started()
    const [newest] = (await planned(client)).sessions
    const cut = new AbortController()
    const { file, session } = newest ?? { file: '', session: '' }
    const acked = ({ kind }: { kind: string }) => (kind === 'tool_use' ? cut.abort() : undefined)
    await expect(sendSession({ client, file, session, settings, acked, signal: cut.signal })).rejects.toThrow()
    expect((await finish(client)).filter(({ begun }) => begun)).toMatchObject([{ session: 'f' }])
    client.close()
    expect(await memoryOf(sessions)).toEqual(await whole())
  })

  it.each(['ack:30', 'effect.result:3'])('by a daemon that dies (%s) goes on with the next one', async (fault) => {
    write()
    const client = await started(fault)
    const progress = newProgress((await planned(client)).sessions)
    const lost = runBackfill(progress, { client, settings, stop: never, moved: () => undefined })
    await expect(lost).rejects.toSatisfy(isGone)
    expect(progress.left.length + progress.done).toBe(sessions.length)
    expect(await json('backfill', '--since', '2026-01-01')).toMatchObject({ failed: [], left: 0, error: null })
    expect(await memoryOf(sessions)).toEqual(await whole())
  })
})
