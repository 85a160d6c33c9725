import { describe, expect, it } from 'vitest'
import { didYouMean, distance, nearest } from '../../src/cli/suggest.ts'

const COMMANDS = ['start', 'stop', 'restart', 'status', 'inspect', 'queue', 'hook']

describe('a mistyped name', () => {
  it.each([
    ['statsu', 'status'],
    ['inspct', 'inspect'],
    ['sotp', 'stop'],
    ['QUEUE', 'queue'],
    ['insp', 'inspect'],
    ['res', 'restart'],
  ])('%s is taken for %s', (typed, meant) => {
    expect(nearest(typed, COMMANDS)).toBe(meant)
  })

  it('that is near nothing is left alone', () => {
    expect(nearest('frobnicate', COMMANDS)).toBeNull()
    expect(nearest('x', COMMANDS)).toBeNull()
    expect(didYouMean('x', COMMANDS, 'see help')).toBe('; see help')
  })

  it('counts edits, a swap of neighbours as one', () => {
    expect(distance('', 'abc')).toBe(3)
    expect(distance('kitten', 'sitting')).toBe(3)
    expect(distance('ab', 'ba')).toBe(1)
  })
})
