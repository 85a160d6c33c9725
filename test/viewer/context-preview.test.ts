import { expect, it } from 'vitest'
import { SETTINGS, type SettingInfo } from '../../src/settings/settings.ts'
import { changedSettings, optionsFromSettings } from '../../src/viewer/views/settings/context-preview.tsx'

const settings = Object.entries(SETTINGS).map(
  ([name, { rule, about, group }]): SettingInfo => ({
    name,
    about,
    group,
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

it('context preview.starts with the stored settings', () => {
  const stored = optionsFromSettings(settings)
  expect(stored.tokens).toBe(SETTINGS.CLAUDE_MEM_CONTEXT_TOKENS.rule.default)
  expect(stored.parts).toEqual(SETTINGS.CLAUDE_MEM_CONTEXT_PARTS.rule.default)
  expect(optionsFromSettings([])).toEqual({ tokens: 0, parts: [] })
})

it('context preview.saves only changed settings, in the order of the settings', () => {
  const stored = optionsFromSettings(settings)
  expect(changedSettings(stored, stored)).toEqual([])
  const parts = stored.parts.filter((part) => part !== 'story')
  expect(changedSettings(stored, { ...stored, tokens: 900, parts }).map(({ name }) => name)).toEqual([
    'CLAUDE_MEM_CONTEXT_TOKENS',
    'CLAUDE_MEM_CONTEXT_PARTS',
  ])
  expect(changedSettings(stored, { ...stored, tokens: 900 })).toEqual([
    { name: 'CLAUDE_MEM_CONTEXT_TOKENS', value: '900' },
  ])
})
