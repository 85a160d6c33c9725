import type { Migration } from './index.ts'

/**
 * A call is recorded before its request is sent, with an estimate of its tokens, and corrected when its result is
 * committed: `call_id` finds the row again. Older rows have none.
 */
export const callBegunMigration: Migration = {
  version: 7,
  sql: `
ALTER TABLE calls ADD COLUMN call_id TEXT;
CREATE UNIQUE INDEX calls_call ON calls (call_id) WHERE call_id IS NOT NULL;
`,
}
