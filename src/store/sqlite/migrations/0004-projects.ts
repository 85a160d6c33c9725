import type { Migration } from './migration.ts'

/**
 * `projects` is what people, or a repository that moved, decided about a project; one that nobody decided anything about
 * is not in it. The key is the one that hooks report. Where it is merged, everything of it was filed under the other
 * key, and what comes later is filed there too.
 *
 * `shown` is what a session was given during its prompts, so that it gets nothing twice. After damage it is forgotten
 * rather than salvaged.
 */
export const projects: Migration = {
  version: 4,
  name: 'projects',
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
