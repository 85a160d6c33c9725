import { describe, expect, it } from 'vitest'
import { CHARTS } from '../../src/statechart/machine-charts.ts'

describe('chart', () => {
  it('lists parents before their children, and the initial states', () => {
    expect(CHARTS.session.states.map(({ id }) => id).slice(0, 5)).toEqual([
      'init',
      'observing',
      'batching',
      'batching.calling',
      'batching.waiting',
    ])
    expect(CHARTS.session.states.filter(({ initial }) => initial).map(({ id }) => id)).toEqual([
      'init',
      'batching.calling',
      'summarizing.calling',
      'compacting.calling',
    ])
  })

  it('contains eventless transitions', () => {
    expect(CHARTS.session.edges).toContainEqual({
      from: 'observing',
      to: 'batching',
      event: '',
      guard: 'batch due',
      actions: [],
    })
  })
})
