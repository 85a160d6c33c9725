import type { Migration } from './index.ts'

/** SQL for a trigger. Each row of the index is deleted by its id: with `IN`, SQLite looks at twice as much. */
function unindexNeighbours(row: 'OLD' | 'NEW'): string {
  const inEvent = `content_session_id = ${row}.content_session_id AND prompt_number = ${row}.prompt_number
    AND event_id = ${row}.event_id`
  const neighbour = (place: string) =>
    `(SELECT id FROM passages WHERE ${inEvent} AND position = ${row}.position ${place} AND indexed = 1)`
  return `DELETE FROM passage_fts WHERE rowid = ${neighbour('- 1')};
  DELETE FROM passage_fts WHERE rowid = ${neighbour('+ 1')};
  UPDATE passages SET indexed = 0 WHERE ${inEvent}
    AND position IN (${row}.position - 1, ${row}.position + 1) AND indexed = 1;`
}

/**
 * Passages: short pieces of what was said and done, with a full-text index. `digest` is that of kind, subject and text:
 * a project has each passage once, as part of the newest event with it. `bytes` is the size of the text in UTF-8; where
 * the column `text` is shorter, it is deflated.
 *
 * `around` in the index are the neighbours of a passage: those before and after it in its event. `indexed` is 0 for a
 * passage that is not in the index. When a passage is deleted or becomes part of another event, the triggers take its
 * neighbours out of the index, so that no row of the index has words of a text that is no longer beside it.
 *
 * `transient` is 1 where no passages are kept: such a one is there for the observer until the summary of its turn is settled,
 * is not in the index and does not leave the machine.
 *
 * `forgotten_turns` has a tombstone for each turn whose passages were forgotten: the time of the oldest and when it was
 * forgotten, nothing of the text.
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
  indexed INTEGER NOT NULL DEFAULT 0 CHECK (indexed IN (0, 1)),
  transient INTEGER NOT NULL DEFAULT 0 CHECK (transient IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX passages_digest ON passages (project, digest);
CREATE INDEX passages_turn ON passages (content_session_id, prompt_number, event_id, position);
CREATE INDEX passages_age ON passages (at, id, bytes);
CREATE INDEX passages_unindexed ON passages (id) WHERE indexed = 0 AND transient = 0;
CREATE INDEX passages_transient ON passages (content_session_id, prompt_number) WHERE transient = 1;

CREATE VIRTUAL TABLE passage_fts USING fts5 (text, around, content = '', contentless_delete = 1,
  tokenize = 'porter unicode61 remove_diacritics 2');

CREATE TRIGGER passage_removed AFTER DELETE ON passages BEGIN
  DELETE FROM passage_fts WHERE rowid = OLD.id;
  ${unindexNeighbours('OLD')}
END;

CREATE TRIGGER passage_moved AFTER UPDATE OF content_session_id, prompt_number, event_id, position ON passages BEGIN
  DELETE FROM passage_fts WHERE rowid = NEW.id;
  UPDATE passages SET indexed = 0 WHERE id = NEW.id;
  ${unindexNeighbours('OLD')}
  ${unindexNeighbours('NEW')}
END;

CREATE TABLE forgotten_turns (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (content_session_id, prompt_number)
) STRICT;
`,
}
