import type { Migration } from './index.ts'

interface MemoryTable {
  table: 'observations' | 'session_summaries' | 'passages'
  kind: 'observation' | 'summary' | 'passage'
  /** Column with the time that `since` of a shared project is compared with. */
  time: 'created_at_epoch' | 'at'
}

const OBSERVATIONS: MemoryTable = { table: 'observations', kind: 'observation', time: 'created_at_epoch' }
const SUMMARIES: MemoryTable = { table: 'session_summaries', kind: 'summary', time: 'created_at_epoch' }
const PASSAGES: MemoryTable = { table: 'passages', kind: 'passage', time: 'at' }
const MEMORIES = [OBSERVATIONS, SUMMARIES, PASSAGES]

const NEW_UID = 'lower(hex(randomblob(16)))'
const NOW_MS = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"

/** False inside the transaction that applies received records: what comes from the log does not go back to it. */
const IS_LOCAL_CHANGE = "NOT EXISTS (SELECT 1 FROM meta WHERE name = 'team_applying')"

function isShared(key: string): string {
  return `EXISTS (SELECT 1 FROM shared_projects s WHERE s.project = ${key} AND s.withdrawn = 0)`
}

/**
 * A memory gets an id that is unique on all machines when it is made. `author` and `machine` are null for what this machine
 * learned itself, and name the member and the machine for what came from the shared log. `repository` is the one in whose
 * log it is, or will be when the outbox is sent; null: in none.
 */
function travellingColumns({ table }: MemoryTable): string {
  return `
ALTER TABLE ${table} ADD COLUMN uid TEXT;
ALTER TABLE ${table} ADD COLUMN author TEXT;
ALTER TABLE ${table} ADD COLUMN machine TEXT;
ALTER TABLE ${table} ADD COLUMN repository TEXT;
UPDATE ${table} SET uid = ${NEW_UID};
CREATE UNIQUE INDEX ${table}_uid ON ${table} (uid);
CREATE INDEX ${table}_repository ON ${table} (repository) WHERE repository IS NOT NULL;
`
}

/**
 * Marks own memories of shared projects; the trigger on `repository` puts them into the outbox. One that was withdrawn gets
 * a new id, because its old one is erased for ever.
 */
function enterLog({ table, kind, time }: MemoryTable, which: string): string {
  return `UPDATE ${table} SET repository = project,
    uid = CASE WHEN uid IN (SELECT t.uid FROM team_tombstones t) THEN ${NEW_UID} ELSE uid END
  WHERE ${which} AND machine IS NULL AND repository IS NULL AND EXISTS (SELECT 1 FROM shared_projects s
    WHERE s.project = ${table}.project AND s.withdrawn = 0 AND s.since <= ${table}.${time}
      ${kind === 'passage' ? 'AND s.passages = 1 AND passages.transient = 0' : ''});`
}

/** A row that was salvaged from an older database has no uid yet. */
function memoryTriggers(memory: MemoryTable): string {
  const { table, kind } = memory
  return `
CREATE TRIGGER team_${kind}_added AFTER INSERT ON ${table} BEGIN
  UPDATE ${table} SET uid = ${NEW_UID} WHERE id = NEW.id AND uid IS NULL;
  ${enterLog(memory, 'id = NEW.id')}
END;

CREATE TRIGGER team_${kind}_moved AFTER UPDATE OF project ON ${table} WHEN OLD.project <> NEW.project BEGIN
  ${enterLog(memory, 'id = NEW.id')}
END;

CREATE TRIGGER team_${kind}_shared AFTER UPDATE OF repository ON ${table}
  WHEN OLD.repository IS NULL AND NEW.repository IS NOT NULL AND NEW.machine IS NULL AND ${IS_LOCAL_CHANGE} BEGIN
  INSERT INTO team_outbox (uid, kind, project, at) VALUES (NEW.uid, '${kind}', NEW.repository, ${NOW_MS});
END;

CREATE TRIGGER team_${kind}_renamed AFTER UPDATE OF uid ON ${table} WHEN OLD.uid <> NEW.uid BEGIN
  UPDATE team_aliases SET same_as = NEW.uid WHERE same_as = OLD.uid;
END;

CREATE TRIGGER team_${kind}_removed AFTER DELETE ON ${table}
  WHEN OLD.repository IS NOT NULL OR EXISTS (SELECT 1 FROM team_aliases WHERE same_as = OLD.uid) BEGIN
  DELETE FROM team_outbox WHERE uid = OLD.uid;
  INSERT INTO team_outbox (uid, kind, project, record, at)
  SELECT ${NEW_UID}, 'tombstone', erased.repository, json_object('target', erased.uid), ${NOW_MS}
  FROM (SELECT OLD.uid AS uid, OLD.repository AS repository
    UNION ALL SELECT uid, repository FROM team_aliases WHERE same_as = OLD.uid) erased
  WHERE erased.repository IS NOT NULL AND NOT EXISTS (SELECT 1 FROM team_tombstones t WHERE t.uid = erased.uid);
  INSERT INTO team_tombstones (uid, repository, at) SELECT erased.uid, erased.repository, ${NOW_MS}
  FROM (SELECT OLD.uid AS uid, OLD.repository AS repository
    UNION ALL SELECT uid, repository FROM team_aliases WHERE same_as = OLD.uid) erased
  WHERE NOT EXISTS (SELECT 1 FROM team_tombstones t WHERE t.uid = erased.uid);
  DELETE FROM team_aliases WHERE same_as = OLD.uid;
  ${
    memory === OBSERVATIONS
      ? `DELETE FROM team_versions WHERE subject IN ('pin:' || OLD.uid, 'status:' || OLD.uid);
  DELETE FROM team_expired WHERE content_session_id = OLD.content_session_id AND prompt_number = OLD.prompt_number;`
      : ''
  }
END;
`
}

interface VersionedChange {
  kind: 'pin' | 'link' | 'status' | 'project'
  /** A statement with the columns `subject`, `repository` and `body` (JSON without the version), one row for each change. */
  changes: string
}

/** The highest known version of the subject and one more. */
function queueVersions({ kind, changes }: VersionedChange): string {
  return `INSERT INTO team_versions (subject, version, uid) SELECT c.subject, 0, '' FROM (${changes}) c
    WHERE NOT EXISTS (SELECT 1 FROM team_versions v WHERE v.subject = c.subject);
  UPDATE team_versions SET version = version + 1, uid = ${NEW_UID}
    WHERE subject IN (SELECT c.subject FROM (${changes}) c);
  INSERT INTO team_outbox (uid, kind, project, record, at)
    SELECT v.uid, '${kind}', c.repository, json_set(c.body, '$.version', v.version), ${NOW_MS}
    FROM (${changes}) c JOIN team_versions v ON v.subject = c.subject;`
}

function pinChange(row: 'NEW' | 'OLD', on: boolean): VersionedChange {
  return {
    kind: 'pin',
    changes: `SELECT 'pin:' || o.uid AS subject, o.repository AS repository,
      json_object('observation', o.uid, 'on', json('${on}')) AS body
    FROM observations o WHERE o.id = ${row}.id AND ${isShared('o.repository')}`,
  }
}

/** Links between observations of one repository. `link`: an alias of a row with the columns of \`links\`. */
function linkChange(link: string, on: boolean, from: string): VersionedChange {
  return {
    kind: 'link',
    changes: `SELECT 'link:' || ${link}.kind || ':' || f.uid || ':' || t.uid AS subject, f.repository AS repository,
      json_object('from', f.uid, 'to', t.uid, 'link', ${link}.kind, 'by', ${link}.made_by, 'on', json('${on}')) AS body
    FROM ${from} AND f.repository = t.repository AND ${isShared('f.repository')}`,
  }
}

const ENDS_OF = (link: string) => `observations f, observations t WHERE f.id = ${link}.from_id AND t.id = ${link}.to_id`

const STATUS_OF_NEW: VersionedChange = {
  kind: 'status',
  changes: `SELECT 'status:' || NEW.uid AS subject, NEW.repository AS repository,
      json_object('observation', NEW.uid, 'status', NEW.status) AS body
    WHERE NEW.status IS NOT NULL AND ${isShared('NEW.repository')}`,
}

const PIN_OF_NEW: VersionedChange = {
  kind: 'pin',
  changes: `SELECT 'pin:' || NEW.uid AS subject, NEW.repository AS repository,
      json_object('observation', NEW.uid, 'on', json('true')) AS body FROM pins WHERE id = NEW.id`,
}

/** A search finds its links again on every machine: only those of people and models travel. */
const LINKS_OF_NEW = linkChange(
  'l',
  true,
  `links l JOIN observations f ON f.id = l.from_id JOIN observations t ON t.id = l.to_id
    WHERE (l.from_id = NEW.id OR l.to_id = NEW.id) AND l.made_by <> 'search'`,
)

/**
 * What an observation has when it enters the log. Each only where there is something: a project with 100,000 observations is
 * shared in one transaction, and most have none of these.
 */
function enteringTrigger(name: string, hasSome: string, change: VersionedChange): string {
  return `
CREATE TRIGGER team_observation_shared_with_${name} AFTER UPDATE OF repository ON observations
  WHEN OLD.repository IS NULL AND NEW.repository IS NOT NULL AND NEW.machine IS NULL AND ${hasSome}
    AND ${IS_LOCAL_CHANGE} BEGIN
  ${queueVersions(change)}
END;
`
}

const ENTERING_TRIGGERS = [
  enteringTrigger('status', 'NEW.status IS NOT NULL', STATUS_OF_NEW),
  enteringTrigger('pin', 'EXISTS (SELECT 1 FROM pins WHERE id = NEW.id)', PIN_OF_NEW),
  enteringTrigger('links', 'EXISTS (SELECT 1 FROM links WHERE from_id = NEW.id OR to_id = NEW.id)', LINKS_OF_NEW),
].join('')

const NAME_OF_PROJECT: VersionedChange = {
  kind: 'project',
  changes: `SELECT 'project:' || NEW.key AS subject, NEW.key AS repository,
      json_object('name', coalesce(NEW.name, '')) AS body WHERE ${isShared('NEW.key')}`,
}

const NAME_OF_SHARED: VersionedChange = {
  kind: 'project',
  changes: `SELECT 'project:' || p.key AS subject, p.key AS repository, json_object('name', p.name) AS body
    FROM projects p WHERE p.key = NEW.project AND p.name IS NOT NULL`,
}

/** What changes and travels as a series of versions. A row that is deleted with its observation changes nothing here. */
const VERSION_TRIGGERS = `
CREATE TRIGGER team_pin_added AFTER INSERT ON pins WHEN ${IS_LOCAL_CHANGE} BEGIN
  ${queueVersions(pinChange('NEW', true))}
END;
CREATE TRIGGER team_pin_removed AFTER DELETE ON pins WHEN ${IS_LOCAL_CHANGE} BEGIN
  ${queueVersions(pinChange('OLD', false))}
END;
CREATE TRIGGER team_link_added AFTER INSERT ON links WHEN NEW.made_by <> 'search' AND ${IS_LOCAL_CHANGE} BEGIN
  ${queueVersions(linkChange('NEW', true, ENDS_OF('NEW')))}
END;
CREATE TRIGGER team_link_removed AFTER DELETE ON links WHEN ${IS_LOCAL_CHANGE} BEGIN
  ${queueVersions(linkChange('OLD', false, ENDS_OF('OLD')))}
END;
CREATE TRIGGER team_status_changed AFTER UPDATE OF status ON observations
  WHEN OLD.status IS NOT NEW.status AND NEW.repository IS NOT NULL AND ${IS_LOCAL_CHANGE} BEGIN
  ${queueVersions(STATUS_OF_NEW)}
END;
CREATE TRIGGER team_project_named AFTER INSERT ON projects WHEN NEW.name IS NOT NULL AND ${IS_LOCAL_CHANGE} BEGIN
  ${queueVersions(NAME_OF_PROJECT)}
END;
CREATE TRIGGER team_project_renamed AFTER UPDATE OF name ON projects
  WHEN OLD.name IS NOT NEW.name AND ${IS_LOCAL_CHANGE} BEGIN
  ${queueVersions(NAME_OF_PROJECT)}
END;
`

/** A passage that is in the log but no longer here is erased there with its turn, as it would be here. */
const EXPIRED_TRIGGERS = `
CREATE TRIGGER team_expired_removed AFTER DELETE ON team_expired BEGIN
  INSERT INTO team_outbox (uid, kind, project, record, at)
  VALUES (${NEW_UID}, 'tombstone', OLD.repository, json_object('target', OLD.uid), ${NOW_MS});
  INSERT INTO team_tombstones (uid, repository, at) SELECT OLD.uid, OLD.repository, ${NOW_MS}
  WHERE NOT EXISTS (SELECT 1 FROM team_tombstones t WHERE t.uid = OLD.uid);
END;
CREATE TRIGGER team_session_removed AFTER DELETE ON sdk_sessions BEGIN
  DELETE FROM team_expired WHERE content_session_id = OLD.content_session_id;
END;
`

/** To share a project is to write its row: everything of it that is not in the log enters the outbox. */
function sharingTrigger(name: string, event: string): string {
  return `
CREATE TRIGGER ${name} AFTER ${event} ON shared_projects WHEN NEW.withdrawn = 0 BEGIN
  ${queueVersions(NAME_OF_SHARED)}
  ${MEMORIES.map((memory) => enterLog(memory, 'project = NEW.project')).join('\n  ')}
END;
`
}

/**
 * `shared_projects` has the projects whose memories travel; `withdrawn`: 0 shared, 1 the tombstones of its withdrawal wait
 * to be sent, 2 no longer shared (the row stays, so that a recovery does not share it again). `team_outbox` has what waits
 * to be pushed, in order: the memory with that uid, or the record itself where it is about no memory that can be read later
 * (`record`, JSON of its body). `team_versions` has the last version of each thing that can change, `team_aliases` further
 * ids of a memory that was made on two machines, `team_waiting` records about memories that have not arrived yet,
 * `team_tombstones` the ids of erased records (`repository` for those that this machine erased: a log that was restored from
 * a backup gets them again), `team_expired` own passages in the log that retention deleted here,
 * `team_cursors` how far each repository was received.
 *
 * Triggers fill the outbox, so that no way of writing can forget it. A deleted memory that is in the log gets a tombstone.
 * Who deletes one for another reason, such as its age, sets its `repository` to null before.
 *
 * The triggers have no conflict clause: the one of the outer statement would override it.
 */
export const teamMigration: Migration = {
  version: 13,
  sql: `
${MEMORIES.map(travellingColumns).join('')}
DROP INDEX passages_digest;
CREATE UNIQUE INDEX passages_digest ON passages (project, digest, coalesce(author, ''), coalesce(machine, ''));
DROP INDEX session_summaries_whole;
CREATE UNIQUE INDEX session_summaries_whole
  ON session_summaries (content_session_id, coalesce(author, ''), coalesce(machine, '')) WHERE whole = 1;

CREATE TABLE shared_projects (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project TEXT NOT NULL UNIQUE,
  since INTEGER NOT NULL,
  passages INTEGER NOT NULL CHECK (passages IN (0, 1)),
  withdrawn INTEGER NOT NULL DEFAULT 0 CHECK (withdrawn IN (0, 1, 2)),
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE team_outbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL,
  kind TEXT NOT NULL,
  project TEXT NOT NULL,
  record TEXT CHECK (record IS NULL OR json_valid(record)),
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX team_outbox_uid ON team_outbox (uid);
CREATE INDEX team_outbox_project ON team_outbox (project);

CREATE TABLE team_versions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  subject TEXT NOT NULL UNIQUE,
  version INTEGER NOT NULL,
  uid TEXT NOT NULL
) STRICT;

CREATE TABLE team_aliases (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  same_as TEXT NOT NULL,
  repository TEXT NOT NULL
) STRICT;
CREATE INDEX team_aliases_same ON team_aliases (same_as);

CREATE TABLE team_waiting (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  target TEXT NOT NULL,
  repository TEXT NOT NULL,
  record TEXT NOT NULL CHECK (json_valid(record)),
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX team_waiting_target ON team_waiting (target);
CREATE INDEX team_waiting_repository ON team_waiting (repository, id);

CREATE TABLE team_tombstones (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  repository TEXT,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX team_tombstones_repository ON team_tombstones (repository) WHERE repository IS NOT NULL;

CREATE TABLE team_expired (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uid TEXT NOT NULL UNIQUE,
  content_session_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL,
  repository TEXT NOT NULL
) STRICT;
CREATE INDEX team_expired_turn ON team_expired (content_session_id, prompt_number);

CREATE TABLE team_cursors (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  repository TEXT NOT NULL UNIQUE,
  generation TEXT NOT NULL,
  position TEXT NOT NULL CHECK (json_valid(position))
) STRICT;
${ENTERING_TRIGGERS}
${MEMORIES.map(memoryTriggers).join('')}
${VERSION_TRIGGERS}
${EXPIRED_TRIGGERS}
${sharingTrigger('team_project_shared', 'INSERT')}
${sharingTrigger('team_project_shared_again', 'UPDATE')}
`,
}
