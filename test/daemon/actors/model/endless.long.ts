/** A session without end: the observer's conversation stays within its limit, also over restarts. */
import { afterEach, expect, test } from 'vitest'
import { UNKNOWN_OUTCOME } from '../../../../src/domain/model-call.ts'
import { events, POLICY } from '../harness.ts'
import { ModelPlace } from './place.ts'

let place: ModelPlace
afterEach(() => place.dispose())

const COMPACT_TOKENS = 4_000
/** What the model can hold, answer included: anything above is refused as "too long". */
const WINDOW_TOKENS = 12_000
const TOOLS = 10_000
const TOOLS_A_TURN = 500

test('ten thousand tool uses never exceed the context, and every one is told once, over restarts', async () => {
  place = await ModelPlace.make('openrouter', {}, { contextTokens: WINDOW_TOKENS })
  const { harness } = place
  harness.policy = { ...POLICY, batchMaxSize: 50, compactTokens: COMPACT_TOKENS }
  harness.observer = place.observerWith()
  for (let turn = 0; turn < TOOLS / TOOLS_A_TURN; turn++) {
    await harness.supervisor.accept(events.prompt('s', `p${turn}`, `request ${turn}`))
    const ids = Array.from({ length: TOOLS_A_TURN }, (_, i) => `t${turn * TOOLS_A_TURN + i}`)
    await Promise.all(ids.map((id) => harness.supervisor.accept(events.tool('s', id))))
    await harness.supervisor.accept(events.turnEnd('s', `end${turn}`))
    // In the middle of its calls the process dies; the next one goes on from the rows.
    if (turn % 5 === 2) await harness.crash()
    await harness.settle(60_000)
  }
  const told = Object.values(await place.told('s'))
  expect(told).toHaveLength(TOOLS)
  expect(told.every((count) => count === 1)).toBe(true)
  const calls = await place.calls('s')
  // Calls that a crash cut off are in the account, with an estimate.
  expect(calls.filter(({ error }) => error !== null && error !== UNKNOWN_OUTCOME)).toEqual([])
  const largest = Math.max(...calls.map(({ usage }) => usage.input + usage.cacheRead + usage.cacheWrite + usage.output))
  expect(largest).toBeLessThan(WINDOW_TOKENS)
  const row = await harness.store.session('s')
  expect(row?.generation).toBeGreaterThan(20)
  // The digest carries what the generations before had found.
  const [opening] = await harness.store.observerTurns('s', row?.generation ?? 0)
  expect(opening?.content).toContain('request 19')
  expect(opening?.content).toContain('left out)')
}, 120_000)
