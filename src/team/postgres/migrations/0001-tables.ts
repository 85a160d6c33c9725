import type { LogMigration } from './index.ts'
import { nameFunctions } from './names.ts'

/**
 * Tables of the shared log. Times are epoch ms, as in the records.
 *
 * `records.x` is the transaction that stored the record and `seq` its place in it: together the order of the log. A reader
 * goes up to the oldest transaction that still runs, so one that commits late is never passed. `seq` alone would not do:
 * a number is taken before its transaction commits.
 *
 * A row of the kind `erased` takes the place of a record that was erased before it arrived. It is in this table because the
 * primary key decides the race between a record and its tombstone in two transactions: the second one waits for the first.
 *
 * `records.repository` has no foreign key: the insert policy admits known repositories only, and the key-share lock that a
 * foreign key takes would make all writers of a repository share one row.
 *
 * Names of authors are never free again: a record keeps the name under which it was written.
 */
export const tablesMigration: LogMigration = {
  version: 1,
  oldestProgram: 1,
  get sql() {
    return `${nameFunctions()}${TABLES}`
  },
}

const TABLES = `
CREATE TABLE claude_mem.log (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  version integer NOT NULL,
  oldest_program integer NOT NULL,
  generation text NOT NULL,
  identity text NOT NULL
);

CREATE TABLE claude_mem.repositories (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text NOT NULL UNIQUE CONSTRAINT repositories_key CHECK (claude_mem.is_repository_key(key)),
  owner_role text NOT NULL,
  registered_at bigint NOT NULL
);

CREATE TABLE claude_mem.grants (
  role text NOT NULL,
  repository integer NOT NULL,
  may_write boolean NOT NULL,
  may_erase boolean NOT NULL,
  may_grant boolean NOT NULL,
  granted_by text NOT NULL,
  granted_at bigint NOT NULL,
  PRIMARY KEY (role, repository)
);
COMMENT ON COLUMN claude_mem.grants.repository IS '0: all repositories';

CREATE TABLE claude_mem.members (
  role text PRIMARY KEY,
  author text NOT NULL,
  joined_at bigint NOT NULL
);

CREATE TABLE claude_mem.author_names (
  folded text PRIMARY KEY,
  role text NOT NULL
);
CREATE INDEX author_names_role ON claude_mem.author_names (role);

CREATE TABLE claude_mem.machines (
  role text NOT NULL,
  machine text NOT NULL,
  seen_at bigint NOT NULL,
  PRIMARY KEY (role, machine)
);

CREATE TABLE claude_mem.records (
  repository integer NOT NULL,
  id text NOT NULL CONSTRAINT records_id CHECK (id ~ '^[0-9a-f]{32}$'),
  kind text NOT NULL CONSTRAINT records_kind CHECK (kind IN (
    'observation', 'summary', 'passage', 'link', 'pin', 'status', 'project', 'tombstone', 'erased'
  )),
  author_role text NOT NULL DEFAULT session_user,
  author text NOT NULL DEFAULT '',
  machine text NOT NULL CONSTRAINT records_machine CHECK (claude_mem.is_name(machine)),
  made_at bigint NOT NULL CONSTRAINT records_made_at CHECK (made_at BETWEEN 0 AND 8640000000000000),
  stored_at bigint NOT NULL DEFAULT 0,
  body jsonb CONSTRAINT records_body CHECK (
    body IS NULL OR (jsonb_typeof(body) = 'object' AND bytes <= 262144)
  ),
  bytes integer NOT NULL DEFAULT 0,
  target text CONSTRAINT records_target CHECK (
    (kind = 'tombstone' AND body IS NULL AND target IS NOT NULL AND target ~ '^[0-9a-f]{32}$' AND target <> id)
    OR (kind <> 'tombstone' AND target IS NULL)
  ),
  x xid8 NOT NULL DEFAULT pg_current_xact_id(),
  seq bigint GENERATED ALWAYS AS IDENTITY,
  PRIMARY KEY (repository, id)
) WITH (
  -- An update happens only to erase a body, so a few dead rows are enough of a reason to clean up.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20,
  toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 20
);
-- Machines know a record by its id alone: nobody may use the id of a record in another repository, whoever can read it.
CREATE UNIQUE INDEX records_once ON claude_mem.records (id);
CREATE INDEX records_order ON claude_mem.records (repository, x, seq) WHERE kind <> 'erased';
-- A clock that is years ahead does not put its records first for ever: the time of arrival is the latest that counts.
CREATE INDEX records_newest ON claude_mem.records (repository, least(made_at, stored_at))
  WHERE kind IN ('observation', 'summary') AND body IS NOT NULL;

-- Tombstones of records that never arrived, per member: each takes two small rows, and nothing else limits their number.
CREATE TABLE claude_mem.unknown_tombstones (
  repository integer NOT NULL,
  role text NOT NULL,
  tombstones integer NOT NULL,
  PRIMARY KEY (repository, role)
);
`
