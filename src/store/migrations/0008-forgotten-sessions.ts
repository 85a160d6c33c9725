import type { Migration } from './index.ts'

/**
 * `forgotten_sessions` has a tombstone for each erased session: its id and the time, nothing of its text. Its events from
 * before that time, and its transcript, are not accepted again.
 *
 * A tombstone in `forgotten` now names the turn of the memory: in a backup the turn may still be in the inbox, not yet
 * observed. The id of the tombstone of inbox message n is 4n + 3; `search_rows` does not use that number.
 */
export const forgottenSessionsMigration: Migration = {
  version: 8,
  sql: `
CREATE TABLE forgotten_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL
) STRICT;

ALTER TABLE forgotten ADD COLUMN content_session_id TEXT;
ALTER TABLE forgotten ADD COLUMN prompt_number INTEGER;
CREATE INDEX forgotten_turn ON forgotten (content_session_id, prompt_number);
`,
}
