import type { Migration } from './index.ts'

/**
 * The calls of an erased session still count for the cost, without their texts and without the session. The trigger
 * clears them before the foreign key is set to NULL.
 *
 * `seen` needs no id: nothing refers to it, and it is not salvaged from a damaged file.
 */
export const callsMigration: Migration = {
  version: 2,
  sql: `
CREATE TABLE calls (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT REFERENCES sdk_sessions (content_session_id) ON DELETE SET NULL,
  project TEXT NOT NULL,
  project_name TEXT NOT NULL,
  effect_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('observe', 'summarize', 'compact')),
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  prompt_version TEXT,
  at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  cost REAL,
  observations INTEGER NOT NULL,
  error TEXT,
  sent TEXT,
  received TEXT,
  CHECK (sent IS NOT NULL OR received IS NULL)
) STRICT;
CREATE INDEX calls_age ON calls (at);
CREATE INDEX calls_session ON calls (content_session_id, id);
CREATE INDEX calls_texts ON calls (at) WHERE sent IS NOT NULL;

CREATE TRIGGER calls_of_erased_session BEFORE DELETE ON sdk_sessions BEGIN
  UPDATE calls SET content_session_id = NULL, sent = NULL, received = NULL,
    error = CASE WHEN error IS NULL THEN NULL ELSE 'erased with its session' END
  WHERE content_session_id = OLD.content_session_id;
END;

CREATE TABLE seen (
  content_session_id TEXT NOT NULL REFERENCES sdk_sessions (content_session_id) ON DELETE CASCADE,
  subject TEXT NOT NULL,
  digest TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (content_session_id, subject)
) STRICT, WITHOUT ROWID;
`,
}
