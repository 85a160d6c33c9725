/** The published package pins what it installs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
// @ts-expect-error A script without types.
import { shrinkwrapOf } from '../scripts/shrinkwrap.mjs'
import { ROOT } from './support/paths.ts'

interface LockedPackage {
  version?: string
  integrity?: string
  resolved?: string
  dev?: boolean
  link?: boolean
}

test('the shrinkwrap has every package that is installed, with its checksum and without its address', () => {
  const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'))
  const { dependencies, optionalDependencies, files, scripts } = read('package.json')
  const { packages }: { packages: Record<string, LockedPackage> } = shrinkwrapOf(read('package-lock.json'))
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    expect(packages).toHaveProperty([`node_modules/${name}`])
  }
  const { '': own, ...installed } = packages
  expect(own).not.toHaveProperty('devDependencies')
  for (const { version, integrity, resolved, dev } of Object.values(installed)) {
    expect({ version, integrity, resolved, dev }).toEqual({
      version: expect.any(String),
      integrity: expect.stringMatching(/^sha512-/),
      resolved: undefined,
      dev: undefined,
    })
  }
  expect(files).toContain('npm-shrinkwrap.json')
  expect(scripts.prepack).toContain('scripts/shrinkwrap.mjs')
})
