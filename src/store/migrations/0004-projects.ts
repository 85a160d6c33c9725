import type { Migration } from './index.ts'

/**
 * `projects` has a row for a project with a decision: of the user, or because its repository moved. The key is the one
 * that hooks report. All rows of a merged project, old and new, are stored under the key of the other project.
 *
 * `shown` has the observations that a session got with its prompts, so that it gets none twice. It is not salvaged from a
 * damaged file.
 */
export const projectsMigration: Migration = {
  version: 4,
  sql: `
CREATE TABLE projects (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  name TEXT,
  merged_into TEXT,
  root TEXT,
  fingerprint TEXT,
  files TEXT NOT NULL DEFAULT '[]',
  at INTEGER NOT NULL,
  CHECK (merged_into IS NULL OR merged_into <> key)
) STRICT;
CREATE INDEX projects_merged ON projects (merged_into) WHERE merged_into IS NOT NULL;
CREATE INDEX projects_fingerprint ON projects (fingerprint) WHERE fingerprint IS NOT NULL;

CREATE TABLE shown (
  content_session_id TEXT NOT NULL REFERENCES sdk_sessions (content_session_id) ON DELETE CASCADE,
  observation_id INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  PRIMARY KEY (content_session_id, observation_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX shown_observation ON shown (observation_id);
`,
}
