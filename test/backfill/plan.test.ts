import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { estimateOf } from '../../src/backfill/estimate.ts'
import { findTranscripts, namedTranscripts } from '../../src/backfill/find.ts'
import { type PlanOptions, planOf } from '../../src/backfill/plan.ts'
import { scanTranscript } from '../../src/backfill/scan.ts'
import { survey } from '../../src/backfill/survey.ts'
import { readTranscript } from '../../src/hook/transcript/index.ts'
import type { ReportedSession } from '../../src/memory/reported.ts'
import { loadSettings, type Settings } from '../../src/settings.ts'
import { DAY_MS, HOUR_MS, Past } from './past.ts'

const NOW = Date.UTC(2026, 10, 16, 12)
const defaults = loadSettings('', {}).values
let past: Past
beforeEach(() => {
  past = new Past()
})
afterEach(() => past.remove())

const turn = { prompt: 'mend the login', tools: 3 }

async function plan(
  options: Partial<PlanOptions> & { since?: number | null; settings?: Settings; known?: ReportedSession[] } = {},
) {
  const { since = null, settings = defaults, known = [], ...rest } = options
  const surveyed = await survey(findTranscripts(past.configDir), { settings, since, named: false })
  return await planOf(surveyed, {
    now: NOW,
    dataDir: join(past.root, 'data'),
    project: null,
    reported: async (asked) => known.filter(({ session }) => asked.some((one) => one.session === session)),
    ...rest,
  })
}
const ids = (sessions: readonly { session: string }[]) => sessions.map(({ session }) => session)
const reasons = (skipped: readonly { session: string; reason: string }[]) =>
  Object.fromEntries(skipped.map(({ session, reason }) => [session, reason]))

describe('a plan', () => {
  it('takes the newest session first, and says how much is in each', async () => {
    past.session('older', NOW - 3 * DAY_MS, [turn, turn])
    past.session('newest', NOW - DAY_MS, [turn], 'blog')
    past.session('middle', NOW - 2 * DAY_MS, [{ prompt: 'look', tools: 0 }])
    const { sessions, problems } = await plan()
    expect(ids(sessions)).toEqual(['newest', 'middle', 'older'])
    expect(sessions[2]).toMatchObject({ prompts: 2, toolUses: 6, begun: false, project: { name: 'shop' } })
    expect(sessions[2]?.from).toBe(NOW - 3 * DAY_MS + 1_000)
    expect(problems).toEqual([])
  })

  it('takes no session that ended before the asked day, nor another project', async () => {
    past.session('old', NOW - 40 * DAY_MS, [turn])
    past.session('shop', NOW - 2 * DAY_MS, [turn])
    past.session('blog', NOW - DAY_MS, [turn], 'blog')
    expect(ids((await plan({ since: NOW - 30 * DAY_MS })).sessions)).toEqual(['blog', 'shop'])
    expect(ids((await plan({ project: 'shop' })).sessions)).toEqual(['shop', 'old'])
    const [shop] = (await plan({ project: 'shop' })).sessions
    expect(ids((await plan({ project: shop?.project.key ?? '' })).sessions)).toEqual(['shop', 'old'])
  })

  it('leaves out what is known, open, excluded, empty, or its own', async () => {
    for (const session of ['hooked', 'read', 'begun', 'fresh']) past.session(session, NOW - DAY_MS, [turn])
    past.session('open', NOW - 60_000, [turn])
    past.session('secret', NOW - DAY_MS, [turn], 'secret')
    past.write('title-only', '{"type":"summary","summary":"x","leafUuid":"y"}\n')
    past.write('own', past.lines('own', NOW - DAY_MS, [turn]).replaceAll(past.work('shop'), join(past.root, 'data')))
    past.write('idle', `${past.lines('idle', NOW - DAY_MS, [{ prompt: 'x', tools: 0 }]).split('\n')[1]}\n`)
    const known = { hooks: false, transcript: true, finished: false }
    const { sessions, skipped } = await plan({
      settings: { ...defaults, CLAUDE_MEM_EXCLUDED_PROJECTS: [past.work('secret')] },
      known: [
        { ...known, session: 'hooked', hooks: true, transcript: false },
        { ...known, session: 'read', finished: true },
        { ...known, session: 'begun' },
      ],
    })
    expect(sessions.map(({ session, begun }) => [session, begun])).toEqual([
      ['begun', true],
      ['fresh', false],
    ])
    expect(reasons(skipped)).toEqual({
      hooked: 'hooks',
      read: 'read',
      open: 'open',
      secret: 'excluded',
      own: 'own',
      idle: 'empty',
    })
  })

  it('takes a session that was resumed under another id once, with all that came after', async () => {
    const copied = past.lines('resumed', NOW - 2 * DAY_MS, [turn], { ids: 'first' })
    past.session('first', NOW - 2 * DAY_MS, [turn])
    past.write('resumed', copied + past.lines('resumed', NOW - DAY_MS, [turn]))
    const { sessions, skipped } = await plan()
    expect(ids(sessions)).toEqual(['resumed'])
    expect(reasons(skipped)).toEqual({ first: 'copied' })
    // Hooks saw only what came after.
    const hooked = { session: 'resumed', hooks: true, transcript: false, finished: false }
    expect(ids((await plan({ known: [hooked] })).sessions)).toEqual(['first'])
  })

  it('takes a session that lies in two files from the one that has more of it', async () => {
    past.session('twin', NOW - DAY_MS, [turn, turn])
    const forked = past.lines('twin', NOW - DAY_MS, [turn]) + past.lines('fork', NOW - HOUR_MS, [turn])
    past.write('fork', forked)
    const { sessions } = await plan()
    expect(sessions.map(({ session, file }) => [session, file])).toEqual([
      ['fork', past.file('fork')],
      ['twin', past.file('twin')],
    ])
  })

  it('counts what subagents did in files of their own, and does not take those for sessions', async () => {
    const file = past.session('s', NOW - DAY_MS, [turn])
    const task = {
      type: 'tool_use',
      id: 'toolu_task',
      name: 'Task',
      input: { prompt: 'look', subagent_type: 'Explore' },
    }
    const head = { sessionId: 's', cwd: past.work('shop'), timestamp: new Date(NOW - DAY_MS).toISOString() }
    const lines = [
      { ...head, type: 'assistant', uuid: 'a1', message: { content: [task] } },
      {
        ...head,
        type: 'user',
        uuid: 'a2',
        message: { content: [{ type: 'tool_result', tool_use_id: 'toolu_task', content: 'found' }] },
        toolUseResult: { agentId: 'abc123', content: [] },
      },
    ]
    past.write('s', past.lines('s', NOW - DAY_MS, [turn]) + lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    past.write('agent-abc123', past.lines('s', NOW - DAY_MS, [{ prompt: 'look', tools: 4 }], { from: 'agent-' }))
    const { sessions } = await plan()
    expect(sessions).toMatchObject([{ session: 's', prompts: 1, toolUses: 3 + 4 + 1 }])
    const events = []
    for await (const event of readTranscript(file, { settings: defaults })) events.push(event)
    expect(events.filter(({ kind }) => kind === 'tool_use')).toHaveLength(8)
    expect(events.at(-1)?.id).toBe(sessions[0]?.end)
  })
})

describe('transcripts that are no good', () => {
  it('are named with what is wrong, and the rest is read', async () => {
    past.session('good', NOW - DAY_MS, [turn])
    const cut = past.lines('cut', NOW - DAY_MS, [turn])
    past.write('cut', cut.slice(0, -30))
    past.write('noise', '\x00\x01 not a transcript\n%%%\n')
    past.write('empty', '')
    past.write('future', '{"type":"event.v9","data":{}}\n{"type":"event.v9"}\n')
    mkdirSync(past.file('directory'))
    symlinkSync(join(past.root, 'nowhere'), past.file('dangling'))
    writeFileSync(join(past.configDir, 'projects', 'a-file'), 'x')
    const { sessions, problems, badLines } = await plan()
    expect(ids(sessions)).toEqual(['good', 'cut'])
    expect(badLines).toBe(3)
    expect(problems).toEqual([
      { file: past.file('dangling'), reason: 'there is no such file' },
      { file: past.file('directory'), reason: 'it is a directory; name the .jsonl files in it' },
      { file: past.file('noise'), reason: 'it is not a transcript: no line of it is JSON' },
    ])
  })

  it('are worth a word even where they are only empty, once somebody named them', async () => {
    const files = [past.write('future', '{"type":"event.v9"}\n'), join(past.root, 'missing.jsonl')]
    const { problems } = await survey(namedTranscripts(files), { settings: defaults, since: null, named: true })
    expect(problems.map(({ reason }) => reason)).toEqual([
      'there is no such file',
      'no session is in it that this version understands',
    ])
  })

  it('may be unreadable', async ({ skip }) => {
    if (process.platform === 'win32' || process.getuid?.() === 0) skip()
    chmodSync(past.session('closed', NOW - DAY_MS, [turn]), 0)
    expect((await plan()).problems).toMatchObject([{ reason: 'it may not be read; see its permissions' }])
  })

  it('may hold sessions without end, and none that no memory would take', async () => {
    const line = (session: string) =>
      JSON.stringify({
        type: 'user',
        sessionId: session,
        timestamp: new Date(NOW).toISOString(),
        message: { content: 'x' },
      })
    const many = Array.from({ length: 1_500 }, (_, n) => line(`s${n}`))
    const file = past.write('many', [line('x'.repeat(300)), ...many].join('\n'))
    const { sessions } = await scanTranscript(file, 'many', defaults)
    expect(sessions).toHaveLength(1_000)
    expect(sessions[0]?.session).toBe('s0')
  })

  it('are not there at all', async () => {
    expect(await plan()).toEqual({ sessions: [], skipped: [], problems: [], badLines: 0 })
  })
})

it('estimates tokens and money from the tool uses', () => {
  expect(estimateOf([{ toolUses: 100 }, { toolUses: 200 }], { input: 1, output: 5 })).toEqual({
    sessions: 2,
    toolUses: 300,
    tokens: 229_200,
    cost: 0.2904,
  })
  expect(estimateOf([{ toolUses: 1 }], null).cost).toBeNull()
})
