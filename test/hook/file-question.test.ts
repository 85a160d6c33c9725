import { mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildHook, Door, fail, Hook, tell } from './hook-process.ts'

const PLAIN = '{"continue":true,"suppressOutput":true}\n'
const ON = { CLAUDE_MEM_FILE_CONTEXT: '1' }
let dist: string
let hook: Hook
let door: Door | null = null
let file: string

beforeAll(async () => {
  dist = await buildHook()
})
beforeEach(() => {
  hook = new Hook(dist)
  file = join(hook.cwd, 'total.ts')
  writeFileSync(file, 'export const total = 1')
  utimesSync(file, 1_700_000_000, 1_700_000_000.25)
})
afterEach(async () => {
  await door?.close()
  door = null
})

const reading = (input: unknown, more: Record<string, unknown> = {}) => ({
  hook_event_name: 'PreToolUse',
  tool_name: 'Read',
  tool_use_id: 'toolu_1',
  tool_input: input,
  ...more,
})
const knows = async (context: string): Promise<Door> => {
  door = await Door.open(hook.dataDir, (request) => tell(request, context))
  return door
}

describe('before a file is read', () => {
  it('adds what is known about it, without a permission decision', async () => {
    const { questions, events } = await knows('noted')
    const ran = await hook.run(reading({ file_path: file }), ON)
    expect({ ...ran, stdout: JSON.parse(ran.stdout) }).toEqual({
      code: 0,
      stderr: '',
      stdout: {
        continue: true,
        suppressOutput: true,
        hookSpecificOutput: { hookEventName: 'PreToolUse', additionalContext: 'noted' },
      },
    })
    expect(questions).toMatchObject([
      {
        session: 'session-0001',
        project: { key: `dir:${hook.cwd}` },
        cwd: hook.cwd,
        file,
        changedAt: Math.floor(statSync(file).mtimeMs),
      },
    ])
    expect(events).toEqual([])
    await hook.run(reading({ file_path: 'total.ts' }), ON)
    expect(questions[1]).toMatchObject({ file })
  })

  it('sends no query unless enabled and the file exists', async () => {
    const { questions } = await knows('noted')
    mkdirSync(join(hook.cwd, 'folder'))
    expect((await hook.run(reading({ file_path: file }))).stdout).toBe(PLAIN)
    const nothing = [
      reading({ file_path: join(hook.cwd, 'missing.ts') }),
      reading({ file_path: join(file, 'below') }),
      reading({ file_path: join(hook.cwd, 'folder') }),
      reading({ file_path: 7 }),
      reading({}),
      reading(null),
      reading({ file_path: file }, { tool_name: 'Bash' }),
      reading({ file_path: file }, { session_id: '' }),
    ]
    for (const payload of nothing) expect((await hook.run(payload, ON)).stdout).toBe(PLAIN)
    const excluded = { ...ON, CLAUDE_MEM_EXCLUDED_PROJECTS: hook.cwd }
    expect((await hook.run(reading({ file_path: file }), excluded)).stdout).toBe(PLAIN)
    expect(questions).toEqual([])
  })

  it('adds nothing during a private turn', async () => {
    const { questions } = await knows('noted')
    await hook.run({ hook_event_name: 'UserPromptSubmit', prompt: '<private>mine</private>' })
    expect((await hook.run(reading({ file_path: file }), ON)).stdout).toBe(PLAIN)
    expect(questions).toEqual([])
  })

  it('answers at once if nothing is known or no daemon answers; spools and starts nothing', async () => {
    expect((await hook.run(reading({ file_path: file }), ON)).stdout).toBe(PLAIN)
    await knows('')
    expect((await hook.run(reading({ file_path: file }), ON)).stdout).toBe(PLAIN)
    await door?.close()
    door = await Door.open(hook.dataDir, ({ response }) => fail(response, 'bad_request'))
    expect((await hook.run(reading({ file_path: file }), ON)).stdout).toBe(PLAIN)
    await door.close()
    door = await Door.open(hook.dataDir, () => {})
    expect((await hook.run(reading({ file_path: file }), ON)).stdout).toBe(PLAIN)
    expect(hook.spooled()).toEqual([])
    expect(hook.wasStarted()).toBe(false)
  })
})
