import type { Migration } from './index.ts'

/**
 * Passages: short pieces of what was said and done, with a full-text index. `digest` is that of kind, subject and text:
 * a project has each passage once, as part of the newest event with it. `text` is deflated where that is shorter.
 * `indexed`: 0 until it is in the index.
 */
export const passagesMigration: Migration = {
  version: 11,
  sql: `
CREATE TABLE passages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT NOT NULL REFERENCES sdk_sessions (content_session_id) ON DELETE CASCADE,
  project TEXT NOT NULL,
  prompt_number INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT,
  outcome TEXT CHECK (outcome IN ('ok', 'failed')),
  text BLOB NOT NULL,
  bytes INTEGER NOT NULL,
  digest BLOB NOT NULL,
  at INTEGER NOT NULL,
  indexed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX passages_digest ON passages (project, digest);
CREATE INDEX passages_event ON passages (content_session_id, event_id, position);
CREATE INDEX passages_turn ON passages (content_session_id, prompt_number);
CREATE INDEX passages_age ON passages (at, id, bytes);
CREATE INDEX passages_unindexed ON passages (id) WHERE indexed = 0;
CREATE VIRTUAL TABLE passage_fts USING fts5 (text, around, content = '', contentless_delete = 1,
  tokenize = 'porter unicode61 remove_diacritics 2');
`,
}
