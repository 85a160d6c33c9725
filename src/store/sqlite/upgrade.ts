/** Brings an opened database to this version's schema, with a backup from before where there is something to lose. */
import { MemError } from '../../errors.ts'
import { copyDatabase, writeBackup } from './backup.ts'
import { hasTables, migrate, schemaVersion } from './migrate.ts'
import { MIGRATIONS } from './migrations/index.ts'
import type { Migration } from './migrations/migration.ts'
import type { Place } from './recovery.ts'
import type { Connection } from './statement.ts'

/** Says what was done, for people. */
export async function upgrade(
  db: Connection,
  place: Place,
  at: number,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string[]> {
  const from = schemaVersion(db)
  if (migrations.every(({ version }) => version <= from)) return []
  if (!hasTables(db)) {
    migrate(db, migrations)
    return []
  }
  if (from === 0) {
    throw new MemError(
      'storage',
      `${place.databaseFile} belongs to another program. Move it away, or set CLAUDE_MEM_DATA_DIR to another directory.`,
    )
  }
  const copyTo = (file: string) => copyDatabase(place.databaseFile, file)
  const backup = await writeBackup(copyTo, place.backupsDir, 'migration', 1, at)
  migrate(db, migrations)
  return [
    `The database was upgraded from version ${from} to ${schemaVersion(db)}; a backup from before is ${backup.file}.`,
  ]
}
