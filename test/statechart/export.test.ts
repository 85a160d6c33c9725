import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { createMachine, setup } from 'xstate'
import { machineChart } from '../../src/statechart/chart.ts'
import { machineDefinition, machineSource } from '../../src/statechart/export.ts'
import { CHARTS, MACHINES, type MachineName } from '../../src/statechart/machine-charts.ts'

/** Evaluates exported source, as an editor does. */
function evaluated(source: string) {
  const [, config] = /= createMachine\(([\s\S]*)\)\n$/.exec(source) ?? []
  return createMachine(JSON.parse(JSON.stringify(runInNewContext(`(${config})`))))
}

const names: MachineName[] = ['session', 'supervisor']

describe('exported definition', () => {
  it.each(names)('%s: creates a machine with the same chart', (name) => {
    const source = machineSource(MACHINES[name])
    expect(source.startsWith("import { createMachine } from 'xstate'\n")).toBe(true)
    expect(source).not.toMatch(/=>|function/)
    expect(machineChart(evaluated(source))).toEqual(CHARTS[name])
  })

  it('keeps entry actions and drops the context', () => {
    expect(machineDefinition(MACHINES.session)).toMatchObject({
      id: 'session',
      states: { batching: { states: { calling: { entry: 'startBatch' } } } },
    })
    expect(machineDefinition(MACHINES.session)).not.toHaveProperty('context')
  })

  it('quotes names that are not identifiers', () => {
    const odd = setup({ guards: { 'it\'s "so"': () => true } }).createMachine({
      id: 'odd',
      initial: 'a-b',
      states: { 'a-b': { on: { 'x.y': { target: 'c', guard: 'it\'s "so"' } } }, c: { type: 'final' } },
    })
    expect(machineChart(evaluated(machineSource(odd)))).toEqual(machineChart(odd))
  })
})
