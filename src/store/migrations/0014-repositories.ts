import type { Migration } from './index.ts'

/**
 * `project_directories` has a row for each directory whose remote names a repository, or that the user gave an identity: what was decided
 * about it.
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
  created_at INTEGER,
  at INTEGER NOT NULL
) STRICT;
`,
}
