import type { Migration } from './index.ts'

/** `open`: a problem that nobody has solved yet; `resolved`: it was open once. Null: the observation is no problem. */
export const observationStatusMigration: Migration = {
  version: 12,
  sql: `
ALTER TABLE observations ADD COLUMN status TEXT CHECK (status IN ('open', 'resolved'));
`,
}
