/** From the packed file and from the plugin, in an empty home with nothing but Node and npm: no compiler is needed. */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PrebuiltServer } from '../../../scripts/lib/prebuilt-server.ts'
import { dataPaths } from '../../../src/lib/paths.ts'
import { stopDaemons } from '../../support/daemon.ts'
import { temporaryDirectory } from '../../support/directories.ts'
import { DIST, ROOT } from '../../support/paths.ts'
import { type Finished, runProgram } from '../../support/programs.ts'
import { waitUntil } from '../../support/waiting.ts'
import { InstalledHome, packageOf, packFile } from './installed-home.ts'

let prebuilt: PrebuiltServer
beforeAll(async () => {
  prebuilt = await PrebuiltServer.listen(ROOT)
})
afterAll(() => prebuilt.close())

const homes: InstalledHome[] = []
const dataDirs: string[] = []
afterEach(async () => {
  for (const home of homes.splice(0)) await home.dispose()
  for (const dataDir of dataDirs.splice(0)) await stopDaemons(dataPaths(dataDir))
})

/** What npm takes from its surroundings in this run must not lead it to the user's own files. */
function npmEnvironment(cache: string, userConfig: string): NodeJS.ProcessEnv {
  return { npm_config_cache: cache, npm_config_userconfig: userConfig }
}

describe('install from the packed file', () => {
  it('works from the packed file; hooks survive a deleted package and cache; purging leaves nothing', async () => {
    const home = new InstalledHome()
    homes.push(home)
    const source = packageOf(DIST)
    const packed = packFile(source)
    const beside = temporaryDirectory('npm')
    const cache = join(beside, 'cache')
    const npmrc = join(beside, 'npmrc')
    writeFileSync(npmrc, prebuilt.npmSetting)
    const finished = await runProgram('npm', ['exec', '--yes', `--package=${packed}`, '--', 'claude-mem', 'install'], {
      cwd: home.home,
      env: { ...home.env, ...npmEnvironment(cache, npmrc) },
      shell: process.platform === 'win32',
    })
    expect([finished.code, finished.stdout], finished.stderr).toEqual([0, expect.stringContaining('is installed in')])
    expect(prebuilt.requested.join()).toContain('better-sqlite3-v12.11.1-node-v')
    rmSync(source, { recursive: true })
    rmSync(beside, { recursive: true })
    await home.report('one')
    expect(await home.toolUses('one')).toHaveLength(1)
    expect((await home.memOk('doctor')).code).toBe(0)
    await home.memOk('uninstall', '--purge', '--yes')
    expect(home.processes()).toEqual([])
    // npm itself may leave its own directory in a home.
    expect(readdirSync(home.home).filter((name) => name !== '.npm')).toEqual([])
  })
})

describe('the plugin without a database driver', () => {
  interface PluginHome {
    dataDir: string
    home: string
    start(session: string): Promise<Finished>
  }

  function pluginHome(npmrc: string): PluginHome {
    const home = temporaryDirectory('plugin-home')
    writeFileSync(join(home, '.npmrc'), npmrc)
    const plugin = join(home, 'plugins', 'mem')
    mkdirSync(dirname(plugin))
    cpSync(join(DIST, 'plugin'), plugin, { recursive: true })
    const dataDir = join(home, '.claude-mem')
    mkdirSync(dataDir)
    writeFileSync(join(dataDir, 'settings.json'), '{ "CLAUDE_MEM_WORKER_PORT": 0 }')
    dataDirs.push(dataDir)
    const kept = Object.entries(process.env).filter(([name]) => !/^(?:CLAUDE|npm_)/i.test(name))
    const env = { ...Object.fromEntries(kept), HOME: home, USERPROFILE: home }
    const start = (session: string) =>
      runProgram(process.execPath, [join(plugin, 'hook.cjs')], {
        cwd: plugin,
        env,
        input: JSON.stringify({ hook_event_name: 'SessionStart', source: 'startup', session_id: session, cwd: plugin }),
      })
    return { dataDir, home, start }
  }

  it('fetches it once, tells the user, and stores what was kept meanwhile', async () => {
    const { dataDir, start } = pluginHome(prebuilt.npmSetting)
    const { stdout } = await start('one')
    expect(JSON.parse(stdout).systemMessage).toMatch(
      /fetches its database driver \(better-sqlite3\) once, into .*packages/,
    )
    const paths = dataPaths(dataDir)
    await waitUntil(
      'the event is stored',
      () => readdirSync(paths.spool).every((name) => !name.endsWith('.json')),
      120_000,
    )
    const again = await start('two')
    expect(JSON.parse(again.stdout).systemMessage ?? '').not.toContain('driver')
    expect(readdirSync(paths.packages)).toContainEqual(expect.stringMatching(/^better-sqlite3@12\.11\.1-/))
  })

  it('that cannot be fetched: says why and what to do, and keeps every event', async () => {
    const { dataDir, start } = pluginHome('registry=http://127.0.0.1:9/\nfetch-retries=0\n')
    await start('one')
    const paths = dataPaths(dataDir)
    await waitUntil('the fetch has failed', () => existsSync(join(paths.packages, 'failure.json')), 60_000)
    const { stdout } = await start('two')
    expect(JSON.parse(stdout).systemMessage).toMatch(
      /cannot store anything yet: .*registry cannot be reached.*packages install better-sqlite3/s,
    )
    expect(readdirSync(paths.spool).filter((name) => name.endsWith('.json'))).toHaveLength(2)
  })
})
