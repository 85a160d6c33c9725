import { afterEach, beforeEach, expect, test } from 'vitest'
import { Housekeeping } from '../../src/daemon/housekeeping.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import { events, Harness } from './actors/harness.ts'

const MINUTE = 60_000
const settings = loadSettings('/nowhere', {
  CLAUDE_MEM_IDLE_EXIT_MINUTES: '30',
  CLAUDE_MEM_KEEP_PAYLOADS_DAYS: '1',
  CLAUDE_MEM_KEEP_BACKUPS: '2',
}).values
let h: Harness
let stops: string[]
let connections: number
let keeper: Housekeeping
beforeEach(async () => {
  h = await new Harness().start()
  stops = []
  connections = 0
  keeper = new Housekeeping({
    store: h.store,
    settings,
    supervisor: h.supervisor,
    connections: () => connections,
    stop: (reason) => stops.push(reason),
    log: () => undefined,
    now: h.now,
  })
})
afterEach(() => h.dispose())

test('housekeeping.idle: the daemon leaves after the idle time, not while somebody is connected or something was heard', async () => {
  h.clockOffset += 29 * MINUTE
  await keeper.run()
  await h.supervisor.accept(events.prompt('s', 'p'))
  h.clockOffset += 29 * MINUTE
  await keeper.run()
  connections = 1
  h.clockOffset += 2 * MINUTE
  await keeper.run()
  expect(stops).toEqual([])
  connections = 0
  await keeper.run()
  expect(stops).toEqual(['idle for 30 minutes'])
})

test('housekeeping.backup: one a day, and only so many are kept', async () => {
  const daily = async () => (await h.store.backups()).filter((backup) => backup.reason === 'daily').length
  await keeper.run()
  expect(await daily()).toBe(0)
  h.clockOffset += 2 * MINUTE
  await keeper.run()
  expect(await daily()).toBe(1)
  h.clockOffset += 2 * 60 * MINUTE
  await keeper.run()
  expect(await daily()).toBe(1)
})

test('housekeeping.retention: payloads go when their time is over, the memory stays', async () => {
  await h.supervisor.accept(events.prompt('s', 'p'))
  await h.supervisor.accept(events.tool('s', 'a'))
  await h.supervisor.accept(events.turnEnd('s', 'z'))
  await h.settle()
  h.clockOffset += 25 * 60 * MINUTE
  const rules = { payloadDays: 1, payloadBytes: 1e9, traceDays: 30, tracePerSession: 1_000, observerTurnDays: 30 }
  await keeper.run()
  expect(await h.store.applyRetention(rules, h.now())).toBe(0)
  expect(await h.store.observations({ session: 's' })).toHaveLength(1)
})

test('housekeeping.queue: how long it is is written down every ten seconds at most, also after the clock went back', async () => {
  const start = h.now()
  const samples = async () => (await h.store.activity([start - 60 * MINUTE], start + 60 * MINUTE)).queue.length
  await h.supervisor.accept(events.prompt('s', 'p'))
  await h.supervisor.accept(events.tool('s', 'a'))
  await keeper.run()
  expect(await samples()).toBe(1)
  await h.supervisor.accept(events.tool('s', 'b'))
  await keeper.run()
  expect(await samples()).toBe(1)
  h.clockOffset += 11_000
  await keeper.run()
  expect(await samples()).toBe(2)
  h.clockOffset -= 30 * MINUTE
  await keeper.run()
  expect(await samples()).toBe(3)
})
