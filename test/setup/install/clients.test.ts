/** Clients and scopes: Cursor's files, those of a project, and the records that know them all. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { shortHash } from '../../../src/lib/paths.ts'
import { allRecords, readRecord } from '../../../src/setup/install/change.ts'
import type { InstallAdapter, InstallScope } from '../../../src/setup/install/clients/adapter.ts'
import { claudeCodeInstall } from '../../../src/setup/install/clients/claude-code.ts'
import { cursorInstall } from '../../../src/setup/install/clients/cursor.ts'
import { uninstallRecorded } from '../../../src/setup/install/install.ts'
import { settingsAt as at, type InstallFixture } from './fixture.ts'
import { COMMAND, INPUTS } from './inputs.ts'

const read = (file: string) => readFileSync(file, 'utf8')
const SERVER = {
  type: 'stdio',
  command: '/usr/bin/node',
  args: ['/opt/claude-mem/dist/cli.js', 'mcp', '--data-dir', '/home/me/.claude-mem'],
}

const CURSOR_COMMAND = `${COMMAND} --client cursor`
const CURSOR_EVENTS = [
  'sessionStart',
  'beforeSubmitPrompt',
  'afterShellExecution',
  'afterFileEdit',
  'afterMCPExecution',
  'stop',
  'sessionEnd',
]

describe('Cursor', () => {
  const inPlace = (place: InstallFixture) => (name: string) => join(place.home, '.cursor', name)

  it('gets hooks and server; uninstall removes them with the directory', () => {
    const place = at(null)
    const file = inPlace(place)
    place.install(null, { adapter: cursorInstall })
    expect(JSON.parse(read(file('hooks.json')))).toEqual({
      version: 1,
      hooks: Object.fromEntries(CURSOR_EVENTS.map((event) => [event, [{ command: CURSOR_COMMAND }]])),
    })
    expect(JSON.parse(read(file('mcp.json'))).mcpServers['claude-mem']).toMatchObject(SERVER)
    expect(place.install(null, { adapter: cursorInstall }).changed).toBe(false)
    expect(place.uninstall({ adapter: cursorInstall }).files.map(({ how }) => how)).toEqual([
      'file removed',
      'file removed',
    ])
    expect(existsSync(join(place.home, '.cursor'))).toBe(false)
  })

  const theirs = [
    { version: 1, hooks: { stop: [{ command: './audit.sh', timeout: 5 }], beforeReadFile: [{ command: 'x' }] } },
    { version: 1, hooks: {} },
    { hooks: { stop: [] } },
    {},
  ]
  it.each(theirs.map((value) => [JSON.stringify(value), value] as const))('%s is kept', (_, value) => {
    const place = at(null)
    const file = inPlace(place)('hooks.json')
    mkdirSync(dirname(file))
    const text = `${JSON.stringify(value, null, '\t')}\n`
    writeFileSync(file, text)
    place.install(null, { adapter: cursorInstall })
    const { hooks } = JSON.parse(read(file))
    for (const event of CURSOR_EVENTS) expect(hooks[event].at(-1)).toEqual({ command: CURSOR_COMMAND })
    expect(place.uninstall({ adapter: cursorInstall }).how).toBe('restored')
    expect(read(file)).toBe(text)
  })

  it('keeps later changes and fields beside our command', () => {
    const place = at(null)
    const file = inPlace(place)('hooks.json')
    place.install(null, { adapter: cursorInstall })
    const changed = JSON.parse(read(file))
    changed.hooks.stop[0].timeout = 3
    changed.hooks.stop.push({ command: 'say done' })
    writeFileSync(file, JSON.stringify(changed))
    place.node = '/opt/node'
    place.install(null, { adapter: cursorInstall })
    expect(JSON.parse(read(file)).hooks.stop).toEqual([
      { command: CURSOR_COMMAND.replace('/usr/bin/node', '/opt/node'), timeout: 3 },
      { command: 'say done' },
    ])
    writeFileSync(file, `${read(file)}\n`)
    place.uninstall({ adapter: cursorInstall })
    expect(JSON.parse(read(file))).toEqual({ version: 1, hooks: { stop: [{ command: 'say done' }] } })
  })

  it('of a newer version is refused', () => {
    const place = at(null)
    const file = inPlace(place)('hooks.json')
    mkdirSync(dirname(file))
    writeFileSync(file, '{"version": 2}')
    expect(() => place.install(null, { adapter: cursorInstall })).toThrow('a "version" other than 1')
    expect(read(file)).toBe('{"version": 2}')
    expect(existsSync(inPlace(place)('mcp.json'))).toBe(false)
  })

  it('finds node on the PATH on Windows, where the shell is PowerShell or cmd', async () => {
    const { clientHookCommand, isOurCommand } = await import('../../../src/setup/install/command-line.ts')
    const command = clientHookCommand(
      { node: 'C:\\n\\node.exe', hook: 'C:\\claude-mem\\dist\\hook.cjs', dataDir: 'C:\\my data' },
      'cursor',
      'win32',
    )
    expect(command).toBe('node "C:/claude-mem/dist/hook.cjs" --data-dir "C:/my data" --client cursor')
    expect(isOurCommand(command, [])).toBe(true)
  })
})

describe('a project', () => {
  it.each([
    [claudeCodeInstall, '.claude/settings.json', '.mcp.json'],
    [cursorInstall, '.cursor/hooks.json', '.cursor/mcp.json'],
  ])('has files of its own, which others may read', (adapter, hooks, servers) => {
    const place = at('{}')
    mkdirSync(place.root)
    place.install('2.1.197', { adapter, scope: 'project' })
    expect(read(join(place.root, hooks))).toContain('hook.cjs')
    expect(read(join(place.root, servers))).toContain('cli.js')
    expect(statSync(join(place.root, hooks)).mode & 0o077 & ~process.umask()).toBe(0o044 & ~process.umask())
    expect(place.text).toBe('{}')
    place.uninstall({ adapter, scope: 'project' })
    expect(readdirSync(place.root)).toEqual([])
  })

  it('and the user, and another client: records know them all', () => {
    const place = at(INPUTS.tabs)
    mkdirSync(place.root)
    const everywhere: [InstallAdapter, InstallScope][] = [
      [claudeCodeInstall, 'user'],
      [claudeCodeInstall, 'project'],
      [cursorInstall, 'user'],
      [cursorInstall, 'project'],
    ]
    for (const [adapter, scope] of everywhere) place.install('2.1.197', { adapter, scope })
    const records = allRecords(place.dataDir)
    expect(records).toHaveLength(8)
    uninstallRecorded(records, place.ground())
    expect(place.text).toBe(INPUTS.tabs)
    expect(readdirSync(place.root)).toEqual([])
    expect(readdirSync(place.home).sort()).toEqual(['.claude', '.claude-mem', 'shop'])
    expect(allRecords(place.dataDir)).toEqual([])
  })
})

describe('an older claude-mem', () => {
  it('installed hooks only; its record undoes them to the byte, and a newer installation too', () => {
    const place = at(INPUTS['two spaces'])
    const before = place.bytes
    place.install()
    const { original, wrote } = readRecord(place.dataDir, 'claude-code', place.file) ?? {}
    rmSync(place.state)
    for (const name of place.kept) if (name.startsWith('claude-code-')) rmSync(join(place.dataDir, 'install', name))
    const record = { v: 1, file: place.file, original, madeDirectory: null, wrote, commands: [COMMAND], at: 'then' }
    const file = join(place.dataDir, 'install', `claude-code-${shortHash(place.file)}.json`)
    writeFileSync(file, JSON.stringify(record))
    expect(allRecords(place.dataDir)).toMatchObject([{ v: 2, client: 'claude-code', scope: 'user', format: 'hooks' }])
    expect(place.install().files.map(({ changed }) => changed)).toEqual([false, true])
    expect(place.uninstall().how).toBe('restored')
    expect(place.bytes.equals(before)).toBe(true)
    expect(existsSync(place.state)).toBe(false)
  })

  it.each(['', '{', '[]', '{"v":3}', '{"v":2,"file":"/x"}', '{"v":2,"file":7}'])(
    'or a newer one left a record that nobody understands (%s): entries are found by what they are',
    (text) => {
      const place = at(INPUTS['two spaces'])
      place.install()
      for (const name of place.kept) {
        if (name.startsWith('claude-code-')) writeFileSync(join(place.dataDir, 'install', name), text)
      }
      expect(place.uninstall().how).toBe('removed')
      expect(place.text).toBe(INPUTS['two spaces'])
    },
  )
})
