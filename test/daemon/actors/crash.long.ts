/** The same life of several sessions, with and without a process that dies: what is kept at the end is the same. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { MemoryEvent } from '../../../src/domain/event.ts'
import { plainObserver } from '../../../src/observer/plain.ts'
import { ObserverError } from '../../../src/observer/port.ts'
import { events, Harness } from './harness.ts'

type Command =
  | { do: keyof typeof events; session: 's' | 't' }
  | { do: 'again' }
  | { do: 'tick' }
  | { do: 'provider' }
  | { do: 'crash' }

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constantFrom<keyof typeof events>('start', 'prompt', 'tool', 'tool', 'tool', 'failure', 'turnEnd', 'end'),
      session: fc.constantFrom<'s' | 't'>('s', 't'),
    }),
  },
  { weight: 2, arbitrary: fc.constant<Command>({ do: 'again' }) },
  { weight: 1, arbitrary: fc.constant<Command>({ do: 'tick' }) },
  { weight: 1, arbitrary: fc.constant<Command>({ do: 'provider' }) },
  { weight: 3, arbitrary: fc.constant<Command>({ do: 'crash' }) },
)

/** What is left in the end, told in words that do not depend on when batches were cut. */
async function live(commands: readonly Command[], crashes: boolean): Promise<unknown> {
  const h = await new Harness().start()
  try {
    let down = false
    h.observer = {
      ...plainObserver,
      observe: (request, signal) =>
        down ? Promise.reject(new ObserverError('provider', 'down')) : plainObserver.observe(request, signal),
    }
    const sent: MemoryEvent[] = []
    let n = 0
    // The hook's promise: sent again (by way of the spool) until it is acknowledged.
    const report = async (event: MemoryEvent) => {
      for (;;) {
        const accepted = await h.supervisor.accept(event).catch(() => null)
        if (accepted !== null) return
      }
    }
    for (const one of commands) {
      if (one.do === 'crash') {
        if (!crashes) continue
        // Not waited for: the process dies while an event is on its way, and its hook reports it again.
        const last = sent.at(-1)
        const late = last === undefined ? null : h.supervisor.accept(last).catch(() => null)
        await h.crash()
        await late
      } else if (one.do === 'again') {
        const last = sent.at(-1)
        if (last !== undefined) await report(last)
      } else if (one.do === 'tick') {
        h.clockOffset += 30_000
        await h.supervisor.tick()
      } else if (one.do === 'provider') {
        down = !down
      } else {
        const event = events[one.do](one.session, `e${n++}`)
        sent.push(event)
        await report(event)
      }
    }
    down = false
    for (const session of new Set(sent.map((event) => event.session)))
      await report(events.end(session, `end-${session}`))
    for (let i = 0; i < 10; i++) {
      h.clockOffset += 600_000
      await h.supervisor.tick()
      await h.settle()
    }
    const told = []
    for (const session of ['s', 't']) {
      const view = await h.store.sessionView(session, 0)
      if (view === null) continue
      const rows = await h.store.events(session, 1_000)
      const observed = await h.store.observations({ session, limit: 1_000 })
      told.push({
        session,
        state: view.row.state,
        status: view.row.status,
        prompts: view.row.prompts,
        messages: view.messages,
        events: rows.map((row) => `${row.eventId} ${row.outcome} ${row.observationIds.length}`).sort(),
        observations: observed.map((o) => `${o.title} ${o.promptNumber} ${o.sources.join()}`).sort(),
        summaries: [...new Set((await h.store.summaries({ session, limit: 1_000 })).map((s) => s.promptNumber))].sort(),
      })
    }
    return told
  } finally {
    await h.dispose()
  }
}

test('crash.anywhere: gives the same final state as none', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 3, maxLength: 30 }), async (commands) => {
      const [plain, crashing] = [await live(commands, false), await live(commands, true)]
      expect(crashing).toEqual(plain)
    }),
    { numRuns: 40 },
  )
}, 120_000)
