import type { Migration } from './index.ts'

/**
 * `project_directories` has a row for each directory whose remote names a repository, or that the user gave an identity: what was decided
 * about it. `repository_commits` has the newest commits that are known of each repository: a further directory belongs to it
 * if it has one of them.
 */
export const repositoriesMigration: Migration = {
  version: 14,
  sql: `
CREATE TABLE project_directories (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  repository TEXT,
  state TEXT NOT NULL CHECK (state IN ('joined', 'unconfirmed', 'linked', 'apart')),
  told INTEGER NOT NULL DEFAULT 0 CHECK (told IN (0, 1)),
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE repository_commits (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository TEXT NOT NULL,
  commit_id TEXT NOT NULL,
  UNIQUE (repository, commit_id)
) STRICT;
`,
}
