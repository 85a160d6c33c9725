/** Why a memory exists, and what became of an event. Part of the contract. */
import { describe, expect, test } from 'vitest'
import type { Commit, CommitResult, TraceEntry } from '../../src/store/commit.ts'
import type { Retention, Store } from '../../src/store/port.ts'
import {
  accepting,
  add,
  callOf,
  claim,
  commitOf,
  DAY_MS,
  failMessages,
  NOW,
  observationOf,
  PROJECT,
  promptOf,
  record,
  release,
  retryFailed,
  settle,
  stateOf,
  summaryOf,
  toolUse,
  turnEnd,
} from './samples.ts'

type Committed = (store: Store, commit: Commit) => Promise<Extract<CommitResult, { ok: true }>>

const KEEP_NO_PAYLOADS: Retention = {
  payloadDays: 0,
  payloadBytes: 0,
  passageDays: 3_650,
  passageBytes: 1e9,
  traceDays: 30,
  tracePerSession: 1_000,
  observerTurnDays: 30,
}

function step(event: string, from: string, to: string, over: Partial<TraceEntry> = {}): TraceEntry {
  return { at: NOW, event, eventId: null, from, to, reason: `after ${event}`, effectId: null, ...over }
}

export function originContract(current: () => Store, committed: Committed): void {
  /** A turn whose batch is `e1` and whose summary `e2`; a tool use comes in while the batch is away. */
  async function turn(session = 's'): Promise<number> {
    const [first, second, late, end] = [
      toolUse(session, '1'),
      toolUse(session, '2'),
      toolUse(session, 'late'),
      turnEnd(session, 'z'),
    ]
    await committed(
      current(),
      commitOf(session, 1, {
        events: [record(promptOf(session, 'p'), { kind: 'noted', reason: 'prompt' }), record(first), record(second)],
        prompts: [{ eventId: 'p', number: 1, text: 'fix the login', private: false, at: NOW }],
        inbox: [add(first), add(second)],
        trace: [
          step('PROMPT', 'init', 'observing', { eventId: 'p' }),
          step('MESSAGE', 'observing', 'observing', { eventId: '1' }),
          step('MESSAGE', 'observing', 'observing', { eventId: '2' }),
        ],
      }),
    )
    await committed(
      current(),
      commitOf(session, 2, {
        events: [record(end), record(late)],
        inbox: [add(end), claim('e1'), add(late)],
        trace: [
          step('TURN_END', 'observing', 'batching.calling', { eventId: 'z', effectId: 'e1' }),
          step('MESSAGE', 'batching.calling', 'batching.calling', { eventId: 'late', effectId: 'e1' }),
        ],
      }),
    )
    const { observationIds } = await committed(
      current(),
      commitOf(session, 3, {
        observations: [observationOf(['1'], { effectId: 'e1' })],
        inbox: [settle('e1'), claim('e2', 'summarize')],
        calls: [callOf('e1', { error: 'overloaded' }), callOf('e1')],
        trace: [step('OBSERVED', 'batching.calling', 'summarizing.calling', { effectId: 'e2' })],
      }),
    )
    await committed(
      current(),
      commitOf(session, 4, {
        summaries: [summaryOf({ effectId: 'e2' })],
        inbox: [settle('e2')],
        calls: [callOf('e2', { kind: 'summarize' })],
        trace: [
          step('SUMMARIZED', 'summarizing.calling', 'observing', { effectId: 'e2' }),
          step('SESSION_END', 'observing', 'observing', { eventId: 'q' }),
        ],
      }),
    )
    return observationIds[0] ?? 0
  }
  const stepsOf = (rows: readonly TraceEntry[]) => rows.map(({ event, from, to }) => `${event} ${from} -> ${to}`)

  describe('origin', () => {
    test('origin.leadsFromAnObservationToItsPromptEventsCallsAndTransitions', async () => {
      const origin = await current().provenance(await turn())
      expect(origin).toMatchObject({
        client: 'claude-code',
        prompt: { number: 1, text: 'fix the login', private: false },
        effectId: 'e1',
        events: [{ eventId: '1', outcome: 'observed', effectId: 'e1', attempts: 0, payload: { tool: 'Read' } }],
        calls: [
          { effectId: 'e1', error: 'overloaded', projectName: 'shop' },
          { effectId: 'e1', error: null, usage: { input: 100 }, cost: 0.25 },
        ],
      })
      expect(origin?.calls.some((call) => 'sent' in call || 'received' in call)).toBe(false)
      // The batch's end is where the summary began; what merely arrived in between is no part of it.
      expect(stepsOf(origin?.trace ?? [])).toEqual([
        'TURN_END observing -> batching.calling',
        'OBSERVED batching.calling -> summarizing.calling',
      ])
    })

    test('origin.ofWhatNobodyWasAskedAboutIsEmpty_andOfNothingIsNull', async () => {
      const { observationIds } = await committed(
        current(),
        commitOf('s', 1, { observations: [observationOf(['gone'])] }),
      )
      const nothing = { client: 'claude-code', prompt: null, events: [], effectId: null, calls: [], trace: [] }
      expect(await current().provenance(observationIds[0] ?? 0)).toEqual(nothing)
      for (const id of [0, -1, 999_999, 1.5]) expect(await current().provenance(id)).toBeNull()
    })

    test('origin.saysWhichPayloadsAreGone', async () => {
      const id = await turn()
      await current().applyRetention(KEEP_NO_PAYLOADS, NOW + 1)
      expect((await current().provenance(id))?.events).toMatchObject([{ eventId: '1', payload: null }])
    })

    test('origin.keepsToItsOwnSession', async () => {
      await turn('other')
      const id = await turn('s')
      const origin = await current().provenance(id)
      expect(origin?.calls).toHaveLength(2)
      expect(origin?.events).toMatchObject([{ session: 's' }])
      expect(origin?.trace).toHaveLength(2)
    })
  })

  describe('what became of an event', () => {
    test('eventView.followsItFromTheInboxToWhatCameOfIt', async () => {
      await committed(
        current(),
        commitOf('s', 1, {
          events: [record(toolUse('s', '1'))],
          inbox: [add(toolUse('s', '1'))],
          trace: [step('MESSAGE', 'observing', 'observing', { eventId: '1' })],
        }),
      )
      expect(await current().eventView('1', 's')).toMatchObject({
        event: { outcome: null, effectId: null, attempts: 0, payload: { id: '1', kind: 'tool_use' } },
        message: { status: 'pending' },
        observations: [],
        calls: [],
        trace: [{ event: 'MESSAGE', eventId: '1' }],
      })
      const away = step('FLUSH', 'observing', 'batching.calling', { effectId: 'e1' })
      await committed(current(), commitOf('s', 2, { inbox: [claim('e1')], calls: [callOf('e1')], trace: [away] }))
      expect(await current().eventView('1', null)).toMatchObject({
        event: { outcome: null, effectId: null },
        message: { status: 'processing', effectId: 'e1' },
        calls: [{ effectId: 'e1' }],
        trace: [{ event: 'MESSAGE' }, { event: 'FLUSH' }],
      })
      const back = step('OBSERVED', 'batching.calling', 'observing', { effectId: 'e1' })
      const made = observationOf(['1'], { effectId: 'e1' })
      await committed(current(), commitOf('s', 3, { inbox: [settle('e1')], observations: [made, made], trace: [back] }))
      expect(await current().eventView('1', null)).toMatchObject({
        event: { outcome: 'observed', effectId: 'e1', payload: { id: '1' } },
        message: null,
        observations: [{ title: 'Login fixed' }, { title: 'Login fixed' }],
        trace: [{ event: 'MESSAGE' }, { event: 'FLUSH' }, { event: 'OBSERVED' }],
      })
    })

    test('eventView.countsAttempts_andARetryStartsAfresh', async () => {
      const released = release('e1', true, 'not XML')
      const aside = failMessages('e2', 'not XML again')
      await committed(current(), accepting('s', 1, [toolUse('s', '1'), toolUse('s', '2')]))
      await committed(current(), commitOf('s', 2, { inbox: [claim('e1'), released, claim('e2', 'observe', 1), aside] }))
      expect(await current().eventView('1', 's')).toMatchObject({
        event: { outcome: 'failed', reason: 'not XML again', effectId: 'e2', attempts: 2 },
        message: { status: 'failed', attempts: 2 },
      })
      await committed(current(), commitOf('s', 3, { inbox: [retryFailed()] }))
      expect((await current().eventView('1', 's'))?.event).toMatchObject({ outcome: null, effectId: null, attempts: 0 })
      await committed(current(), commitOf('s', 4, { inbox: [claim('e3'), settle('e3')] }))
      const rows = (await current().events('s', 9)).map(({ eventId, effectId, attempts }) => ({
        eventId,
        effectId,
        attempts,
      }))
      expect(rows).toEqual([
        { eventId: '1', effectId: 'e3', attempts: 0 },
        { eventId: '2', effectId: 'e3', attempts: 1 },
      ])
    })

    test('eventView.withoutASessionIsTheNewest_andOfWhatNobodyReportedIsNull', async () => {
      for (const session of ['a', 'b']) await committed(current(), accepting(session, 1, [toolUse(session, '1')]))
      expect((await current().eventView('1', null))?.event.session).toBe('b')
      expect((await current().eventView('1', 'a'))?.event.session).toBe('a')
      expect(await current().eventView('1', 'c')).toBeNull()
      expect(await current().eventView('', null)).toBeNull()
      expect(await current().eventView(`'; DROP TABLE events --`, null)).toBeNull()
    })
  })

  describe("a session's story", () => {
    test('story.hasEveryKindInOrderWithTheEffectsThatMadeThem', async () => {
      await turn()
      const story = await current().sessionHistory('s', { trace: 100, rows: 100 })
      expect(story).toMatchObject({
        row: { session: 's', revision: 4 },
        prompts: [{ number: 1, text: 'fix the login' }],
        observationRows: [{ title: 'Login fixed', effectId: 'e1' }],
        summaryRows: [{ completed: 'fixed', effectId: 'e2' }],
        calls: [{ effectId: 'e1' }, { effectId: 'e1' }, { effectId: 'e2', kind: 'summarize' }],
        messages: [{ eventId: 'late' }],
        observations: 1,
        summaries: 1,
        traceDropped: 0,
      })
      expect(story?.trace).toHaveLength(8)
      expect(story?.outcomes).toEqual([
        { kind: 'prompt', outcome: 'noted', count: 1 },
        { kind: 'tool_use', outcome: null, count: 1 },
        { kind: 'tool_use', outcome: 'folded', count: 1 },
        { kind: 'tool_use', outcome: 'observed', count: 1 },
        { kind: 'turn_end', outcome: 'folded', count: 1 },
      ])
    })

    test('story.isBounded_andOfNobodyIsNull', async () => {
      const titled = (n: number) => observationOf([], { title: `n${n}` })
      const many = { observations: [1, 2, 3].map(titled), summaries: [summaryOf(), summaryOf()], calls: [callOf('e1')] }
      await committed(current(), commitOf('s', 1, many))
      const story = await current().sessionHistory('s', { trace: 10, rows: 2 })
      expect(story?.observationRows.map(({ title }) => title)).toEqual(['n2', 'n3'])
      expect(story).toMatchObject({ observations: 3, summaryRows: [{ effectId: 'effect' }, {}] })
      const none = { prompts: [], observationRows: [], summaryRows: [], calls: [], trace: [] }
      expect(await current().sessionHistory('s', { trace: 0, rows: 0 })).toMatchObject(none)
      expect(await current().sessionHistory('nobody', { trace: 10, rows: 10 })).toBeNull()
    })
  })

  test('quarantine.isATransitionInTheTrace', async () => {
    const first = step('PROMPT', 'init', 'observing')
    await committed(current(), commitOf('s', 1, { state: stateOf({ project: PROJECT }), trace: [first] }))
    await current().quarantine('s', 'broken', NOW + 9)
    await current().quarantine('s', 'broken still', NOW + 10)
    const view = await current().sessionView('s', 10)
    expect(view?.trace.slice(1)).toMatchObject([
      { at: NOW + 9, event: 'QUARANTINE', from: 'observing', to: 'quarantine', reason: 'broken' },
      { at: NOW + 10, event: 'QUARANTINE', from: 'quarantine', to: 'quarantine', reason: 'broken still' },
    ])
    // Retention counts it like the others.
    await current().applyRetention({ ...KEEP_NO_PAYLOADS, tracePerSession: 1 }, NOW + DAY_MS)
    expect(await current().sessionView('s', 10)).toMatchObject({ traceDropped: 2, trace: [{ reason: 'broken still' }] })
  })
}
