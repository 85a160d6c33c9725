import { describe, expect, it } from 'vitest'
import { SETTING_NAMES, SETTINGS, type SettingInfo, type SettingName } from '../../src/settings/settings.ts'
import {
  groupSettings,
  listChoices,
  settingLabel,
  settingMatches,
  settingValueText,
} from '../../src/viewer/views/settings/setting-groups.ts'

function info(name: SettingName, about = ''): SettingInfo {
  return {
    name,
    about,
    group: SETTINGS[name].group,
    value: '',
    default: '',
    source: 'default',
    kind: 'text',
    secret: false,
    min: null,
    max: null,
    choices: null,
    holds: 'now',
    locked: null,
  }
}

describe('groups of settings', () => {
  it('contain every setting', () => {
    expect(groupSettings(SETTING_NAMES.map((name) => info(name))).flatMap(({ settings }) => settings)).toHaveLength(
      SETTING_NAMES.length,
    )
  })

  it.each([
    ['CLAUDE_MEM_OPENROUTER_BASE_URL', 'Observer'],
    ['CLAUDE_MEM_PRICES', 'Budget'],
    ['CLAUDE_MEM_FILE_CONTEXT', 'Context'],
    ['CLAUDE_MEM_FILES_ROWS', 'Files'],
    ['CLAUDE_MEM_VECTOR_INDEX_FROM', 'Search'],
    ['CLAUDE_MEM_SKIP_TOOLS', 'Privacy'],
    ['CLAUDE_MEM_KEEP_LOGS', 'Retention'],
    ['CLAUDE_MEM_LOG_LEVEL', 'Daemon'],
  ] as const)('%s is in the group %s', (name, group) =>
    expect(groupSettings([info(name)]).map(({ name: found }) => found)).toEqual([group]),
  )

  it('are omitted if they are empty', () => {
    expect(groupSettings([info('CLAUDE_MEM_KEEP_LOGS')]).map(({ name }) => name)).toEqual(['Retention'])
    expect(groupSettings([])).toEqual([])
  })
})

it('setting label.is made from the name, with the unit separate', () => {
  expect(settingLabel('CLAUDE_MEM_KEEP_PAYLOADS_DAYS')).toEqual({ label: 'Keep payloads', unit: 'days' })
  expect(settingLabel('CLAUDE_MEM_ANTHROPIC_API_KEY')).toEqual({ label: 'Anthropic API key', unit: null })
  expect(settingLabel('CLAUDE_MEM_BATCHING_ENABLED')).toEqual({ label: 'Batching', unit: null })
  expect(settingLabel('CLAUDE_MEM_CONTEXT_TOKENS')).toEqual({ label: 'Context tokens', unit: null })
  expect(settingLabel('TOKENS')).toEqual({ label: 'Tokens', unit: null })
})

it('setting search.needs all words, in any field', () => {
  const setting = info('CLAUDE_MEM_DAILY_BUDGET_USD', 'US dollars in a day')
  expect(['budget', 'DOLLARS day', '', '  '].every((query) => settingMatches(setting, query))).toBe(true)
  expect(settingMatches(setting, 'budget euros')).toBe(false)
})

it('list choices.are the allowed items of a list setting', () => {
  const name = 'CLAUDE_MEM_CONTEXT_PARTS'
  expect(listChoices(name)).toEqual(SETTINGS[name].rule.default)
  expect(listChoices('CLAUDE_MEM_SKIP_TOOLS')).toBeNull()
})

it('setting value text.is readable', () => {
  expect([true, 0.05, '', [], ['a', 'b']].map(settingValueText)).toEqual(['on', '0.05', 'empty', 'empty', 'a, b'])
})
