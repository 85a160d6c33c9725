import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { lastDays, type UsageView, usageView } from '../../src/api/operations/sessions.ts'
import { type UsageBudget, usageLines } from '../../src/cli/commands/stats.ts'
import { formatKnownCost, formatMoney } from '../../src/cli/format.ts'
import { drawBar } from '../../src/cli/progress.ts'
import { createStyle, type Display } from '../../src/cli/style.ts'
import { displayWidth } from '../../src/cli/text.ts'
import { formatCount } from '../../src/lib/format.ts'
import { dataPaths } from '../../src/lib/paths.ts'
import type { UsageTotals } from '../../src/store/port.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { place } from '../store/place.ts'
import { callOf, commitOf, observationOf, settle, stateOf } from '../store/samples.ts'
import { Program } from './program.ts'

const NOW = new Date(2026, 10, 16, 15).getTime()
const display: Display = { style: createStyle(false), columns: null, now: NOW }
const BUDGET: UsageBudget = { usd: 2, tokens: 5_000_000 }

const spending = {
  calls: 4,
  failed: 1,
  usage: { input: 10_000, output: 2_000, cacheRead: 50_000, cacheWrite: 1_000 },
  cost: 0.5,
  unpriced: 0,
  observations: 5,
}
const row = (key: string, over: Partial<UsageTotals> = {}): UsageTotals => ({
  key,
  name: 'shop',
  at: NOW,
  ...spending,
  ...over,
})
const viewOf = (over: Partial<UsageView>): UsageView => ({
  by: 'project',
  since: NOW,
  rows: [row('git:/shop')],
  total: spending,
  today: { cost: 0.5, usage: spending.usage },
  unpriced: [],
  ...over,
})
const rendered = (view: UsageView, over: Partial<Display> = {}, budget = BUDGET, days = 30) =>
  usageLines(view, { days, limit: 20, budget }, { ...display, ...over }).join('\n')

describe('amounts', () => {
  it.each([
    [0, '$0'],
    [0.00001, '<$0.0001'],
    [0.0042, '$0.0042'],
    [0.1234, '$0.123'],
    [12.345, '$12.35'],
  ])('%d dollars are %s', (dollars, text) => expect(formatMoney(dollars)).toBe(text))

  it.each([
    [0, '0'],
    [999, '999'],
    [1_000, '1k'],
    [1_234, '1.2k'],
    [34_567, '35k'],
    [999_499, '999k'],
    [999_999, '1M'],
    [5_600_000, '5.6M'],
  ])('%d tokens are %s', (count, text) => expect(formatCount(count)).toBe(text))

  it('mark an unknown price', () => {
    expect(formatKnownCost({ cost: 1, unpriced: 0 })).toBe('$1.00')
    expect(formatKnownCost({ cost: 1, unpriced: 2 })).toBe('$1.00 + ?')
    expect(formatKnownCost({ cost: 0, unpriced: 2 })).toBe('?')
  })
})

describe('drawBar', () => {
  it('is proportional', () => {
    expect(drawBar(1, 1, 4)).toBe('████')
    expect(drawBar(1, 2, 4)).toBe('██')
    expect(drawBar(9, 16, 4)).toBe('██▎')
  })

  it('shows the smallest part, and is empty for zero', () => {
    expect(drawBar(1, 1_000_000, 10)).toBe('▏')
    expect(drawBar(0, 10, 10)).toBe('')
    expect(drawBar(0, 0, 10)).toBe('')
    expect(drawBar(Number.NaN, 1, 10)).toBe('')
    expect(drawBar(3, 1, 2)).toBe('██')
  })
})

describe('usage.days', () => {
  const zone = process.env.TZ
  afterEach(() => {
    if (zone === undefined) delete process.env.TZ
    else process.env.TZ = zone
  })

  it('have 23 to 25 hours at changes of daylight saving time', () => {
    process.env.TZ = 'Europe/Berlin'
    const hours = (count: number, now: number) => {
      const days = lastDays(count, now)
      return days.slice(1).map((start, i) => (start - (days[i] ?? 0)) / 3_600_000)
    }
    expect(hours(4, Date.UTC(2026, 2, 31, 10))).toEqual([24, 23, 24])
    expect(hours(4, Date.UTC(2026, 9, 27, 10))).toEqual([24, 25, 24])
  })

  it('start at midnight, without gaps', () => {
    const days = lastDays(400, NOW)
    expect(days).toHaveLength(400)
    expect(days.at(-1)).toBe(new Date(2026, 10, 16).getTime())
    expect(new Set(days.map((start) => new Date(start).toDateString())).size).toBe(400)
  })

  it('are listed from the first with a call to today', async () => {
    const here = place()
    const store = await openLocalStore(here.options)
    expect((await usageView(store, 'day', 30, NOW)).rows).toEqual([])
    const at = (daysAgo: number) => new Date(2026, 10, 16 - daysAgo, 9).getTime()
    const calls = [callOf('e1', { at: at(3) }), callOf('e2', { at: at(1) }), callOf('e3', { at: at(40) })]
    await store.commit([commitOf('s', 1, { calls })])
    const view = await usageView(store, 'day', 30, NOW)
    expect(view.rows.map(({ at, calls }) => [new Date(at).getDate(), calls])).toEqual([
      [13, 1],
      [14, 0],
      [15, 1],
      [16, 0],
    ])
    expect(view).toMatchObject({ total: { calls: 2, cost: 0.5 }, today: { cost: 0 }, unpriced: [] })
    await store.close()
    here.dispose()
  })
})

describe('usage.output', () => {
  it('has a row and a bar for each key, and a total', () => {
    const rows = [row('git:/shop'), row('git:/api', { name: 'api', cost: 0.25, failed: 0 })]
    const lines = rendered(viewOf({ rows })).split('\n')
    expect(lines[0]).toBe('What models cost in the last 30 days')
    expect(lines[2]).toMatch(/^PROJECT +CALLS +FAILED +IN +CACHED +OUT +OBS +COST$/)
    expect(lines[3]).toMatch(/^shop +4 +1 +11k +50k +2k +5 +\$0\.500 {2}█{30}$/)
    expect(lines[4]).toMatch(/^api +4 +0 +11k +50k +2k +5 +\$0\.250 {2}█{15}$/)
    expect(lines[5]).toMatch(/^total +4 +1 +11k .*\$0\.500$/)
  })

  it('names days, sessions and models', () => {
    const start = new Date(2026, 10, 16).getTime()
    expect(rendered(viewOf({ by: 'day', rows: [row(`${start}`, { at: start, name: null })] }))).toContain(
      'Mon 2026-11-16',
    )
    const sessions = rendered(viewOf({ by: 'session', rows: [row('abcdef01-2345'), row('')] }))
    expect(sessions).toMatch(/^abcdef01 +shop +4/m)
    expect(sessions).toMatch(/^erased +shop +4/m)
    expect(rendered(viewOf({ by: 'model', rows: [row('llama-4', { name: 'openrouter' })] }))).toMatch(
      /^llama-4 +openrouter +4/m,
    )
  })

  it('leaves a day without calls empty', () => {
    const idle = row('1', { calls: 0, cost: 0, at: new Date(2026, 10, 15).getTime() })
    expect(rendered(viewOf({ by: 'day', rows: [row('0'), idle] }))).toMatch(/^Sun 2026-11-15$/m)
  })

  it.each([40, 60, 80, 120])('fits into %d columns', (columns) => {
    const rows = [row('k', { name: 'a-project-with-a-long-name' }), row('l')]
    const lines = rendered(viewOf({ rows }), { columns }).split('\n').slice(2, 6)
    const widest = Math.max(...lines.map(displayWidth))
    // Numbers are not truncated: on a narrower terminal the line is wrapped.
    expect(widest).toBeLessThanOrEqual(Math.max(columns, 60))
    expect(lines.some((line) => line.includes('█'))).toBe(columns >= 80)
  })

  it('prints how many rows are not shown', () => {
    const rows = Array.from({ length: 25 }, (_, i) => row(`git:/${i}`))
    expect(rendered(viewOf({ rows }))).toContain('and 5 more: --limit N')
  })

  it('prints the rest of the budget of today', () => {
    expect(rendered(viewOf({}))).toMatch(/today +25 % of the budget: \$0\.500 of \$2\.00, 18k of 5M tokens$/m)
    const spent = rendered(viewOf({ today: { cost: 0, usage: { ...spending.usage, output: 5_000_000 } } }))
    expect(spent).toMatch(/100 % of the budget: .*; the observer works offline until midnight/)
    expect(rendered(viewOf({}), {}, { usd: 0, tokens: 10 })).toContain('works offline until midnight')
  })

  it('prints the cost per observation', () => {
    expect(rendered(viewOf({}))).toMatch(/per observation +\$0\.100, 3\.6k tokens/)
    expect(rendered(viewOf({ total: { ...spending, observations: 0 } }))).not.toContain('per observation')
  })

  it('prints how to set an unknown price, and compares tokens until then', () => {
    const rows = [row('a', { unpriced: 4, cost: 0 }), row('b', { usage: { ...spending.usage, input: 0 } })]
    const text = rendered(viewOf({ rows, unpriced: ['llama-4', 'llama-4'], total: { ...spending, unpriced: 4 } }))
    expect(
      text.match(/the price of llama-4 is unknown: claude-mem config set prices llama-4=INPUT\/OUTPUT/g),
    ).toHaveLength(1)
    expect(text).toMatch(/COST {2}TOKENS$/m)
    expect(text).toMatch(/ \? {2}█{30}$/m)
    expect(text).toMatch(/per observation +3\.6k tokens/)
  })

  it('prints that nothing was sent', () => {
    const text = rendered(viewOf({ rows: [], total: { ...spending, calls: 0 } }), {}, BUDGET, 1)
    expect(text).toContain('Nothing was sent to a model today.')
    expect(text).toContain('claude-mem providers')
  })

  it('sanitises names of models', () => {
    const evil = '\x1b[2J\u009b31m\r\n'
    const view = viewOf({ by: 'model', rows: [row(evil, { name: evil })], unpriced: [evil] })
    for (const line of usageLines(view, { days: 30, limit: 20, budget: BUDGET }, display))
      expect(line).not.toMatch(/\p{Cc}/u)
  })
})

/** A time zone where it is about noon. The sign in an Etc/GMT name is inverted: Etc/GMT+5 is UTC-5. */
function noonZone(utcHour: number): string {
  const behind = utcHour - 12
  return behind === 0 ? 'Etc/GMT' : `Etc/GMT${behind > 0 ? '+' : '-'}${Math.abs(behind)}`
}

describe('usage', () => {
  let program: Program
  beforeAll(async () => {
    program = await Program.make()
    // Far from midnight, so that the day does not change during the test.
    program.env.TZ = noonZone(new Date().getUTCHours())
  }, 60_000)
  afterAll(() => program.end(), 60_000)

  it('prints that nothing was sent before there is a database', async () => {
    expect((await program.run(['usage'])).stdout).toContain('Nothing was sent to a model in the last 30 days.')
    expect(await program.json('usage')).toMatchObject({
      running: false,
      by: 'day',
      rows: [],
      total: { calls: 0 },
      budget: { usd: 2, tokens: 5_000_000 },
    })
    expect((await program.run(['usage', '--help'])).stdout).toContain('claude-mem usage --by project --days 7')
  })

  it.each([
    [['usage', '--by', 'projet'], 'unknown value for --by "projet"; did you mean project?'],
    [['usage', '--days', '0'], '--days takes a whole number from 1 to 3650'],
    [['inspect', '--sent'], '--sent needs a session'],
    [['inspect', 'session', '--full'], '--full is an option of --sent'],
  ])('refuses %j', async (args, message) => {
    const { code, stdout, stderr } = await program.run(args)
    expect(stderr).toContain(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  it('reads the database file, or calls a running daemon', async () => {
    const paths = dataPaths(program.dataDir)
    const store = await openLocalStore({ databaseFile: paths.database, backupsDir: paths.backups })
    const at = Date.now()
    const calls = [
      callOf('e1', { at, sent: 'Edit of a.ts\n\x1b[2J' }),
      callOf('e2', { at, model: 'llama', cost: null }),
    ]
    const over = { calls, inbox: [settle('e1', [], at)], observations: [observationOf([])] }
    const state = stateOf({ status: 'completed', state: 'closed' })
    expect(await store.commit([commitOf('session-one', 1, { at, state, ...over })])).toMatchObject([{ ok: true }])
    await store.close()

    const asked = async () => {
      const [usage, byDay, sent, bySession, calls] = await Promise.all([
        program.json('usage', '--by', 'model'),
        program.json('usage'),
        program.json('inspect', 'session', '--sent', '--limit', '1'),
        program.run(['usage', '--by', 'session']),
        program.run(['inspect', 'session', '--sent']),
      ])
      const days = byDay.rows.map((day: { calls: number }) => day.calls)
      return { usage, days, sent, text: bySession.stdout, words: calls.stdout }
    }
    const fromFile = await asked()
    expect(fromFile.usage).toMatchObject({
      running: false,
      rows: [
        { key: 'claude-haiku-4-5', name: 'anthropic', calls: 1, cost: 0.25, observations: 1 },
        { key: 'llama', calls: 1, cost: 0, unpriced: 1 },
      ],
      total: { calls: 2, cost: 0.25, unpriced: 1, observations: 1 },
      today: { cost: 0.25 },
      unpriced: ['llama'],
    })
    expect(fromFile.days).toEqual([2])
    expect(fromFile.sent).toMatchObject({
      session: 'session-one',
      more: true,
      calls: [{ effectId: 'e2', model: 'llama' }],
    })
    expect(fromFile.text).toMatch(/^session- +shop +2 /m)
    expect(fromFile.words).toMatch(/│ Edit of a\.ts\n +│ \\x1b\[2J\n/)

    await program.json('start')
    const fromDaemon = await asked()
    expect(fromDaemon.usage).toEqual({ ...fromFile.usage, running: true })
    expect(fromDaemon.sent).toEqual({ ...fromFile.sent, running: true })
    expect(fromDaemon).toMatchObject({ days: fromFile.days, text: fromFile.text })
    expect(await program.run(['inspect', 'nobody', '--sent'])).toMatchObject({ code: 1, stdout: '' })
  })
})
