import { describe, expect, it } from 'vitest'
import type { SettingInfo } from '../../src/channel/protocol.ts'
import { SETTING_NAMES, SETTINGS } from '../../src/settings.ts'
import { found, groupOf, inGroups, nameOf, valueText, wordsOf } from '../../src/viewer/views/settings/groups.ts'

function info(name: string, about = ''): SettingInfo {
  return {
    name,
    about,
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
  it('have a place for every setting that there is', () => {
    expect(SETTING_NAMES.filter((name) => groupOf(name) === 'Other')).toEqual([])
    expect(inGroups(SETTING_NAMES.map((name) => info(name))).flatMap(({ settings }) => settings)).toHaveLength(
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
    ['CLAUDE_MEM_KEEP_LOGS', 'Keeping'],
    ['CLAUDE_MEM_LOG_LEVEL', 'Running'],
    ['CLAUDE_MEM_SOMETHING_NEW', 'Other'],
  ])('%s is about %s', (name, group) => expect(groupOf(name)).toBe(group))

  it('are left out where they are empty', () => {
    expect(inGroups([info('CLAUDE_MEM_KEEP_LOGS')]).map(({ name }) => name)).toEqual(['Keeping'])
    expect(inGroups([])).toEqual([])
  })
})

it('a name is said in words, with its unit beside it', () => {
  expect(nameOf('CLAUDE_MEM_KEEP_PAYLOADS_DAYS')).toEqual({ label: 'Keep payloads', unit: 'days' })
  expect(nameOf('CLAUDE_MEM_ANTHROPIC_API_KEY')).toEqual({ label: 'Anthropic API key', unit: null })
  expect(nameOf('CLAUDE_MEM_BATCHING_ENABLED')).toEqual({ label: 'Batching', unit: null })
  expect(nameOf('CLAUDE_MEM_CONTEXT_TOKENS')).toEqual({ label: 'Context tokens', unit: null })
  expect(nameOf('TOKENS')).toEqual({ label: 'Tokens', unit: null })
})

it('is found by all of its words, wherever they stand', () => {
  const setting = info('CLAUDE_MEM_DAILY_BUDGET_USD', 'US dollars in a day')
  expect(['budget', 'DOLLARS day', '', '  '].every((query) => found(setting, query))).toBe(true)
  expect(found(setting, 'budget euros')).toBe(false)
})

it('knows the words of the lists that take only some', () => {
  for (const name of ['CLAUDE_MEM_CONTEXT_PARTS', 'CLAUDE_MEM_CONTEXT_TYPES'] as const) {
    expect(wordsOf(name)).toEqual(SETTINGS[name].rule.default)
  }
  expect(wordsOf('CLAUDE_MEM_SKIP_TOOLS')).toBeNull()
})

it('says values as people do', () => {
  expect([true, 0.05, '', [], ['a', 'b']].map(valueText)).toEqual(['on', '0.05', 'empty', 'empty', 'a, b'])
})
