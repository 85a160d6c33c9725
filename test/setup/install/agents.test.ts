/** Codex, Gemini CLI and Qwen Code: their files get our entries, and are as before without them, odd ones, too. */
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { codexInstall } from '../../../src/setup/install/clients/codex.ts'
import { geminiInstall } from '../../../src/setup/install/clients/gemini.ts'
import { qwenInstall } from '../../../src/setup/install/clients/qwen.ts'
import { installClient } from '../../../src/setup/install/install.ts'
import { snakeCase } from '../../../src/setup/install/toml-server.ts'
import { settingsAt as at, type InstallFixture } from './fixture.ts'
import { COMMAND, COMMENTED, commentsOf, parseCommented } from './inputs.ts'

const read = (file: string) => readFileSync(file, 'utf8')

function write(place: InstallFixture, name: string, text: string): string {
  const file = join(place.home, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

const SERVER = [
  '# claude-mem: added by "claude-mem install", removed by "claude-mem uninstall"',
  '[mcp_servers.claude-mem]',
  'command = "/usr/bin/node"',
  'args = ["/opt/claude-mem/dist/cli.js", "mcp", "--data-dir", "/home/me/.claude-mem"]',
  '',
].join('\n')

describe('Codex', () => {
  const install = (place: InstallFixture) => place.install(null, { adapter: codexInstall })
  const uninstall = (place: InstallFixture) => place.uninstall({ adapter: codexInstall })
  const config = (place: InstallFixture) => join(place.home, '.codex', 'config.toml')
  const hooks = (place: InstallFixture) => join(place.home, '.codex', 'hooks.json')

  it('gets hooks and server; uninstall removes them with the directory', () => {
    const place = at(null)
    const { events } = install(place)
    const written = JSON.parse(read(hooks(place)))
    // Another key at the top would make Codex ignore the file.
    expect(Object.keys(written)).toEqual(['hooks'])
    expect(Object.keys(written.hooks)).toEqual(events)
    expect(written.hooks.SessionStart).toEqual([
      { hooks: [{ type: 'command', command: `${COMMAND} --client codex`, timeout: 15, additionalContextLimit: 0 }] },
    ])
    expect(written.hooks.SessionEnd[0].hooks[0].timeout).toBeLessThanOrEqual(3)
    expect(read(config(place))).toBe(SERVER)
    expect(install(place).changed).toBe(false)
    uninstall(place)
    expect(existsSync(join(place.home, '.codex'))).toBe(false)
  })

  it('says what the user has to trust', () => {
    expect(install(at(null)).notes.join(' ')).toContain('trust')
  })

  it('says it until our own hooks are trusted: the trust of other hooks does not count', () => {
    const place = at(null)
    const trust = (key: string) => `[hooks.state."${key}"]\ntrusted_hash = "sha256:1"\n`
    const other = trust(`${hooks(place)}:session_start:0:1`) + trust('lint@market:hooks/hooks.json:session_start:0:0')
    const file = write(place, '.codex/config.toml', other)
    const { events } = install(place)
    expect(install(place).notes.join(' ')).toContain('Codex runs a hook only after you trusted it')
    const own = events.map((event) => trust(`${hooks(place)}:${snakeCase(event)}:0:0`))
    writeFileSync(file, read(file) + own.join(''))
    expect(install(place).notes).toEqual([])
    // The trust is for the entry, which is another one now.
    place.node = '/opt/node'
    expect(install(place).notes.join(' ')).toContain('Codex runs a hook only after you trusted it')
  })

  it('names a linked CODEX_HOME in its trust by the target', () => {
    const place = at(null)
    mkdirSync(join(place.home, 'real'))
    symlinkSync(join(place.home, 'real'), join(place.home, 'linked'))
    place.env = { CODEX_HOME: join(place.home, 'linked') }
    const { events } = install(place)
    const file = join(place.home, 'real', 'config.toml')
    const key = (event: string) => `${join(place.home, 'real', 'hooks.json')}:${snakeCase(event)}:0:0`
    const trust = events.map((event) => `[hooks.state."${key(event)}"]\ntrusted_hash = "sha256:1"\n`)
    writeFileSync(file, read(file) + trust.join(''))
    expect(install(place).notes).toEqual([])
    uninstall(place)
    expect(existsSync(file) ? read(file) : '').not.toContain('trusted_hash')
  })

  it('is uninstalled, and its trust is checked, where hooks.json begins with a byte order mark', () => {
    const place = at(null)
    const { command } = install(place)
    writeFileSync(hooks(place), `\uFEFF${read(hooks(place))}`)
    write(place, '.codex/config.toml', `${read(join(place.home, '.codex', 'config.toml'))}\n[projects."/x"]\n`)
    expect(codexInstall.trust?.missing(place.where(), (one) => one === command)).toContain('SessionStart')
    uninstall(place)
    expect(read(join(place.home, '.codex', 'config.toml'))).not.toContain('claude-mem')
  })

  it('is given the trust of our hooks only if asked, and loses it again', () => {
    const place = at(null)
    const file = write(place, '.codex/config.toml', 'model = "x"\n')
    const { command } = install(place)
    const ours = (one: unknown) => one === command
    expect(codexInstall.trust?.missing(place.where(), ours)).toContain('SessionStart')
    expect(read(file)).not.toContain('trusted_hash')
    const hooksFile = hooks(place)
    const key = (event: string) => `${hooksFile}:${event}:0:0`
    const names = ['session_start', 'user_prompt_submit', 'post_tool_use', 'pre_compact']
    const later = ['subagent_stop', 'stop', 'interrupt', 'session_end']
    const trust = [...names, ...later].map((event) => ({ key: key(event), hash: `sha256:${event}` }))
    const options = { version: null, fileContext: false, trust }
    for (let n = 0; n < 2; n++) installClient(codexInstall, place.where(), place.program, options, place.ground())
    expect(codexInstall.trust?.missing(place.where(), ours)).toEqual([])
    expect(read(file).match(/trusted_hash/g)).toHaveLength(trust.length)
    expect(install(place).changed).toBe(false)
    uninstall(place)
    expect(read(file)).toBe('model = "x"\n')
  })

  it('is read from CODEX_HOME', () => {
    const place = at(null)
    place.env = { CODEX_HOME: join(place.home, 'elsewhere') }
    install(place)
    expect(existsSync(join(place.home, 'elsewhere', 'config.toml'))).toBe(true)
  })

  const theirs: Record<string, string> = {
    'an empty file': '',
    'only a comment, no line end': '# mine',
    'no line end': 'model = "x"',
    'windows line ends': 'model = "x"\r\n\r\n[tui]\r\na = 1\r\n',
    'strings with brackets and quotes': `a = "[mcp_servers.claude-mem]"\nb = '''\n[mcp_servers.claude-mem]\n'''\nc = """\n"quoted" \\""" [x]\n"""\n`,
    'lists over lines':
      'notify = [\n  "a", # [x]\n  "b]",\n]\n\n[projects."/home/me/a [b]"]\ntrust_level = "trusted"\n',
    'other servers':
      '[mcp_servers.docs]\ncommand = "npx"\nargs = [\n  "x",\n]\n\n[mcp_servers.docs.env]\nK = "v"\n# the end\n',
    'keys with dots and dates':
      'a.b."c d" = { x = [1, 2], "y" = "}" }\nwhen = 1979-05-27T07:32:00Z\n[[items]]\nn = 1\n[[items]]\nn = 2\n',
  }
  it.each(Object.entries(theirs))('%s is kept to the byte', (_, text) => {
    const place = at(null)
    const file = write(place, '.codex/config.toml', text)
    install(place)
    const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
    expect(read(file).startsWith(text)).toBe(true)
    expect(read(file).endsWith(SERVER.replaceAll('\n', lineEnd))).toBe(true)
    expect(install(place).changed).toBe(false)
    uninstall(place)
    expect(read(file)).toBe(text)
  })

  it.each(Object.entries(theirs))('%s, changed by Codex since, loses our entries alone', (_, text) => {
    const place = at(null)
    const file = write(place, '.codex/config.toml', text)
    install(place)
    const added = '\n[tui.model_availability_nux]\n"gpt-6.1" = 1\n'
    const trust = (event: string) => `\n[hooks.state."${hooks(place)}:${event}:0:0"]\ntrusted_hash = "sha256:1"\n`
    writeFileSync(file, `${read(file)}${added}${trust('session_start')}${trust('other_event')}`)
    uninstall(place)
    const left = read(file)
    expect(left).not.toContain('claude-mem"\n[mcp_servers')
    expect(left).not.toContain('cli.js')
    expect(left).not.toContain('session_start')
    expect(left).toContain('other_event')
    expect(left.startsWith(text)).toBe(true)
    expect(left).toContain(added.trim())
  })

  it('an update changes command and arguments, and keeps what the user added', () => {
    const place = at(null)
    install(place)
    const file = config(place)
    writeFileSync(file, `${read(file)}startup_timeout_sec = 20\n\n[mcp_servers.claude-mem.env]\nK = "v"\n`)
    place.node = '/opt/node'
    install(place)
    expect(read(file)).toContain('command = "/opt/node"\n')
    expect(read(file)).toContain('startup_timeout_sec = 20\n')
    uninstall(place)
    expect(read(file).trim()).toBe('')
  })

  it("another program's server of our name stays", () => {
    const place = at(null)
    const text = '[mcp_servers.claude-mem]\ncommand = "docker"\nargs = ["run"]\n'
    const file = write(place, '.codex/config.toml', text)
    expect(install(place).files.map(({ taken }) => taken)).toEqual([false, true])
    expect(read(file)).toBe(text)
  })

  const refused = [
    'a = ',
    '[x',
    'a = "open',
    'a = [1',
    'x',
    "a = '''",
    '= 1',
    'a = 1 b',
    '[a]]\n',
    'mcp_servers = {}',
    'mcp_servers.x = 1',
  ]
  it.each(refused)('%s is refused, and nothing is changed', (text) => {
    const place = at(null)
    const file = write(place, '.codex/config.toml', text)
    expect(() => install(place)).toThrow(/config\.toml .*Nothing was changed/)
    expect(read(file)).toBe(text)
    expect(existsSync(hooks(place))).toBe(false)
  })

  it('a link stays a link', () => {
    const place = at(null)
    const target = write(place, 'dotfiles/config.toml', 'model = "x"\n')
    mkdirSync(join(place.home, '.codex'))
    symlinkSync(target, config(place))
    install(place)
    expect(read(target)).toContain('mcp_servers')
    uninstall(place)
    expect(read(target)).toBe('model = "x"\n')
  })
})

describe('Gemini CLI', () => {
  const install = (place: InstallFixture) => place.install(null, { adapter: geminiInstall })
  const uninstall = (place: InstallFixture) => place.uninstall({ adapter: geminiInstall })

  it('gets hooks and server in one file, with milliseconds', () => {
    const place = at(null)
    install(place)
    const file = join(place.home, '.gemini', 'settings.json')
    const written = JSON.parse(read(file))
    expect(written.hooks.BeforeAgent).toEqual([
      {
        hooks: [
          { name: 'claude-mem-BeforeAgent', type: 'command', command: `${COMMAND} --client gemini`, timeout: 10_000 },
        ],
      },
    ])
    expect(written.mcpServers['claude-mem']).toEqual({
      command: '/usr/bin/node',
      args: ['/opt/claude-mem/dist/cli.js', 'mcp', '--data-dir', '/home/me/.claude-mem'],
    })
    expect(install(place).changed).toBe(false)
    uninstall(place)
    expect(existsSync(join(place.home, '.gemini'))).toBe(false)
  })

  it('keeps hooks and servers of others, also after the client has rewritten the file', () => {
    const place = at(null)
    const theirs = {
      hooks: { BeforeAgent: [{ hooks: [{ type: 'command', command: 'audit' }] }] },
      mcpServers: { docs: { command: 'npx' } },
    }
    const file = write(place, '.gemini/settings.json', JSON.stringify(theirs))
    install(place)
    writeFileSync(file, JSON.stringify({ ...JSON.parse(read(file)), general: { vimMode: true } }, null, 2))
    uninstall(place)
    expect(JSON.parse(read(file))).toEqual({ ...theirs, general: { vimMode: true } })
  })
})

describe.each([
  ['Gemini CLI', geminiInstall, '.gemini/settings.json', 'BeforeAgent'],
  ['Qwen Code', qwenInstall, '.qwen/settings.json', 'UserPromptSubmit'],
])('comments in the settings of %s', (_, adapter, name, event) => {
  it.each(Object.entries(COMMENTED))('%s: stay, and every other byte', (_, text) => {
    const place = at(null)
    const file = write(place, name, text)
    const install = () => place.install(null, { adapter })
    const { events } = install()
    const written = read(file)
    const parsed = parseCommented(written)
    expect({ ...parsed, hooks: 1, mcpServers: 1 }).toEqual({ ...parseCommented(text), hooks: 1, mcpServers: 1 })
    for (const one of events) {
      expect(parsed.hooks[one].at(-1).hooks[0].command).toBe(`${COMMAND} --client ${adapter.name}`)
    }
    expect(parsed.mcpServers['claude-mem'].command).toBe('/usr/bin/node')
    expect(commentsOf(written)).toEqual(commentsOf(text))
    expect(install().changed).toBe(false)
    place.node = '/opt/node'
    expect(install().changed).toBe(true)
    expect(commentsOf(read(file))).toEqual(commentsOf(text))
    place.uninstall({ adapter })
    expect(read(file)).toBe(text)
  })

  it.each(Object.entries(COMMENTED))('%s: stay where the file was changed since', (_, text) => {
    const place = at(null)
    const file = write(place, name, text)
    place.install(null, { adapter })
    writeFileSync(file, `${read(file)}\n// added`)
    place.uninstall({ adapter })
    expect(read(file)).toBe(`${text}\n// added`)
  })

  it('beside our entries, written later, stay too', () => {
    const place = at(null)
    const file = write(place, name, '{\n  "a": 1\n}\n')
    place.install(null, { adapter })
    const commented = read(file)
      .replace(`    "${event}"`, `    // above\n    "${event}"`)
      .replace('  "mcpServers": {', '  /* servers */ "mcpServers": { // ours')
      .replace(/\n\}\n$/, ', // behind\n  "b": 2\n}\n')
    writeFileSync(file, commented)
    place.uninstall({ adapter })
    expect(commentsOf(read(file))).toEqual(['// above', '/* servers */', '// ours', '// behind'])
    expect(parseCommented(read(file))).toMatchObject({ a: 1, b: 2 })
    expect(read(file)).not.toContain('claude-mem')
  })

  it.each(['{"a": 1,} // one', '{} /', '// only a comment', '{"a": /* open'])('%s is refused', (text) => {
    const place = at(null)
    const file = write(place, name, text)
    expect(() => place.install(null, { adapter })).toThrow(/is not valid JSON .*Nothing was changed/)
    expect(read(file)).toBe(text)
  })
})
