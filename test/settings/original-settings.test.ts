/** The original claude-mem has the same data directory: its settings are not ours. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { originalNotes } from '../../src/cli/commands/install.ts'
import { loadSettings, OWN_SETTINGS_FILE, settingsFileName } from '../../src/settings/settings.ts'
import { writeSetting } from '../../src/settings/settings-file.ts'
import { temporaryDirectory } from '../support/directories.ts'

const ORIGINAL = JSON.stringify({
  CLAUDE_MEM_MODEL: 'claude-sonnet-4-5',
  CLAUDE_MEM_CONTEXT_OBSERVATIONS: '50',
  CLAUDE_MEM_WORKER_PORT: '4711',
  CLAUDE_MEM_PROVIDER: 'claude',
  CLAUDE_MEM_DATA_DIR: '/home/me/.claude-mem',
})

let directory: string
const write = (name: string, text: string) => writeFileSync(join(directory, name), text)
beforeEach(() => {
  directory = temporaryDirectory('original')
})

describe("the original's settings.json", () => {
  it('is neither read nor changed, with its database beside it', () => {
    write('claude-mem.db', '')
    write('settings.json', ORIGINAL)
    const { sources, problems } = loadSettings(directory, {})
    expect([new Set(Object.values(sources)), problems]).toEqual([new Set(['default']), []])
    writeSetting(directory, 'CLAUDE_MEM_BATCH_MAX_SIZE', 7)
    expect(readFileSync(join(directory, 'settings.json'), 'utf8')).toBe(ORIGINAL)
    expect(loadSettings(directory, {}).values.CLAUDE_MEM_BATCH_MAX_SIZE).toBe(7)
    expect(settingsFileName(directory)).toBe(OWN_SETTINGS_FILE)
  })

  it('is recognised in the nested form of older versions too', () => {
    write('claude-mem.db', '')
    write('settings.json', '{"env":{"CLAUDE_MEM_MODEL":"claude-haiku-4-5"}}')
    expect(loadSettings(directory, {}).problems).toEqual([])
  })

  it.each([
    ['our own settings beside its database', 'claude-mem.db', '{"CLAUDE_MEM_BATCH_MAX_SIZE": 5}'],
    ['a mistyped name without its database', 'db.sqlite', '{"CLAUDE_MEM_BATCH_MAX_SIZE": 5, "CLAUDE_MEM_MODE": "x"}'],
    ['a damaged file', 'claude-mem.db', '{'],
  ])('is not taken for it: %s', (_, database, text) => {
    write(database, '')
    write('settings.json', text)
    expect(settingsFileName(directory)).toBe('settings.json')
  })

  it('its memory is offered for import', () => {
    expect(originalNotes(directory)).toEqual([])
    write('claude-mem.db', '')
    write('settings.json', ORIGINAL)
    expect(originalNotes(directory)).toEqual([
      expect.stringContaining(`claude-mem import ${join(directory, 'claude-mem.db')}`),
      expect.stringContaining(OWN_SETTINGS_FILE),
    ])
  })
})
