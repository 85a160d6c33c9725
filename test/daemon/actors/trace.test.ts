/** Every transition that a session made is in its trace, in order, with a reason. */

import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { StreamItem } from '../../../src/daemon/actors/stream.ts'
import { plainObserver } from '../../../src/observer/plain.ts'
import { type Observer, ObserverError } from '../../../src/observer/port.ts'
import type { TraceEntry } from '../../../src/store/commit.ts'
import type { SessionView } from '../../../src/store/port.ts'
import { events, Harness, POLICY } from './harness.ts'

let h: Harness
beforeEach(async () => {
  h = await new Harness().start()
})
afterEach(() => h.dispose())

/** The same numbers for the same seed (mulberry32). */
function dice(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Fails now and then, through every owner that a failure can have. */
function moody(roll: (below: number) => number): Observer {
  const mood = () => {
    const n = roll(8)
    if (n === 0) throw new ObserverError('provider', 'overloaded', { retryAfterMs: 1 })
    if (n === 1) throw new ObserverError('message', 'not XML')
    if (n === 2) throw new ObserverError('context', 'too long')
  }
  return {
    ...plainObserver,
    async observe(request, signal) {
      mood()
      return await plainObserver.observe(request, signal)
    },
    async summarize(request, signal) {
      mood()
      return await plainObserver.summarize(request, signal)
    },
  }
}

const without = ({ at, event, eventId, from, to, reason, effectId }: TraceEntry): TraceEntry => {
  return { at, event, eventId, from, to, reason, effectId }
}

async function viewOf(session: string): Promise<SessionView> {
  const view = await h.store.sessionView(session, 100_000)
  if (view === null) throw new Error(`there is no session ${session}`)
  return view
}

describe('trace', () => {
  const seed = Number(process.env.TRACE_SEED ?? Date.now() % 1_000_000)

  test(`is every transition in its order, chained and with a reason (TRACE_SEED=${seed})`, async () => {
    const roll = dice(seed)
    const told: TraceEntry[] = []
    const listen = () =>
      h.supervisor.subscribe((item: StreamItem) => {
        if (item.type === 'commit' && item.session === 's') told.push(...item.transitions)
      })
    listen()
    h.observer = moody(roll)
    h.policy = { ...POLICY, compactTokens: 200 }
    await h.supervisor.accept(events.prompt('s', 'first'))
    for (let n = 0; n < 150; n += 1) {
      const id = `e${n}`
      switch (roll(12)) {
        case 0:
          await h.supervisor.accept(events.prompt('s', id))
          break
        case 1:
        case 2:
          await h.supervisor.accept(events.turnEnd('s', id))
          break
        case 3:
          await h.supervisor.accept(events.end('s', id))
          break
        case 4:
          await h.supervisor.reopenSession('s')
          break
        case 5:
          await h.settle()
          h.clockOffset += 120_000
          await h.supervisor.tick()
          break
        case 6:
          await h.supervisor.retry('s')
          break
        case 7:
          if (roll(4) > 0) break
          await h.settle()
          await h.crash()
          listen()
          break
        default:
          await Promise.all([
            h.supervisor.accept(events.tool('s', id)),
            h.supervisor.accept(events.failure('s', `${id}f`)),
            h.supervisor.accept(events.tool('s', id)),
          ])
      }
    }
    h.observer = plainObserver
    await h.supervisor.flush('s')
    await h.settle()
    const { trace } = await viewOf('s')
    expect(trace.length).toBeGreaterThan(100)
    expect(trace.map(without)).toEqual(told.map(without))
    expect(trace.map(({ from }) => from)).toEqual(['init', ...trace.slice(0, -1).map(({ to }) => to)])
    expect(trace.filter(({ reason, event }) => reason.trim() === '' || event === '')).toEqual([])

    const rules = {
      payloadDays: 9,
      payloadBytes: 1e9,
      passageDays: 3_650,
      passageBytes: 1e9,
      traceDays: 9,
      tracePerSession: 10,
      observerTurnDays: 9,
    }
    while ((await h.store.applyRetention(rules, h.now())) > 0);
    const kept = await viewOf('s')
    expect(kept.trace).toEqual(trace.slice(-10))
    expect(kept.traceDropped + kept.trace.length).toBe(trace.length)
  })

  test('of a session that is quarantined and revived has no gap, and followers are told', async () => {
    await h.supervisor.accept(events.prompt('s', 'p'))
    await h.store.close()
    const raw = new BetterSqlite3(join(h.directory, 'db.sqlite'))
    raw.exec(`UPDATE sdk_sessions SET snapshot = '{"version":99}'`)
    raw.close()
    await h.start()
    const items: StreamItem[] = []
    h.supervisor.subscribe((item) => items.push(item))
    await h.supervisor.accept(events.tool('s', 'a'))
    const { seq } = (await h.store.session('s')) ?? { seq: 0 }
    expect(items).toMatchObject([{ type: 'change', change: 'quarantined', session: 's', seq }])
    await h.supervisor.retry('s')
    await h.settle()
    const { trace } = await viewOf('s')
    expect(trace.slice(0, 3).map(({ event, from, to }) => `${event} ${from} -> ${to}`)).toEqual([
      'PROMPT init -> observing',
      'QUARANTINE observing -> quarantine',
      'REBUILD quarantine -> observing',
    ])
    expect(trace.map(({ from }) => from)).toEqual(['init', ...trace.slice(0, -1).map(({ to }) => to)])
    const published = items.flatMap((item) => (item.type === 'commit' ? item.transitions : []))
    expect(published.map(without)).toEqual(trace.slice(2).map(without))
    expect(items.map(({ seq: one }) => one)).toEqual(items.map((_, i) => seq + i))
  })

  test('a closed session is reopened by hand, and one that nobody knows is not', async () => {
    await h.supervisor.accept(events.prompt('s', 'p'))
    await h.supervisor.closeSession('s')
    await h.settle()
    expect(await h.store.session('s')).toMatchObject({ state: 'closed', status: 'completed' })
    await h.supervisor.reopenSession('s')
    expect(await h.store.session('s')).toMatchObject({ state: 'observing', status: 'active' })
    expect((await viewOf('s')).trace.at(-1)).toMatchObject({ event: 'REOPEN', reason: 'reopened by hand' })
    const { revision } = (await h.store.session('s')) ?? {}
    await h.supervisor.reopenSession('s')
    expect(await h.store.session('s')).toMatchObject({ revision })
    await expect(h.supervisor.reopenSession('nobody')).rejects.toMatchObject({ code: 'not_found' })
  })
})
