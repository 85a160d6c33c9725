/** OpenCode's plugin file and Copilot's hooks file: what install writes, what it refuses, what uninstall leaves. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { InstallAdapter } from '../../../src/setup/install/clients/adapter.ts'
import { copilotInstall } from '../../../src/setup/install/clients/copilot.ts'
import { openCodeInstall } from '../../../src/setup/install/clients/opencode.ts'
import { qwenInstall } from '../../../src/setup/install/clients/qwen.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { settingsAt as at, type InstallFixture } from './fixture.ts'

const read = (file: string) => readFileSync(file, 'utf8')

/** A directory of the program, with the plugin as the build makes it. */
let dist: string
beforeAll(async () => {
  dist = temporaryDirectory('dist')
  await build({
    entryPoints: { 'opencode-plugin': join(import.meta.dirname, '../../../src/hook/opencode-plugin.ts') },
    outdir: dist,
    bundle: true,
    format: 'esm',
    platform: 'node',
  })
})

let place: InstallFixture
beforeEach(() => {
  place = at(null)
  place.hook = join(dist, 'hook.cjs')
})

const install = (adapter: InstallAdapter) => place.install(null, { adapter })
const uninstall = (adapter: InstallAdapter) => place.uninstall({ adapter })

describe('OpenCode', () => {
  const plugin = () => join(place.home, '.config', 'opencode', 'plugin', 'claude-mem.js')

  it('gets one file whose only export is a function; uninstall removes it with its directories', async () => {
    install(openCodeInstall)
    expect(read(plugin())).toContain(`"hook":"${place.hook}"`)
    writeFileSync(place.hook, '')
    const module = await import(plugin())
    expect(Object.values(module).map((value) => typeof value)).toEqual(['function'])
    expect(Object.keys(await module.ClaudeMem({ directory: '/nowhere' }))).toContain('chat.message')
    expect(install(openCodeInstall).changed).toBe(false)
    expect(uninstall(openCodeInstall).how).toBe('file removed')
    expect(existsSync(join(place.home, '.config'))).toBe(false)
  })

  it('finds its configuration where XDG_CONFIG_HOME says', () => {
    place.env = { XDG_CONFIG_HOME: join(place.home, 'xdg') }
    install(openCodeInstall)
    expect(readdirSync(join(place.home, 'xdg', 'opencode', 'plugin'))).toEqual(['claude-mem.js'])
  })

  it('is updated when the program has moved, and leaves other plugins alone', () => {
    mkdirSync(dirname(plugin()), { recursive: true })
    const other = join(dirname(plugin()), 'other.js')
    writeFileSync(other, 'export const Other = async () => ({})\n')
    install(openCodeInstall)
    place.node = '/opt/node'
    expect(install(openCodeInstall).changed).toBe(true)
    expect(read(plugin())).toContain('"node":"/opt/node"')
    uninstall(openCodeInstall)
    expect(readdirSync(dirname(plugin()))).toEqual(['other.js'])
  })

  it("refuses a file of someone else's under the name, and says what to do", () => {
    mkdirSync(dirname(plugin()), { recursive: true })
    writeFileSync(plugin(), 'export const Mine = async () => ({})\n')
    expect(() => install(openCodeInstall)).toThrow(/is not a file of claude-mem.*Nothing was changed/)
    expect(uninstall(openCodeInstall).changed).toBe(false)
    expect(read(plugin())).toBe('export const Mine = async () => ({})\n')
  })

  it('refuses a read-only file, and writes through a link', () => {
    install(openCodeInstall)
    chmodSync(plugin(), 0o444)
    place.node = '/opt/node'
    expect(() => install(openCodeInstall)).toThrow('is read-only')
    chmodSync(plugin(), 0o600)
    const target = join(place.home, 'dotfiles.js')
    rmSync(plugin())
    symlinkSync(target, plugin())
    install(openCodeInstall)
    expect(read(target)).toContain('/opt/node')
  })

  it('says that the program is not complete instead of writing half a plugin', () => {
    place.hook = '/opt/claude-mem/dist/hook.cjs'
    expect(() => install(openCodeInstall)).toThrow('opencode-plugin.js is missing; install claude-mem again')
    expect(existsSync(plugin())).toBe(false)
  })
})

describe('Copilot CLI', () => {
  const hooks = () => join(place.home, '.copilot', 'hooks', 'claude-mem.json')
  const servers = () => join(place.home, '.copilot', 'mcp-config.json')

  it('gets a hooks file of its own, without a matcher and without PreToolUse, and the server', () => {
    install(copilotInstall)
    const { hooks: events } = JSON.parse(read(hooks()))
    expect(Object.keys(events)).not.toContain('PreToolUse')
    const command = `"/usr/bin/node" "${place.hook}" --data-dir "/home/me/.claude-mem" --client copilot`
    expect(events.PostToolUse).toEqual([{ hooks: [{ type: 'command', command, timeout: 10 }] }])
    expect(JSON.parse(read(servers())).mcpServers['claude-mem']).toMatchObject({ type: 'local', tools: ['*'] })
    expect(uninstall(copilotInstall).files.map(({ how }) => how)).toEqual(['file removed', 'file removed'])
    expect(existsSync(join(place.home, '.copilot'))).toBe(false)
  })

  it('keeps other servers, to the byte', () => {
    mkdirSync(dirname(servers()))
    const text = '{\n\t"mcpServers": {"other": {"type":"local","command":"x"}}\n}'
    writeFileSync(servers(), text)
    install(copilotInstall)
    expect(JSON.parse(read(servers())).mcpServers).toMatchObject({ other: { command: 'x' }, 'claude-mem': {} })
    uninstall(copilotInstall)
    expect(read(servers())).toBe(text)
  })

  it.each(['not json', '[]', '{"mcpServers": []}'])('changes nothing if its configuration is invalid: %s', (text) => {
    mkdirSync(dirname(servers()))
    writeFileSync(servers(), text)
    expect(() => install(copilotInstall)).toThrow('Nothing was changed')
    expect(read(servers())).toBe(text)
    expect(existsSync(hooks())).toBe(false)
  })

  it('is installed where COPILOT_HOME says, and in a project as .github/hooks', () => {
    place.env = { COPILOT_HOME: join(place.home, 'elsewhere') }
    install(copilotInstall)
    expect(existsSync(join(place.home, 'elsewhere', 'hooks', 'claude-mem.json'))).toBe(true)
    mkdirSync(place.root)
    place.install(null, { adapter: copilotInstall, scope: 'project' })
    expect(readdirSync(join(place.root, '.github', 'hooks'))).toEqual(['claude-mem.json'])
    place.uninstall({ adapter: copilotInstall, scope: 'project' })
    expect(readdirSync(place.root)).toEqual([])
  })
})

describe('Qwen Code', () => {
  const settings = () => join(place.home, '.qwen', 'settings.json')

  it('gets hooks and server in its settings, and loses them again to the byte', () => {
    mkdirSync(dirname(settings()))
    const text = '{\n  "$version": 4,\n  "mcpServers": { "other": { "command": "x" } }\n}\n'
    writeFileSync(settings(), text)
    install(qwenInstall)
    const { hooks, mcpServers } = JSON.parse(read(settings()))
    const command = `"/usr/bin/node" "${place.hook}" --data-dir "/home/me/.claude-mem" --client qwen`
    expect(hooks.Stop).toEqual([{ hooks: [{ type: 'command', command, timeout: 15 }] }])
    expect(mcpServers).toMatchObject({ other: { command: 'x' }, 'claude-mem': { command: '/usr/bin/node' } })
    uninstall(qwenInstall)
    expect(read(settings())).toBe(text)
  })
})
