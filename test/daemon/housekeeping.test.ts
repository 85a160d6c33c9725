import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Housekeeping } from '../../src/daemon/housekeeping.ts'
import { plainObserver } from '../../src/observer/plain.ts'
import { ObserverError } from '../../src/observer/port.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import type { Store } from '../../src/store/port.ts'
import { openLocalStore } from '../../src/store/sqlite/store.ts'
import { place } from '../store/place.ts'
import { events, Harness, POLICY } from './actors/harness.ts'

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
/** How far the clock is wrong, in ms. */
let clockError: number
beforeEach(async () => {
  h = await new Harness().start()
  stops = []
  connections = 0
  clockError = 0
  keeper = keeperOf(h.store)
})
afterEach(async () => {
  await keeper.settled()
  await h.dispose()
})

function keeperOf(store: Store): Housekeeping {
  return new Housekeeping({
    store,
    settings,
    supervisor: h.supervisor,
    connections: () => connections,
    stop: (reason) => stops.push(reason),
    removed: () => undefined,
    reserve: { check: () => undefined },
    log: () => undefined,
    now: () => h.now() + clockError,
    uptime: h.now,
  })
}

/** Lets time pass, and runs the hourly work. */
async function pass(ms: number): Promise<void> {
  h.clockOffset += ms
  await keeper.run()
  await keeper.settled()
}

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

describe('housekeeping.idle: the daemon stays', () => {
  test('while messages wait for a provider, and leaves once they are observed', async () => {
    let limited = true
    h.observer = {
      ...plainObserver,
      observe: (request, signal) =>
        limited
          ? Promise.reject(new ObserverError('provider', '429: rate limit', { retryAfterMs: 60 * MINUTE }))
          : plainObserver.observe(request, signal),
    }
    for (const event of [events.prompt('s', 'p'), events.tool('s', 'a'), events.turnEnd('s', 'z')]) {
      await h.supervisor.accept(event)
    }
    await h.settle()
    h.clockOffset += 45 * MINUTE
    await keeper.run()
    expect(stops).toEqual([])
    limited = false
    h.clockOffset += 16 * MINUTE
    await h.supervisor.tick()
    await h.settle()
    expect(await h.store.observations({ session: 's' })).toHaveLength(1)
    h.clockOffset += 31 * MINUTE
    await keeper.run()
    expect(stops).toHaveLength(1)
  })

  test('while messages wait for their idle time, not for the end of a session', async () => {
    h.policy = { ...POLICY, idleFlushMs: 120 * MINUTE }
    await h.supervisor.accept(events.prompt('s', 'p'))
    await h.supervisor.accept(events.tool('s', 'a'))
    h.clockOffset += 40 * MINUTE
    await keeper.run()
    expect(stops).toEqual([])
    await h.supervisor.flush(null)
    await h.settle()
    h.clockOffset += 31 * MINUTE
    expect(await h.store.nextWakeAt()).not.toBeNull()
    await keeper.run()
    expect(stops).toHaveLength(1)
  })
})

test('housekeeping.backup: a backup in progress holds up no tick, and only one runs at a time', async () => {
  let begun = 0
  let finish: (error: Error) => void = () => undefined
  const store = {
    ...h.store,
    backup: () => {
      begun += 1
      return new Promise<never>((_resolve, reject) => {
        finish = reject
      })
    },
  }
  const slow = keeperOf(store)
  for (let hour = 0; hour < 3; hour++) {
    h.clockOffset += 61 * MINUTE
    await slow.run()
  }
  await expect.poll(() => begun).toBe(1)
  finish(new Error('the disk is full'))
  await slow.settled()
  expect(h.supervisor.notices.list.at(-1)?.text).toBe('the daily backup failed: the disk is full')
  h.clockOffset += 61 * MINUTE
  await slow.run()
  await expect.poll(() => begun).toBe(2)
})

test('housekeeping.backup: one a day, and only so many are kept', async () => {
  const daily = async () => (await h.store.backups()).filter((backup) => backup.reason === 'daily').length
  await keeper.run()
  await keeper.settled()
  expect(await daily()).toBe(0)
  h.clockOffset += 2 * MINUTE
  await keeper.run()
  await keeper.settled()
  expect(await daily()).toBe(1)
  h.clockOffset += 2 * 60 * MINUTE
  await keeper.run()
  await keeper.settled()
  expect(await daily()).toBe(1)
})

test('housekeeping.retention: payloads go when their time is over, the memory stays', async () => {
  await h.supervisor.accept(events.prompt('s', 'p'))
  await h.supervisor.accept(events.tool('s', 'a'))
  await h.supervisor.accept(events.turnEnd('s', 'z'))
  await h.settle()
  await pass(2 * MINUTE)
  await pass(25 * 60 * MINUTE)
  const rules = {
    payloadDays: 1,
    payloadBytes: 1e9,
    passageDays: 3_650,
    passageBytes: 1e9,
    traceDays: 30,
    tracePerSession: 1_000,
    observerTurnDays: 30,
  }
  expect(await h.store.applyRetention({ ...rules, payloadDays: 0 }, h.now())).toBe(0)
  expect(await h.store.observations({ session: 's' })).toHaveLength(1)
})

describe('a wrong clock', () => {
  const HOUR = 60 * MINUTE
  const DAY = 24 * HOUR
  const rules = {
    payloadDays: 3_650,
    payloadBytes: 1e9,
    passageDays: 3_650,
    passageBytes: 1e9,
    traceDays: 3_650,
    tracePerSession: 1_000,
    observerTurnDays: 3_650,
  }
  async function work(): Promise<void> {
    for (const event of [events.prompt('s', 'p'), events.tool('s', 'a'), events.turnEnd('s', 'z')]) {
      await h.supervisor.accept(event)
    }
    await h.settle()
  }
  /** Deletes the payloads, so that they can be counted. */
  const payloads = async () => await h.store.applyRetention({ ...rules, payloadDays: 0 }, h.now())

  test.each([
    ['400 days ahead', 400 * DAY],
    ['a week ahead', 7 * DAY],
  ])('%s for hours deletes nothing', async (_, error) => {
    await work()
    await pass(2 * MINUTE)
    clockError = error
    for (let n = 0; n < 5; n += 1) await pass(HOUR + MINUTE)
    clockError = 0
    await pass(HOUR + MINUTE)
    expect(await payloads()).toBeGreaterThan(0)
  })

  test('400 days behind, and corrected, deletes nothing of that time', async () => {
    await pass(2 * MINUTE)
    h.clockOffset -= 400 * DAY
    await work()
    h.clockOffset += 400 * DAY
    // The machine itself ran on: only its clock was wrong.
    await pass(HOUR + MINUTE)
    expect(await payloads()).toBeGreaterThan(0)
  })

  test('that was wrong is made up for: payloads go when their time has really passed', async () => {
    await work()
    await pass(2 * MINUTE)
    clockError = 400 * DAY
    await pass(HOUR + MINUTE)
    clockError = 0
    for (let n = 0; n < 26; n += 1) await pass(HOUR + MINUTE)
    expect(await payloads()).toBe(0)
  })

  test('makes one backup when it jumps, not one every hour, and the newest is kept', async () => {
    const here = place()
    const store = await openLocalStore({ ...here.options, now: () => h.now() + clockError })
    keeper = keeperOf(store)
    const kept = async () => (await store.backups()).map(({ file }) => /db-(\d+)/.exec(file)?.[1])
    await pass(2 * MINUTE)
    expect(await kept()).toEqual(['000001'])
    clockError = 7 * DAY
    for (let n = 0; n < 3; n += 1) await pass(HOUR + MINUTE)
    expect(await kept()).toEqual(['000002', '000001'])
    clockError = 0
    for (let n = 0; n < 3; n += 1) await pass(HOUR + MINUTE)
    expect(await kept()).toEqual(['000003', '000002'])
    await store.close()
    here.dispose()
  })
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

test('housekeeping.queue: a queue that was long between two samples leaves its peak, and the watch is told', async () => {
  const seen: number[] = []
  keeper = new Housekeeping({
    store: h.store,
    settings,
    supervisor: h.supervisor,
    connections: () => 0,
    queueWatch: { sample: (_queue, peak) => void seen.push(peak) },
    removed: () => undefined,
    reserve: { check: () => undefined },
    stop: () => undefined,
    log: () => undefined,
    now: h.now,
  })
  await keeper.run()
  h.policy = { ...h.policy, batchMaxSize: 100 }
  await h.supervisor.accept(events.prompt('s', 'p'))
  for (let n = 1; n <= 7; n++) await h.supervisor.accept(events.tool('s', `t${n}`))
  expect(h.supervisor.waitingMessages).toBe(7)
  await h.supervisor.accept(events.turnEnd('s', 'e'))
  await h.settle()
  expect(h.supervisor.waitingMessages).toBe(0)
  h.clockOffset += 10_000
  await keeper.run()
  expect(seen).toEqual([0, 7])
  const { queue } = await h.store.activity([h.now() - 3_600_000], h.now() + 1)
  expect(Math.max(...queue.map(({ pending, processing }) => pending + processing))).toBe(7)
})

test('housekeeping.queue: a restarted daemon counts the messages that the last one left', async () => {
  h.policy = { ...h.policy, batchMaxSize: 100 }
  await h.supervisor.accept(events.prompt('s', 'p'))
  for (let n = 1; n <= 3; n++) await h.supervisor.accept(events.tool('s', `t${n}`))
  await h.crash()
  expect(h.supervisor.waitingMessages).toBe(3)
})
