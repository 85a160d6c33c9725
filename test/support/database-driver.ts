/** The database driver as an earlier fetch left it in a data directory: compiling it takes minutes. */
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fetchedPackageDirectory } from '../../src/lib/packages.ts'
import { ROOT } from './paths.ts'

export function putDatabaseDriver(packages: string): void {
  const directory = fetchedPackageDirectory(packages, 'better-sqlite3')
  mkdirSync(join(directory, 'node_modules'), { recursive: true })
  for (const name of ['better-sqlite3', 'bindings', 'file-uri-to-path']) {
    const from = join(ROOT, 'node_modules', name)
    const isNeeded = (file: string) => !/better-sqlite3[\\/](?:deps|src|build[\\/](?:deps|Release[\\/]obj))/.test(file)
    cpSync(from, join(directory, 'node_modules', name), { recursive: true, filter: isNeeded })
  }
}
