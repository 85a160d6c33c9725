import { describe, expect, it } from 'vitest'
import { CHARTS } from '../../src/chart/charts.ts'
import { stepsOf } from '../../src/chart/way.ts'

const states = (taken: Parameters<typeof stepsOf>[1]) => stepsOf(CHARTS.session, taken).map(({ state }) => state)

describe('the way of a transition', () => {
  it('goes by the hub, where the next thing to do is chosen', () => {
    expect(states({ from: 'batching.calling', to: 'summarizing.calling', event: 'OBSERVED' })).toEqual([
      'observing',
      'summarizing.calling',
    ])
    expect(states({ from: 'batching.calling', to: 'batching.calling', event: 'OBSERVED' })).toEqual([
      'observing',
      'batching.calling',
    ])
  })

  it('follows what an event that is taken everywhere sets off', () => {
    const [step, ...more] = stepsOf(CHARTS.session, { from: 'observing', to: 'batching.calling', event: 'TURN_END' })
    expect(more).toEqual([])
    expect(step).toMatchObject({
      state: 'batching.calling',
      edge: { from: 'observing', to: 'batching', guard: 'batch due' },
    })
  })

  it('takes the arrow of its event where there is one', () => {
    expect(states({ from: 'init', to: 'observing', event: 'PROMPT' })).toEqual(['observing'])
    expect(states({ from: 'init', to: 'closed', event: 'SESSION_END' })).toEqual(['observing', 'closed'])
    expect(states({ from: 'closed', to: 'observing', event: 'REOPEN' })).toEqual(['observing'])
  })

  it('stays where nothing moved', () => {
    expect(stepsOf(CHARTS.session, { from: 'observing', to: 'observing', event: 'MESSAGE' })).toEqual([
      { state: 'observing', edge: null, event: 'MESSAGE' },
    ])
  })

  it('shows where it ended even if the chart does not know the way', () => {
    for (const [from, to] of [
      ['gone', 'observing'],
      ['observing', 'gone.further'],
      ['init', 'compacting.waiting'],
    ] as const) {
      expect(states({ from, to, event: 'NEVER_HEARD_OF' }).at(-1)).toBe(to)
    }
  })
})
