import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Program } from './program.ts'

let program: Program
let shop: string

beforeAll(async () => {
  program = await Program.build()
  shop = join(program.dataDir, 'work', 'shop')
  mkdirSync(shop, { recursive: true })
}, 60_000)
afterAll(() => program.end(), 60_000)

const turn = () => ({ cwd: shop, prompt_id: 'turn-1' })

describe('claude-mem context', () => {
  it('says so when nothing is known', async () => {
    const { code, stdout, stderr } = await program.run(['context', '--project', shop])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(/^Nothing is known about .*shop yet: a session gets no context\.\n$/)
    expect(await program.json('context', '--project', shop)).toMatchObject({ running: false, tokens: 0, context: '' })
  })

  it('prints what a session gets, with the daemon and without', async () => {
    await program.json('start')
    await program.hook({ ...turn(), hook_event_name: 'UserPromptSubmit', prompt: 'Where is the port read?' })
    await program.hook({
      ...turn(),
      hook_event_name: 'PostToolUse',
      tool_name: 'Read',
      tool_use_id: 'tool-1',
      tool_input: { file_path: join(shop, 'port.ts') },
      tool_response: { content: 'const port = 37777' },
    })
    await program.hook({ ...turn(), hook_event_name: 'Stop', last_assistant_message: 'In port.ts.' })
    await program.run(['flush'])
    const session = { session_id: 'session-two', cwd: shop, hook_event_name: 'SessionStart', source: 'startup' }
    const injected = JSON.parse((await program.hook(session)).stdout).hookSpecificOutput.additionalContext
    expect(injected).toContain('port.ts')

    const given = { project: { key: `dir:${shop}`, name: 'shop' }, context: injected }
    for (const project of ['shop', shop, `dir:${shop}`]) {
      expect(await program.json('context', '--project', project)).toMatchObject({ running: true, ...given })
    }
    expect((await program.run(['context', '-p', 'shop'])).stdout).toBe(`${injected}\n`)

    await program.run(['stop'])
    for (const project of ['shop', shop, `dir:${shop}`]) {
      expect(await program.json('context', '--project', project)).toMatchObject({ running: false, ...given })
    }
    expect((await program.run(['context', '-p', 'shop'])).stdout).toBe(`${injected}\n`)
  })

  it('is about the directory it runs in', async () => {
    const { project } = await program.json('context')
    expect(project.key).toMatch(/^(git|dir):/)
    expect(project.key).not.toContain(shop)
  })

  it('does not know every name', async () => {
    const { code, stderr } = await program.run(['context', '--project', 'shpo'])
    expect(code).toBe(1)
    expect(stderr).toBe('claude-mem: no project is called "shpo"; give a path (./shpo) or ask inside it\n')
  })
})
