import type { LogMigration } from './index.ts'
import { NAME_RULE_SQL } from './names.ts'

/**
 * Storing and reading records. Members insert into `records` directly or through `push`; triggers complete a row, erase what
 * a tombstone names and notify listeners, so no way of writing can go around them. `pull` and `push` run with the rights of
 * the caller, under the policies.
 */
const AS_OWNER = 'SECURITY DEFINER SET search_path = pg_catalog, pg_temp'
const AS_CALLER = 'SECURITY INVOKER SET search_path = pg_catalog, pg_temp'

/** Per statement: a push has at most this many. */
const MAX_RECORDS = 1000
/** Per repository and member. Who erases what never arrived does so by a race or to fill the disk. */
const MAX_UNKNOWN_TOMBSTONES = 100_000

/**
 * A target that is there is erased if its author asks, or a role that may erase the records of others. Otherwise the
 * tombstone takes its place: if another transaction is about to store the target, this waits for it and then erases it, and
 * who stores it later finds the place taken.
 */
const TRIGGERS = `
CREATE FUNCTION claude_mem.is_about_others(place integer, about text, given jsonb) RETURNS boolean LANGUAGE sql STABLE ${AS_OWNER} AS $$
  SELECT about IN ('link', 'pin', 'status') AND EXISTS (SELECT FROM claude_mem.records r
    WHERE r.repository = place AND r.id IN (given->>'observation', given->>'from', given->>'to') AND r.author_role <> session_user)
$$;

CREATE FUNCTION claude_mem.complete_record() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
BEGIN
  NEW.author_role := session_user;
  NEW.author := (SELECT author FROM claude_mem.members WHERE role = session_user);
  IF NEW.author IS NULL THEN
    RAISE EXCEPTION 'This role has no author name yet: it takes one with claude_mem.set_member' USING ERRCODE = 'CM003';
  END IF;
  NEW.stored_at := claude_mem.now_ms();
  NEW.x := pg_current_xact_id();
  -- As it is sent, and unpacked: a body from a table may be compressed, and a short number may have 100,000 digits.
  NEW.bytes := CASE jsonb_typeof(NEW.body)
    WHEN 'object' THEN greatest(octet_length(NEW.body::text), pg_column_size(NEW.body || '{}')) ELSE 0
  END;
  IF NEW.kind IN ('link', 'pin', 'status') AND EXISTS (SELECT FROM claude_mem.records r
    WHERE r.id IN (NEW.body->>'observation', NEW.body->>'from', NEW.body->>'to') AND r.repository <> NEW.repository) THEN
    RAISE EXCEPTION 'The record is about one of another repository' USING ERRCODE = 'CM001';
  END IF;
  IF claude_mem.is_about_others(NEW.repository, NEW.kind, NEW.body) THEN
    RAISE EXCEPTION 'Only the author of a memory pins it, links it and changes its state' USING ERRCODE = 'CM001';
  END IF;
  IF NEW.kind = 'project' AND NEW.body->>'name' <> '' AND NOT claude_mem.is_name(NEW.body->>'name') THEN
    RAISE EXCEPTION 'This is no name for a project: it has ${NAME_RULE_SQL}' USING ERRCODE = 'CM001';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER complete BEFORE INSERT ON claude_mem.records FOR EACH ROW EXECUTE FUNCTION claude_mem.complete_record();

CREATE FUNCTION claude_mem.count_unknown_tombstone(number integer) RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
DECLARE
  counted integer;
BEGIN
  INSERT INTO claude_mem.unknown_tombstones AS u VALUES (number, session_user, 1)
    ON CONFLICT (repository, role) DO UPDATE SET tombstones = u.tombstones + 1 RETURNING u.tombstones INTO counted;
  IF counted > ${MAX_UNKNOWN_TOMBSTONES} THEN
    RAISE EXCEPTION 'Too many tombstones of records that are not in the shared log' USING ERRCODE = 'CM001';
  END IF;
END $$;

CREATE FUNCTION claude_mem.erase_target() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
DECLARE
  found_target record;
BEGIN
  SELECT author_role, kind INTO found_target FROM claude_mem.records
    WHERE repository = NEW.repository AND id = NEW.target FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO claude_mem.records (repository, id, kind, machine, made_at)
      VALUES (NEW.repository, NEW.target, 'erased', NEW.machine, NEW.made_at) ON CONFLICT DO NOTHING;
    IF FOUND THEN
      PERFORM claude_mem.count_unknown_tombstone(NEW.repository);
      RETURN NULL;
    END IF;
    SELECT author_role, kind INTO found_target FROM claude_mem.records
      WHERE repository = NEW.repository AND id = NEW.target FOR UPDATE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'The record is in another repository' USING ERRCODE = 'CM001';
    END IF;
  END IF;
  IF found_target.kind = 'tombstone' THEN
    RAISE EXCEPTION 'A tombstone cannot be erased' USING ERRCODE = 'CM001';
  END IF;
  IF found_target.kind <> 'erased' AND found_target.author_role <> session_user
    AND NOT NEW.repository = ANY (claude_mem.allowed('erase')) THEN
    RAISE EXCEPTION 'The record is another author''s' USING ERRCODE = 'CM001';
  END IF;
  UPDATE claude_mem.records SET body = NULL, bytes = 0
    WHERE repository = NEW.repository AND id = NEW.target AND body IS NOT NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER erase AFTER INSERT ON claude_mem.records FOR EACH ROW WHEN (NEW.kind = 'tombstone')
  EXECUTE FUNCTION claude_mem.erase_target();

CREATE FUNCTION claude_mem.announce() RETURNS trigger LANGUAGE plpgsql ${AS_OWNER} AS $$
BEGIN
  IF (SELECT count(*) FROM added) > ${MAX_RECORDS} THEN
    RAISE EXCEPTION 'More than ${MAX_RECORDS} records in one statement' USING ERRCODE = 'CM001';
  END IF;
  PERFORM pg_notify('claude_mem', repository::text) FROM (SELECT DISTINCT repository FROM added) changed;
  RETURN NULL;
END $$;
CREATE TRIGGER announce AFTER INSERT ON claude_mem.records REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION claude_mem.announce();
`

/** What can be refused for a reason that is known beforehand is left out, so that it does not fail the others. */
const PUSH = `
CREATE FUNCTION claude_mem.push(batch jsonb, author text, machine text, program integer) RETURNS jsonb
LANGUAGE plpgsql ${AS_CALLER} AS $$
DECLARE
  writable integer[] := claude_mem.allowed('write');
  erasable integer[] := claude_mem.allowed('erase');
  outcomes jsonb;
BEGIN
  IF program < (SELECT oldest_program FROM claude_mem.log) THEN
    RAISE EXCEPTION 'The shared log was changed by a newer claude-mem. Update claude-mem here. Until then memories stay on this machine and nothing is lost'
      USING ERRCODE = 'CM004';
  END IF;
  IF cardinality(writable) > 0 THEN
    PERFORM claude_mem.set_member(author);
    PERFORM claude_mem.see_machine(machine);
  END IF;
  WITH given AS MATERIALIZED (
    SELECT g.*, p.id AS number
    FROM jsonb_to_recordset(batch) AS g (
      n integer, repository text, id text, kind text, at bigint, target text, body jsonb
    ) LEFT JOIN claude_mem.repositories p ON p.key = g.repository
  ), judged AS MATERIALIZED (
    SELECT g.*, CASE
      WHEN g.number IS NULL THEN 'unknown_repository'
      WHEN NOT g.number = ANY (writable) THEN 'not_writable'
      WHEN g.kind = 'tombstone' AND NOT g.number = ANY (erasable) AND EXISTS (
        SELECT FROM claude_mem.records t WHERE t.repository = g.number AND t.id = g.target
          AND t.author_role <> session_user AND t.kind <> 'erased'
      ) THEN 'not_erasable'
      WHEN claude_mem.is_about_others(g.number, g.kind, g.body) THEN 'others'
    END AS refusal
    FROM given g
  ), added AS (
    INSERT INTO claude_mem.records (repository, id, kind, machine, made_at, body, target)
    SELECT j.number, j.id, j.kind, push.machine, j.at, j.body, j.target FROM judged j WHERE j.refusal IS NULL ORDER BY j.n
    ON CONFLICT DO NOTHING
    RETURNING records.repository, records.id
  )
  SELECT jsonb_agg(jsonb_build_object('n', j.n, 'outcome', coalesce(
    j.refusal, CASE WHEN a.id IS NULL THEN 'known' ELSE 'stored' END
  ))) INTO outcomes
  FROM judged j LEFT JOIN added a ON a.repository = j.number AND a.id = j.id;
  RETURN coalesce(outcomes, '[]');
END $$;
`

/**
 * Identity of the server and the line of its history: another server, another database, a restore to an earlier time or a
 * standby that took over may use transaction ids again that cursors have passed already. It runs with the owner's rights, so
 * that all roles get the same answer. Managed servers without one of the functions get a part of it; a standby, which cannot
 * start a generation, none.
 */
const GENERATION = `
CREATE FUNCTION claude_mem.server_identity() RETURNS text LANGUAGE plpgsql STABLE ${AS_OWNER} AS $$
DECLARE
  server text := '';
  timeline text := '';
BEGIN
  IF pg_is_in_recovery() THEN RETURN NULL; END IF;
  BEGIN
    SELECT system_identifier INTO server FROM pg_control_system();
    timeline := left(pg_walfile_name(pg_current_wal_lsn()), 8);
  EXCEPTION WHEN insufficient_privilege OR feature_not_supported OR undefined_function THEN
    NULL;
  END;
  RETURN concat_ws('/', server, (SELECT oid FROM pg_database WHERE datname = current_database()), timeline);
END $$;

CREATE FUNCTION claude_mem.moved() RETURNS boolean LANGUAGE sql STABLE ${AS_CALLER} AS $$
  SELECT coalesce(claude_mem.server_identity() <> identity, false) FROM claude_mem.log
$$;

CREATE FUNCTION claude_mem.renew() RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
BEGIN
  IF NOT claude_mem.moved() THEN RETURN false; END IF;
  LOCK TABLE claude_mem.records IN SHARE ROW EXCLUSIVE MODE;
  PERFORM FROM claude_mem.log FOR UPDATE;
  IF NOT claude_mem.moved() THEN RETURN false; END IF;
  UPDATE claude_mem.log SET generation = gen_random_uuid()::text, identity = claude_mem.server_identity();
  UPDATE claude_mem.records SET x = pg_current_xact_id() WHERE x >= pg_current_xact_id();
  RETURN true;
END $$;
`

/**
 * `held_back`: how long the newest records have been waiting for an older transaction. Its start where the owner of the
 * schema may see it, else the time at which the first waiting record was stored.
 */
const PULL = `
CREATE FUNCTION claude_mem.held_back(first_stored_at bigint) RETURNS bigint LANGUAGE sql STABLE ${AS_OWNER} AS $$
  SELECT greatest(0, claude_mem.now_ms() - least(first_stored_at, (
    SELECT (extract(epoch FROM min(xact_start)) * 1000)::bigint FROM pg_stat_activity
    WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()
  )))
$$;

CREATE FUNCTION claude_mem.record_json(r claude_mem.records, key text) RETURNS json LANGUAGE sql STABLE AS $$
  SELECT json_build_object('id', r.id, 'kind', r.kind, 'repository', key, 'at', r.made_at, 'author', r.author,
    'machine', r.machine, 'target', r.target, 'body', r.body, 'transaction', r.x::text, 'sequence', r.seq::text)
$$;

CREATE FUNCTION claude_mem.pull(cursors jsonb, max_records integer, max_bytes integer) RETURNS json
LANGUAGE plpgsql STABLE ${AS_CALLER}
-- Planning anew for each call would take longer than a call that finds nothing, in a large log only.
SET plan_cache_mode TO force_generic_plan AS $$
DECLARE
  horizon xid8 := pg_snapshot_xmin(pg_current_snapshot());
  current claude_mem.log;
  answer json;
BEGIN
  SELECT * INTO current FROM claude_mem.log;
  WITH places AS MATERIALIZED (
    SELECT p.id, p.key,
      CASE WHEN same.kept THEN c.transaction ELSE '0' END::xid8 AS x,
      CASE WHEN same.kept THEN c.sequence ELSE '0' END::bigint AS seq
    FROM jsonb_to_recordset(cursors) AS c (repository text, generation text, transaction text, sequence text)
    JOIN claude_mem.repositories p ON p.key = c.repository
    CROSS JOIN LATERAL (SELECT c.generation = current.generation AS kept) same
  ), found AS MATERIALIZED (
    SELECT p.key, r.entry, (r.entry).x AS x, (r.entry).seq AS seq, (r.entry).bytes AS bytes
    FROM places p CROSS JOIN LATERAL (
      SELECT r AS entry FROM claude_mem.records r
      WHERE r.repository = p.id AND (r.x, r.seq) > (p.x, p.seq) AND r.x < horizon AND r.kind <> 'erased'
      ORDER BY r.x, r.seq LIMIT max_records + 1
    ) r
  ), numbered AS (
    SELECT *, row_number() OVER in_order AS n, sum(bytes) OVER in_order AS total FROM found
    WINDOW in_order AS (ORDER BY x, seq)
  ), chosen AS MATERIALIZED (
    SELECT * FROM numbered WHERE n <= max_records AND (n = 1 OR total <= max_bytes)
  ), held AS (
    SELECT min(h.stored_at) AS first_stored_at FROM places p CROSS JOIN LATERAL (
      SELECT r.stored_at FROM claude_mem.records r
      WHERE r.repository = p.id AND r.x >= horizon AND r.kind <> 'erased' ORDER BY r.x, r.seq LIMIT 1
    ) h
  )
  SELECT json_build_object(
    'version', current.version, 'oldestProgram', current.oldest_program,
    'generation', current.generation, 'moved', claude_mem.moved(),
    'records', (SELECT coalesce(json_agg(claude_mem.record_json(entry, key) ORDER BY n), '[]') FROM chosen),
    'more', (SELECT count(*) FROM found) > (SELECT count(*) FROM chosen),
    'heldBackMs', (SELECT claude_mem.held_back(first_stored_at) FROM held WHERE first_stored_at IS NOT NULL)
  ) INTO answer;
  RETURN answer;
END $$;

CREATE FUNCTION claude_mem.newest(wanted text, max_records integer) RETURNS json LANGUAGE sql STABLE ${AS_CALLER} AS $$
  SELECT coalesce(json_agg(claude_mem.record_json(n.entry, wanted) ORDER BY n.at DESC), '[]') FROM claude_mem.repositories p
  CROSS JOIN LATERAL (
    SELECT r AS entry, least(r.made_at, r.stored_at) AS at FROM claude_mem.records r
    WHERE r.repository = p.id AND r.kind IN ('observation', 'summary') AND r.body IS NOT NULL
    ORDER BY least(r.made_at, r.stored_at) DESC LIMIT max_records
  ) n
  WHERE p.key = wanted
$$;
`

/** Explicitly: an administrator may have changed the defaults. The functions below are only for other functions. */
const EXECUTION = `
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA claude_mem TO PUBLIC;
REVOKE EXECUTE ON FUNCTION claude_mem.take_name(text), claude_mem.repository_number(text),
  claude_mem.check_grantor(integer, boolean, boolean), claude_mem.count_unknown_tombstone(integer) FROM PUBLIC;
`

export const exchangeMigration: LogMigration = {
  version: 3,
  oldestProgram: 3,
  sql: `${TRIGGERS}${PUSH}${GENERATION}${PULL}${EXECUTION}`,
}
