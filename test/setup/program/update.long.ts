/** `claude-mem update` and `--rollback`, with hooks reporting all the time. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { buildVersion } from '../../support/daemon.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { DIST } from '../../support/paths.ts'
import { canMount, fillDisk, smallDisk } from '../../support/small-disk.ts'
import { buildWithMigration, InstalledHome, packageOf, packFile } from './installed-home.ts'

const { version: FIRST }: { version: string } = JSON.parse(readFileSync(join(DIST, 'build.json'), 'utf8'))
const SECOND = '0.9.0'
const THIRD = '0.9.1'
let second: string
/** Has one more migration. */
let third: string
beforeAll(() => {
  second = packFile(packageOf(buildVersion(SECOND)))
  third = packFile(packageOf(buildWithMigration(THIRD)))
}, 180_000)

const homes: InstalledHome[] = []
async function installedHome(directory?: string): Promise<InstalledHome> {
  const home = new InstalledHome(directory)
  homes.push(home)
  await home.install(DIST)
  return home
}
afterEach(async () => {
  for (const home of homes.splice(0)) await home.dispose()
})

/** Reports tool uses one after the other until the work is done; resolves with how many. */
async function whileReporting(home: InstalledHome, session: string, work: () => Promise<unknown>): Promise<number> {
  let isDone = false
  let reported = 0
  const reporting = async () => {
    while (!isDone) {
      await home.report(session)
      reported++
    }
    // At least one with what is there now.
    await home.report(session)
    reported++
  }
  const working = work().finally(() => {
    isDone = true
  })
  await Promise.all([reporting(), working])
  return reported
}

describe('update', () => {
  it('with sessions in flight: nothing lost, nothing doubled, one daemon, one earlier version', async () => {
    const home = await installedHome()
    await home.report('one')
    const { pid, version } = await home.running()
    expect(version).toBe(FIRST)
    const reported = await whileReporting(home, 'one', () => home.memOk('update', '--from', second))
    const after = await home.running()
    expect([after.version, after.pid === pid]).toEqual([SECOND, false])
    expect(await home.toolUses('one')).toHaveLength(reported + 1)
    expect(home.programs).toHaveLength(2)
    expect(home.processes().filter((row) => row.includes('daemon.js'))).toHaveLength(1)

    const back = await whileReporting(home, 'one', () => home.memOk('update', '--rollback'))
    expect((await home.running()).version).toBe(FIRST)
    expect(await home.toolUses('one')).toHaveLength(reported + back + 1)
    expect(home.processes().filter((row) => row.includes('daemon.js'))).toHaveLength(1)
  })

  it('keeps exactly one earlier version', async () => {
    const home = await installedHome()
    await home.memOk('update', '--from', second)
    await home.memOk('update', '--from', third)
    expect(home.programs.map((name) => name.split('-')[0])).toEqual([SECOND, THIRD])
    expect(JSON.parse((await home.memOk('update', '--from', third, '--json')).stdout)).toMatchObject({ changed: false })
    expect(home.programs.map((name) => name.split('-')[0])).toEqual([SECOND, THIRD])
  })

  it('an open MCP server of the newer version uses the older daemon after a rollback', async () => {
    const home = await installedHome()
    await home.memOk('update', '--from', second)
    const newerDist = join(home.current?.directory ?? '', 'dist')
    await home.memOk('update', '--rollback')
    await home.report('one')
    const { pid } = await home.running()
    const { code } = await home.run(newerDist, ['remember', 'Staging has no Redis'])
    expect(code).toBe(0)
    expect(await home.running()).toMatchObject({ pid, version: FIRST })
  })
})

describe('rollback from an upgraded database', () => {
  it('changes nothing and names the backup; with --restore-backup it is restored', async () => {
    const home = await installedHome()
    await home.report('one')
    await home.toolUses('one')
    await home.memOk('update', '--from', third)
    await home.report('two')
    expect(await home.toolUses('two')).toHaveLength(1)
    const before = home.current?.name
    const refused = await home.mem('update', '--rollback')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(
      /cannot read the database, which was upgraded since\. Nothing was changed\. The backup .*-migration\.sqlite/,
    )
    expect(refused.stderr).toMatch(
      /without the 0 observations and 1 event that came after it: claude-mem update --rollback --restore-backup/,
    )
    expect(home.current?.name).toBe(before)
    expect((await home.running()).version).toBe(THIRD)

    await home.memOk('update', '--rollback', '--restore-backup')
    expect((await home.running()).version).toBe(FIRST)
    expect(await home.toolUses('one')).toHaveLength(1)
    expect(await home.toolUses('two')).toEqual([])
    await home.report('three')
    expect(await home.toolUses('three')).toHaveLength(1)
  })
})

describe('an update that fails', () => {
  it.each([
    ['a file that is missing', 'no-such.tgz', /there is no file or directory .*no-such\.tgz/],
    ['a version that cannot exist', '../x', /there is no file or directory/],
  ])('%s: says so', async (_, from, message) => {
    const home = await installedHome()
    const { code, stderr } = await home.mem('update', '--from', from)
    expect([code, message.test(stderr)], stderr).toEqual([1, true])
    expect(home.current?.version).toBe(FIRST)
  })

  it('a file that is no package, another package, and a directory without a build: the version in use stays', async () => {
    const home = await installedHome()
    const broken = join(home.home, 'broken.tgz')
    writeFileSync(broken, 'not an archive')
    const other = temporaryDirectory('other')
    writeFileSync(join(other, 'package.json'), '{ "name": "other", "version": "1.0.0" }')
    const unbuilt = temporaryDirectory('unbuilt')
    mkdirSync(join(unbuilt, 'dist'))
    writeFileSync(join(unbuilt, 'package.json'), '{ "name": "claude-mem", "version": "1.0.0" }')
    for (const from of [broken, other, unbuilt]) {
      const { code, stderr } = await home.mem('update', '--from', from)
      expect([code, stderr.startsWith('claude-mem: ')], stderr).toEqual([1, true])
    }
    expect(home.current?.version).toBe(FIRST)
    expect(home.programs).toHaveLength(1)
  })

  it.skipIf(!canMount)('a full disk: says so, and events are still kept', async () => {
    const home = await installedHome(smallDisk(96))
    await home.report('one')
    await home.toolUses('one')
    const free = fillDisk(home.home)
    const { code, stderr } = await home.mem('update', '--from', second)
    expect([code, /full|no space|ENOSPC/i.test(stderr)], stderr).toEqual([1, true])
    expect([home.current?.version, home.programs.length]).toEqual([FIRST, 1])
    await home.report('one')
    free()
    expect(await home.toolUses('one')).toHaveLength(2)
  })

  it('without an earlier version there is nothing to go back to', async () => {
    const home = await installedHome()
    const { code, stderr } = await home.mem('update', '--rollback')
    expect([code, stderr]).toEqual([1, `claude-mem: there is no version before ${FIRST} here; nothing was changed\n`])
  })
})
