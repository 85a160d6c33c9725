import type { Migration } from './index.ts'

/**
 * Who said what an observation says (`person`, `agent`, `tool`, `web`), and for one written with `remember` the client and
 * session it was written in. Older rows have neither: unknown, and treated as the agent's.
 */
export const speakersMigration: Migration = {
  version: 9,
  sql: `
ALTER TABLE observations ADD COLUMN said_by TEXT CHECK (said_by IN ('person', 'agent', 'tool', 'web'));
ALTER TABLE observations ADD COLUMN said_in TEXT;
`,
}
