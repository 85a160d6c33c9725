import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { UsageError } from '../../src/cli/arguments.ts'
import { parseSettingName, setSetting } from '../../src/cli/commands/config.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import { unsetSetting } from '../../src/settings/settings-file.ts'
import { temporaryDirectory } from '../support/directories.ts'

let dataDir: string
const file = () => join(dataDir, 'settings.json')
const content = () => JSON.parse(readFileSync(file(), 'utf8'))

beforeEach(() => {
  dataDir = temporaryDirectory('cli')
})
describe('config.setting name', () => {
  it.each(['CLAUDE_MEM_BATCH_MAX_SIZE', 'batch-max-size', 'BATCH_MAX_SIZE', 'claude_mem_batch_max_size'])(
    'accepts %s',
    (name) => {
      expect(parseSettingName(name)).toBe('CLAUDE_MEM_BATCH_MAX_SIZE')
    },
  )

  it.each(['CLAUDE_CODE_PATH', 'claude-code-path'])('accepts %s, which has no CLAUDE_MEM_ prefix', (name) => {
    expect(parseSettingName(name)).toBe('CLAUDE_CODE_PATH')
  })

  it('unknown suggests the nearest name', () => {
    expect(() => parseSettingName('batch-max-sise')).toThrow('did you mean CLAUDE_MEM_BATCH_MAX_SIZE?')
    expect(() => parseSettingName('nonsense')).toThrow(UsageError)
  })
})

describe('settings.json', () => {
  it('is created with the value, which is in effect afterwards', () => {
    setSetting(dataDir, 'CLAUDE_MEM_BATCH_MAX_SIZE', '50')
    setSetting(dataDir, 'CLAUDE_MEM_SKIP_TOOLS', 'Glob, Grep')
    expect(content()).toEqual({ CLAUDE_MEM_BATCH_MAX_SIZE: 50, CLAUDE_MEM_SKIP_TOOLS: ['Glob', 'Grep'] })
    expect(loadSettings(dataDir, {}).values.CLAUDE_MEM_BATCH_MAX_SIZE).toBe(50)
    if (process.platform !== 'win32') expect(statSync(file()).mode & 0o777).toBe(0o600)
    expect(readdirSync(dataDir)).toEqual(['settings.json'])
  })

  it('keeps its other entries, known or unknown', () => {
    writeFileSync(file(), '\uFEFF{"CLAUDE_MEM_LOG_LEVEL":"debug","SOMETHING":{"else":1}}')
    setSetting(dataDir, 'CLAUDE_MEM_BATCHING_ENABLED', 'off')
    expect(content()).toEqual({
      CLAUDE_MEM_LOG_LEVEL: 'debug',
      SOMETHING: { else: 1 },
      CLAUDE_MEM_BATCHING_ENABLED: false,
    })
    expect(unsetSetting(dataDir, 'CLAUDE_MEM_LOG_LEVEL')).toBe(true)
    expect(unsetSetting(dataDir, 'CLAUDE_MEM_LOG_LEVEL')).toBe(false)
    expect(content()).toEqual({ SOMETHING: { else: 1 }, CLAUDE_MEM_BATCHING_ENABLED: false })
  })

  it.skipIf(process.platform === 'win32')('becomes private when the first secret is written', () => {
    writeFileSync(file(), '{}')
    chmodSync(file(), 0o644)
    setSetting(dataDir, 'CLAUDE_MEM_ANTHROPIC_API_KEY', 'sk-ant-0123456789abcdef')
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    expect(loadSettings(dataDir, {}).problems).toEqual([])
  })

  it('is not changed by an invalid value', () => {
    expect(() => setSetting(dataDir, 'CLAUDE_MEM_BATCH_MAX_SIZE', 'many')).toThrow('a whole number from 1 to 500')
    expect(readdirSync(dataDir)).toEqual([])
  })

  it('is not changed if it cannot be parsed', () => {
    writeFileSync(file(), '{ broken')
    expect(() => setSetting(dataDir, 'CLAUDE_MEM_BATCH_MAX_SIZE', '5')).toThrow('repair or remove it')
    expect(readFileSync(file(), 'utf8')).toBe('{ broken')
  })

  it.skipIf(process.platform === 'win32')('stays a symbolic link', () => {
    const elsewhere = join(dataDir, 'dotfiles.json')
    writeFileSync(elsewhere, '{}')
    symlinkSync(elsewhere, file())
    setSetting(dataDir, 'CLAUDE_MEM_KEEP_LOGS', '3')
    expect(JSON.parse(readFileSync(elsewhere, 'utf8'))).toEqual({ CLAUDE_MEM_KEEP_LOGS: 3 })
  })
})
