import type { Migration } from './index.ts'

/** The age of rows without trust in the clock: see `src/store/sqlite/elapsed-time.ts`. */
export const retentionMarksMigration: Migration = {
  version: 15,
  sql: `
CREATE TABLE retention_marks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  elapsed INTEGER NOT NULL,
  ids TEXT NOT NULL CHECK (json_valid(ids))
) STRICT;
CREATE INDEX retention_marks_elapsed ON retention_marks (elapsed);
`,
}
