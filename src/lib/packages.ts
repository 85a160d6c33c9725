/**
 * Packages that cannot be bundled: native code, and heavy optional parts. They are found in the node_modules of the program,
 * then in `<data directory>/packages`, where they are fetched on demand (fetch-packages.ts). Each fetched package has a
 * directory of its own, whose name says for which node it was built: after an update of node it is fetched again instead of
 * failing to load.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { errorMessage, MemError, systemCode } from './errors.ts'
import { dataDirectory, dataPaths } from './paths.ts'

interface PackageTypes {
  'better-sqlite3': typeof import('better-sqlite3')
  'hnswlib-node': typeof import('hnswlib-node')
  '@huggingface/transformers': typeof import('@huggingface/transformers')
}

export type UnbundledPackage = keyof PackageTypes

interface PackageSpec {
  /** As in package-lock.json. */
  version: string
  /** For messages. */
  purpose: string
  /** Size when installed on Linux, in bytes: the end of the progress bar. */
  installedBytes: number
  /** Its install script gets or compiles native code. The scripts of all other packages are never run. */
  isBuilt: boolean
}

export const UNBUNDLED_PACKAGES: Readonly<Record<UnbundledPackage, PackageSpec>> = {
  'better-sqlite3': { version: '12.11.1', purpose: 'the database driver', installedBytes: 45_000_000, isBuilt: true },
  'hnswlib-node': {
    version: '3.0.0',
    purpose: 'an index that keeps search by meaning fast in very large projects',
    installedBytes: 10_000_000,
    isBuilt: true,
  },
  '@huggingface/transformers': {
    version: '4.3.1',
    purpose: 'the runtime of embedding models',
    installedBytes: 490_000_000,
    isBuilt: false,
  },
}

export const UNBUNDLED_PACKAGE_NAMES = Object.keys(UNBUNDLED_PACKAGES) as UnbundledPackage[]

/** Where a package is fetched to. `packages`: the directory of that name in the data directory. */
export function fetchedPackageDirectory(packages: string, name: UnbundledPackage): string {
  const { platform, arch, versions } = process
  const { version } = UNBUNDLED_PACKAGES[name]
  return join(packages, `${packageDirectoryPrefix(name)}${version}-${platform}-${arch}-${versions.modules}`)
}

/** Names of all directories of a package begin so. */
export function packageDirectoryPrefix(name: UnbundledPackage): string {
  return `${name.replace('/', '+')}@`
}

/** The package's main file; null if it is not installed. */
export function resolvePackage(name: UnbundledPackage, packages = defaultPackages()): string | null {
  for (const base of packageBases(name, packages)) {
    try {
      return createRequire(base).resolve(name)
    } catch {
      // Not there; the next place may have it.
    }
  }
  return null
}

/** Loads a package from the first place where it is. */
export function requirePackage<Name extends UnbundledPackage>(
  name: Name,
  packages = defaultPackages(),
): PackageTypes[Name] {
  let failure: unknown = null
  for (const base of packageBases(name, packages)) {
    try {
      return createRequire(base)(name)
    } catch (error) {
      // A package that is there and does not load says more than one that is missing.
      if (failure === null || !isMissingPackage(error)) failure = error
    }
  }
  throw failure
}

export function isMissingPackage(error: unknown): boolean {
  return systemCode(error) === 'MODULE_NOT_FOUND'
}

export function fetchCommand(name: UnbundledPackage): string {
  return `claude-mem packages install ${name}`
}

function packageBases(name: UnbundledPackage, packages: string): string[] {
  const fetched = fetchedPackageDirectory(packages, name)
  return [import.meta.url, ...(existsSync(fetched) ? [join(fetched, 'package.json')] : [])]
}

function defaultPackages(): string {
  return dataPaths(dataDirectory()).packages
}

type SqliteDriver = PackageTypes['better-sqlite3']

/** `reason`: why there is no driver that runs with this node. */
export type LoadedDriver = { driver: SqliteDriver; reason: null } | { driver: null; reason: string }

/** Its native code is loaded with the first database, so one is opened in memory. */
export function loadDatabaseDriver(packages = defaultPackages()): LoadedDriver {
  let reason = 'it is not installed'
  for (const base of packageBases('better-sqlite3', packages)) {
    try {
      const driver: SqliteDriver = createRequire(base)('better-sqlite3')
      new driver(':memory:').close()
      return { driver, reason: null }
    } catch (error) {
      if (!isMissingPackage(error)) [reason = ''] = errorMessage(error).split('\n', 1)
    }
  }
  return { driver: null, reason }
}

/** The class that opens databases. Where there is none, opening one fails with what to do: commands without a database work. */
export function databaseDriver(): SqliteDriver {
  const { driver, reason } = loadDatabaseDriver()
  if (driver !== null) return driver
  // A class: it is extended where commands are loaded that need no database.
  const missing = class {
    constructor() {
      throw missingDriverError(reason ?? '')
    }
  }
  return missing as unknown as SqliteDriver
}

export function missingDriverError(reason: string): MemError {
  return new MemError(
    'internal',
    `better-sqlite3, the database driver, cannot be loaded by Node ${process.versions.node}: ${reason}. ` +
      `Fetch it: ${fetchCommand('better-sqlite3')}`,
  )
}
