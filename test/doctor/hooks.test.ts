/** What the doctor says about hooks and tools in the clients' settings. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cursor } from '../../src/install/clients/cursor.ts'
import { Built, Patient, SLOW } from './patient.ts'

const built = new Built()
let patient: Patient
beforeEach(() => {
  patient = new Patient(built)
})
afterEach(() => patient.dispose())
afterAll(() => built.dispose())

/** One fault, and which. */
async function only(): Promise<string> {
  const faults = await patient.faults()
  expect(faults).toHaveLength(1)
  return faults[0] ?? ''
}

describe.skipIf(process.platform === 'win32')('the doctor on hooks', () => {
  it('finds nothing to mend after an install, and says what it saw', async () => {
    patient.install()
    expect(await patient.faults()).toEqual([])
    const checks = await patient.checks()
    const said = Object.fromEntries(checks.map(({ id, detail }) => [id, detail]))
    expect(said['client.claude-code']).toBe(`2.1.197 (${join(patient.bin, 'claude')})`)
    expect(said['hooks.claude-code']).toBe(`9 events in ${patient.file}`)
    expect(said['hook-run.claude-code']).toMatch(SLOW)
    expect(said['mcp.claude-code']).toBe(`MCP server in ${patient.state}`)
    expect(checks.some(({ id }) => id.endsWith('cursor'))).toBe(false)
  })

  it('leaves no trace', async () => {
    patient.install()
    const before = [patient.text, ...patient.kept]
    await patient.checks()
    expect([patient.text, ...patient.kept]).toEqual(before)
    expect(readdirSync(patient.dataDir)).toEqual(['install'])
  })

  it('says that nothing is registered, unless another client is', async () => {
    expect(await only()).toBe(
      'hooks.claude-code problem: no hook is registered in Claude Code: its sessions are not remembered -> claude-mem install',
    )
    patient.install(null, { adapter: cursor })
    expect(await patient.faults()).toEqual([])
  })

  it('says which events are missing, and which the client does not know', async () => {
    patient.install('1.0.128')
    expect(await only()).toBe(
      'hooks.claude-code problem: PostToolUseFailure, StopFailure are not registered -> claude-mem install',
    )
    patient.install()
    patient.client('1.0.128')
    expect(await only()).toContain(
      '1.0.128 does not know PostToolUseFailure, StopFailure, and may switch off every hook',
    )
    patient.client('1.0.20')
    expect(await only()).toContain('Claude Code 1.0.20 has no hooks')
  })

  it('says that hooks are registered twice in one file, in two scopes, or beside the plugin', async () => {
    patient.install()
    const settings = patient.json
    settings.hooks.Stop.push(settings.hooks.Stop[0])
    patient.write(patient.file, JSON.stringify(settings))
    expect(await only()).toBe(
      `hooks.claude-code problem: registered more than once: Stop in ${patient.file} -> claude-mem install`,
    )
    patient.install()
    patient.install('2.1.197', { scope: 'project' })
    expect(await only()).toMatch(/registered more than once: SessionStart, .* -> claude-mem uninstall --scope project$/)
    patient.uninstall({ scope: 'project' })
    patient.write(patient.file, JSON.stringify({ ...patient.json, enabledPlugins: { 'claude-mem@market': true } }))
    expect(await only()).toContain('the plugin is enabled too')
    patient.uninstall()
    const plugin = (await patient.checks()).find(({ id }) => id === 'hooks.claude-code')
    expect(plugin).toMatchObject({ state: 'ok', detail: expect.stringContaining('through the plugin') })
  })

  it('does not take the plugin of the original claude-mem for ours', async () => {
    const settings = JSON.stringify({ enabledPlugins: { 'claude-mem@thedotmack': true } })
    patient.write(patient.file, settings)
    expect(await only()).toContain('hooks.claude-code problem: no hook is registered in Claude Code')
    expect(patient.install().notes).toEqual([
      expect.stringContaining('the plugin of the original claude-mem is enabled'),
    ])
    expect(await only()).toMatch(/^hooks.claude-code advice: the plugin of the original claude-mem is enabled too/)
  })

  it('says that what hooks and server run is gone, or is another version', async () => {
    const older = built.copy('0.0.0-older')
    patient.use(older)
    patient.install()
    expect(await patient.faults()).toEqual([
      expect.stringContaining('hooks run claude-mem 0.0.0-older'),
      expect.stringContaining('it starts claude-mem 0.0.0-older'),
    ])
    rmSync(older, { recursive: true })
    const gone = await patient.faults()
    expect(gone).toHaveLength(2)
    expect(gone[0]).toBe(
      `hooks.claude-code problem: ${patient.hook} is not there, which hooks in ${patient.file} run -> claude-mem install`,
    )
  })

  it('says that the node of the hooks is gone, is too old, or cannot load what the daemon needs', async () => {
    const node = join(patient.home, 'old', 'node')
    const says = (answer: object) => `#!/bin/sh\n[ "$2" = 0 ] && exit 0\necho '${JSON.stringify(answer)}'\n`
    patient.node = patient.write(node, says({ version: '18.1.0', failure: null }), 0o755)
    patient.install()
    expect(await patient.faults()).toEqual([expect.stringContaining(`node problem: ${node} is Node 18.1.0`)])
    patient.write(node, says({ version: '22.1.0', failure: 'NODE_MODULE_VERSION 127' }), 0o755)
    expect((await patient.faults())[0]).toContain('(22.1.0), which runs the hooks, cannot load better-sqlite3')
    patient.write(node, '#!/bin/sh\necho no >&2; exit 7\n', 0o755)
    expect(await patient.faults()).toEqual([
      expect.stringContaining(`${node}, which runs the hooks, does not run: no`),
      expect.stringContaining('hook-run.claude-code problem'),
    ])
    rmSync(node)
    expect(await patient.faults()).toEqual([
      expect.stringContaining(`${node} is not there, which hooks in`),
      expect.stringContaining(`${node} is not there, which ${patient.state} starts`),
    ])
  })

  it.each([
    ['more than a line', 'console.log("{}\\n{}")', 'its answer is not one line of JSON; it said: {}'],
    ['no JSON', 'console.log("hi")', 'its answer is not one line of JSON; it said: hi'],
    ['an exit code', 'console.error("no disk"); process.exit(2)', 'it ended with 2; it said: no disk'],
  ])('says that a hook answers with %s', async (_, script, why) => {
    const dist = join(patient.home, 'claude-mem-broken')
    patient.use(dist)
    patient.write(patient.hook, script)
    patient.write(patient.cli, '')
    patient.install()
    expect(await only()).toContain(why)
  })

  it('says that settings keep hooks from running, send them elsewhere, or cannot be read', async () => {
    patient.install()
    const settings = patient.json
    patient.write(patient.file, JSON.stringify({ ...settings, disableAllHooks: true }))
    expect(await only()).toContain(`"disableAllHooks" is true in ${patient.file}: no hook runs`)
    patient.write(patient.file, JSON.stringify({ ...settings, env: { CLAUDE_MEM_DATA_DIR: '/elsewhere' } }))
    expect(await only()).toContain('hooks.claude-code advice: sessions report to /elsewhere')
    patient.write(patient.file, '{ "hooks": // mine\n {} }')
    expect(await only()).toContain('has comments, which JSON does not know')
    patient.write(patient.file, '[]')
    expect(await only()).toContain('no hook is registered')
  })

  it('takes hooks that somebody wrote by hand for hooks', async () => {
    const command = 'claude-mem hook'
    patient.write(join(patient.bin, 'claude-mem'), `#!/bin/sh\n"${process.execPath}" "${patient.hook}"\n`, 0o755)
    patient.write(patient.file, JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } }))
    const faults = await patient.faults({ env: { ...patient.env, PATH: `${patient.bin}:/bin:/usr/bin` } })
    expect(faults).toEqual([
      expect.stringMatching(
        /^hooks.claude-code advice: SessionStart, .* are not registered -> if you want them: claude-mem install$/,
      ),
      expect.stringMatching(/^mcp.claude-code advice: the MCP server is not registered/),
    ])
  })

  it('runs nothing that came with a project, whatever it looks like', async () => {
    const trace = join(patient.home, 'trace')
    const node = patient.write(join(patient.root, 'node'), `#!/bin/sh\ntouch ${trace}\n`, 0o755)
    const hook = patient.write(join(patient.root, 'claude-mem', 'hook.cjs'), `fs.writeFileSync('${trace}', '')`)
    const commands = [`claude-mem hook ; touch ${trace}`, `node "${hook}"`, `"${node}" "${hook}"`]
    const Stop = commands.map((command) => ({ hooks: [{ type: 'command', command }] }))
    patient.write(join(patient.bin, 'claude-mem'), '#!/bin/sh\necho {}\n', 0o755)
    const file = patient.write(join(patient.root, '.claude', 'settings.json'), JSON.stringify({ hooks: { Stop } }))
    const checks = await patient.checks({ env: { ...patient.env, PATH: `${patient.bin}:/bin:/usr/bin` } })
    expect(existsSync(trace)).toBe(false)
    expect(checks.find(({ id }) => id === 'hook-run.claude-code')).toMatchObject({
      state: 'ok',
      detail: `hooks in ${file} were not installed from here and are not tried`,
    })
    rmSync(file)
    patient.install('2.1.197', { scope: 'project' })
    const own = (await patient.checks()).find(({ id }) => id === 'hook-run.claude-code')
    expect(own?.detail).toMatch(SLOW)
  })

  it('says that another server has our name', async () => {
    patient.write(patient.state, JSON.stringify({ mcpServers: { 'claude-mem': { type: 'http', url: 'http://x' } } }))
    patient.install()
    expect(await only()).toContain(`mcp.claude-code advice: ${patient.state} has a server named claude-mem`)
  })
})
