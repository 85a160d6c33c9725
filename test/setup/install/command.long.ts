/** `claude-mem install` and `uninstall` as people run them. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { eventsToRegister } from '../../../src/setup/install/claude-code-events.ts'
import { Program } from '../../cli/program.ts'
import { isAlive } from '../../support/programs.ts'
import { InstallFixture } from './fixture.ts'
import { INPUTS } from './inputs.ts'

let program: Program
const places: InstallFixture[] = []

beforeAll(async () => {
  program = await Program.make()
}, 60_000)
afterAll(() => program.end(), 60_000)
afterEach(() => {
  for (const place of places.splice(0)) place.dispose()
})

function at(settings: string | Buffer | null, client: string | null = '2.1.197') {
  const place = new InstallFixture(settings)
  places.push(place)
  if (client !== null) place.client(client)
  const env = { HOME: place.home, PATH: `${place.bin}:/nonexistent`, CLAUDE_CONFIG_DIR: '', CLAUDE_MEM_DATA_DIR: '' }
  return { place, run: (...args: string[]) => program.run(args, { env }), env }
}

const TWO_SPACES = String(INPUTS['two spaces'])

describe.skipIf(process.platform === 'win32')('claude-mem install', () => {
  it('says what was done, how to undo it and what to do next', async () => {
    const { place, run } = at(TWO_SPACES)
    const { code, stdout, stderr } = await run('install')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('claude-mem is installed in Claude Code')
    expect(stdout).toContain(place.file)
    expect(stdout).toContain('Claude Code 2.1.197')
    expect(stdout).toContain('PostToolUseFailure')
    expect(stdout).toContain('claude-mem uninstall')
    // The only thing to do is the directory of the command, which this home does not have on its PATH.
    expect(stdout.split('\n').filter((line) => line.includes('!'))).toEqual([
      expect.stringMatching(/^! .*\.local\/bin is not on the PATH of a new shell/),
    ])
    expect(place.commands).toContain(
      `Stop: "${process.execPath}" "${join(place.home, '.claude-mem', 'program', 'current', 'dist', 'hook.cjs')}" --data-dir "${place.dataDir}"`,
    )
    expect((await run('install')).stdout).toMatch(/is already installed in .+; nothing changed/)
    const undone = await run('uninstall')
    expect(undone.stdout).toContain('is restored, byte for byte')
    expect(place.text).toBe(TWO_SPACES)
    expect((await run('uninstall')).stdout).toContain('is not installed')
  })

  it('without a client on the PATH: Claude Code, also with --yes; an empty --client is refused', async () => {
    const { place, run } = at(null, null)
    expect((await run('install', '--client', '')).stderr).toContain('--client needs a name: all, claude-code')
    expect((await run('install', '--client', 'all')).stderr).toContain('no client was found')
    const { code, stdout } = await run('install', '--yes')
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('installed in Claude Code') })
    expect(place.commands.length).toBeGreaterThan(5)
  })

  it('Claude Code that is only in an editor is found by its settings, beside other clients', async () => {
    const { place, run } = at(TWO_SPACES, null)
    mkdirSync(join(place.home, '.codex'))
    const { stdout } = await run('install', '--yes', '--dry-run', '--json')
    expect(JSON.parse(stdout).clients.map(({ client }: { client: string }) => client)).toEqual(['claude-code', 'codex'])
  })

  it('a file that cannot be changed: says how to connect the other clients', async () => {
    const { place, run } = at(TWO_SPACES)
    mkdirSync(join(place.home, '.gemini'))
    writeFileSync(join(place.home, '.gemini', 'settings.json'), '{"a": 1,}\n')
    const { code, stderr } = await run('install', '--yes')
    expect(code).toBe(1)
    expect(stderr).toContain('To connect the others without Gemini CLI: claude-mem install --client claude-code')
    expect(place.text).toBe(TWO_SPACES)
  })

  /** Answers as Codex does; `answers`: how many times it lists hooks before it ends instead. */
  function putCodex(place: InstallFixture, answers: number): void {
    const code = `#!${process.execPath}
      const fs = require('fs')
      if (process.argv[2] === '--version') return console.log('codex-cli 0.166.0')
      const file = process.env.HOME + '/.codex/hooks.json'
      const send = (message) => console.log(JSON.stringify(message))
      require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line)
        if (method === 'initialize') return send({ id, result: {} })
        if (method !== 'hooks/list') return
        fs.appendFileSync(__filename + '.asked', '.')
        if (fs.statSync(__filename + '.asked').size > ${answers}) process.exit(3)
        const lists = fs.existsSync(file) ? Object.entries(JSON.parse(fs.readFileSync(file, 'utf8')).hooks) : []
        const hooks = lists.map(([event, [{ hooks: [{ command }] }]]) => ({
          key: file + ':' + event.replace(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase() + ':0:0',
          command,
          currentHash: 'sha256:1',
          sourcePath: file,
        }))
        send({ id, result: { data: [{ hooks }] } })
      })`
    writeFileSync(join(place.bin, 'codex'), code)
    chmodSync(join(place.bin, 'codex'), 0o755)
  }

  it.each([
    ['no Codex', null, 'it was not found: put it on your PATH'],
    ['a Codex that lists no hooks', 0, 'it ended with 3'],
    ['a Codex that fails after its files were written', 1, 'The files of all clients are as before'],
  ])('--trust-hooks with %s: no file of any client is changed', async (_, answers, message) => {
    const { place, run } = at(null)
    const config = join(place.home, '.codex', 'config.toml')
    mkdirSync(join(place.home, '.codex'))
    writeFileSync(config, 'model = "x"\n')
    if (answers !== null) putCodex(place, answers)
    for (const link of [['--link'], []]) {
      rmSync(join(place.bin, 'codex.asked'), { force: true })
      const { code, stderr } = await run('install', '--client', 'gemini,codex', '--trust-hooks', '--yes', ...link)
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) })
      expect(readFileSync(config, 'utf8')).toBe('model = "x"\n')
      expect(readdirSync(join(place.home, '.codex'))).toEqual(['config.toml'])
      expect(existsSync(join(place.home, '.gemini'))).toBe(false)
      expect(place.kept).toEqual([])
    }
  })

  it('--trust-hooks writes the trust of our hooks', async () => {
    const { place, run } = at(null)
    mkdirSync(join(place.home, '.codex'))
    putCodex(place, 2)
    const { code, stdout } = await run('install', '--client', 'codex', '--trust-hooks', '--link', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout).notes.join(' ')).not.toContain('Codex runs a hook only after you trusted it')
    const config = readFileSync(join(place.home, '.codex', 'config.toml'), 'utf8')
    expect(config.match(/trusted_hash = "sha256:1"/g)).toHaveLength(JSON.parse(stdout).events.length)
  })

  it('doctor reports trust that is of an older entry', async () => {
    const { place, run } = at(null)
    mkdirSync(join(place.home, '.codex'))
    putCodex(place, 9)
    await run('install', '--client', 'codex', '--trust-hooks', '--link')
    const text = 'Codex skips'
    expect((await run('doctor')).stdout).not.toContain(text)
    const config = join(place.home, '.codex', 'config.toml')
    writeFileSync(config, readFileSync(config, 'utf8').replaceAll('sha256:1', 'sha256:0'))
    expect((await run('doctor')).stdout).toContain(text)
  })

  it('--purge is refused for one client or for a project: it would delete the memory', async () => {
    const { place, run } = at(TWO_SPACES)
    await run('install', '--link')
    for (const option of [
      ['--client', 'gemini'],
      ['--scope', 'project'],
    ]) {
      const { code, stderr } = await run('uninstall', '--purge', '--yes', ...option)
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('omit --client and --scope') })
    }
    expect(existsSync(place.dataDir)).toBe(true)
  })

  it('registers the fast hook when asked, keeps it, and goes back', async () => {
    const { place, run, env } = at(TWO_SPACES)
    env.PATH = `${place.bin}:/usr/bin:/bin`
    const stop = () => place.commands.find((command) => command.startsWith('Stop: '))
    const fast = `Stop: /bin/sh "${join(place.home, '.claude-mem', 'program', 'current', 'dist', 'fast-hook.sh')}" "${process.execPath}" "/usr/bin/curl" --data-dir "${place.dataDir}" || true`
    expect((await run('install', '--hook', 'fast')).code).toBe(0)
    expect(stop()).toBe(fast)
    expect((await run('install')).stdout).toMatch(/is already installed in .+; nothing changed/)
    expect((await run('install', '--hook', 'node')).code).toBe(0)
    expect(stop()).toBe(
      `Stop: "${process.execPath}" "${join(place.home, '.claude-mem', 'program', 'current', 'dist', 'hook.cjs')}" --data-dir "${place.dataDir}"`,
    )
    expect((await run('install', '--hook', 'fast')).code).toBe(0)
    // The curl is gone: the hook that works everywhere is registered instead.
    env.PATH = `${place.bin}:/nonexistent`
    const without = await run('install')
    expect(without.stdout).toContain('The fast hook was registered, but it does not work any more: there is no curl')
    expect(stop()).toContain('hook.cjs')
    expect((await run('uninstall')).stdout).toContain('is restored, byte for byte')
    expect(place.text).toBe(TWO_SPACES)
  })

  it('changes nothing where the fast hook is asked for and cannot work', async () => {
    const { place, run } = at(TWO_SPACES)
    const { code, stderr } = await run('install', '--hook', 'fast')
    expect(code).not.toBe(0)
    expect(stderr).toContain('there is no curl on the PATH; install it')
    expect(stderr).toContain('--hook node')
    expect(place.text).toBe(TWO_SPACES)
    expect((await run('install', '--hook', 'slow')).code).not.toBe(0)
  })

  it.skipIf(!existsSync('/usr/bin/script')).each([
    ['', 'fast-hook.sh'],
    ['n', 'hook.cjs'],
  ])('on a terminal it measures both hooks and offers the fast one: "%s"', async (answer, expected) => {
    const { place, env } = at(TWO_SPACES)
    const command = `'${process.execPath}' '${join(program.dist, 'cli.js')}' install`
    const terminal = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], {
      env: { ...process.env, ...env, PATH: `${place.bin}:/usr/bin:/bin`, TERM: 'dumb' },
    })
    let shown = ''
    const answers = [
      { after: 'or Enter for', text: '' },
      { after: 'Use the fast hook?', text: answer },
    ]
    terminal.stdout.on('data', (chunk: Buffer) => {
      shown += chunk
      const [next] = answers
      if (next === undefined || !shown.includes(next.after)) return
      answers.shift()
      terminal.stdin.write(`${next.text}\r`)
    })
    const [code] = await once(terminal, 'exit')
    expect({ code, shown }).toMatchObject({
      code: 0,
      shown: expect.stringMatching(/takes \d+ ms, and \d+ ms with the fast/),
    })
    expect(place.commands.find((line) => line.startsWith('Stop: '))).toContain(expected)
  })

  it('speaks JSON', async () => {
    const { place, run } = at('{}')
    const installed = JSON.parse((await run('install', '--json')).stdout)
    expect(installed).toMatchObject({
      client: 'claude-code',
      scope: 'user',
      dryRun: false,
      changed: true,
      program: { version: '2.1.197' },
      files: [
        { file: place.file, what: 'hooks', changed: true },
        { file: place.state, what: 'MCP server', changed: true, taken: false },
      ],
      leftOut: [],
      notes: [],
      observer: null,
    })
    expect(JSON.parse((await run('uninstall', '--json')).stdout)).toMatchObject({
      changed: true,
      files: [{ how: 'restored' }, { how: 'file removed' }],
    })
  })

  it('shows the change and makes none with --dry-run', async () => {
    const { place, run } = at(TWO_SPACES)
    const { stdout } = await run('install', '--dry-run')
    expect(stdout).toMatch(/^--- .*settings\.json\n\+\+\+ .*settings\.json\n@@ /)
    expect(stdout).toMatch(/^\+ +"SessionStart": \[$/m)
    expect(stdout).toMatch(/^\+\+\+ .*\.claude\.json\n/m)
    expect(place.text).toBe(TWO_SPACES)
    expect(existsSync(place.dataDir)).toBe(false)
    expect((await run('uninstall', '--dry-run')).stdout).toContain('Nothing would change')
    const offline = (await run('install', '--dry-run', '--provider', 'offline')).stdout
    expect(offline).toContain(`CLAUDE_MEM_PROVIDER would be set in ${join(place.dataDir, 'settings.json')}`)
  })

  it('registers nothing if the observer could not be set', async () => {
    const { place, run } = at(TWO_SPACES)
    mkdirSync(place.dataDir)
    writeFileSync(join(place.dataDir, 'settings.json'), '{ half')
    const { code, stderr } = await run('install', '--provider', 'offline')
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('is not a JSON object') })
    expect(place.text).toBe(TWO_SPACES)
    expect(existsSync(place.state)).toBe(false)
  })

  it.each([
    [null, 'No claude program was found'],
    ['2.0.0', 'Claude Code 2.0.0 does not know PostToolUseFailure and StopFailure'],
  ])('says what client %s misses', async (client, words) => {
    const { place, run } = at('{}', client)
    expect((await run('install')).stdout).toContain(words)
    expect(Object.keys(place.json.hooks)).not.toContain('StopFailure')
  })

  it('says that hooks are switched off, that the plugin is there too, and whose server has our name', async () => {
    const { place, run } = at('{"disableAllHooks": true, "enabledPlugins": {"claude-mem@market": true}}')
    writeFileSync(place.state, '{"mcpServers": {"claude-mem": {"url": "http://localhost:1"}}}')
    const { stdout } = await run('install')
    expect(stdout).toContain('"disableAllHooks" is true')
    expect(stdout).toContain('each event is reported twice')
    expect(stdout).toContain('has another server named claude-mem')
  })

  it('installs in Cursor, and in a project', async () => {
    const { place, run, env } = at(null, null)
    const { stdout } = await run('install', '--client', 'cursor')
    expect(stdout).toContain('claude-mem is installed in Cursor')
    expect(stdout).toContain('No Cursor was found')
    expect(stdout).toContain('claude-mem uninstall --client cursor')
    expect(readFileSync(join(place.home, '.cursor', 'hooks.json'), 'utf8')).toContain('--client cursor')
    mkdirSync(place.root)
    const project = (...args: string[]) => program.run([...args, '--scope', 'project'], { env, cwd: place.root })
    expect((await project('install')).stdout).toContain('paths of this machine')
    expect(existsSync(join(place.root, '.mcp.json'))).toBe(true)
    expect((await project('uninstall')).stdout).toContain('It is still installed in')
    const atHome = await program.run(['install', '--scope', 'project'], { env, cwd: place.home })
    expect(atHome).toMatchObject({ code: 2, stdout: '' })
    expect(atHome.stderr).toContain('not a project')
  })

  it('sets the observer that is named, with a key from stdin, and asks nobody', async () => {
    const { place, env } = at('{}')
    const run = (input: string, ...args: string[]) => program.run(['install', ...args], { env, input })
    const settings = () => JSON.parse(readFileSync(join(place.dataDir, 'settings.json'), 'utf8'))
    const lacking = await run('', '--provider', 'gemini')
    expect(lacking).toMatchObject({ code: 1, stdout: '' })
    expect(lacking.stderr).toContain('--key-stdin')
    expect(place.text).toBe('{}')
    const { stdout } = await run('AIza-secret-key-0123456789\n', '--provider', 'gemini', '--key-stdin')
    expect(stdout).toContain('gemini')
    expect(stdout).not.toContain('secret')
    expect(settings()).toEqual({
      CLAUDE_MEM_GEMINI_API_KEY: 'AIza-secret-key-0123456789',
      CLAUDE_MEM_PROVIDER: 'gemini',
    })
    await run('', '--provider', 'claude-code', '--json')
    expect(settings()).toMatchObject({
      CLAUDE_MEM_PROVIDER: 'claude-code',
      CLAUDE_CODE_PATH: join(place.bin, 'claude'),
    })
    expect((await run('', '--provider', 'gpt')).stderr).toContain('unknown provider')
  })

  it('goes where CLAUDE_CONFIG_DIR says', async () => {
    const { place, env } = at(null)
    const directory = join(place.home, 'elsewhere')
    const { stdout } = await program.run(['install'], { env: { ...env, CLAUDE_CONFIG_DIR: directory } })
    expect(stdout).toContain(join(directory, 'settings.json'))
    expect(readFileSync(join(directory, 'settings.json'), 'utf8')).toContain('hook.cjs')
    expect(existsSync(place.file)).toBe(false)
  })

  it.each([
    ['comments', '{\n  /* mine */\n}', 0o644, 'has comments'],
    ['half a file', '{"a":', 0o644, 'is not valid JSON'],
    ['a read-only file', '{}', 0o444, 'is read-only'],
  ])('explains %s and touches nothing', async (_, settings, mode, words) => {
    const { place, run } = at(settings)
    chmodSync(place.file, mode)
    for (const args of [['install'], ['install', '--dry-run']]) {
      const { code, stdout, stderr } = await run(...args)
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain(words)
      expect(stderr).toContain('Nothing was changed.')
    }
    expect(place.text).toBe(settings)
  })
})

describe.skipIf(process.platform === 'win32')('claude-mem uninstall --client all', () => {
  it('a client whose file cannot be changed is named, and all others are uninstalled', async () => {
    const { place, run } = at(TWO_SPACES)
    const config = join(place.home, '.codex', 'config.toml')
    const hooks = join(place.home, '.codex', 'hooks.json')
    const installed = await run('install', '--client', 'claude-code,codex,gemini', '--link')
    expect(installed.code).toBe(0)
    const written = [readFileSync(config, 'utf8'), readFileSync(hooks, 'utf8')]
    writeFileSync(config, 'a = ')
    const planned = await run('uninstall', '--client', 'all', '--dry-run', '--json')
    expect(planned.code).toBe(1)
    expect(JSON.parse(planned.stdout)).toMatchObject({ dryRun: true, failures: [{ client: 'codex' }] })
    expect(place.commands).not.toEqual([])

    const { code, stdout, stderr } = await run('uninstall', '--client', 'all')
    expect(code).toBe(1)
    expect(place.text).toBe(TWO_SPACES)
    expect(existsSync(join(place.home, '.gemini'))).toBe(false)
    expect([readFileSync(config, 'utf8'), readFileSync(hooks, 'utf8')]).toEqual(['a = ', written[1]])
    expect(stdout).toContain('no longer installed in Claude Code')
    expect(stdout).toContain('no longer installed in Gemini CLI')
    expect(stdout).toContain('To install it again: ~/.local/bin/claude-mem install --client claude-code,gemini')
    expect(stderr).toContain(`Codex stays as it is: ${config} `)
    expect(stderr).toContain('Then: claude-mem uninstall --client codex')
    expect(stdout + stderr).not.toContain('Nothing was changed')

    const again = await run('uninstall', '--client', 'all', '--json')
    expect([again.code, again.stderr]).toEqual([1, ''])
    expect(JSON.parse(again.stdout)).toMatchObject({
      dryRun: false,
      clients: [{ client: 'claude-code', changed: false }],
      failures: [{ client: 'codex', error: 'bad_setting', message: expect.stringContaining('Codex stays as it is') }],
    })
    writeFileSync(config, written[0] ?? '')
    expect((await run('uninstall', '--client', 'all')).code).toBe(0)
    expect(existsSync(join(place.home, '.codex'))).toBe(false)
  })
})

describe.skipIf(process.platform === 'win32')('claude-mem uninstall --purge', () => {
  it('leaves no process, no socket and no file of ours, and every setting as it was', async () => {
    const { place, run, env } = at(TWO_SPACES)
    mkdirSync(place.root)
    await run('install')
    await program.run(['install', '--client', 'cursor', '--scope', 'project'], { env, cwd: place.root })
    const { pid } = JSON.parse((await run('start', '--json')).stdout)
    await program.run(['remember', 'Prices are cents'], { env, cwd: place.root })
    expect(await program.run(['files', 'on'], { env, cwd: place.root })).toMatchObject({ code: 0 })
    const refused = await run('uninstall', '--purge')
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('pass --yes to confirm')
    const dry = await run('uninstall', '--purge', '--dry-run')
    expect(dry.stdout).toContain(`${place.dataDir} would be deleted`)
    expect(dry.stdout).toContain(`${join(realpathSync(place.root), 'CLAUDE.md')} would be deleted`)
    expect(dry.stdout.match(/^\+\+\+ /gm)).toHaveLength(4)
    const { code, stdout } = await run('uninstall', '--purge', '--yes', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ deleted: true, stopped: [pid] })
    expect(isAlive(pid)).toBe(false)
    expect(place.text).toBe(TWO_SPACES)
    expect(readdirSync(place.root)).toEqual([])
    expect(readdirSync(place.home).sort()).toEqual(['.claude', 'bin', 'shop'])
  })

  it('keeps the memory, and the way back, where settings cannot be put right', async () => {
    const { place, run } = at(TWO_SPACES)
    await run('install')
    writeFileSync(place.file, '{ half')
    const { code, stderr } = await run('uninstall', '--purge', '--yes')
    expect(code).toBe(1)
    expect(stderr).toContain('The memory was not deleted')
    expect(place.kept.length).toBeGreaterThan(0)
    expect(readFileSync(place.state, 'utf8')).toContain('claude-mem')
  })

  it('does not take a home for a data directory', async () => {
    const { place, env } = at(TWO_SPACES)
    writeFileSync(join(place.home, 'db.sqlite'), '')
    const { code, stderr } = await program.run(['uninstall', '--purge', '--yes'], {
      env: { ...env, CLAUDE_MEM_DATA_DIR: place.home },
    })
    expect(code).toBe(1)
    expect(stderr).toContain('your home directory')
    expect(place.text).toBe(TWO_SPACES)
  })
})

describe.skipIf(process.platform === 'win32')('the plugin', () => {
  it('names what every client since 2.0.56 knows, and runs the hook around it', async () => {
    const { place } = at('{}')
    const plugin = join(program.dist, 'plugin')
    const read = (file: string) => JSON.parse(readFileSync(join(plugin, file), 'utf8'))
    expect(read('.claude-plugin/plugin.json')).toMatchObject({
      name: 'mem',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    })
    const { hooks } = read('hooks/hooks.json')
    expect(Object.keys(hooks)).toEqual(eventsToRegister().filter((event) => event !== 'StopFailure'))
    expect(hooks.Stop[0].hooks[0].command).toMatch(/^node "\$\{CLAUDE_PLUGIN_ROOT\}\/hook\.cjs"$/)
    expect(read('.mcp.json').mcpServers['claude-mem'].args[0]).toMatch(/^\$\{CLAUDE_PLUGIN_ROOT\}\/dist\/cli\.js$/)
    const payload = JSON.stringify({ hook_event_name: 'SessionStart', session_id: 'one', cwd: place.home })
    const env = { ...process.env, CLAUDE_MEM_HOOK_DISABLED: '1' }
    const run = (directory: string) =>
      JSON.parse(
        execFileSync(process.execPath, [join(directory, 'hook.cjs')], { input: payload, env, encoding: 'utf8' }),
      )
    expect(run(plugin)).toEqual({ continue: true, suppressOutput: true })
    const alone = join(place.home, 'alone')
    cpSync(plugin, alone, { recursive: true })
    expect(run(alone)).toEqual({ continue: true, suppressOutput: true })
    rmSync(join(alone, 'dist'), { recursive: true })
    expect(run(alone).systemMessage).toContain('its plugin is not complete')
  })

  it('gives Codex a hooks file of its own, with what install writes', async () => {
    const { place, run } = at('{}')
    mkdirSync(join(place.home, '.codex'))
    expect((await run('install', '--client', 'codex', '--link')).code).toBe(0)
    const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
    const plugin = join(program.dist, 'plugin')
    const manifest = read(join(plugin, '.codex-plugin', 'plugin.json'))
    const text = readFileSync(join(plugin, manifest.hooks), 'utf8')
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Codex replaces it
    const command = 'node "${CLAUDE_PLUGIN_ROOT}/hook.cjs"'
    const { hooks } = read(join(place.home, '.codex', 'hooks.json'))
    const installed = hooks.Interrupt[0].hooks[0].command
    const withPluginCommand = JSON.stringify({ hooks }).replaceAll(JSON.stringify(installed), JSON.stringify(command))
    expect(JSON.parse(text)).toEqual(JSON.parse(withPluginCommand))
    expect(hooks.SessionStart[0].hooks[0].additionalContextLimit).toBe(0)
  })

  it('does nothing if the hook is installed too', () => {
    const { place } = at('{}')
    const config = join(place.home, 'config')
    const untouched = join(place.home, 'untouched')
    mkdirSync(config)
    const command = `"${process.execPath}" "${join(program.dist, 'hook.cjs')}"`
    const hooks = { SessionStart: [{ hooks: [{ type: 'command', command }] }] }
    writeFileSync(join(config, 'settings.json'), JSON.stringify({ hooks }))
    const input = JSON.stringify({ hook_event_name: 'SessionStart', session_id: 'one', cwd: place.home })
    const env = { ...process.env, CLAUDE_CONFIG_DIR: config, CLAUDE_MEM_DATA_DIR: untouched }
    const hook = join(program.dist, 'plugin', 'hook.cjs')
    const said = execFileSync(process.execPath, [hook], { input, env, encoding: 'utf8' })
    expect(JSON.parse(said)).toEqual({ continue: true, suppressOutput: true })
    expect(existsSync(untouched)).toBe(false)
  })
})
