import type { Migration } from './index.ts'

/**
 * `search_rows` has a row for everything that can be found: the id of observation n is 4n, of summary n 4n + 1, of prompt
 * n 4n + 2. Private prompts are not in it. It has the columns that filters need, in lower case, so that a filter reads
 * one small row. Triggers keep it up to date for every writer: a commit, a salvage, an erased session.
 *
 * The program indexes the words, because it splits identifiers and handles languages without spaces. `indexed` is 0 until
 * then. Rows from before this migration are indexed in the background, so that a large database starts at once.
 *
 * The full-text tables store their text, so that a forgotten text can be deleted exactly as it was written. They do not
 * use FTS5's `secure-delete`, which makes every write ten times slower, because each one indexes its neighbours again.
 * Deleted text leaves the index when its segments are merged, which forgetting triggers.
 */
export const searchMigration: Migration = {
  version: 3,
  sql: `
CREATE TABLE links (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  from_id INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
  to_id INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('repeats', 'supersedes', 'amends')),
  made_by TEXT NOT NULL CHECK (made_by IN ('search', 'model', 'person')),
  at INTEGER NOT NULL,
  UNIQUE (from_id, to_id, kind),
  CHECK (from_id <> to_id)
) STRICT;
CREATE INDEX links_to ON links (to_id, kind);

CREATE TABLE pins (
  id INTEGER PRIMARY KEY REFERENCES observations (id) ON DELETE CASCADE,
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE forgotten (
  id INTEGER PRIMARY KEY,
  created_at_epoch INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT;

CREATE INDEX observations_order ON observations (content_session_id, id);
CREATE INDEX embeddings_embedder ON embeddings (embedder, id);

CREATE TABLE search_rows (
  id INTEGER PRIMARY KEY,
  content_session_id TEXT NOT NULL,
  project TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  type TEXT,
  agent TEXT,
  concepts TEXT NOT NULL DEFAULT '',
  files TEXT NOT NULL DEFAULT '',
  chunk INTEGER,
  indexed INTEGER NOT NULL DEFAULT 0 CHECK (indexed IN (0, 1))
) STRICT;
CREATE INDEX search_rows_project ON search_rows (project, created_at_epoch, id);
CREATE INDEX search_rows_created ON search_rows (created_at_epoch, id);
CREATE INDEX search_rows_session ON search_rows (content_session_id, created_at_epoch, id);
CREATE INDEX search_rows_chunk ON search_rows (chunk) WHERE chunk IS NOT NULL;
CREATE INDEX search_rows_waiting ON search_rows (id) WHERE indexed = 0;
CREATE INDEX search_rows_unplaced ON search_rows (content_session_id, id) WHERE chunk IS NULL AND id & 3 = 0;

CREATE TABLE session_chunks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT NOT NULL REFERENCES sdk_sessions (content_session_id) ON DELETE CASCADE,
  project TEXT NOT NULL,
  members INTEGER NOT NULL,
  chars INTEGER NOT NULL,
  indexed INTEGER NOT NULL DEFAULT 0 CHECK (indexed IN (0, 1))
) STRICT;
CREATE INDEX session_chunks_session ON session_chunks (content_session_id, id);
CREATE INDEX session_chunks_waiting ON session_chunks (id) WHERE indexed = 0;

CREATE VIRTUAL TABLE memory_fts USING fts5 (title, body, facts, names, grams, neighbours,
  tokenize = 'porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE chunk_fts USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2');

CREATE TRIGGER search_observation_added AFTER INSERT ON observations BEGIN
  INSERT INTO search_rows (id, content_session_id, project, created_at_epoch, type, agent, concepts, files)
  VALUES (NEW.id * 4, NEW.content_session_id, NEW.project, NEW.created_at_epoch, NEW.type, NEW.agent,
    coalesce((SELECT char(10) || group_concat(lower(trim(value)), char(10)) || char(10)
      FROM json_each(NEW.concepts)), ''),
    coalesce((SELECT char(10) || group_concat(lower(replace(value, '\\', '/')), char(10)) || char(10)
      FROM (SELECT value FROM json_each(NEW.files_read) UNION ALL SELECT value FROM json_each(NEW.files_modified))), ''));
  UPDATE search_rows SET indexed = 0 WHERE id IN (
    SELECT 4 * id FROM (SELECT id FROM observations WHERE content_session_id = NEW.content_session_id
      AND id < NEW.id ORDER BY id DESC LIMIT 2)
    UNION ALL SELECT 4 * id FROM (SELECT id FROM observations WHERE content_session_id = NEW.content_session_id
      AND id > NEW.id ORDER BY id LIMIT 2));
END;

CREATE TRIGGER search_observation_removed AFTER DELETE ON observations BEGIN
  DELETE FROM memory_fts WHERE rowid = OLD.id * 4;
  UPDATE session_chunks SET indexed = 0, members = members - 1
    WHERE id = (SELECT chunk FROM search_rows WHERE id = OLD.id * 4);
  DELETE FROM search_rows WHERE id = OLD.id * 4;
  UPDATE search_rows SET indexed = 0 WHERE id IN (
    SELECT 4 * id FROM (SELECT id FROM observations WHERE content_session_id = OLD.content_session_id
      AND id < OLD.id ORDER BY id DESC LIMIT 2)
    UNION ALL SELECT 4 * id FROM (SELECT id FROM observations WHERE content_session_id = OLD.content_session_id
      AND id > OLD.id ORDER BY id LIMIT 2));
END;

CREATE TRIGGER search_summary_added AFTER INSERT ON session_summaries BEGIN
  INSERT INTO search_rows (id, content_session_id, project, created_at_epoch, files)
  VALUES (NEW.id * 4 + 1, NEW.content_session_id, NEW.project, NEW.created_at_epoch,
    coalesce((SELECT char(10) || group_concat(lower(replace(value, '\\', '/')), char(10)) || char(10)
      FROM (SELECT value FROM json_each(NEW.files_read) UNION ALL SELECT value FROM json_each(NEW.files_edited))), ''));
END;

CREATE TRIGGER search_summary_removed AFTER DELETE ON session_summaries BEGIN
  DELETE FROM memory_fts WHERE rowid = OLD.id * 4 + 1;
  DELETE FROM search_rows WHERE id = OLD.id * 4 + 1;
END;

CREATE TRIGGER search_prompt_added AFTER INSERT ON user_prompts WHEN NEW.private = 0 BEGIN
  INSERT INTO search_rows (id, content_session_id, project, created_at_epoch)
  SELECT NEW.id * 4 + 2, content_session_id, project, NEW.created_at_epoch FROM sdk_sessions
  WHERE content_session_id = NEW.content_session_id;
END;

CREATE TRIGGER search_prompt_removed AFTER DELETE ON user_prompts BEGIN
  DELETE FROM memory_fts WHERE rowid = OLD.id * 4 + 2;
  DELETE FROM search_rows WHERE id = OLD.id * 4 + 2;
END;

CREATE TRIGGER search_chunk_removed AFTER DELETE ON session_chunks BEGIN
  DELETE FROM chunk_fts WHERE rowid = OLD.id;
END;

INSERT INTO search_rows (id, content_session_id, project, created_at_epoch, type, agent, concepts, files)
SELECT o.id * 4, o.content_session_id, o.project, o.created_at_epoch, o.type, o.agent,
  coalesce((SELECT char(10) || group_concat(lower(trim(value)), char(10)) || char(10) FROM json_each(o.concepts)), ''),
  coalesce((SELECT char(10) || group_concat(lower(replace(value, '\\', '/')), char(10)) || char(10)
    FROM (SELECT value FROM json_each(o.files_read) UNION ALL SELECT value FROM json_each(o.files_modified))), '')
FROM observations o;

INSERT INTO search_rows (id, content_session_id, project, created_at_epoch, files)
SELECT m.id * 4 + 1, m.content_session_id, m.project, m.created_at_epoch,
  coalesce((SELECT char(10) || group_concat(lower(replace(value, '\\', '/')), char(10)) || char(10)
    FROM (SELECT value FROM json_each(m.files_read) UNION ALL SELECT value FROM json_each(m.files_edited))), '')
FROM session_summaries m;

INSERT INTO search_rows (id, content_session_id, project, created_at_epoch)
SELECT p.id * 4 + 2, p.content_session_id, s.project, p.created_at_epoch
FROM user_prompts p JOIN sdk_sessions s USING (content_session_id) WHERE p.private = 0;
`,
}
