/** Packages that are fetched on demand, from a registry that has something else under their names. */
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fetchPackage, lastFetchFailure } from '../../src/lib/fetch-packages.ts'
import locks from '../../src/lib/package-locks.json' with { type: 'json' }
import { temporaryDirectory } from '../support/directories.ts'
import { Registry } from '../support/registry.ts'

let registry: Registry
beforeAll(async () => {
  registry = await Registry.listen()
})
afterAll(() => registry.close())

/** The directory where a package's script or its code would leave a trace. */
const ran = join(temporaryDirectory('ran'), 'trace')
mkdirSync(ran)
const trace = (name: string) => `require('fs').writeFileSync(${JSON.stringify(join(ran, name))}, '')`

interface Locked {
  version?: string
  integrity?: string
  dependencies?: Record<string, string>
}

function publishAll(honest: boolean): void {
  for (const [path, entry] of Object.entries<Locked>(locks['hnswlib-node'].packages)) {
    const { version, dependencies = {}, integrity } = entry
    if (version === undefined) continue
    const name = path.replace('node_modules/', '')
    const files = { 'install.js': trace('script'), 'index.js': trace('code') }
    const scripts = { install: 'node install.js' }
    const manifest = { name, version, main: 'index.js', scripts, dependencies, hasInstallScript: true }
    registry.publish({ ...manifest, claims: honest ? undefined : integrity }, files)
  }
}

it.each([
  { says: 'its own checksum', honest: true },
  { says: 'the checksum that is expected', honest: false },
])('another content under the same name and version is not run, whatever the registry says: $says', async (given) => {
  publishAll(given.honest)
  const packages = join(temporaryDirectory('data'), 'packages')
  await expect(fetchPackage('hnswlib-node', { packages, env: { ...process.env, ...registry.env } })).rejects.toThrow(
    /another checksum/,
  )
  expect(registry.requested.splice(0)).not.toEqual([])
  expect(readdirSync(ran)).toEqual([])
  expect(readdirSync(packages).filter((name) => name.startsWith('hnswlib'))).toEqual([])
  expect(lastFetchFailure(packages)?.reason).toContain('another checksum')
})
