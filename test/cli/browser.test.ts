/** Opening the viewer: the one-time code is in a private file, never in the arguments of a program. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, test } from 'vitest'
import { openInBrowser } from '../../src/cli/browser.ts'
import { temporaryDirectory } from '../support/directories.ts'

const LINK = 'http://127.0.0.1:37777/#open=the-one-time-code'

let home: string
let programs: string
let dataDir: string
let page: string
let env: NodeJS.ProcessEnv

beforeEach(() => {
  home = temporaryDirectory('browser')
  programs = join(home, 'programs')
  dataDir = join(home, '.claude-mem')
  page = join(dataDir, 'open-viewer.html')
  for (const directory of [programs, dataDir]) mkdirSync(directory)
  env = { HOME: home, PATH: `${programs}:/usr/bin:/bin`, DISPLAY: ':0', ARGS_FILE: join(home, 'args') }
})

/** A program that records its arguments. */
function program(name: string, script = ''): void {
  const file = join(programs, name)
  writeFileSync(file, `#!/bin/sh\nprintf '%s\\n' "$0" "$@" >> "$ARGS_FILE"\n${script}\n`)
  chmodSync(file, 0o755)
}

const received = () => readFileSync(join(home, 'args'), 'utf8')

function expectPrivatePage(file: string): void {
  expect(readFileSync(file, 'utf8')).toContain('the-one-time-code')
  expect(statSync(file).mode & 0o777).toBe(0o600)
}

describe.skipIf(process.platform === 'win32')('the code of a link is in no argument', () => {
  test('of xdg-open', async () => {
    program('xdg-open')
    const options = { env, platform: 'linux', snapDesktopFiles: join(home, 'none') } as const
    expect(await openInBrowser(LINK, page, options)).toEqual({ opened: true })
    expect(received()).toContain(pathToFileURL(page).href)
    expect(received()).not.toContain('one-time-code')
    expectPrivatePage(page)
  })

  test('of a Windows program in WSL, which gets the Windows path of the file', async () => {
    program('explorer.exe', 'exit 1')
    program('wslview')
    program('wslpath', String.raw`printf '%s\r\n' '\\wsl.localhost\Debian\home\me\.claude-mem'`)
    const wsl = { ...env, WSL_DISTRO_NAME: 'Debian' }
    expect(await openInBrowser(LINK, page, { env: wsl, platform: 'linux' })).toEqual({ opened: true })
    expect(received()).toContain(String.raw`\\wsl.localhost\Debian\home\me\.claude-mem\open-viewer.html`)
    expect(received()).not.toContain('one-time-code')
    expectPrivatePage(page)
  })

  test('of a browser from a snap, which gets a file in the directory of the snap', async () => {
    const snapDesktopFiles = join(home, 'desktop-files')
    mkdirSync(snapDesktopFiles)
    writeFileSync(join(snapDesktopFiles, 'firefox_firefox.desktop'), '')
    program('xdg-open')
    program('xdg-settings', 'echo firefox_firefox.desktop')
    const options = { env, platform: 'linux', snapDesktopFiles } as const
    // Without its directory the caller prints the link.
    expect(await openInBrowser(LINK, page, options)).toMatchObject({
      opened: false,
      why: expect.stringContaining('snap'),
    })
    const common = join(home, 'snap', 'firefox', 'common')
    mkdirSync(common, { recursive: true })
    expect(await openInBrowser(LINK, page, options)).toEqual({ opened: true })
    expect(received()).not.toContain('one-time-code')
    expect(existsSync(page)).toBe(false)
    const [file = ''] = readdirSync(common)
    expectPrivatePage(join(common, file))
    expect(received()).toContain(pathToFileURL(join(common, file)).href)
  })
})
