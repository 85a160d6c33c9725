import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Program } from './program.ts'

let program: Program
let shop: string

beforeAll(async () => {
  program = await Program.make()
  shop = join(program.dataDir, 'work', 'shop')
  mkdirSync(shop, { recursive: true })
}, 60_000)
afterAll(() => program.end(), 60_000)

const turn = () => ({ cwd: shop, prompt_id: 'turn-1' })

describe('context', () => {
  it('prints that nothing is known yet', async () => {
    const { code, stdout, stderr } = await program.run(['context', '--project', shop])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(/^Nothing is known about .*shop yet: a session gets no context\.\n$/)
    expect(await program.json('context', '--project', shop)).toMatchObject({ running: false, tokens: 0, context: '' })
  })

  it('prints the context of a new session, with and without a daemon', async () => {
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
    for (const project of ['shop', shop]) {
      expect(await program.json('context', '--project', project)).toMatchObject({ running: true, ...given })
    }
    expect((await program.run(['context', '-p', 'shop'])).stdout).toBe(`${injected}\n`)

    const said = /^claude-mem: `shop`, last session ended .* ~\d+ tokens given to this session/
    const preview = async (running: boolean) => {
      const { parts, totals, message, ...rest } = await program.json('context', '-p', 'shop', '--tokens', '300')
      expect(rest).toMatchObject({ running, project: given.project })
      expect(rest.tokens).toBeLessThanOrEqual(300)
      expect(totals).toMatchObject({ observations: 1 })
      expect(parts).toMatchObject({ frame: expect.any(Number), state: expect.any(Number) })
      expect(message).toMatch(said)
      expect((await program.run(['context', '-p', 'shop', '--message'])).stdout).toMatch(said)
    }
    await preview(true)
    await program.run(['stop'])
    expect(await program.json('context', '--project', shop)).toMatchObject({ running: false, ...given })
    expect((await program.run(['context', '-p', 'shop'])).stdout).toBe(`${injected}\n`)
    await preview(false)
  })

  it('rejects an invalid budget', async () => {
    const { code, stderr } = await program.run(['context', '-p', 'shop', '--tokens', 'lots'])
    expect(code).toBe(2)
    expect(stderr).toContain('--tokens takes a whole number from 0 to 2500')
    const none = await program.run(['context', '-p', 'shop', '--tokens', '0'])
    expect(none).toMatchObject({ code: 0, stdout: '' })
    expect(none.stderr).toContain('CLAUDE_MEM_CONTEXT_TOKENS is too small')
  })

  it('defaults to the project of the current directory', async () => {
    const { project } = await program.json('context')
    expect(project.key).toMatch(/^(git|dir):/)
    expect(project.key).not.toContain(shop)
  })

  it('rejects an unknown project name', async () => {
    const { code, stderr } = await program.run(['context', '--project', 'shpo'])
    expect(code).toBe(1)
    expect(stderr).toBe(
      'claude-mem: no project is called "shpo"; give a path (./shpo) or run the command inside the project\n',
    )
  })
})
