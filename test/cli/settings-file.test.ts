import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { UsageError } from '../../src/cli/failure.ts'
import { setSetting, settingNamed, unsetSetting } from '../../src/cli/settings-file.ts'
import { loadSettings } from '../../src/settings.ts'

let dataDir: string
const file = () => join(dataDir, 'settings.json')
const content = () => JSON.parse(readFileSync(file(), 'utf8'))

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'claude-mem-cli-'))
})
afterEach(() => rmSync(dataDir, { recursive: true, force: true }))

describe('the name of a setting', () => {
  it.each(['CLAUDE_MEM_BATCH_MAX_SIZE', 'batch-max-size', 'BATCH_MAX_SIZE', 'claude_mem_batch_max_size'])(
    'may be %s',
    (name) => {
      expect(settingNamed(name)).toBe('CLAUDE_MEM_BATCH_MAX_SIZE')
    },
  )

  it.each(['CLAUDE_CODE_PATH', 'claude-code-path'])('may be %s, which has no prefix of ours', (name) => {
    expect(settingNamed(name)).toBe('CLAUDE_CODE_PATH')
  })

  it('that is unknown brings a suggestion', () => {
    expect(() => settingNamed('batch-max-sise')).toThrow('did you mean CLAUDE_MEM_BATCH_MAX_SIZE?')
    expect(() => settingNamed('nonsense')).toThrow(UsageError)
  })
})

describe('settings.json', () => {
  it('is made with the value that holds from then on', () => {
    setSetting(dataDir, 'CLAUDE_MEM_BATCH_MAX_SIZE', '50')
    setSetting(dataDir, 'CLAUDE_MEM_SKIP_TOOLS', 'Glob, Grep')
    expect(content()).toEqual({ CLAUDE_MEM_BATCH_MAX_SIZE: 50, CLAUDE_MEM_SKIP_TOOLS: ['Glob', 'Grep'] })
    expect(loadSettings(dataDir, {}).values.CLAUDE_MEM_BATCH_MAX_SIZE).toBe(50)
    if (process.platform !== 'win32') expect(statSync(file()).mode & 0o777).toBe(0o600)
    expect(readdirSync(dataDir)).toEqual(['settings.json'])
  })

  it('keeps what else is in it, known or not', () => {
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

  it.skipIf(process.platform === 'win32')('is closed to others with the first key that is put into it', () => {
    writeFileSync(file(), '{}')
    chmodSync(file(), 0o644)
    setSetting(dataDir, 'CLAUDE_MEM_ANTHROPIC_API_KEY', 'sk-ant-0123456789abcdef')
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    expect(loadSettings(dataDir, {}).problems).toEqual([])
  })

  it('is not touched by a value that is not valid', () => {
    expect(() => setSetting(dataDir, 'CLAUDE_MEM_BATCH_MAX_SIZE', 'many')).toThrow('a whole number from 1 to 500')
    expect(readdirSync(dataDir)).toEqual([])
  })

  it('is left to its owner when it cannot be understood', () => {
    writeFileSync(file(), '{ broken')
    expect(() => setSetting(dataDir, 'CLAUDE_MEM_BATCH_MAX_SIZE', '5')).toThrow('repair or remove it')
    expect(readFileSync(file(), 'utf8')).toBe('{ broken')
  })

  it.skipIf(process.platform === 'win32')('stays a link where it is one', () => {
    const elsewhere = join(dataDir, 'dotfiles.json')
    writeFileSync(elsewhere, '{}')
    symlinkSync(elsewhere, file())
    setSetting(dataDir, 'CLAUDE_MEM_KEEP_LOGS', '3')
    expect(JSON.parse(readFileSync(elsewhere, 'utf8'))).toEqual({ CLAUDE_MEM_KEEP_LOGS: 3 })
  })
})
