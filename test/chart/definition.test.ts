import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { createMachine, setup } from 'xstate'
import { chartOf } from '../../src/chart/chart.ts'
import { CHARTS, MACHINES, type MachineName } from '../../src/chart/charts.ts'
import { definitionOf, sourceOf } from '../../src/chart/definition.ts'

/** What the exported source makes of itself, as an editor that reads it would. */
function evaluated(source: string) {
  const [, config] = /= createMachine\(([\s\S]*)\)\n$/.exec(source) ?? []
  return createMachine(JSON.parse(JSON.stringify(runInNewContext(`(${config})`))))
}

const names: MachineName[] = ['session', 'supervisor']

describe('an exported definition', () => {
  it.each(names)('of the %s machine makes a machine with the same chart', (name) => {
    const source = sourceOf(MACHINES[name])
    expect(source.startsWith("import { createMachine } from 'xstate'\n")).toBe(true)
    expect(source).not.toMatch(/=>|function/)
    expect(chartOf(evaluated(source))).toEqual(CHARTS[name])
  })

  it('keeps what a state does on its way in', () => {
    expect(definitionOf(MACHINES.session)).toMatchObject({
      id: 'session',
      states: { batching: { states: { calling: { entry: 'startBatch' } } } },
    })
    expect(definitionOf(MACHINES.session)).not.toHaveProperty('context')
  })

  it('survives names that are no identifiers', () => {
    const odd = setup({ guards: { 'it\'s "so"': () => true } }).createMachine({
      id: 'odd',
      initial: 'a-b',
      states: { 'a-b': { on: { 'x.y': { target: 'c', guard: 'it\'s "so"' } } }, c: { type: 'final' } },
    })
    expect(chartOf(evaluated(sourceOf(odd)))).toEqual(chartOf(odd))
  })
})

describe('a chart', () => {
  it('has parents before their children, and what each starts in', () => {
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

  it('has arrows that are taken by themselves', () => {
    expect(CHARTS.session.edges).toContainEqual({
      from: 'observing',
      to: 'batching',
      event: '',
      guard: 'batch due',
      actions: [],
    })
  })
})
