import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TranscriptImportState } from '../../../src/domain/event.ts'
import { loadSettings, type Settings } from '../../../src/settings/settings.ts'
import { type BackfillPlanOptions, estimateCost, planBackfill } from '../../../src/transfer/backfill/plan.ts'
import { surveyTranscripts } from '../../../src/transfer/backfill/survey.ts'
import { findTranscripts } from '../../../src/transfer/transcripts/claude-code.ts'
import { readTranscriptEvents } from '../../../src/transfer/transcripts/index.ts'
import { namedTranscripts } from '../../../src/transfer/transcripts/readers.ts'
import { DAY_MS, HOUR_MS, TranscriptFixture } from './fixture.ts'

const NOW = Date.UTC(2026, 10, 16, 12)
const defaults = loadSettings('', {}).values
let past: TranscriptFixture
beforeEach(() => {
  past = new TranscriptFixture()
})
afterEach(() => past.remove())

const turn = { prompt: 'mend the login', tools: 3 }

async function plan(
  options: Partial<BackfillPlanOptions> & {
    since?: number | null
    settings?: Settings
    known?: TranscriptImportState[]
  } = {},
) {
  const { since = null, settings = defaults, known = [], ...rest } = options
  const surveyed = await surveyTranscripts(findTranscripts(past.configDir), { settings, since, named: false })
  return await planBackfill(surveyed, {
    now: NOW,
    dataDir: join(past.root, 'data'),
    project: null,
    forgotten: false,
    reported: async (asked) => known.filter(({ session }) => asked.some((one) => one.session === session)),
    ...rest,
  })
}
const ids = (sessions: readonly { session: string }[]) => sessions.map(({ session }) => session)
const reasons = (skipped: readonly { session: string; reason: string }[]) =>
  Object.fromEntries(skipped.map(({ session, reason }) => [session, reason]))

describe('a plan', () => {
  it('lists the newest session first, with its size', async () => {
    past.session('older', NOW - 3 * DAY_MS, [turn, turn])
    past.session('newest', NOW - DAY_MS, [turn], 'blog')
    past.session('middle', NOW - 2 * DAY_MS, [{ prompt: 'look', tools: 0 }])
    const { sessions, problems } = await plan()
    expect(ids(sessions)).toEqual(['newest', 'middle', 'older'])
    expect(sessions[2]).toMatchObject({ prompts: 2, toolUses: 6, begun: false, project: { name: 'shop' } })
    expect(sessions[2]?.from).toBe(NOW - 3 * DAY_MS + 1_000)
    expect(problems).toEqual([])
  })

  it('skips sessions before the given day and of other projects', async () => {
    past.session('old', NOW - 40 * DAY_MS, [turn])
    past.session('shop', NOW - 2 * DAY_MS, [turn])
    past.session('blog', NOW - DAY_MS, [turn], 'blog')
    expect(ids((await plan({ since: NOW - 30 * DAY_MS })).sessions)).toEqual(['blog', 'shop'])
    expect(ids((await plan({ project: 'shop' })).sessions)).toEqual(['shop', 'old'])
    const [shop] = (await plan({ project: 'shop' })).sessions
    expect(ids((await plan({ project: shop?.project.key ?? '' })).sessions)).toEqual(['shop', 'old'])
    const projects = [{ key: 'repo:host/acme/web', name: 'web', merged: [shop?.project.key ?? ''] }]
    for (const project of ['repo:host/acme/web', 'web', 'shop', shop?.project.key ?? '']) {
      const { sessions } = await plan({ project, projects })
      expect(sessions.map(({ session, project: { key } }) => [session, key])).toEqual([
        ['shop', 'repo:host/acme/web'],
        ['old', 'repo:host/acme/web'],
      ])
    }
  })

  it('skips known, open, excluded, empty and own sessions', async () => {
    for (const session of ['hooked', 'read', 'begun', 'fresh']) past.session(session, NOW - DAY_MS, [turn])
    past.session('open', NOW - 60_000, [turn])
    past.session('secret', NOW - DAY_MS, [turn], 'secret')
    past.write('title-only', '{"type":"summary","summary":"x","leafUuid":"y"}\n')
    past.write('own', past.lines('own', NOW - DAY_MS, [turn]).replaceAll(past.work('shop'), join(past.root, 'data')))
    past.write('idle', `${past.lines('idle', NOW - DAY_MS, [{ prompt: 'x', tools: 0 }]).split('\n')[1]}\n`)
    const known = { hooks: false, transcript: true, finished: false, forgotten: false }
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

  it('reads a session that was resumed under another id once, as a whole', async () => {
    const copied = past.lines('resumed', NOW - 2 * DAY_MS, [turn], { ids: 'first' })
    past.session('first', NOW - 2 * DAY_MS, [turn])
    past.write('resumed', copied + past.lines('resumed', NOW - DAY_MS, [turn]))
    const { sessions, skipped } = await plan()
    expect(ids(sessions)).toEqual(['resumed'])
    expect(reasons(skipped)).toEqual({ first: 'copied' })
    // Hooks saw only what came after.
    const hooked = { session: 'resumed', hooks: true, transcript: false, finished: false, forgotten: false }
    expect(ids((await plan({ known: [hooked] })).sessions)).toEqual(['first'])
  })

  it('sessions whose first tool uses have the same counted id are no copies of each other', async () => {
    for (const session of ['one', 'two']) {
      const lines = past.lines(session, NOW - DAY_MS, [turn])
      past.write(session, lines.replace(/toolu_[\w-]+/g, 'functions.bash:0'))
    }
    const { sessions, skipped } = await plan()
    expect(ids(sessions).sort()).toEqual(['one', 'two'])
    expect(skipped).toEqual([])
  })

  it('does not read an erased session again, nor one that begins with a copy of it, unless asked to', async () => {
    const copied = past.lines('resumed', NOW - 2 * DAY_MS, [turn], { ids: 'erased' })
    past.session('erased', NOW - 2 * DAY_MS, [turn])
    past.write('resumed', copied + past.lines('resumed', NOW - DAY_MS, [turn]))
    past.session('other', NOW - DAY_MS, [turn])
    const known = [{ session: 'erased', hooks: false, transcript: false, finished: false, forgotten: true }]
    const { sessions, skipped } = await plan({ known })
    expect(ids(sessions)).toEqual(['other'])
    expect(reasons(skipped)).toEqual({ erased: 'forgotten', resumed: 'forgotten' })
    const again = await plan({ known, forgotten: true })
    expect(again.sessions.map(({ session, forgotten }) => [session, forgotten])).toEqual([
      ['other', false],
      ['resumed', true],
    ])
  })

  it('files a session from a Windows computer under its own directory, wherever it is read', async () => {
    const lines = past.lines('windows', NOW - DAY_MS, [turn])
    past.write('windows', lines.replaceAll(JSON.stringify(past.work('shop')), JSON.stringify('C:\\work\\shop')))
    const { sessions } = await plan()
    expect(sessions[0]?.project).toEqual({ key: 'dir:C:\\work\\shop', name: 'shop' })
  })

  it('reads a session in two files from the one that has more of it', async () => {
    past.session('twin', NOW - DAY_MS, [turn, turn])
    const forked = past.lines('twin', NOW - DAY_MS, [turn]) + past.lines('fork', NOW - HOUR_MS, [turn])
    past.write('fork', forked)
    const { sessions } = await plan()
    expect(sessions.map(({ session, file }) => [session, file])).toEqual([
      ['fork', past.file('fork')],
      ['twin', past.file('twin')],
    ])
  })

  it('counts tool uses in separate files of subagents, which are no sessions', async () => {
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
    for await (const event of readTranscriptEvents(file, { settings: defaults })) events.push(event)
    expect(events.filter(({ kind }) => kind === 'tool_use')).toHaveLength(8)
    expect(events.at(-1)?.id).toBe(sessions[0]?.end)
  })
})

describe('bad transcripts', () => {
  it('are listed with the reason, and the others are read', async () => {
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
      { file: past.file('dangling'), reason: 'it does not exist' },
      { file: past.file('directory'), reason: 'it is a directory; name the .jsonl files in it' },
      { file: past.file('noise'), reason: 'it is not a transcript: no line is JSON' },
    ])
  })

  it('are reported even if empty when the user named them', async () => {
    const files = [past.write('future', '{"type":"event.v9"}\n'), join(past.root, 'missing.jsonl')]
    const { problems } = await surveyTranscripts(namedTranscripts(files), {
      settings: defaults,
      since: null,
      named: true,
    })
    expect(problems.map(({ reason }) => reason)).toEqual([
      'it does not exist',
      'it contains no session that this version can read',
    ])
  })

  it('may be unreadable', async ({ skip }) => {
    if (process.platform === 'win32' || process.getuid?.() === 0) skip()
    chmodSync(past.session('closed', NOW - DAY_MS, [turn]), 0)
    expect((await plan()).problems).toMatchObject([{ reason: 'it cannot be read: check its permissions' }])
  })

  it('with very many sessions or too long ids are bounded', async () => {
    const line = (session: string) =>
      JSON.stringify({
        type: 'user',
        sessionId: session,
        timestamp: new Date(NOW).toISOString(),
        message: { content: 'x' },
      })
    const many = Array.from({ length: 1_500 }, (_, n) => line(`s${n}`))
    const file = past.write('many', [line('x'.repeat(300)), ...many].join('\n'))
    const { sessions } = await surveyTranscripts(namedTranscripts([file]), {
      settings: defaults,
      since: null,
      named: true,
    })
    expect(sessions).toHaveLength(1_000)
    expect(sessions[0]?.session).toBe('s0')
  })

  it('may be missing', async () => {
    expect(await plan()).toEqual({ sessions: [], skipped: [], threads: [], problems: [], badLines: 0 })
  })
})

it('estimates tokens and cost from the tool uses', () => {
  expect(estimateCost([{ toolUses: 100 }, { toolUses: 200 }], { input: 1, output: 5 })).toEqual({
    sessions: 2,
    toolUses: 300,
    tokens: 229_200,
    cost: 0.2904,
  })
  expect(estimateCost([{ toolUses: 1 }], null).cost).toBeNull()
})
