/** A data directory of its own for a test. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { OpenOptions } from '../../src/store/sqlite/open.ts'
import { temporaryDirectory } from '../support/directories.ts'

export interface Place {
  directory: string
  file: string
  options: OpenOptions
  dispose(): void
}

export function place(): Place {
  const directory = temporaryDirectory('store')
  const file = join(directory, 'data', 'db.sqlite')
  return {
    directory,
    file,
    options: { databaseFile: file, backupsDir: join(directory, 'data', 'backups') },
    dispose: () => rmSync(directory, { recursive: true, force: true }),
  }
}
