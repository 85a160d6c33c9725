/** `claude-mem update` and `--rollback`, with hooks reporting all the time. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { buildVersion } from '../../support/daemon.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { DIST } from '../../support/paths.ts'
import { packedFile, Registry } from '../../support/registry.ts'
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
    const reported = await whileReporting(home, 'one', () => home.memOk('update', '--yes', '--from', second))
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
    await home.memOk('update', '--yes', '--from', second)
    await home.memOk('update', '--yes', '--from', third)
    expect(home.programs.map((name) => name.split('-')[0])).toEqual([SECOND, THIRD])
    expect(JSON.parse((await home.memOk('update', '--yes', '--from', third, '--json')).stdout)).toMatchObject({
      changed: false,
    })
    expect(home.programs.map((name) => name.split('-')[0])).toEqual([SECOND, THIRD])
  })

  it('an open MCP server of the newer version uses the older daemon after a rollback', async () => {
    const home = await installedHome()
    await home.memOk('update', '--yes', '--from', second)
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
    await home.memOk('update', '--yes', '--from', third)
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
    ['a file that is missing', 'no-such.tgz', /there is no file .*no-such\.tgz/],
    ['a version that cannot exist', '../no-such-file', /there is no file /],
  ])('%s: says so', async (_, from, message) => {
    const home = await installedHome()
    const { code, stderr } = await home.mem('update', '--yes', '--from', from)
    expect([code, message.test(stderr)], stderr).toEqual([1, true])
    expect(home.current?.version).toBe(FIRST)
  })

  it('a file that is no package, and directories: the version in use stays', async () => {
    const home = await installedHome()
    const broken = join(home.home, 'broken.tgz')
    writeFileSync(broken, 'not an archive')
    const other = temporaryDirectory('other')
    writeFileSync(join(other, 'package.json'), '{ "name": "other", "version": "1.0.0" }')
    for (const from of [broken, other]) {
      const { code, stderr } = await home.mem('update', '--yes', '--from', from)
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
    const { code, stderr } = await home.mem('update', '--yes', '--from', second)
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

/** What a package of somebody else would do if any of it ran. */
function foreignProgram(name: string, trace: string) {
  const code = `require('fs').writeFileSync(${JSON.stringify(trace)}, '')`
  const manifest = { name, version: '9.8.7', bin: { 'claude-mem': 'dist/cli.js' }, scripts: { install: 'node x.cjs' } }
  const build = JSON.stringify({ version: '9.8.7', schema: 1 })
  return { manifest, files: { 'dist/cli.js': code, 'x.cjs': code, 'dist/build.json': build, 'prompts/init.md': '' } }
}

describe('where an update comes from', () => {
  let registry: Registry
  beforeAll(async () => {
    registry = await Registry.listen({ others: true })
  })
  afterAll(() => registry.close())

  it.each([{ args: [] }, { args: ['--check'] }, { args: ['--from', '9.8.7'] }])(
    'another program with the name of our command is not even asked for: update $args',
    async ({ args }) => {
      const trace = join(temporaryDirectory('trace'), 'ran')
      const { manifest, files } = foreignProgram('claude-mem', trace)
      registry.publish(manifest, files)
      const home = await installedHome()
      // Nor are files of a repository that are called like a version.
      for (const name of ['latest', '9.8.7']) writeFileSync(join(home.home, name), '')
      const { code, stderr } = await home.run(home.currentDist, ['update', ...args], registry.env)
      expect([code, /coding-agent-memory(@9\.8\.7)? is not in the registry/.test(stderr)], stderr).toEqual([1, true])
      expect(registry.requested.splice(0).filter((path) => path.startsWith('claude-mem'))).toEqual([])
      expect([existsSync(trace), home.current?.version]).toEqual([false, FIRST])
    },
  )

  it('a packed file of another program is refused, and nothing of it runs', async () => {
    const trace = join(temporaryDirectory('trace'), 'ran')
    const { manifest, files } = foreignProgram('claude-mem', trace)
    const home = await installedHome()
    const { code, stderr } = await home.mem('update', '--yes', '--from', packedFile(manifest, files))
    expect([code, stderr]).toEqual([1, expect.stringMatching(/is the package claude-mem, not coding-agent-memory/)])
    expect([existsSync(trace), home.current?.version]).toEqual([false, FIRST])
  })

  it('version, size and integrity are shown, and without a yes nothing of it runs', async () => {
    const trace = join(temporaryDirectory('trace'), 'ran')
    const { manifest, files } = foreignProgram('coding-agent-memory', trace)
    const file = packedFile(manifest, files)
    const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
    const home = await installedHome()
    const { code, stderr } = await home.mem('update', '--from', file)
    expect([code, stderr]).toEqual([1, expect.stringContaining('Nothing was changed: pass --yes to confirm')])
    for (const shown of ['coding-agent-memory 9.8.7', `${statSync(file).size} bytes`, integrity]) {
      expect(stderr).toContain(shown)
    }
    expect([existsSync(trace), home.current?.version]).toEqual([false, FIRST])
  })

  it('our package is taken from the registry', async () => {
    registry.publishFile({ name: 'coding-agent-memory', version: SECOND }, second)
    const home = await installedHome()
    const { code, stdout, stderr } = await home.run(home.currentDist, ['update', '--yes', '--json'], registry.env)
    expect([code, stderr]).toEqual([0, expect.stringContaining('coding-agent-memory 0.9.0')])
    const integrity = `sha512-${createHash('sha512').update(readFileSync(second)).digest('base64')}`
    expect(JSON.parse(stdout)).toMatchObject({ version: SECOND, changed: true, integrity })
    expect(home.current?.version).toBe(SECOND)
  })

  it('another content than the registry names is refused', async () => {
    const claims = `sha512-${createHash('sha512').update('other').digest('base64')}`
    registry.publishFile({ name: 'coding-agent-memory', version: SECOND, claims }, second)
    const home = await installedHome()
    const { code, stderr } = await home.run(home.currentDist, ['update', '--yes'], registry.env)
    expect([code, stderr]).toEqual([1, expect.stringContaining('EINTEGRITY')])
    expect(home.current?.version).toBe(FIRST)
  })

  it.each([
    { has: 'no checksums', shrinkwrap: null, says: /has no npm-shrinkwrap\.json/ },
    { has: 'another checksum', shrinkwrap: `sha512-${Buffer.alloc(64).toString('base64')}`, says: /EINTEGRITY/ },
  ])('a package with $has of its database driver is refused', async ({ shrinkwrap, says }) => {
    const trace = join(temporaryDirectory('trace'), 'ran')
    const { manifest, files } = foreignProgram('coding-agent-memory', trace)
    const dependencies = { 'better-sqlite3': '12.11.1' }
    const lock = JSON.parse(readFileSync(join(packageOf(DIST), 'npm-shrinkwrap.json'), 'utf8'))
    lock.packages['node_modules/better-sqlite3'].integrity = shrinkwrap
    const locked = shrinkwrap === null ? {} : { 'npm-shrinkwrap.json': JSON.stringify(lock) }
    const home = await installedHome()
    const file = packedFile({ ...manifest, dependencies }, { ...files, ...locked })
    const { code, stderr } = await home.mem('update', '--yes', '--from', file)
    expect([code, stderr]).toEqual([1, expect.stringMatching(says)])
    expect([existsSync(trace), home.current?.version]).toEqual([false, FIRST])
  })
})
