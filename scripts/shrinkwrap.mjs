/**
 * npm-shrinkwrap.json for the published package: what users install is what was tested, with its checksums. It is made from
 * package-lock.json when the package is packed and removed afterwards, because npm would prefer it to package-lock.json here.
 * Without the packages for development, and, like package-lock.json, without the place that packages were fetched from.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(fileURLToPath(import.meta.url), '..', '..')
const FILE = join(root, 'npm-shrinkwrap.json')

export function shrinkwrapOf(lock) {
  const { devDependencies: _dev, ...own } = lock.packages['']
  const packages = Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { resolved: _resolved, ...entry }]) => [path, entry])
  return { ...lock, packages: { '': own, ...Object.fromEntries(packages) } }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--remove')) {
    rmSync(FILE, { force: true })
  } else {
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
    writeFileSync(FILE, `${JSON.stringify(shrinkwrapOf(lock), null, 2)}\n`)
  }
}
