import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { createMachine, setup } from 'xstate'
import { machineChart } from '../../src/statechart/chart.ts'
import { machineDefinition, machineSource, regionDefinition } from '../../src/statechart/export.ts'
import { CHARTS, MACHINE_CHARTS, MACHINES, type MachineName } from '../../src/statechart/machine-charts.ts'

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
    const machine = evaluated(source)
    const charts =
      name === 'session' ? ['life', 'turn'].map((region) => machineChart(machine, region)) : [machineChart(machine)]
    expect(charts).toEqual(MACHINE_CHARTS[name])
  })

  it('keeps entry actions and drops the context', () => {
    expect(machineDefinition(MACHINES.session)).toMatchObject({
      id: 'session',
      states: { life: { states: { batching: { states: { calling: { entry: 'startBatch' } } } } } },
    })
    expect(machineDefinition(MACHINES.session)).not.toHaveProperty('context')
  })

  it('of a region is a machine of its own', () => {
    const life = machineChart(createMachine(JSON.parse(JSON.stringify(regionDefinition(MACHINES.session, 'life')))))
    expect({ ...life, id: 'life' }).toEqual(CHARTS.session)
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
