import { expect, it } from 'vitest'
import type { SettingInfo } from '../../src/channel/protocol.ts'
import { SETTINGS } from '../../src/settings.ts'
import { asSet, SLIDERS, toKeep, withPart, withType } from '../../src/viewer/views/settings/wish.ts'

const settings = Object.entries(SETTINGS).map(
  ([name, { rule, about }]): SettingInfo => ({
    name,
    about,
    value: rule.default,
    default: rule.default,
    source: 'default',
    kind: rule.kind,
    secret: false,
    min: null,
    max: null,
    choices: null,
    holds: 'now',
    locked: null,
  }),
)

it('a preview starts from what is set', () => {
  const set = asSet(settings)
  expect(set.tokens).toBe(SETTINGS.CLAUDE_MEM_CONTEXT_TOKENS.rule.default)
  expect(set.parts).toEqual(SETTINGS.CLAUDE_MEM_CONTEXT_PARTS.rule.default)
  expect(SLIDERS.every(({ setting }) => setting in SETTINGS)).toBe(true)
  expect(asSet([])).toEqual({ tokens: 0, observations: 0, summaries: 0, parts: [], types: [] })
})

it('only what was moved is written down, in the order that the settings have', () => {
  const set = asSet(settings)
  expect(toKeep(set, set)).toEqual([])
  const less = { ...set, tokens: 900, ...withPart(set, 'legend', false), ...withType(set, 'bugfix', false) }
  expect(toKeep(set, less).map(({ name }) => name)).toEqual([
    'CLAUDE_MEM_CONTEXT_TOKENS',
    'CLAUDE_MEM_CONTEXT_PARTS',
    'CLAUDE_MEM_CONTEXT_TYPES',
  ])
  expect(toKeep(set, { ...less, ...withPart(less, 'legend', true), ...withType(less, 'bugfix', true) })).toEqual([
    { name: 'CLAUDE_MEM_CONTEXT_TOKENS', value: '900' },
  ])
})
