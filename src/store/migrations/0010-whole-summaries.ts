import type { Migration } from './index.ts'

/** `whole`: a summary of the whole session instead of one turn; at most one per session. */
export const wholeSummariesMigration: Migration = {
  version: 10,
  sql: `
ALTER TABLE session_summaries ADD COLUMN whole INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX session_summaries_whole ON session_summaries (content_session_id) WHERE whole = 1;
`,
}
