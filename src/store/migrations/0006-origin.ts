import type { Migration } from './index.ts'

/**
 * Provenance: the effect that made a memory leads to its calls and transitions. An event has the effect that settled it
 * and the number of attempts. Older rows have neither.
 *
 * `queue_depth` is the length of the queue over time. It is not salvaged from a damaged file.
 */
export const originMigration: Migration = {
  version: 6,
  sql: `
ALTER TABLE observations ADD COLUMN effect_id TEXT;
ALTER TABLE session_summaries ADD COLUMN effect_id TEXT;
ALTER TABLE events ADD COLUMN effect_id TEXT;
ALTER TABLE events ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
CREATE INDEX events_event ON events (event_id);
CREATE INDEX calls_effect ON calls (effect_id);
-- Covers the sums of a month of observations without reading their rows. Queries by time alone use it too.
DROP INDEX observations_created;
CREATE INDEX observations_created ON observations (created_at_epoch, project, type, discovery_tokens);
CREATE INDEX user_prompts_created ON user_prompts (created_at_epoch);
CREATE INDEX trace_effect ON trace (content_session_id, effect_id) WHERE effect_id IS NOT NULL;

CREATE TABLE queue_depth (
  at INTEGER PRIMARY KEY,
  pending INTEGER NOT NULL,
  processing INTEGER NOT NULL,
  failed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
}
