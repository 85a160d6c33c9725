/** The plugin that runs inside OpenCode, with the real hook program and no daemon: what it hands over, and that it never throws. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventTool, type MemoryEvent } from '../../src/domain/event.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { waitUntil } from '../support/waiting.ts'
import { buildHook } from './hook-process.ts'

type Hooks = Record<string, (...args: unknown[]) => Promise<void>>
type Plugin = (input: unknown) => Promise<Hooks>

let dist: string
let dataDir: string
let directory: string
let plugins = 0

beforeAll(async () => {
  dist = await buildHook()
  await build({
    entryPoints: { 'opencode-plugin': 'src/hook/opencode-plugin.ts' },
    outdir: dist,
    bundle: true,
    format: 'esm',
    platform: 'node',
  })
})
beforeEach(() => {
  dataDir = temporaryDirectory('data')
  directory = temporaryDirectory('cwd')
})
afterAll(() => vi.unstubAllEnvs())

/** As install writes it. */
async function loaded(node = process.execPath, hook = join(dist, 'hook.cjs')): Promise<Plugin> {
  const file = join(dist, `plugin-${++plugins}.mjs`)
  const program = JSON.stringify({ node, hook, cli: join(dist, 'cli.js'), dataDir, server: 'claude-mem' })
  const text = readFileSync(join(dist, 'opencode-plugin.js'), 'utf8')
  writeFileSync(file, `const CLAUDE_MEM_PROGRAM = ${program}\n${text}`)
  const { ClaudeMem }: { ClaudeMem: Plugin } = await import(file)
  return ClaudeMem
}

function spooled(): MemoryEvent[] {
  const spool = join(dataDir, 'spool')
  const names = readdirSync(spool).filter((name) => name.endsWith('.json'))
  return names.sort().map((name) => JSON.parse(readFileSync(join(spool, name), 'utf8')).event)
}

const told = () => spooled().map((event) => [event.kind, eventTool(event)].filter(Boolean).join(' '))
const created = (id: string, more: object = {}) => ({
  event: { type: 'session.created', properties: { sessionID: id, info: { id, directory, ...more } } },
})
const on = (type: string, properties: object) => ({ event: { type, properties } })
const prompt = (id: string, text: string) => ({ message: { id }, parts: [{ type: 'text', text }] })

describe("OpenCode's plugin", () => {
  it('has handed over every event when OpenCode goes on, in their order', async () => {
    const hooks = await (await loaded())({ directory })
    await hooks.event?.(created('ses_1'))
    await hooks['chat.message']?.({ sessionID: 'ses_1' }, prompt('msg_1', '"raise the limit"'))
    expect(told()).toEqual(['session_start', 'prompt'])
    const args = { command: 'make' }
    const failed = { output: 'oops', metadata: { output: 'oops', exit: 2 } }
    await hooks['tool.execute.after']?.({ tool: 'bash', sessionID: 'ses_1', callID: 'call_1', args }, failed)
    expect(told().at(-1)).toBe('tool_failure Bash')
    const state = { status: 'error', input: { filePath: '/x' }, error: 'File not found' }
    const part = { type: 'tool', tool: 'read', callID: 'call_2', sessionID: 'ses_1', state }
    await hooks.event?.(on('message.part.updated', { part }))
    await hooks.event?.(on('message.part.updated', { part }))
    // A subagent: its session belongs to that of the user, and its task is no prompt.
    await hooks.event?.(created('ses_2', { parentID: 'ses_1', agent: 'general' }))
    await hooks['chat.message']?.({ sessionID: 'ses_2' }, prompt('msg_2', 'look around'))
    const ls = { tool: 'bash', sessionID: 'ses_2', callID: 'call_3', args: { command: 'ls' } }
    await hooks['tool.execute.after']?.(ls, { metadata: { exit: 0 } })
    await hooks['experimental.text.complete']?.({ sessionID: 'ses_1', messageID: 'msg_3' }, { text: 'Raised it.' })
    await hooks.event?.(on('session.idle', { sessionID: 'ses_2' }))
    await hooks.event?.(on('session.idle', { sessionID: 'ses_1' }))
    await hooks.event?.(on('session.idle', { sessionID: 'ses_1' }))
    await hooks.dispose?.()
    await waitUntil('the session has ended', () => told().includes('session_end'))
    expect(told().sort()).toEqual([
      'prompt',
      'session_end',
      'session_start',
      'tool_failure Bash',
      'tool_failure Read',
      'tool_use Bash',
      'turn_end',
    ])
    const events = spooled()
    expect(new Set(events.map(({ session }) => session))).toEqual(new Set(['ses_1']))
    expect(events.find(({ id }) => id === 'call_3')).toMatchObject({ agent: { id: 'ses_2', type: 'general' } })
    expect(events.find(({ kind }) => kind === 'turn_end')).toMatchObject({
      lastMessage: 'Raised it.',
      promptId: 'msg_1',
    })
  })

  it('adds the server in memory, and leaves one of the same name alone', async () => {
    const hooks = await (await loaded())({ directory })
    const config: { mcp?: Record<string, unknown> } = { mcp: { other: { type: 'local' } } }
    await hooks.config?.(config)
    expect(config.mcp).toMatchObject({ other: {}, 'claude-mem': { type: 'local', enabled: true } })
    const own = { mcp: { 'claude-mem': { enabled: false } } }
    await hooks.config?.(own)
    expect(own).toEqual({ mcp: { 'claude-mem': { enabled: false } } })
    await hooks.dispose?.()
  })

  it('does nothing when it is loaded a second time for a directory, or its program is gone', async () => {
    const plugin = await loaded()
    const first = await plugin({ directory })
    expect(Object.keys(first)).not.toEqual([])
    expect(await (await loaded())({ directory })).toEqual({})
    await first.dispose?.()
    expect(Object.keys(await (await loaded())({ directory }))).not.toEqual([])
    expect(await (await loaded(process.execPath, '/nowhere/hook.cjs'))({ directory: '/elsewhere' })).toEqual({})
  })

  it('never throws, whatever it is given, nor where node cannot be started', async () => {
    const hooks = await (await loaded('/nowhere/node'))({ directory })
    const inputs = [undefined, null, 7, 'x', [], {}, { sessionID: {} }, { event: { type: 'session.created' } }]
    for (const [name, hook] of Object.entries(hooks)) {
      if (name === 'dispose') continue
      for (const input of inputs) {
        for (const output of [undefined, null, {}, { parts: 3, system: 'x', messages: [null, { info: 1 }] }]) {
          await expect(hook(input, output)).resolves.toBeUndefined()
        }
      }
    }
    await hooks['chat.message']?.({ sessionID: 'ses_1' }, prompt('msg_1', 'go on'))
    await hooks.dispose?.()
  })
})
