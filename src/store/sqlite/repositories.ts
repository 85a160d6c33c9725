/** Directories with what was decided about the repository they name. */
import type { DirectoryRow, DirectoryUpdate } from '../port.ts'
import type { Database, Stored } from './database.ts'

export function selectDirectories(db: Database): DirectoryRow[] {
  const rows = db.all<
    Stored<DirectoryRow>
  >`SELECT key, repository, state, told, created_at AS createdAt FROM project_directories ORDER BY id`
  return rows.map((row) => ({ ...row, told: row.told === 1 }))
}

/** Part of the transaction of the caller. */
export function updateDirectories(db: Database, updates: readonly DirectoryUpdate[], at: number): void {
  for (const { key, repository, state, told, createdAt } of updates) {
    if (state === null) db.run`DELETE FROM project_directories WHERE key = ${key}`
    else {
      db.run`
        INSERT INTO project_directories (key, repository, state, told, created_at, at)
        VALUES (${key}, ${repository}, ${state}, ${told ? 1 : 0}, ${createdAt}, ${at})
        ON CONFLICT (key) DO UPDATE SET repository = excluded.repository, state = excluded.state, told = excluded.told,
          created_at = excluded.created_at, at = excluded.at`
    }
  }
}
