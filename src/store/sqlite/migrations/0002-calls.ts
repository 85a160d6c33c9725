import type { Migration } from './migration.ts'

/**
 * Money that was spent stays spent: a session that is erased leaves its calls on the bill, without their words and
 * without its name. The trigger does that before the foreign key lets go of the row.
 *
 * `seen` needs no id: nothing refers to it, and after damage it is forgotten rather than salvaged.
 */
export const calls: Migration = {
  version: 2,
  name: 'calls',
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
