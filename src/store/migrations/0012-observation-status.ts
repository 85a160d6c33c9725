import type { Migration } from './index.ts'

/**
 * `open`: a problem that nobody has solved yet; `untested`: a change that was never run; `resolved`: it was one of these.
 * Few observations are open: the index finds those of a project without reading the others.
 */
export const observationStatusMigration: Migration = {
  version: 12,
  sql: `
ALTER TABLE observations ADD COLUMN status TEXT CHECK (status IN ('open', 'untested', 'resolved'));
CREATE INDEX observations_open ON observations (project, created_at_epoch) WHERE status = 'open';
`,
}
