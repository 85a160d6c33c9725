/**
 * Fetches a package that is not bundled into `<data directory>/packages`, with npm, in the versions and with the checksums of
 * package-locks.json. It is installed into a partial directory, loaded there once, and then renamed: what is there is complete.
 * A fetch that was killed leaves a partial directory and a claim, which the next one removes.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { errorMessage, MemError, systemCode } from './errors.ts'
import { moveFileSync, readTextFile, syncDirectory } from './files.ts'
import { runNpm } from './npm.ts'
import {
  fetchedPackageDirectory,
  packageDirectoryPrefix,
  UNBUNDLED_PACKAGES,
  type UnbundledPackage,
} from './packages.ts'
import { removeStaleTemporary } from './temporary.ts'

interface FetchOptions {
  /** The directory of that name in the data directory. */
  packages: string
  env: NodeJS.ProcessEnv
  signal?: AbortSignal
  onProgress?: (installedBytes: number) => void
}

/** Why a fetch failed. The hook reads it (hook/missing-driver.ts). */
export interface FetchFailure {
  name: UnbundledPackage
  at: number
  reason: string
}

/** Time between two looks at how much is installed. */
const PROGRESS_MS = 500
/** A claim that is older belongs to a process that was killed, although its number is in use again. */
const CLAIM_MS = 30 * 60_000
const FAILURE_FILE = 'failure.json'
const PARTIALS = 'partial'

/** Resolves with the directory; null if another process is fetching it. */
export async function fetchPackage(name: UnbundledPackage, options: FetchOptions): Promise<string | null> {
  const { packages } = options
  mkdirSync(packages, { recursive: true, mode: 0o700 })
  const release = claim(packages, name)
  if (release === null) return null
  try {
    const directory = await install(name, options)
    rmSync(join(packages, FAILURE_FILE), { force: true })
    return directory
  } catch (error) {
    if (options.signal?.aborted !== true) recordFailure(packages, name, error)
    throw error
  } finally {
    release()
  }
}

export function lastFetchFailure(packages: string): FetchFailure | null {
  const text = readTextFile(join(packages, FAILURE_FILE))
  try {
    return text === undefined ? null : JSON.parse(text)
  } catch {
    return null
  }
}

async function install(name: UnbundledPackage, { packages, env, signal, onProgress }: FetchOptions): Promise<string> {
  const partials = join(packages, PARTIALS)
  removeStaleTemporary(partials)
  const partial = join(partials, `fetch-${process.pid}-${name.replace('/', '+')}`)
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { recursive: true, mode: 0o700 })
  const timer = setInterval(() => {
    // It only draws a bar.
    void installedBytes(partial).then(onProgress, () => undefined)
  }, PROGRESS_MS)
  try {
    const { default: locks } = await import('./package-locks.json', { with: { type: 'json' } })
    const lock = locks[name]
    const manifest = { private: true, ...lock.packages[''], allowScripts: { [name]: true } }
    writeFileSync(join(partial, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(partial, 'package-lock.json'), JSON.stringify(lock))
    const run = { cwd: partial, env, ...(signal === undefined ? {} : { signal }) }
    // Without scripts: none may run before the checksums of all packages are known to be right.
    await runNpm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], run)
    if (UNBUNDLED_PACKAGES[name].isBuilt)
      await runNpm(['rebuild', name, '--foreground-scripts', '--loglevel=error'], run)
    await tryLoad(name, partial)
    return replaceDirectory(packages, name, partial)
  } finally {
    clearInterval(timer)
    rmSync(partial, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** In a process of its own: native code may crash. */
async function tryLoad(name: UnbundledPackage, directory: string): Promise<void> {
  const open = name === 'better-sqlite3' ? `new (require('${name}'))(':memory:').close()` : `require('${name}')`
  try {
    await promisify(execFile)(process.execPath, ['-e', open], { cwd: directory, windowsHide: true })
  } catch (cause) {
    const why =
      errorMessage(cause)
        .split('\n')
        .find((line) => /Error|signal/.test(line)) ?? errorMessage(cause)
    throw new MemError('internal', `${name} was installed and does not load: ${why}`, { cause })
  }
}

/** Versions for other releases of claude-mem or of node are no longer needed. */
function replaceDirectory(packages: string, name: UnbundledPackage, partial: string): string {
  const directory = fetchedPackageDirectory(packages, name)
  for (const other of readdirSync(packages)) {
    if (other.startsWith(packageDirectoryPrefix(name))) {
      rmSync(join(packages, other), { recursive: true, force: true, maxRetries: 3 })
    }
  }
  moveFileSync(partial, directory)
  syncDirectory(packages)
  return directory
}

export function removeFetchedPackage(packages: string, name: UnbundledPackage): boolean {
  const directory = fetchedPackageDirectory(packages, name)
  if (statSync(directory, { throwIfNoEntry: false }) === undefined) return false
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  return true
}

/** Not a lock of SQLite: its driver may be what is missing. Null: another process has the claim. */
function claim(packages: string, name: UnbundledPackage): (() => void) | null {
  const file = join(packages, `${name.replace('/', '+')}.claim`)
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 })
      return () => rmSync(file, { force: true })
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
    }
    if (isHeld(file)) return null
    rmSync(file, { force: true })
  }
  return null
}

function isHeld(file: string): boolean {
  try {
    const pid = Number(readTextFile(file) ?? 0)
    if (Date.now() - statSync(file).mtimeMs > CLAIM_MS) return false
    if (pid > 0) process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}

function recordFailure(packages: string, name: UnbundledPackage, error: unknown): void {
  const failure: FetchFailure = { name, at: Date.now(), reason: errorMessage(error) }
  try {
    writeFileSync(join(packages, FAILURE_FILE), `${JSON.stringify(failure)}\n`, { mode: 0o600 })
  } catch {
    // The caller reports the error itself.
  }
}

async function installedBytes(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true })
  const sizes = await Promise.all(
    entries.map(async (entry) => {
      const path = join(directory, entry.name)
      if (entry.isDirectory()) return await installedBytes(path)
      return entry.isFile() ? (await stat(path)).size : 0
    }),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
