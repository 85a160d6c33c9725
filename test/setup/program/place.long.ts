/** `claude-mem install` copies the program into the data directory, completely or not at all. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { FAULT_POINTS } from '../../../src/lib/faults.ts'
import { Database } from '../../../src/store/sqlite/database.ts'
import { buildVersion } from '../../support/daemon.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { DIST } from '../../support/paths.ts'
import { canMount, fillDisk, smallDisk } from '../../support/small-disk.ts'
import { InstalledHome, packageOf } from './installed-home.ts'

const NEWER = '0.9.0'
let newer: string
beforeAll(() => {
  newer = buildVersion(NEWER)
}, 120_000)

const homes: InstalledHome[] = []
function makeHome(directory?: string): InstalledHome {
  const home = new InstalledHome(directory)
  homes.push(home)
  return home
}
afterEach(async () => {
  for (const home of homes.splice(0)) await home.dispose()
})

describe('the installed program', () => {
  it('works after the package that it was installed from is gone, and purging leaves nothing', async () => {
    const home = makeHome()
    const source = packageOf(DIST)
    await home.install(join(source, 'dist'))
    rmSync(source, { recursive: true })
    await home.report('one')
    expect(await home.toolUses('one')).toHaveLength(1)
    expect(home.processes().join()).toContain(join(home.paths.program, home.current?.name ?? ''))
    await home.memOk('uninstall', '--purge', '--yes')
    expect(home.processes()).toEqual([])
    expect(readdirSync(home.home)).toEqual([])
  })

  it('is the same after a second installation, also from itself', async () => {
    const home = makeHome()
    await home.install(DIST)
    const before = [home.current?.name, home.programs]
    await home.install(DIST)
    await home.memOk('install')
    expect([home.current?.name, home.programs]).toEqual(before)
  })

  it('is installed once when two installations run at once', async () => {
    const home = makeHome()
    const both = await Promise.all([home.run(DIST, ['install']), home.run(DIST, ['install'])])
    expect(both.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ])
    expect(home.programs).toEqual([home.current?.name])
    const settings = JSON.parse(readFileSync(join(home.home, '.claude', 'settings.json'), 'utf8'))
    expect(settings.hooks.Stop).toHaveLength(1)
  })

  it('is taken over by a newer one, and the daemon hands over', async () => {
    const home = makeHome()
    await home.install(DIST)
    const older = home.current?.name
    await home.report('one')
    const { pid } = await home.running()
    await home.install(newer)
    const after = await home.running()
    expect(after.version).toBe(NEWER)
    expect(after.pid).not.toBe(pid)
    expect(home.programs).toEqual([older, home.current?.name].sort())
    await home.report('one')
    expect(await home.toolUses('one')).toHaveLength(2)
  })

  it('--link registers the program where it is', async () => {
    const home = makeHome()
    await home.run(DIST, ['install', '--link'])
    expect(readFileSync(join(home.home, '.claude', 'settings.json'), 'utf8')).toContain(join(DIST, 'hook.cjs'))
    expect(existsSync(home.paths.program)).toBe(false)
  })
})

describe('an installation that fails', () => {
  const points = FAULT_POINTS.filter((point) => point.startsWith('install.'))

  it.each(points)('killed at %s leaves a version that works, and the next one cleans up', async (point) => {
    const home = makeHome()
    await home.install(DIST)
    const older = home.current?.name
    const { signal } = await home.run(newer, ['install'], { CLAUDE_MEM_FAULT: `${point}:1` })
    expect(signal).toBe('SIGKILL')
    expect(home.current?.version).toBe(point === 'install.switched' ? NEWER : '0.1.0')
    await home.report('one')
    expect(await home.toolUses('one')).toHaveLength(1)
    await home.install(newer)
    expect(home.current?.version).toBe(NEWER)
    expect(home.programs).toEqual([older, home.current?.name].sort())
  })

  it('refuses to put an older program before a newer database', async () => {
    const home = makeHome()
    mkdirSync(home.paths.dataDir)
    const db = new Database(home.paths.database)
    db.exec('CREATE TABLE later (id INTEGER); PRAGMA user_version = 999')
    db.close()
    const { code, stderr } = await home.run(DIST, ['install'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/was written by a newer claude-mem \(schema 999; .*node dist\/cli\.js install/)
    expect(home.current).toBeNull()
    expect(existsSync(join(home.home, '.claude'))).toBe(false)
  })

  it.skipIf(!canMount)('on a full disk: says so, and the version in use stays', async () => {
    const home = makeHome(smallDisk(64))
    await home.install(DIST)
    const older = home.current?.name
    const free = fillDisk(home.home)
    const { code, stderr } = await home.run(newer, ['install'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/is full .*free some space.*the version in use stays/)
    expect([home.current?.name, home.programs]).toEqual([older, [older]])
    free()
    await home.report('one')
    expect(await home.toolUses('one')).toHaveLength(1)
  })

  it.skipIf(!canMount)('in a read-only home: says what cannot be written', async () => {
    const disk = smallDisk(8)
    execFileSync('mount', ['-o', 'remount,ro', disk])
    const { code, stderr } = await makeHome(disk).run(DIST, ['install'])
    expect(code).toBe(1)
    expect(stderr).toMatch(/cannot be written \(.*\); make it writable, or set CLAUDE_MEM_DATA_DIR/)
  })

  it('where a file is in its way: says what cannot be written', async () => {
    const home = makeHome(join(temporaryDirectory('home'), 'home'))
    mkdirSync(home.home)
    const { code, stderr } = await home.run(DIST, ['install'], { CLAUDE_MEM_DATA_DIR: join(DIST, 'cli.js', 'data') })
    expect(code).toBe(1)
    expect(stderr).toMatch(/cannot be written/)
  })
})
