import { spawnSync } from 'node:child_process'
/** Installing the fast hook: which curl is used, switching between both hooks, and undoing it byte for byte. */
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { claudeCodeInstall } from '../../../src/setup/install/clients/claude-code.ts'
import { cursorInstall } from '../../../src/setup/install/clients/cursor.ts'
import {
  fastHookCommand,
  hookCommand,
  isFastHookCommand,
  isOurCommand,
} from '../../../src/setup/install/command-line.ts'
import { findFastHook, measureHooks } from '../../../src/setup/install/fast-hook.ts'
import { registeredHookKind } from '../../../src/setup/install/install.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { DIST } from '../../support/paths.ts'
import { settingsAt } from './fixture.ts'

const CURL = '/usr/bin/curl'
const COMMAND = '/bin/sh "/opt/claude-mem/dist/fast-hook.sh" "/usr/bin/node" "/usr/bin/curl" --data-dir "/data"'
const program = { node: process.execPath, hook: join(DIST, 'hook.cjs') }

function directoryWith(name: string, script: string): string {
  const directory = temporaryDirectory('bin')
  writeFileSync(join(directory, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(directory, name), 0o755)
  return directory
}

describe.skipIf(process.platform === 'win32')('the search for a curl', () => {
  it('finds one that works, behind one that does not', async () => {
    const broken = directoryWith('curl', 'echo "curl: option --unix-socket: is unknown" >&2; exit 2')
    const search = await findFastHook(program, { PATH: `${broken}:/usr/bin:/bin` })
    expect(search).toEqual({ type: 'found', curl: CURL })
  })

  it('says why there is none', async () => {
    const none = await findFastHook(program, { PATH: temporaryDirectory('empty') })
    expect(none).toEqual({ type: 'missing', reason: 'there is no curl on the PATH; install it' })
    const broken = directoryWith('curl', 'echo hello')
    expect(await findFastHook(program, { PATH: broken })).toMatchObject({
      type: 'missing',
      reason: expect.stringContaining('it cannot send a request to a Unix socket'),
    })
    const cut = directoryWith('curl', `${CURL} "$@" | head -c 3`)
    expect(await findFastHook(program, { PATH: `${cut}` })).toMatchObject({
      reason: expect.stringContaining('its answer was not passed on'),
    })
  })

  it('needs the script, and Linux or macOS', async () => {
    const hook = join(temporaryDirectory('dist'), 'hook.cjs')
    expect(await findFastHook({ ...program, hook }, { PATH: '/usr/bin' })).toMatchObject({
      reason: expect.stringContaining('fast-hook.sh does not exist'),
    })
    expect(await findFastHook(program, { PATH: '/usr/bin' }, 'win32')).toMatchObject({
      reason: 'it needs Linux or macOS, and this is win32',
    })
  })

  it('measures both hooks', async () => {
    const { fastMs, nodeMs } = await measureHooks(program, CURL, process.env, 3)
    expect(fastMs).toBeGreaterThan(0)
    expect(nodeMs).toBeGreaterThan(0)
  })

  it('works from a directory with spaces, quotes and dollar signs in its name', async () => {
    const directory = join(temporaryDirectory('dist'), `my "tools" $(x) 'y' \`z\``)
    mkdirSync(directory)
    copyFileSync(join(DIST, 'fast-hook.sh'), join(directory, 'fast-hook.sh'))
    symlinkSync(join(DIST, 'hook.cjs'), join(directory, 'hook.cjs'))
    const search = await findFastHook({ ...program, hook: join(directory, 'hook.cjs') }, { PATH: '/usr/bin' })
    expect(search).toEqual({ type: 'found', curl: CURL })
  })
})

const programAt = (hook: string) => ({ node: '/usr/bin/node', hook, dataDir: '/data' })

describe('the registered command', () => {
  it('is recognised as ours after node or the program has moved', () => {
    const command = (hook: string, rest = '') =>
      fastHookCommand(`${hookCommand(programAt(hook))}${rest}`, programAt(hook), CURL)
    const ours = [
      command('/opt/claude-mem/dist/hook.cjs'),
      command('/opt/claude-mem/dist/hook.cjs', ' --client cursor'),
    ]
    expect(ours[0]).toBe(`${COMMAND} || true`)
    expect(ours[1]).toBe(`${COMMAND} --client cursor || true`)
    for (const one of ours) expect([isOurCommand(one, []), isFastHookCommand(one)]).toEqual([true, true])
    expect(isOurCommand(command('/opt/other/dist/hook.cjs'), [])).toBe(false)
    expect(isOurCommand(COMMAND.replace('/usr/bin/node', '/usr/bin/python3'), [])).toBe(false)
    expect(isOurCommand(`${COMMAND}; rm -rf x`, [])).toBe(false)
    expect(isFastHookCommand(hookCommand(programAt('/opt/claude-mem/dist/hook.cjs')))).toBe(false)
  })

  it('ends with 0 where its script is gone: with 2 a client would refuse prompts', () => {
    const command = fastHookCommand(hookCommand(programAt('/gone/hook.cjs')), programAt('/gone/hook.cjs'), CURL)
    expect(spawnSync('/bin/sh', ['-c', command], { input: '{}', encoding: 'utf8' })).toMatchObject({
      status: 0,
      stdout: '',
    })
  })

  it('is recognised as a version before this one registered it', () => {
    expect([isOurCommand(COMMAND, []), isFastHookCommand(COMMAND)]).toEqual([true, true])
  })

  it('is a form of the hook command; another command stays', () => {
    expect(fastHookCommand('other', programAt('/p/hook.cjs'), CURL)).toBe('other')
  })
})

describe.each([
  ['claude-code', claudeCodeInstall],
  ['cursor', cursorInstall],
])('in %s', (_, adapter) => {
  it('both hooks replace each other, and uninstall restores every byte', () => {
    const place = settingsAt('{\n  "permissions": {}\n}\n')
    const [file] = adapter.files(place.where())
    if (file === undefined) throw new Error('no file')
    const kind = () => registeredHookKind(adapter, place.where(), place.program, place.ground())
    const count = (word: string) => readFileSync(file.path, 'utf8').split(word).length - 1
    expect(kind()).toBeNull()
    place.install('2.1.197', { adapter })
    const entries = count('hook.cjs')
    expect([kind(), count('fast-hook.sh')]).toEqual(['node', 0])
    place.curl = CURL
    place.install('2.1.197', { adapter })
    expect([kind(), count('fast-hook.sh'), count('hook.cjs')]).toEqual(['fast', entries, 0])
    expect(place.install('2.1.197', { adapter }).changed).toBe(false)
    place.curl = null
    place.install('2.1.197', { adapter })
    expect([kind(), count('fast-hook.sh'), count('hook.cjs')]).toEqual(['node', 0, entries])
    place.curl = CURL
    place.install('2.1.197', { adapter })
    place.curl = null
    place.uninstall({ adapter })
    expect(place.text).toBe('{\n  "permissions": {}\n}\n')
    expect(kind()).toBeNull()
  })
})
