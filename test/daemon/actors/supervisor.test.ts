import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SESSION_IDLE_MS } from '../../../machines/session/timeouts.ts'
import { MemError } from '../../../src/lib/errors.ts'
import { plainObserver } from '../../../src/observer/plain.ts'
import { type Observer, ObserverError } from '../../../src/observer/port.ts'
import type { Store } from '../../../src/store/port.ts'
import { events, Harness, POLICY } from './harness.ts'

let h: Harness
beforeEach(async () => {
  h = await new Harness().start()
})
afterEach(() => h.dispose())

const accept = (...list: Parameters<typeof h.supervisor.accept>[0][]) =>
  Promise.all(list.map((event) => h.supervisor.accept(event)))
const titles = async (session: string) =>
  (await h.store.observations({ session, limit: 1_000 })).map((o) => o.title).sort()
const rowOf = async (session: string) => {
  const row = await h.store.session(session)
  if (row === null) throw new Error(`no session ${session}`)
  return row
}

/** An observer whose calls wait until the test lets them go on. */
function gated(): { observer: Observer; open: () => void; calls: () => number; aborted: () => number } {
  let open: () => void = () => undefined
  let calls = 0
  let aborted = 0
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  return {
    calls: () => calls,
    aborted: () => aborted,
    open,
    observer: {
      ...plainObserver,
      async observe(request, signal) {
        calls++
        signal.addEventListener('abort', () => aborted++)
        await gate
        return plainObserver.observe(request, signal)
      },
    },
  }
}

describe('supervisor.turn', () => {
  test('a turn becomes observations and a summary, and every event says what became of it', async () => {
    await accept(
      events.start('s', 'e0'),
      events.prompt('s', 'e1', 'add a cart'),
      events.tool('s', 'e2'),
      events.failure('s', 'e3'),
      events.turnEnd('s', 'e4'),
    )
    await h.settle()
    expect(await titles('s')).toEqual(['Bash failed: false', 'Edit e2.ts'])
    expect(await h.store.summaries({ session: 's' })).toMatchObject([
      { request: 'add a cart', completed: 'done', promptNumber: 1 },
    ])
    const outcomes = Object.fromEntries(
      (await h.store.events('s', 10)).map((e) => [e.eventId, [e.outcome, e.observationIds.length]]),
    )
    expect(outcomes).toMatchObject({ e0: ['noted', 0], e1: ['noted', 0], e2: ['observed', 1], e3: ['observed', 1] })
    expect(await rowOf('s')).toMatchObject({ state: 'observing', status: 'active', prompts: 1, effect: null })
    expect(await h.store.queueStats()).toMatchObject({ pending: 0, processing: 0, failed: 0 })
  })

  test('an event accepted twice counts once, together or one after the other, before and after a restart', async () => {
    const twice = await accept(events.prompt('s', 'p'), events.tool('s', 'a'), events.tool('s', 'a'))
    expect(twice.map((one) => one.duplicate)).toEqual([false, false, true])
    expect(await accept(events.tool('s', 'b'), events.tool('s', 'a'))).toEqual([
      { duplicate: false },
      { duplicate: true },
    ])
    await h.crash()
    expect(await accept(events.tool('s', 'a'), events.tool('s', 'c'))).toEqual([
      { duplicate: true },
      { duplicate: false },
    ])
    await accept(events.turnEnd('s', 'z'))
    await h.settle()
    expect(await titles('s')).toEqual(['Edit a.ts', 'Edit b.ts', 'Edit c.ts'])
  })

  test('the stream has one item a commit, numbered without a gap', async () => {
    const seqs: number[] = []
    h.supervisor.subscribe((item) => seqs.push(item.seq))
    await accept(events.prompt('s', 'p'), events.tool('s', 'a'), events.prompt('t', 'p'), events.tool('t', 'a'))
    await accept(events.turnEnd('s', 'z'), events.turnEnd('t', 'z'))
    await h.settle()
    expect(seqs.length).toBeGreaterThan(3)
    expect(seqs).toEqual(seqs.map((_, i) => (seqs[0] ?? 0) + i))
  })

  test('every transition is in the trace with its reason', async () => {
    await accept(events.prompt('s', 'p'))
    await accept(events.tool('s', 'a'))
    await accept(events.turnEnd('s', 'z'))
    await h.settle()
    const view = await h.store.sessionView('s', 100)
    const trace = (view?.trace ?? []).map((entry) => `${entry.event} ${entry.from} -> ${entry.to}`)
    const wanted = [
      'PROMPT init -> observing',
      'MESSAGE observing -> observing',
      'TURN_END observing -> batching.calling',
      'OBSERVED batching.calling -> summarizing.calling',
      'SUMMARIZED summarizing.calling -> observing',
    ]
    expect([...trace].sort()).toEqual([...wanted].sort())
    expect(view?.trace.every((entry) => entry.reason !== '')).toBe(true)
  })
})

test('supervisor.trace: has the number of observations of a batch, and why the rest was left out', async () => {
  h.observer = {
    ...plainObserver,
    observe: async (request, signal) => ({
      ...(await plainObserver.observe({ ...request, messages: request.messages.slice(0, 1) }, signal)),
      skipped: request.messages.slice(1).map((message) => ({ eventId: message.id, reason: 'a listing' })),
    }),
  }
  await accept(events.prompt('s', 'p'), events.tool('s', 'a'), events.tool('s', 'b'), events.turnEnd('s', 'z'))
  await h.settle()
  const view = await h.store.sessionView('s', 10)
  expect(view?.trace.find((entry) => entry.event === 'OBSERVED')?.reason).toContain(
    '1 observations; left out: 1 a listing',
  )
  const skipped = (await h.store.events('s', 10)).find((event) => event.eventId === 'b')
  expect(skipped).toMatchObject({ outcome: 'skipped', reason: 'a listing' })
})

describe('supervisor.restart', () => {
  test('an effect in flight when the process died is done again, and its result counts once', async () => {
    const gate = gated()
    h.observer = gate.observer
    await accept(events.prompt('s', 'p'), events.tool('s', 'a'), events.turnEnd('s', 'z'))
    await expect.poll(gate.calls).toBe(1)
    h.observer = plainObserver
    await h.crash()
    gate.open()
    await h.settle()
    expect(await titles('s')).toEqual(['Edit a.ts'])
    expect(await h.store.summaries({ session: 's' })).toHaveLength(1)
  })

  test('sessions without work stay asleep', async () => {
    for (let i = 0; i < 20; i++) await accept(events.prompt(`s${i}`, 'p'))
    await h.crash()
    expect(h.supervisor.awake).toBe(0)
    await h.supervisor.tick()
    expect(h.supervisor.awake).toBe(0)
  })

  test('sessions leave memory when their work is done, as after a backfill, and lose nothing', async () => {
    const names = Array.from({ length: 60 }, (_, i) => `s${i}`)
    const session = (name: string) => [
      events.start(name, 'start'),
      events.prompt(name, 'p'),
      events.tool(name, 'a'),
      events.turnEnd(name, 'z'),
      // The others stay open between two turns.
      ...(name.endsWith('1') ? [] : [events.end(name, 'end')]),
    ]
    await Promise.all(names.map((name) => accept(...session(name))))
    await h.settle()
    await expect.poll(() => h.supervisor.awake).toBe(0)
    for (const name of names) {
      expect(await titles(name)).toEqual(['Edit a.ts'])
      expect(await h.store.summaries({ session: name })).toHaveLength(1)
    }
    // A late event finds everything in the row, and one with an open turn stays.
    expect(await h.supervisor.accept(events.tool('s0', 'a'))).toEqual({ duplicate: true })
    await accept(events.prompt('s1', 'q'))
    expect(h.supervisor.awake).toBe(1)
  })

  test('what was spooled is read before anything is served', async () => {
    h.spooled = [events.prompt('s', 'p'), events.tool('s', 'a'), events.turnEnd('s', 'z')]
    await h.crash()
    expect(h.supervisor.state).toBe('serving')
    await h.settle()
    expect(await titles('s')).toEqual(['Edit a.ts'])
  })

  test('a start that fails leads to `stopped`, and no event is accepted', async () => {
    await h.store.close()
    const failing = (store: Store): Store =>
      new Proxy(store, {
        get: (target, name) =>
          name === 'unfinishedEffects'
            ? () => Promise.reject(new Error('a bad sector'))
            : Reflect.get(target, name, target),
      })
    await expect(h.start(failing)).rejects.toThrow('a bad sector')
    expect(h.supervisor.state).toBe('stopped')
    await expect(h.supervisor.accept(events.prompt('s', 'p'))).rejects.toMatchObject({ code: 'draining' })
  })

  test('draining lets effects finish; what does not is let go of and taken up at the next start', async () => {
    const gate = gated()
    h.observer = gate.observer
    await accept(events.prompt('s', 'p'), events.tool('s', 'a'), events.turnEnd('s', 'z'))
    await expect.poll(gate.calls).toBe(1)
    await h.supervisor.drain('test')
    expect(h.supervisor.state).toBe('stopped')
    expect(gate.aborted()).toBe(1)
    expect(await h.store.queueStats()).toMatchObject({ pending: 2, processing: 0 })
    await expect(h.supervisor.accept(events.tool('s', 'late'))).rejects.toMatchObject({
      code: 'draining',
      retryable: true,
    })
    h.observer = plainObserver
    await h.crash()
    await h.supervisor.tick()
    await h.settle()
    expect(await titles('s')).toEqual(['Edit a.ts'])
  })
})

describe('supervisor.steps', () => {
  test('a spool that cannot be read prevents neither the start nor the rest of a tick, and is reported', async () => {
    await accept(events.prompt('s', 'p'), events.tool('s', 'a'))
    h.spoolError = new Error('EIO: i/o error, scandir')
    await h.crash()
    expect(h.supervisor.state).toBe('serving')
    h.clockOffset += POLICY.idleFlushMs
    await h.supervisor.tick()
    await h.settle()
    expect(await titles('s')).toEqual(['Edit a.ts'])
    expect(h.supervisor.notices.list.map(({ text }) => text)).toEqual([
      'reading the spool failed; retried in 1 s: EIO: i/o error, scandir',
    ])
  })
})

describe('supervisor.time', () => {
  test('the ticker wakes sleeping sessions whose time has come', async () => {
    await accept(events.prompt('s', 'p'), events.tool('s', 'a'))
    await h.crash()
    await h.supervisor.tick()
    expect(await titles('s')).toEqual([])
    h.clockOffset += POLICY.idleFlushMs
    await h.supervisor.tick()
    await h.settle()
    expect(await titles('s')).toEqual(['Edit a.ts'])
    h.clockOffset += SESSION_IDLE_MS
    await h.supervisor.tick()
    await h.settle()
    expect(await rowOf('s')).toMatchObject({ state: 'closed', status: 'interrupted', wakeAt: null })
  })

  test('a clock that goes back a year delays nothing', async () => {
    await accept(events.prompt('s', 'p'), events.tool('s', 'a'))
    h.clockOffset -= 365 * 86_400_000
    await h.supervisor.tick()
    h.clockOffset += POLICY.idleFlushMs
    await h.supervisor.tick()
    await h.settle()
    expect(await titles('s')).toEqual(['Edit a.ts'])
  })
})

describe('supervisor.time: a clock that goes back five hours', () => {
  const back = 5 * 3_600_000
  const retryMs = 300_000
  let overloaded = true
  async function waitForProvider(): Promise<void> {
    overloaded = true
    h.observer = {
      ...plainObserver,
      observe: (request, signal) =>
        overloaded
          ? Promise.reject(new ObserverError('provider', 'overloaded', { retryAfterMs: retryMs }))
          : plainObserver.observe(request, signal),
    }
    await accept(events.prompt('s', 'p'), events.tool('s', 'a'), events.turnEnd('s', 'z'))
    await accept(events.prompt('idle', 'p'), events.tool('idle', 'a'))
    await h.settle()
    overloaded = false
  }
  const provider = () => h.supervisor.waiting

  test('lengthens no wait for a provider and no idle time', async () => {
    await waitForProvider()
    h.clockOffset -= back
    await h.supervisor.tick()
    await h.settle()
    // Not before its time either.
    expect(await titles('s')).toEqual([])
    expect(provider()).toMatchObject({ reason: 'overloaded' })
    h.clockOffset += retryMs
    await h.supervisor.tick()
    await h.settle()
    expect(await titles('s')).toEqual(['Edit a.ts'])
    h.clockOffset += POLICY.idleFlushMs
    await h.supervisor.tick()
    await h.settle()
    expect(await titles('idle')).toEqual(['Edit a.ts'])
  })

  test('while no daemon runs, neither', async () => {
    await waitForProvider()
    h.clockOffset -= back
    await h.crash()
    expect(h.supervisor.idleSince ?? h.now()).toBeGreaterThan(h.now() - back)
    h.clockOffset += POLICY.idleFlushMs
    await h.supervisor.tick()
    await h.settle()
    expect(await titles('s')).toEqual(['Edit a.ts'])
    expect(await titles('idle')).toEqual(['Edit a.ts'])
  })
})

describe('supervisor.failures', () => {
  test("the provider's: the session waits and says why, then goes on by itself", async () => {
    let down = true
    h.observer = {
      ...plainObserver,
      observe: (request, signal) =>
        down
          ? Promise.reject(new ObserverError('provider', '401: key rejected'))
          : plainObserver.observe(request, signal),
    }
    await accept(events.prompt('s', 'p'), events.tool('s', 'a'), events.turnEnd('s', 'z'))
    await h.settle()
    expect(await rowOf('s')).toMatchObject({ state: 'batching.waiting', waiting: '401: key rejected' })
    expect(h.supervisor.waiting).toMatchObject({ reason: '401: key rejected' })
    down = false
    h.clockOffset += 600_000
    await h.supervisor.tick()
    await h.settle()
    expect(await titles('s')).toEqual(['Edit a.ts'])
    expect(h.supervisor.waiting).toBeNull()
  })

  test("the message's: the culprit is set aside with its error, the others are observed; retry brings it back", async () => {
    let poison = true
    h.observer = {
      ...plainObserver,
      observe(request, signal) {
        if (poison && request.messages.some((message) => message.id === 'b'))
          return Promise.reject(new Error('cannot read b'))
        return plainObserver.observe(request, signal)
      },
    }
    await accept(
      events.prompt('s', 'p'),
      events.tool('s', 'a'),
      events.tool('s', 'b'),
      events.tool('s', 'c'),
      events.turnEnd('s', 'z'),
    )
    await h.settle()
    expect(await titles('s')).toEqual(['Edit a.ts', 'Edit c.ts'])
    expect(await h.store.queue({ status: 'failed' })).toMatchObject([{ eventId: 'b', error: 'cannot read b' }])
    poison = false
    expect(await h.supervisor.retry(null)).toBe(1)
    await h.settle()
    expect(await titles('s')).toEqual(['Edit a.ts', 'Edit b.ts', 'Edit c.ts'])
    expect(await h.store.queueStats()).toMatchObject({ pending: 0, failed: 0 })
  })

  test('a full disk refuses the event, keeps the daemon up, and takes the event once there is room', async () => {
    let full = false
    await h.crash((store) =>
      failing(store, () => (full ? new MemError('storage', 'the disk is full', { retryable: true }) : null)),
    )
    await accept(events.prompt('s', 'p'))
    full = true
    await expect(h.supervisor.accept(events.tool('s', 'a'))).rejects.toMatchObject({ code: 'storage', retryable: true })
    expect(h.supervisor.notices.list.at(-1)?.text).toContain('the disk is full')
    full = false
    expect(await h.supervisor.accept(events.tool('s', 'a'))).toEqual({ duplicate: false })
    await accept(events.turnEnd('s', 'z'))
    await h.settle()
    expect(await titles('s')).toEqual(['Edit a.ts'])
  })

  test('an observer that never answers loses its place at the deadline', async () => {
    h.policy = { ...POLICY, effectTimeoutMs: 20 }
    h.observer = { ...plainObserver, observe: () => new Promise(() => undefined) }
    await accept(events.prompt('s', 'p'), events.tool('s', 'a'), events.turnEnd('s', 'z'))
    await h.settle()
    expect(await rowOf('s')).toMatchObject({ state: 'batching.waiting', waiting: 'no answer within 0 s' })
  })
})

describe('supervisor.quarantine', () => {
  async function damaged(): Promise<void> {
    await accept(events.prompt('s', 'p'), events.tool('s', 'a'))
    await h.store.close()
    const db = new Database(join(h.directory, 'db.sqlite'))
    db.prepare("UPDATE sdk_sessions SET snapshot = '{\"half'").run()
    db.close()
    await h.start()
  }

  test('a session whose snapshot is damaged stays readable and takes events; others go on', async () => {
    await damaged()
    expect(await h.supervisor.accept(events.tool('s', 'b'))).toEqual({ duplicate: false })
    expect(await h.supervisor.accept(events.tool('s', 'b'))).toEqual({ duplicate: true })
    expect(await rowOf('s')).toMatchObject({ status: 'failed' })
    expect((await rowOf('s')).quarantine).toContain('cannot be restored')
    expect((await h.store.queue({ session: 's' })).map((m) => m.eventId)).toEqual(['a', 'b'])
    expect(h.supervisor.notices.list.at(-1)?.text).toContain('quarantined')
    await accept(events.prompt('t', 'p'), events.tool('t', 'a'), events.turnEnd('t', 'z'))
    await h.settle()
    expect(await titles('t')).toEqual(['Edit a.ts'])
  })

  const snapshotOf = (database: Database.Database): string =>
    database.prepare('SELECT snapshot FROM sdk_sessions').pluck().get() as string

  /** Runs `change` on the file between two processes. */
  async function between(change: (database: Database.Database) => void): Promise<void> {
    await h.store.close()
    const db = new Database(join(h.directory, 'db.sqlite'))
    change(db)
    db.close()
    await h.start()
  }

  const promptsOf = async () => (await h.store.sessionHistory('s', { trace: 50, rows: 50 }))?.prompts ?? []

  test('prompts that arrive meanwhile become prompts in their order, and messages belong to them', async () => {
    await damaged()
    await accept(events.turnEnd('s', 'z1'), events.prompt('s', 'p2', 'second'), events.tool('s', 'b'))
    await accept(events.turnEnd('s', 'z2'), events.prompt('s', 'p3', 'third'), events.tool('s', 'c'))
    await h.supervisor.retry('s')
    await h.settle()
    expect((await promptsOf()).map(({ number, text }) => [number, text])).toEqual([
      [1, 'do it'],
      [2, 'second'],
      [3, 'third'],
    ])
    await accept(events.turnEnd('s', 'z3'), events.prompt('s', 'p4', 'fourth'))
    await h.settle()
    const observations = await h.store.observations({ session: 's', limit: 10 })
    const byTitle = observations.map(({ title, promptNumber }) => `${title} ${promptNumber}`).sort()
    expect(byTitle).toEqual(['Edit a.ts 1', 'Edit b.ts 2', 'Edit c.ts 3'])
    expect((await h.store.summaries({ session: 's' })).map((one) => one.promptNumber).sort()).toEqual([1, 2, 3])
    expect(await h.store.queue({ session: 's' })).toEqual([])
    expect((await h.store.events('s', 50)).map(({ reason }) => reason)).not.toContain('the session is quarantined')
  })

  test('ends at a start that can read the snapshot again, and what was held is decided in its order', async () => {
    let good = ''
    await accept(events.prompt('s', 'p'), events.tool('s', 'a'))
    await between((db) => {
      good = snapshotOf(db)
      db.prepare('UPDATE sdk_sessions SET snapshot = \'{"version":99}\'').run()
    })
    await accept(events.prompt('s', 'p2', 'second'), events.tool('s', 'b'))
    expect((await rowOf('s')).quarantine).toContain('cannot be restored')
    const { receivedAt } = (await h.store.events('s', 10)).find(({ eventId }) => eventId === 'b') ?? { receivedAt: 0 }
    // Another start that cannot read it changes nothing.
    await between(() => undefined)
    expect((await rowOf('s')).quarantine).not.toBeNull()
    await between((db) => void db.prepare('UPDATE sdk_sessions SET snapshot = ?').run(good))
    expect(await rowOf('s')).toMatchObject({ quarantine: null, status: 'active', prompts: 2 })
    expect((await promptsOf()).map(({ text }) => text)).toEqual(['do it', 'second'])
    const stored = (await h.store.events('s', 10)).map(({ eventId, receivedAt: at }) => [eventId, at])
    expect(stored.at(-1)).toEqual(['b', receivedAt])
    await accept(events.turnEnd('s', 'z'))
    await h.settle()
    expect(await titles('s')).toEqual(['Edit a.ts', 'Edit b.ts'])
    const { trace } = (await h.store.sessionView('s', 50)) ?? { trace: [] }
    expect(trace.map(({ event }) => event)).toContain('RESTORE')
    expect(trace.map(({ from }) => from)).toEqual(['init', ...trace.slice(0, -1).map(({ to }) => to)])
  })

  test('a snapshot that does not count the messages that are there is not trusted', async () => {
    let good = ''
    await accept(events.prompt('s', 'p'), events.tool('s', 'a'))
    await between((db) => {
      good = snapshotOf(db)
      db.prepare("UPDATE sdk_sessions SET snapshot = 'x'").run()
    })
    await accept(events.tool('s', 'b'))
    await between((db) => {
      db.prepare('UPDATE sdk_sessions SET snapshot = ?').run(good)
      db.prepare("DELETE FROM pending_messages WHERE event_id = 'a'").run()
    })
    expect((await rowOf('s')).quarantine).not.toBeNull()
    await h.supervisor.retry('s')
    await h.settle()
    expect(await titles('s')).toEqual(['Edit b.ts'])
  })

  test('neither age nor size deletes what is held', async () => {
    await damaged()
    await accept(events.prompt('s', 'p2', 'second'))
    const rules = {
      payloadDays: 0,
      payloadBytes: 0,
      passageDays: 3_650,
      passageBytes: 1e9,
      traceDays: 30,
      tracePerSession: 100,
      observerTurnDays: 30,
    }
    await h.store.applyRetention(rules, Date.now() + 400 * 86_400_000)
    await h.supervisor.retry('s')
    expect((await promptsOf()).map(({ text }) => text)).toEqual(['do it', 'second'])
  })

  test('retry revives it from its rows, with nothing lost', async () => {
    await damaged()
    await h.supervisor.accept(events.tool('s', 'b'))
    await h.supervisor.retry('s')
    await h.settle()
    expect(await titles('s')).toEqual(['Edit a.ts', 'Edit b.ts'])
    expect(await rowOf('s')).toMatchObject({ status: 'active', quarantine: null })
  })
})

test('supervisor.stranded: messages that a session does not know of are found at the start and observed', async () => {
  await accept(events.prompt('s', 'p'), events.end('s', 'z'))
  await h.settle()
  await accept(events.tool('t', 'a'))
  await h.store.close()
  const db = new Database(join(h.directory, 'db.sqlite'))
  db.pragma('foreign_keys = OFF')
  db.exec(
    "UPDATE pending_messages SET content_session_id = 's'; UPDATE events SET content_session_id = 's' WHERE event_id = 'a'",
  )
  db.close()
  await h.start()
  await h.settle()
  expect(await titles('s')).toEqual(['Edit a.ts'])
  expect(await rowOf('s')).toMatchObject({ state: 'observing' })
})

describe('supervisor.people', () => {
  test('flush observes what waits', async () => {
    await accept(events.prompt('s', 'p'), events.tool('s', 'a'))
    expect(await h.supervisor.flush(null)).toBe(1)
    await h.settle()
    expect(await titles('s')).toEqual(['Edit a.ts'])
  })

  test('clear drops what waits, and the events say so', async () => {
    await accept(events.prompt('s', 'p'), events.tool('s', 'a'), events.tool('s', 'b'))
    expect(await h.supervisor.clear('s', true)).toBe(2)
    expect(await h.store.queueStats()).toMatchObject({ pending: 0 })
    expect((await h.store.events('s', 10)).filter((e) => e.outcome === 'dropped')).toHaveLength(2)
  })
})

function failing(store: Store, error: () => Error | null): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      if (name !== 'commit') return value.bind(target)
      return (...args: unknown[]) => {
        const failure = error()
        return failure === null ? value.apply(target, args) : Promise.reject(failure)
      }
    },
  })
}

test('supervisor.payloads: with CLAUDE_MEM_KEEP_PAYLOADS_DAYS=0 none is kept once its message is settled', async () => {
  h.keepsPayloads = false
  await accept(events.prompt('s', 'p'), events.tool('s', 'a'))
  expect((await h.store.eventView('a', 's'))?.event.payload).not.toBeNull()
  await accept(events.turnEnd('s', 'z'))
  await h.settle()
  expect(await h.store.eventView('a', 's')).toMatchObject({ event: { outcome: 'observed', payload: null } })
})
