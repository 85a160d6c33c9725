/** The MCP server beside the hooks, in a file that is the client's own: both files change, or none. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allRecords } from '../../../src/setup/install/change.ts'
import type { InstallAdapter } from '../../../src/setup/install/clients/adapter.ts'
import { claudeCodeInstall } from '../../../src/setup/install/clients/claude-code.ts'
import { settingsAt as at } from './fixture.ts'
import { INPUTS } from './inputs.ts'

const read = (file: string) => readFileSync(file, 'utf8')
const SERVER = {
  type: 'stdio',
  command: '/usr/bin/node',
  args: ['/opt/claude-mem/dist/cli.js', 'mcp', '--data-dir', '/home/me/.claude-mem'],
}
/** As the client leaves it. */
const STATE = `${JSON.stringify({ numStartups: 7, projects: { '/a': { mcpServers: {}, allowedTools: [] } } }, null, 2)}\n`

describe('the MCP server', () => {
  it.each([
    ['nothing yet', null, undefined],
    ['what the client keeps', STATE, undefined],
    ['another server', JSON.stringify({ mcpServers: { theirs: { command: 'x' } } }, null, 2), { command: 'x' }],
    ['in one line', '{"mcpServers":{"theirs":{"command":"x"}},"z":1}', { command: 'x' }],
    ['empty servers', '{\n  "mcpServers": {},\n  "z": 1\n}', undefined],
  ])('joins %s, and leaves it as it was to the byte', (_name, state, theirs) => {
    const place = at('{}')
    if (state !== null) writeFileSync(place.state, state)
    expect(place.install().files.map(({ changed, taken }) => ({ changed, taken }))).toEqual([
      { changed: true, taken: false },
      { changed: true, taken: false },
    ])
    const { mcpServers, ...rest } = JSON.parse(read(place.state))
    expect(mcpServers).toEqual({ ...(theirs === undefined ? {} : { theirs }), 'claude-mem': SERVER })
    const { mcpServers: _, ...restBefore } = state === null ? {} : JSON.parse(state)
    expect(rest).toEqual(restBefore)
    expect(place.install().changed).toBe(false)
    place.uninstall()
    expect(existsSync(place.state) ? read(place.state) : null).toBe(state)
  })

  it('goes alone where the client has written since, and the client may have removed it itself', () => {
    const place = at('{}')
    writeFileSync(place.state, STATE)
    place.install()
    writeFileSync(place.state, read(place.state).replace('"numStartups": 7', '"numStartups": 8'))
    expect(place.uninstall().files.map(({ how }) => how)).toEqual(['restored', 'removed'])
    expect(read(place.state)).toBe(STATE.replace('7', '8'))
    place.install()
    const { mcpServers: _, ...left } = JSON.parse(read(place.state))
    writeFileSync(place.state, JSON.stringify(left, null, 2))
    expect(place.uninstall().files.map(({ how }) => how)).toEqual(['restored', 'nothing'])
    expect(allRecords(place.dataDir)).toEqual([])
  })

  it('of somebody else under our name is left alone', () => {
    const place = at('{}')
    const state = JSON.stringify({ mcpServers: { 'claude-mem': { command: 'claude-mem', args: ['mcp'] } } })
    writeFileSync(place.state, state)
    expect(place.install().files[1]).toMatchObject({ changed: false, taken: true })
    expect(place.install().files[1]).toMatchObject({ changed: false, taken: true })
    place.uninstall()
    expect(read(place.state)).toBe(state)
  })

  it('is brought up to date where the program has moved', () => {
    const place = at('{}')
    place.install()
    place.cli = '/usr/local/lib/node_modules/claude-mem/dist/cli.js'
    rmSync(place.dataDir, { recursive: true })
    place.install()
    expect(JSON.parse(read(place.state)).mcpServers['claude-mem'].args[0]).toBe(place.cli)
  })

  it('finds its place in a file of 20 MB', () => {
    const place = at('{}')
    const history = Array.from({ length: 60_000 }, (_, n) => ({
      display: `"${n}" {[ ${'x'.repeat(300)}\\`,
      pasted: {},
    }))
    const state = JSON.stringify({ long: '\\"'.repeat(1_000_000), projects: { '/a': { history } }, z: 1 }, null, 2)
    expect(state.length).toBeGreaterThan(20_000_000)
    writeFileSync(place.state, state)
    const { files } = place.install()
    expect(files[1]?.diff.length).toBeLessThan(30)
    expect(JSON.parse(read(place.state)).mcpServers).toEqual({ 'claude-mem': SERVER })
    writeFileSync(place.state, `${read(place.state)}\n`)
    place.uninstall()
    expect(read(place.state)).toBe(`${state}\n`)
  })

  it('goes where the client looks: CLAUDE_CONFIG_DIR, and a file of older days', () => {
    const place = at(null)
    place.env = { CLAUDE_CONFIG_DIR: join(place.home, 'elsewhere') }
    expect(place.install().files.map(({ file }) => file)).toEqual([
      join(place.home, 'elsewhere', 'settings.json'),
      join(place.home, 'elsewhere', '.claude.json'),
    ])
    place.env = { CLAUDE_CONFIG_DIR: '' }
    mkdirSync(dirname(place.file))
    writeFileSync(join(dirname(place.file), '.config.json'), '{}')
    expect(place.install().files[1]?.file).toBe(join(dirname(place.file), '.config.json'))
  })

  it('shows no key that stands beside it', () => {
    const place = at('{}')
    const key = `sk-ant-api03-${'a1B2'.repeat(20)}`
    writeFileSync(place.state, JSON.stringify({ primaryApiKey: key }, null, 2))
    const { files } = place.install('2.1.197', { dryRun: true })
    expect(files[1]?.diff.join('\n')).toContain('+    "claude-mem": {')
    expect(files[1]?.diff.join('\n')).not.toContain(key)
  })
})

describe('all or none', () => {
  const state: [string, string, string][] = [
    ['servers of a shape that nobody knows', '{"mcpServers": []}', '"mcpServers" that are not an object'],
    ['a list', '[]', 'does not hold a JSON object'],
    ['half a file', '{"a":', 'is not valid JSON'],
    ['comments', '{ // mine\n}', 'has comments'],
  ]
  it.each(state)('%s in the second file: the first stays as it was', (_, text, message) => {
    const place = at(INPUTS.tabs)
    const before = place.bytes
    writeFileSync(place.state, text)
    expect(() => place.install()).toThrow(message)
    expect(() => place.install()).toThrow('Nothing was changed.')
    expect(place.bytes.equals(before)).toBe(true)
    expect(place.kept).toEqual([])
  })

  it('a second file that is read-only', () => {
    const place = at(INPUTS.tabs)
    writeFileSync(place.state, '{}')
    chmodSync(place.state, 0o444)
    expect(() => place.install()).toThrow('is read-only')
    expect(place.text).toBe(INPUTS.tabs)
    expect(place.kept).toEqual([])
  })

  // Its name leaves no room for the file that is written beside it: found only when writing, also by the superuser.
  it('a second file that cannot be written undoes the first, its record and its copy', () => {
    const place = at(null)
    const path = join(place.home, 'x'.repeat(250))
    const broken: InstallAdapter = {
      ...claudeCodeInstall,
      files: (where) => [...claudeCodeInstall.files(where).slice(0, 1), { path, format: 'mcp-servers' }],
    }
    expect(() => place.install('2.1.197', { adapter: broken })).toThrow('cannot be written')
    expect(existsSync(dirname(place.file))).toBe(false)
    expect(place.kept).toEqual([])
    place.install()
    writeFileSync(path, '{"mcpServers": {"claude-mem": 7}}')
    const installed = place.bytes
    expect(place.uninstall({ adapter: broken }).files.map(({ how }) => how)).toEqual(['file removed', 'nothing'])
    place.install()
    writeFileSync(path, JSON.stringify({ mcpServers: { 'claude-mem': SERVER } }))
    expect(() => place.uninstall({ adapter: broken })).toThrow('cannot be written')
    expect(place.bytes.equals(installed)).toBe(true)
    expect(place.uninstall().how).toBe('file removed')
  })

  it('a data directory that cannot be written', () => {
    const place = at(INPUTS.tabs)
    writeFileSync(place.dataDir, '')
    expect(() => place.install()).toThrow('copies of the settings are kept there')
    expect(place.text).toBe(INPUTS.tabs)
    expect(existsSync(place.state)).toBe(false)
  })

  it('a directory that is a file', () => {
    const place = at(null)
    writeFileSync(join(place.home, '.claude'), '')
    expect(() => place.install()).toThrow('cannot be read')
    expect(place.kept).toEqual([])
  })
})

describe('context for a file', () => {
  it.each([
    ['2.1.9', true, true],
    ['2.1.8', true, false],
    ['2.1.197', false, false],
    [null, true, false],
  ])('client %s, wanted %s: the hook before a reading is registered: %s', (version, fileContext, registered) => {
    const place = at('{}')
    place.install(version, { fileContext })
    expect(Object.hasOwn(place.json.hooks, 'PreToolUse')).toBe(registered)
    if (registered) expect(place.json.hooks.PreToolUse[0].matcher).toBe('Read')
    place.install(version, { fileContext: false })
    expect(Object.hasOwn(place.json.hooks, 'PreToolUse')).toBe(false)
  })
})
