/** Puts a backup in the database's place, for the command line; no daemon may be running. */
import { copyFileSync, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { MemError } from '../../errors.ts'
import type { Paths } from '../../paths.ts'
import { backupName, copyDatabase, rotate, writeBackup } from './backup.ts'
import { isCorruption, storageError } from './errors.ts'
import {
  ensurePrivateDirectory,
  ensurePrivateFile,
  publish,
  removeDatabase,
  setDatabaseAside,
  sizeOf,
} from './files.ts'
import { inspectFile } from './inspect.ts'
import { migrate, refuseNewer } from './migrate.ts'
import { finishReplacement, recoveredName } from './recovery.ts'
import { addTombstones, forgetAgain, tombstonesIn } from './search/forgotten.ts'

export interface Restored {
  /** Where what was there before went, null when there was nothing. */
  before: string | null
}

export async function restoreBackup(
  paths: Pick<Paths, 'database' | 'backups'>,
  file: string,
  now: () => number = Date.now,
): Promise<Restored> {
  try {
    refuseUnusable(file)
    ensurePrivateDirectory(dirname(paths.database))
    ensurePrivateDirectory(paths.backups)
    const building = `${paths.database}.recovering`
    removeDatabase(building)
    copyFileSync(file, building)
    ensurePrivateFile(building)
    keepForgotten(building, paths.database)
    const before = await keepCurrent(paths, now())
    keepAsNewest(paths.backups, building, now())
    publish(building, recoveredName(paths.database))
    removeDatabase(paths.database)
    finishReplacement(paths.database, now())
    return { before }
  } catch (error) {
    throw storageError(error)
  }
}

function refuseUnusable(file: string): void {
  if (!existsSync(file)) throw new MemError('not_found', `There is no backup ${file}.`)
  const { version, damage } = inspectFile(file, true)
  if (damage !== null) {
    throw new MemError('corrupt_database', `${file} is damaged (${damage}); choose another backup.`)
  }
  refuseNewer(version, file)
  if (version === 0) throw new MemError('bad_request', `${file} is not a backup of claude-mem.`)
}

/** What was forgotten since the backup was made does not come back with it. */
function keepForgotten(building: string, current: string): void {
  const tombstones = tombstonesIn(current)
  if (tombstones.length === 0) return
  const db = new BetterSqlite3(building)
  try {
    db.pragma('foreign_keys = ON')
    db.pragma('secure_delete = ON')
    migrate(db)
    db.transaction(() => {
      addTombstones(db, tombstones)
      forgetAgain(db)
    })()
  } finally {
    db.close()
  }
}

/** A database too damaged for a backup is set aside as it is. */
async function keepCurrent(paths: Pick<Paths, 'database' | 'backups'>, at: number): Promise<string | null> {
  if (sizeOf(paths.database) === 0) return null
  try {
    const copyTo = (file: string) => copyDatabase(paths.database, file)
    return (await writeBackup(copyTo, paths.backups, 'before-restore', 1, at)).file
  } catch (error) {
    if (isCorruption(error)) return setDatabaseAside(paths.database, at)
    throw error
  }
}

/**
 * From here on the restored state is what counts: a recovery takes the newest backup, which must not be one of the
 * state that was just left behind.
 */
function keepAsNewest(directory: string, file: string, at: number): void {
  const name = backupName(directory, 'restored', at)
  const partial = join(directory, 'restored.partial')
  copyFileSync(file, partial)
  publish(partial, name)
  rotate(directory, 'restored', 3)
}
