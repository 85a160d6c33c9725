/**
 * Writes src/lib/package-locks.json: for each package that is fetched on demand, the part of package-lock.json that it needs,
 * as a package-lock.json of its own. What is fetched is then exactly what is tested here, with its checksums. Run it after a
 * change of package-lock.json; test/lib/packages.test.ts says when.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(fileURLToPath(import.meta.url), '..', '..')
export const PACKAGE_LOCKS_FILE = join(root, 'src', 'lib', 'package-locks.json')

const FETCHED = ['better-sqlite3', 'hnswlib-node', '@huggingface/transformers']
/** Of an entry, what `npm ci` needs. `dev` and `peer` are of this project, not of the fetched package. */
const KEPT = ['version', 'integrity', 'bin', 'dependencies', 'optionalDependencies', 'engines', 'os', 'cpu', 'libc']

export function packageLocksText() {
  const { lockfileVersion, packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const locks = FETCHED.map((name) => [name, packageLock(name, lockfileVersion, packages)])
  return `${JSON.stringify(Object.fromEntries(locks), null, 1)}\n`
}

function packageLock(name, lockfileVersion, packages) {
  const top = `node_modules/${name}`
  const required = new Set()
  const all = new Set()
  collect(top, packages, required, false)
  collect(top, packages, all, true)
  const entries = [...all].sort().map((path) => {
    const kept = KEPT.flatMap((field) => (packages[path][field] === undefined ? [] : [[field, packages[path][field]]]))
    if (packages[path].integrity === undefined) throw new Error(`package-lock.json has no checksum of ${path}`)
    const optional = required.has(path) ? [] : [['optional', true]]
    return [path, Object.fromEntries([...kept, ...optional])]
  })
  const own = { dependencies: { [name]: packages[top].version } }
  return { lockfileVersion, requires: true, packages: { '': own, ...Object.fromEntries(entries) } }
}

/** The entry at this path and all that it needs. */
function collect(path, packages, found, withOptional) {
  if (found.has(path)) return
  found.add(path)
  const { dependencies = {}, optionalDependencies = {} } = packages[path]
  const optional = Object.keys(optionalDependencies)
  const needed = Object.keys(dependencies).filter((name) => !optional.includes(name))
  for (const name of [...needed, ...(withOptional ? optional : [])]) {
    const dependency = resolve(path, name, packages)
    if (dependency === null) throw new Error(`package-lock.json has no ${name}, which ${path} needs`)
    collect(dependency, packages, found, withOptional)
  }
}

/** As Node looks for it: in the node_modules of the package, then of each directory above. */
function resolve(path, name, packages) {
  for (let base = path; ; base = base.replace(/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, '')) {
    const candidate = `${base === '' ? '' : `${base}/`}node_modules/${name}`
    if (packages[candidate] !== undefined) return candidate
    if (base === '') return null
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PACKAGE_LOCKS_FILE, packageLocksText())
