/** `claude-mem install` and `uninstall` as people run them. */
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Program } from '../cli/program.ts'
import { INPUTS } from './inputs.ts'
import { SettingsPlace } from './settings-place.ts'

let program: Program
const places: SettingsPlace[] = []

beforeAll(async () => {
  program = await Program.build()
}, 60_000)
afterAll(() => program.end(), 60_000)
afterEach(() => {
  for (const place of places.splice(0)) place.dispose()
})

function at(settings: string | Buffer | null, client: string | null = '2.1.197') {
  const place = new SettingsPlace(settings)
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
    expect(stdout).not.toContain('!')
    expect(place.commands).toContain(`Stop: "${process.execPath}" "${join(program.dist, 'hook.cjs')}"`)
    expect((await run('install')).stdout).toContain('already; nothing changed')
    const undone = await run('uninstall')
    expect(undone.stdout).toContain('as it was before, to the byte')
    expect(place.text).toBe(TWO_SPACES)
    expect((await run('uninstall')).stdout).toContain('is not installed')
  })

  it('speaks JSON', async () => {
    const { place, run } = at('{}')
    const installed = JSON.parse((await run('install', '--json')).stdout)
    expect(installed).toMatchObject({
      file: place.file,
      dryRun: false,
      changed: true,
      client: { version: '2.1.197' },
      leftOut: [],
    })
    expect(JSON.parse((await run('uninstall', '--json')).stdout)).toMatchObject({ changed: true, how: 'restored' })
  })

  it('shows the change and makes none with --dry-run', async () => {
    const { place, run } = at(TWO_SPACES)
    const { stdout } = await run('install', '--dry-run')
    expect(stdout).toMatch(/^--- .*settings\.json\n\+\+\+ .*settings\.json\n@@ /)
    expect(stdout).toMatch(/^\+ +"SessionStart": \[$/m)
    expect(place.text).toBe(TWO_SPACES)
    expect(existsSync(place.dataDir)).toBe(false)
    expect((await run('uninstall', '--dry-run')).stdout).toContain('Nothing would change')
  })

  it.each([
    [null, 'No claude program was found'],
    ['2.0.0', 'Claude Code 2.0.0 does not know PostToolUseFailure and StopFailure'],
  ])('says what client %s misses', async (client, words) => {
    const { place, run } = at('{}', client)
    expect((await run('install')).stdout).toContain(words)
    expect(Object.keys(place.json.hooks)).not.toContain('StopFailure')
  })

  it('says that hooks are switched off', async () => {
    const { run } = at('{"disableAllHooks": true}')
    expect((await run('install')).stdout).toContain('"disableAllHooks" is true')
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
