/** The command `claude-mem` after install: in an empty home, with real login shells. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../support/directories.ts'
import { DIST } from '../../support/paths.ts'
import { InstalledHome, packageOf } from './installed-home.ts'

const BASH = '/bin/bash'
const hasBash = existsSync(BASH)
/** What Debian gives a new user. */
const PROFILE = 'if [ -d "$HOME/.local/bin" ] ; then\n    PATH="$HOME/.local/bin:$PATH"\nfi\n'

const homes: InstalledHome[] = []
afterEach(async () => {
  for (const home of homes.splice(0)) await home.dispose()
})

function newHome(files: Readonly<Record<string, string>> = {}): InstalledHome {
  const home = new InstalledHome()
  homes.push(home)
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home.home, name)), { recursive: true })
    writeFileSync(join(home.home, name), content)
  }
  return home
}

const commandOf = ({ home }: InstalledHome) => join(home, '.local', 'bin', 'claude-mem')
const install = (home: InstalledHome, ...args: string[]) => home.run(DIST, ['install', ...args], { SHELL: BASH })
const doctorOf = async (home: InstalledHome) => {
  const { stdout } = await home.run(home.currentDist, ['doctor', '--json'], { SHELL: BASH })
  const checks: { id: string; state: string; detail: string; fix: string }[] = JSON.parse(stdout).checks
  return checks.find(({ id }) => id === 'command')
}

/** What a person sees who opens a new terminal and types this. */
function inNewShell({ home }: InstalledHome, line: string, shell = BASH) {
  const env = { HOME: home, PATH: '/usr/bin:/bin', CLAUDE_MEM_WORKER_PORT: '0' }
  const { status, stdout, stderr } = spawnSync(shell, ['-l', '-i', '-c', line], {
    env,
    cwd: home,
    encoding: 'utf8',
    input: '',
  })
  return { status, stdout, stderr }
}

/** Every file and directory below a home, with its content. */
function everything(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('.claude-mem') && !name.startsWith('.npm'))
    .sort()
    .map((name) => {
      const file = join(directory, name)
      return lstatSync(file).isFile() ? `${name}: ${readFileSync(file, 'utf8')}` : name
    })
}

describe.skipIf(!hasBash)('the command after install', () => {
  it('works in a new shell, also when what it was installed from is deleted; uninstall leaves every byte as before', async () => {
    const home = newHome({ '.profile': PROFILE })
    const before = everything(home.home)
    const clone = packageOf(DIST)
    const installed = await home.run(join(clone, 'dist'), ['install'], { SHELL: BASH })
    expect([installed.code, installed.stdout], installed.stderr).toEqual([0, expect.stringContaining(commandOf(home))])
    rmSync(clone, { recursive: true })
    expect(inNewShell(home, 'claude-mem --version')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d/) })
    expect(inNewShell(home, 'claude-mem no-such').status).toBe(2)
    expect(await doctorOf(home)).toMatchObject({ state: 'ok', detail: `a new shell runs ${commandOf(home)}` })
    expect(installed.stdout).toContain('To undo it: claude-mem uninstall')
    const removed = inNewShell(home, 'claude-mem uninstall')
    expect([removed.status, removed.stdout]).toEqual([0, expect.stringContaining(`${commandOf(home)} is removed.`)])
    // The command is gone: what is left to do is said with what still works.
    expect(removed.stdout).toMatch(/To install it again: \S*node \S+cli\.js install/)
    expect(everything(home.home)).toEqual(before)
  })

  it('is planned by a dry run, which changes nothing', async () => {
    const home = newHome({ '.profile': PROFILE })
    const before = everything(home.home)
    const { code, stdout } = await install(home, '--dry-run')
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${commandOf(home)} would be written:\n+#!/bin/sh`)])
    expect(everything(home.home)).toEqual(before)
  })

  it.each([
    { profile: {}, file: '.profile' },
    { profile: { '.bash_profile': 'true\n', '.profile': 'true\n' }, file: '.bash_profile' },
  ])('a PATH without it: install and doctor print the line for $file, which works', async ({ profile, file }) => {
    const home = newHome(profile)
    const { stdout } = await install(home)
    const line = 'export PATH="$HOME/.local/bin:$PATH"'
    expect(stdout).toContain(`add this line to ${join(home.home, file)}: ${line}`)
    expect(stdout).toContain('To undo it: ~/.local/bin/claude-mem uninstall')
    expect(inNewShell(home, 'claude-mem --version').status).toBe(127)
    expect(inNewShell(home, '~/.local/bin/claude-mem --version').status).toBe(0)
    expect(await doctorOf(home)).toMatchObject({ state: 'advice', fix: expect.stringContaining(line) })
    writeFileSync(join(home.home, file), `${line}\n`)
    expect(inNewShell(home, 'claude-mem --version').status).toBe(0)
    expect(await doctorOf(home)).toMatchObject({ state: 'ok' })
  })

  it('what a session is told names what works here', async () => {
    const home = newHome()
    await install(home)
    await home.run(home.currentDist, ['remember', 'Staging has no Redis'])
    const { stdout } = await home.run(home.currentDist, ['context'], { SHELL: BASH })
    expect(stdout).toContain('in a shell `~/.local/bin/claude-mem search "…"`')
    const found = inNewShell(home, '~/.local/bin/claude-mem search Redis')
    expect([found.status, found.stdout]).toEqual([0, expect.stringContaining('Staging has no Redis')])
  })
})

describe.skipIf(!hasBash)('a command of the same name', () => {
  it.each([
    { what: 'a program', make: (file: string) => writeFileSync(file, '#!/bin/sh\necho original\n', { mode: 0o755 }) },
    { what: 'a link', make: (file: string) => symlinkSync('/usr/lib/node_modules/claude-mem/cli.js', file) },
    { what: 'a directory', make: (file: string) => mkdirSync(file) },
  ])('that is not ours is never replaced or removed: $what', async ({ make }) => {
    const home = newHome({ '.profile': PROFILE, '.local/bin/other': '' })
    make(commandOf(home))
    const before = everything(home.home)
    const installed = await install(home)
    expect([installed.code, installed.stdout]).toEqual([
      0,
      expect.stringMatching(
        /claude-mem is not ours and was left alone.*To do: move it away and run \S+ \S+cli\.js install/s,
      ),
    ])
    expect(installed.stdout).toMatch(/To undo it: \S*node \S+cli\.js uninstall/)
    expect(await doctorOf(home)).toMatchObject({ state: 'advice', detail: expect.stringContaining('is not ours') })
    await home.memOk('uninstall')
    expect(everything(home.home)).toEqual(before)
  })

  it('our file that was changed by hand stays', async () => {
    const home = newHome({ '.profile': PROFILE })
    await install(home)
    writeFileSync(commandOf(home), `${readFileSync(commandOf(home), 'utf8')}# mine\n`)
    await install(home)
    await home.memOk('uninstall')
    expect(readFileSync(commandOf(home), 'utf8')).toMatch(/# mine\n$/)
  })

  it('an alias is named', async () => {
    const home = newHome({ '.profile': `${PROFILE}alias claude-mem='npx other'\n` })
    const { stdout } = await install(home)
    expect(stdout).toContain("in a new shell claude-mem is alias claude-mem='npx other', which is not this program")
    expect(stdout).toContain('rename or remove that; or use: ~/.local/bin/claude-mem')
  })

  it('that comes earlier on the PATH is named', async () => {
    const home = newHome({ '.profile': `${PROFILE}PATH="$HOME/first:$PATH"\n`, 'first/claude-mem': '#!/bin/sh\n' })
    chmodSync(join(home.home, 'first', 'claude-mem'), 0o755)
    const { stdout } = await install(home)
    expect(stdout).toContain(`in a new shell claude-mem is ${join(home.home, 'first', 'claude-mem')}, which is not`)
  })
})

describe('shells and homes of other kinds', () => {
  it('a directory that cannot be written: the rest is installed, and what works is named', async () => {
    const home = newHome({ '.local/bin': 'a file' })
    const { code, stdout } = await home.run(DIST, ['install'], { SHELL: '/bin/sh' })
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/there is no command claude-mem.*or use: \S*node \S+cli\.js/s),
    ])
    expect(existsSync(join(home.home, '.claude', 'settings.json'))).toBe(true)
    await home.memOk('uninstall')
    expect(readFileSync(join(home.home, '.local', 'bin'), 'utf8')).toBe('a file')
  })

  it('a shell that is not bash: sh finds it after the line that is printed', async () => {
    const home = newHome()
    const { stdout } = await home.run(DIST, ['install'], { SHELL: '/bin/sh' })
    const [, line = ''] = /add this line to \S+\.profile: (.*?) {3}/.exec(stdout) ?? []
    writeFileSync(join(home.home, '.profile'), `${line}\n`)
    expect(inNewShell(home, 'claude-mem --version', '/bin/sh').status).toBe(0)
  })

  it.each(['/bin/false', '/no/such/fish'])(
    'a shell that does not answer (%s) does not stop the installation',
    async (shell) => {
      const home = newHome()
      const { code, stdout } = await home.run(DIST, ['install'], { SHELL: shell })
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(/not known: .*To do: ~\/\.local\/bin\/claude-mem works/),
      ])
    },
  )

  it('the command of another data directory is left alone', async () => {
    const home = newHome()
    await home.run(DIST, ['install'], { SHELL: '/bin/sh' })
    const before = readFileSync(commandOf(home), 'utf8')
    const other = temporaryDirectory('other data')
    const { stdout } = await home.run(DIST, ['install'], { SHELL: '/bin/sh', CLAUDE_MEM_DATA_DIR: other })
    expect(stdout).toContain('is not ours')
    await home.run(DIST, ['uninstall'], { CLAUDE_MEM_DATA_DIR: other })
    expect(readFileSync(commandOf(home), 'utf8')).toBe(before)
  })

  it('a data directory and a home with blanks and quotes', async () => {
    const base = join(temporaryDirectory("it's a home"), 'x y')
    mkdirSync(base)
    const home = new InstalledHome(base)
    homes.push(home)
    const data = join(base, "my 'data'")
    await home.run(DIST, ['install'], { SHELL: '/bin/sh', CLAUDE_MEM_DATA_DIR: data })
    const status = inNewShell(home, '~/.local/bin/claude-mem packages --json', '/bin/sh')
    expect([status.status, status.stdout], status.stderr).toEqual([0, expect.stringContaining("my 'data'")])
    await home.run(join(data, 'program', 'current', 'dist'), ['uninstall'], { CLAUDE_MEM_DATA_DIR: data })
    expect(existsSync(commandOf(home))).toBe(false)
  })
})
