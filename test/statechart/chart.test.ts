import { describe, expect, it } from 'vitest'
import { inside, outline } from '../../src/statechart/chart.ts'
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

  it('of a region has its states without its name, and what all of them handle', () => {
    expect(CHARTS.turn.states.map(({ id }) => id)).toEqual(['none', 'open', 'private'])
    expect(CHARTS.turn.everywhere).toEqual(['MESSAGE', 'TURN_END', 'SUMMARIZE'])
  })

  it('says of every state what it means', () => {
    for (const { states } of Object.values(CHARTS)) {
      for (const { id, description } of states) expect(description, id).toMatch(/^[A-Z].+\.$/)
    }
  })

  it('rules 3 and 4: all work leads back to `observing`, and the states that work are the same inside', () => {
    const away = outline(CHARTS.session).edges.filter(({ from }) => from !== 'observing')
    expect(new Set(away.map(({ to }) => to))).toEqual(new Set(['observing']))
    const [batching, ...others] = ['batching', 'summarizing', 'compacting'].map((id) =>
      JSON.stringify(inside(CHARTS.session, id))
        .replaceAll(id, 'working')
        .replaceAll(/OBSERVED|SUMMARIZED|COMPACTED/g, 'RESULT'),
    )
    expect(others).toEqual([batching, batching])
  })
})
