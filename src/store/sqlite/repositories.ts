/** Directories with what was decided about the repository they name, and the commits that are known of repositories. */
import type { DirectoryRow, DirectoryUpdate } from '../port.ts'
import type { Database, Stored } from './database.ts'

/** Enough that clones of different age have one in common; old ones are dropped as new ones are seen. */
const MAX_COMMITS_KEPT = 200

export function selectDirectories(db: Database): DirectoryRow[] {
  const rows = db.all<Stored<DirectoryRow>>`SELECT key, repository, state, told FROM project_directories ORDER BY id`
  return rows.map((row) => ({ ...row, told: row.told === 1 }))
}

/** Part of the transaction of the caller. */
export function updateDirectories(db: Database, updates: readonly DirectoryUpdate[], at: number): void {
  for (const { key, repository, state, told } of updates) {
    if (state === null) db.run`DELETE FROM project_directories WHERE key = ${key}`
    else {
      db.run`
        INSERT INTO project_directories (key, repository, state, told, at) VALUES (${key}, ${repository}, ${state}, ${told ? 1 : 0}, ${at})
        ON CONFLICT (key) DO UPDATE SET repository = excluded.repository, state = excluded.state, told = excluded.told,
          at = excluded.at`
    }
  }
}

/** The last recorded ones first. */
export function selectCommits(db: Database, repository: string): string[] {
  return db.ids<string>`SELECT commit_id AS id FROM repository_commits WHERE repository = ${repository} ORDER BY repository_commits.id DESC`
}

/** `commits`: the most important one first; it is dropped last. */
export function recordCommits(db: Database, repository: string, commits: readonly string[]): void {
  db.write(() => {
    for (const commit of commits.toReversed()) {
      // A new row: the order of the ids is the order in which they were last seen.
      db.run`DELETE FROM repository_commits WHERE repository = ${repository} AND commit_id = ${commit}`
      db.run`INSERT INTO repository_commits (repository, commit_id) VALUES (${repository}, ${commit})`
    }
    db.run`
      DELETE FROM repository_commits WHERE repository = ${repository} AND id NOT IN (
        SELECT id FROM repository_commits WHERE repository = ${repository} ORDER BY id DESC LIMIT ${MAX_COMMITS_KEPT})`
  })
}
