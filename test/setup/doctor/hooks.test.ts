/** What the doctor says about hooks and tools in the clients' settings. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cursorInstall } from '../../../src/setup/install/clients/cursor.ts'
import { Built, DoctorFixture, SLOW } from './fixture.ts'

const built = new Built()
let fixture: DoctorFixture
beforeEach(() => {
  fixture = new DoctorFixture(built)
})
afterEach(() => fixture.dispose())
afterAll(() => built.dispose())

/** One fault, and which. */
async function only(): Promise<string> {
  const faults = await fixture.faults()
  expect(faults).toHaveLength(1)
  return faults[0] ?? ''
}

describe.skipIf(process.platform === 'win32')('doctor.hooks', () => {
  it('finds no fault after an install and describes what it checked', async () => {
    fixture.install()
    expect(await fixture.faults()).toEqual([])
    const checks = await fixture.checks()
    const said = Object.fromEntries(checks.map(({ id, detail }) => [id, detail]))
    expect(said['client.claude-code']).toBe(`2.1.197 (${join(fixture.bin, 'claude')})`)
    expect(said['hooks.claude-code']).toBe(`9 events in ${fixture.file}`)
    expect(said['hook-run.claude-code']).toMatch(SLOW)
    expect(said['mcp.claude-code']).toBe(`MCP server in ${fixture.state}`)
    expect(checks.some(({ id }) => id.endsWith('cursor'))).toBe(false)
  })

  it('finds no fault in the fast hook', async () => {
    fixture.curl = '/usr/bin/curl'
    fixture.install()
    expect(await fixture.faults()).toEqual([])
  })

  it('reports a fast hook whose curl is broken or gone, or whose script is gone, with what to do', async () => {
    fixture.curl = fixture.write(join(fixture.bin, 'curl'), '#!/bin/sh\necho broken', 0o755)
    fixture.install()
    const fault = await only()
    expect(fault).toContain('hook-run.claude-code problem: the fast hook hands every event over to the slower one')
    expect(fault).toContain(
      '-> claude-mem install --hook fast, with another curl on the PATH; or claude-mem install --hook node',
    )
    rmSync(fixture.curl)
    expect(await only()).toContain(`run ${fixture.curl}, which does not exist -> claude-mem install`)
    fixture.curl = '/usr/bin/curl'
    fixture.use(built.copy('9.9.8'))
    fixture.install()
    expect((await fixture.faults()).join('\n')).toContain('fast-hook.sh, which does not exist -> claude-mem install')
  })

  it('writes nothing', async () => {
    fixture.install()
    const before = [fixture.text, ...fixture.kept]
    await fixture.checks()
    expect([fixture.text, ...fixture.kept]).toEqual(before)
    expect(readdirSync(fixture.dataDir)).toEqual(['install'])
  })

  it('reports that nothing is registered, unless another client is', async () => {
    expect(await only()).toBe(
      'hooks.claude-code problem: no hook is registered in Claude Code: its sessions are not observed -> claude-mem install',
    )
    fixture.install(null, { adapter: cursorInstall })
    expect(await fixture.faults()).toEqual([])
  })

  it('reports missing events and events that the client does not know', async () => {
    fixture.install('1.0.128')
    expect(await only()).toBe(
      'hooks.claude-code problem: PostToolUseFailure, StopFailure are not registered -> claude-mem install',
    )
    fixture.install()
    fixture.client('1.0.128')
    expect(await only()).toContain('1.0.128 does not know PostToolUseFailure, StopFailure, and may disable all hooks')
    fixture.client('1.0.20')
    expect(await only()).toContain('Claude Code 1.0.20 has no hooks')
  })

  it('reports hooks registered twice in one file, in two scopes, or beside the plugin', async () => {
    fixture.install()
    const settings = fixture.json
    settings.hooks.Stop.push(settings.hooks.Stop[0])
    fixture.write(fixture.file, JSON.stringify(settings))
    expect(await only()).toBe(
      `hooks.claude-code problem: registered more than once: Stop in ${fixture.file} -> claude-mem install`,
    )
    fixture.install()
    fixture.install('2.1.197', { scope: 'project' })
    expect(await only()).toMatch(/registered more than once: SessionStart, .* -> claude-mem uninstall --scope project$/)
    fixture.uninstall({ scope: 'project' })
    fixture.write(fixture.file, JSON.stringify({ ...fixture.json, enabledPlugins: { 'claude-mem@market': true } }))
    expect(await only()).toContain('the plugin is enabled too')
    fixture.uninstall()
    const plugin = (await fixture.checks()).find(({ id }) => id === 'hooks.claude-code')
    expect(plugin).toMatchObject({ state: 'ok', detail: expect.stringContaining('through the plugin') })
  })

  it('distinguishes the plugin of the original claude-mem from ours', async () => {
    const settings = JSON.stringify({ enabledPlugins: { 'claude-mem@thedotmack': true } })
    fixture.write(fixture.file, settings)
    expect(await only()).toContain('hooks.claude-code problem: no hook is registered in Claude Code')
    expect(fixture.install().notes).toEqual([
      expect.stringContaining('the plugin of the original claude-mem is enabled'),
    ])
    expect(await only()).toMatch(/^hooks.claude-code advice: the plugin of the original claude-mem is enabled too/)
  })

  it('reports that the program of hooks or server is missing or another version', async () => {
    const older = built.copy('0.0.0-older')
    fixture.use(older)
    fixture.install()
    expect(await fixture.faults()).toEqual([
      expect.stringContaining('hooks run claude-mem 0.0.0-older'),
      expect.stringContaining('it starts claude-mem 0.0.0-older'),
    ])
    rmSync(older, { recursive: true })
    const gone = await fixture.faults()
    expect(gone).toHaveLength(2)
    expect(gone[0]).toBe(
      `hooks.claude-code problem: hooks in ${fixture.file} run ${fixture.hook}, which does not exist -> claude-mem install`,
    )
  })

  it('reports a node of the hooks that is missing, too old, or cannot load the database driver', async () => {
    const node = join(fixture.home, 'old', 'node')
    const says = (answer: object) => `#!/bin/sh\n[ "$2" = 0 ] && exit 0\necho '${JSON.stringify(answer)}'\n`
    fixture.node = fixture.write(node, says({ version: '18.1.0', failure: null }), 0o755)
    fixture.install()
    expect(await fixture.faults()).toEqual([expect.stringContaining(`node problem: ${node} is Node 18.1.0`)])
    fixture.write(node, says({ version: '22.1.0', failure: 'NODE_MODULE_VERSION 127' }), 0o755)
    expect((await fixture.faults())[0]).toContain('(22.1.0), which runs the hooks, cannot load better-sqlite3')
    fixture.write(node, '#!/bin/sh\necho no >&2; exit 7\n', 0o755)
    expect(await fixture.faults()).toEqual([
      expect.stringContaining(`${node}, which runs the hooks, does not run: no`),
      expect.stringContaining('hook-run.claude-code problem'),
    ])
    rmSync(node)
    expect(await fixture.faults()).toEqual([
      expect.stringContaining(` run ${node}, which does not exist`),
      expect.stringContaining(`${fixture.state} starts ${node}, which does not exist`),
    ])
  })

  it.each([
    ['more than a line', 'console.log("{}\\n{}")', 'its answer is not one line of JSON; its output: {}'],
    ['no JSON', 'console.log("hi")', 'its answer is not one line of JSON; its output: hi'],
    ['an exit code', 'console.error("no disk"); process.exit(2)', 'it ended with 2; its output: no disk'],
  ])('says that a hook answers with %s', async (_, script, why) => {
    const dist = join(fixture.home, 'claude-mem-broken')
    fixture.use(dist)
    fixture.write(fixture.hook, script)
    fixture.write(fixture.cli, '')
    fixture.install()
    expect(await only()).toContain(why)
  })

  it('reports settings that disable hooks, use another data directory, or cannot be read', async () => {
    fixture.install()
    const settings = fixture.json
    fixture.write(fixture.file, JSON.stringify({ ...settings, disableAllHooks: true }))
    expect(await only()).toContain(`"disableAllHooks" is true in ${fixture.file}: no hook runs`)
    const elsewhere = JSON.stringify(settings).replaceAll(fixture.dataDir, '/elsewhere')
    fixture.write(fixture.file, elsewhere)
    expect(await only()).toContain(
      `hooks in ${fixture.file} report to /elsewhere, and this program uses ${fixture.dataDir}`,
    )
    fixture.write(fixture.file, '{ "hooks": // mine\n {} }')
    expect(await only()).toContain('has comments, which JSON does not allow')
    fixture.write(fixture.file, '[]')
    expect(await only()).toContain('no hook is registered')
  })

  it('recognises hooks written by hand', async () => {
    const command = 'claude-mem hook'
    fixture.write(join(fixture.bin, 'claude-mem'), `#!/bin/sh\n"${process.execPath}" "${fixture.hook}"\n`, 0o755)
    fixture.write(fixture.file, JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } }))
    const faults = await fixture.faults({ env: { ...fixture.env, PATH: `${fixture.bin}:/bin:/usr/bin` } })
    expect(faults).toEqual([
      expect.stringMatching(
        /^hooks.claude-code advice: SessionStart, .* are not registered -> if you want them: claude-mem install$/,
      ),
      expect.stringMatching(/^mcp.claude-code advice: the MCP server is not registered/),
    ])
  })

  it('runs no command that came with a project', async () => {
    const trace = join(fixture.home, 'trace')
    const node = fixture.write(join(fixture.root, 'node'), `#!/bin/sh\ntouch ${trace}\n`, 0o755)
    const hook = fixture.write(join(fixture.root, 'claude-mem', 'hook.cjs'), `fs.writeFileSync('${trace}', '')`)
    const commands = [`claude-mem hook ; touch ${trace}`, `node "${hook}"`, `"${node}" "${hook}"`]
    const Stop = commands.map((command) => ({ hooks: [{ type: 'command', command }] }))
    fixture.write(join(fixture.bin, 'claude-mem'), '#!/bin/sh\necho {}\n', 0o755)
    const file = fixture.write(join(fixture.root, '.claude', 'settings.json'), JSON.stringify({ hooks: { Stop } }))
    const checks = await fixture.checks({ env: { ...fixture.env, PATH: `${fixture.bin}:/bin:/usr/bin` } })
    expect(existsSync(trace)).toBe(false)
    expect(checks.find(({ id }) => id === 'hook-run.claude-code')).toMatchObject({
      state: 'ok',
      detail: `hooks in ${file} were not installed from here and are not run`,
    })
    rmSync(file)
    fixture.install('2.1.197', { scope: 'project' })
    const own = (await fixture.checks()).find(({ id }) => id === 'hook-run.claude-code')
    expect(own?.detail).toMatch(SLOW)
  })

  it('reports that another server has our name', async () => {
    fixture.write(fixture.state, JSON.stringify({ mcpServers: { 'claude-mem': { type: 'http', url: 'http://x' } } }))
    fixture.install()
    expect(await only()).toContain(`mcp.claude-code advice: ${fixture.state} has a server named claude-mem`)
  })
})
