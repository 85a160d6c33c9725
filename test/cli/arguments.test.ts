import { describe, expect, it } from 'vitest'
import { didYouMean, editDistance, nearestName } from '../../src/cli/arguments.ts'

const COMMANDS = ['start', 'stop', 'restart', 'status', 'inspect', 'queue', 'hook']

describe('nearestName', () => {
  it.each([
    ['statsu', 'status'],
    ['inspct', 'inspect'],
    ['sotp', 'stop'],
    ['QUEUE', 'queue'],
    ['insp', 'inspect'],
    ['res', 'restart'],
  ])('suggests for %s: %s', (typed, meant) => {
    expect(nearestName(typed, COMMANDS)).toBe(meant)
  })

  it('suggests nothing for a word that is not similar to a name', () => {
    expect(nearestName('frobnicate', COMMANDS)).toBeNull()
    expect(nearestName('x', COMMANDS)).toBeNull()
    expect(didYouMean('x', COMMANDS, 'see help')).toBe('; see help')
  })

  it('counts edits, with a swap of neighbours as one', () => {
    expect(editDistance('', 'abc')).toBe(3)
    expect(editDistance('kitten', 'sitting')).toBe(3)
    expect(editDistance('ab', 'ba')).toBe(1)
  })
})
