/** Packages that are not bundled: the versions that are fetched, and where they are found. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
// @ts-expect-error A script without types.
import { PACKAGE_LOCKS_FILE, packageLocksText } from '../../scripts/package-locks.mjs'
import { lastFetchFailure } from '../../src/lib/fetch-packages.ts'
import { nodeHeaders, runNpm } from '../../src/lib/npm.ts'
import {
  fetchedPackageDirectory,
  loadDatabaseDriver,
  resolvePackage,
  UNBUNDLED_PACKAGE_NAMES,
  UNBUNDLED_PACKAGES,
  type UnbundledPackage,
} from '../../src/lib/packages.ts'
import { temporaryDirectory } from '../support/directories.ts'
import { ROOT } from '../support/paths.ts'

type LockedPackages = Record<string, { integrity?: string }>

describe('packages that are not bundled', () => {
  it('are fetched in the versions that are tested here', () => {
    const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
    for (const name of UNBUNDLED_PACKAGE_NAMES) {
      expect([name, UNBUNDLED_PACKAGES[name].version]).toEqual([name, packages[`node_modules/${name}`].version])
    }
  })

  it('are pinned, with all that they need, by the checksums of package-lock.json', () => {
    expect(readFileSync(PACKAGE_LOCKS_FILE, 'utf8'), 'run: node scripts/package-locks.mjs').toBe(packageLocksText())
    const locks = JSON.parse(readFileSync(PACKAGE_LOCKS_FILE, 'utf8'))
    expect(Object.keys(locks)).toEqual(UNBUNDLED_PACKAGE_NAMES)
    for (const [name, { packages }] of Object.entries<{ packages: LockedPackages }>(locks)) {
      const { '': own, ...entries } = packages
      expect(own).toEqual({ dependencies: { [name]: UNBUNDLED_PACKAGES[name as UnbundledPackage].version } })
      expect(Object.entries(entries).filter(([, entry]) => !/^sha512-\S{88}$/.test(entry.integrity ?? ''))).toEqual([])
    }
  })

  it('are the only ones that npm installs with the program: the others are bundled', () => {
    const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect([Object.keys(dependencies), optionalDependencies]).toEqual([['better-sqlite3'], undefined])
  })

  it('are imported only as types: they may be elsewhere, or missing', () => {
    const names = UNBUNDLED_PACKAGE_NAMES.map((name) => name.replace('/', '\\/')).join('|')
    const pattern = new RegExp(`^import (?!type ).* from '(?:${names})'`, 'm')
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.ts'),
    )
    expect(sources.length).toBeGreaterThan(300)
    expect(sources.filter((file) => pattern.test(readFileSync(join(ROOT, 'src', file), 'utf8')))).toEqual([])
  })

  it('are found in the program first', () => {
    const packages = temporaryDirectory('packages')
    const fetched = join(fetchedPackageDirectory(packages, 'better-sqlite3'), 'node_modules', 'better-sqlite3')
    mkdirSync(fetched, { recursive: true })
    writeFileSync(join(fetched, 'index.js'), 'throw new Error("broken")')
    expect(resolvePackage('better-sqlite3', packages)).toContain(join(ROOT, 'node_modules'))
    expect(loadDatabaseDriver(packages).reason).toBeNull()
  })

  it('have a directory per node, so that an update of node cannot load what was built for another', () => {
    const directory = fetchedPackageDirectory('/packages', '@huggingface/transformers')
    expect(directory).toContain(`@huggingface+transformers@`)
    expect(directory).toMatch(new RegExp(`-${process.platform}-${process.arch}-${process.versions.modules}$`))
  })

  it('a failure file that is damaged counts as none', () => {
    const packages = temporaryDirectory('packages')
    writeFileSync(join(packages, 'failure.json'), '{')
    expect(lastFetchFailure(packages)).toBeNull()
  })
})

describe('npm', () => {
  it('gets the headers beside node, where there are some', () => {
    const prefix = temporaryDirectory('node')
    expect(nodeHeaders(join(prefix, 'bin', 'node'))).toEqual({})
    mkdirSync(join(prefix, 'include', 'node'), { recursive: true })
    writeFileSync(join(prefix, 'include', 'node', 'node.h'), '')
    expect(nodeHeaders(join(prefix, 'bin', 'node'))).toEqual({ npm_config_nodedir: prefix })
  })

  it('that fails says why, and what to do', async () => {
    const env = { ...process.env, npm_config_registry: 'http://127.0.0.1:9/', npm_config_fetch_retries: '0' }
    await expect(runNpm(['view', 'claude-mem', 'version'], { cwd: temporaryDirectory('npm'), env })).rejects.toThrow(
      /npm ended with 1: .*registry cannot be reached: check the network, or set npm_config_registry/s,
    )
  })
})
