import type { LogMigration } from './index.ts'
import { NAME_RULE_SQL } from './names.ts'

/**
 * Who may do what. A role has the grants of itself and of the roles whose rights it inherits. The role is always
 * `session_user`, the one that logged in: `current_user` is the owner inside the functions that run with its rights, and
 * follows SET ROLE, which would let a member of a group write in the group's name.
 *
 * Everybody may look at the tables and sees only rows that the policies allow. The policies of the owner let the functions
 * that run with its rights see everything. Each function has a fixed search_path, so that no object of another schema can
 * take the place of one that it names.
 */
const TABLES = [
  'log',
  'repositories',
  'grants',
  'members',
  'author_names',
  'machines',
  'records',
  'unknown_tombstones',
] as const

const AS_OWNER = 'SECURITY DEFINER SET search_path = pg_catalog, pg_temp'

const POLICIES = `
${TABLES.map(
  (table) => `
ALTER TABLE claude_mem.${table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE claude_mem.${table} FORCE ROW LEVEL SECURITY;
CREATE POLICY owner ON claude_mem.${table} TO CURRENT_USER USING (true) WITH CHECK (true);
REVOKE ALL ON claude_mem.${table} FROM PUBLIC;`,
).join('')}

GRANT USAGE ON SCHEMA claude_mem TO PUBLIC;
GRANT SELECT ON claude_mem.log, claude_mem.repositories, claude_mem.grants, claude_mem.records TO PUBLIC;
GRANT INSERT (repository, id, kind, machine, made_at, body, target) ON claude_mem.records TO PUBLIC;

CREATE POLICY anyone_reads ON claude_mem.log FOR SELECT USING (true);
CREATE POLICY granted ON claude_mem.repositories FOR SELECT
  USING (id = ANY ((SELECT claude_mem.allowed('read'))::integer[]));
CREATE POLICY own ON claude_mem.grants FOR SELECT
  USING (EXISTS (
    SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = role AND pg_catalog.pg_has_role(session_user, r.oid, 'USAGE')
  ));
CREATE POLICY granted_read ON claude_mem.records FOR SELECT
  USING (repository = ANY ((SELECT claude_mem.allowed('read'))::integer[]));
CREATE POLICY granted_write ON claude_mem.records FOR INSERT
  WITH CHECK (
    repository = ANY ((SELECT claude_mem.allowed('write'))::integer[])
    AND author_role = session_user AND kind <> 'erased'
  );
`

/** A role that was dropped leaves grants behind, and pg_has_role fails for its name: hence the join. */
const RIGHTS = `
CREATE FUNCTION claude_mem.own_grants() RETURNS SETOF claude_mem.grants LANGUAGE sql STABLE ${AS_OWNER} AS $$
  SELECT g.* FROM claude_mem.grants g JOIN pg_roles r ON r.rolname = g.role
  WHERE pg_has_role(session_user, r.oid, 'USAGE')
$$;

CREATE FUNCTION claude_mem.allowed(wanted text) RETURNS integer[] LANGUAGE sql STABLE ${AS_OWNER} AS $$
  WITH mine AS MATERIALIZED (
    SELECT repository FROM claude_mem.own_grants()
    WHERE CASE wanted WHEN 'read' THEN true WHEN 'write' THEN may_write WHEN 'erase' THEN may_erase
      WHEN 'grant' THEN may_grant ELSE false END
  )
  SELECT coalesce(array_agg(id), '{}') FROM claude_mem.repositories
  WHERE EXISTS (SELECT FROM mine WHERE repository = 0) OR id IN (SELECT repository FROM mine)
$$;

CREATE FUNCTION claude_mem.now_ms() RETURNS bigint LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
  SELECT (extract(epoch FROM now()) * 1000)::bigint
$$;

CREATE FUNCTION claude_mem.repository_number(wanted text) RETURNS integer LANGUAGE plpgsql STABLE ${AS_OWNER} AS $$
DECLARE
  number integer;
BEGIN
  IF wanted = '*' THEN RETURN 0; END IF;
  SELECT id INTO number FROM claude_mem.repositories
    WHERE key = wanted AND id = ANY (claude_mem.allowed('grant'));
  IF number IS NULL THEN
    RAISE EXCEPTION 'This role may not grant access to %', wanted USING ERRCODE = 'CM002';
  END IF;
  RETURN number;
END $$;
`

/** A new repository belongs to the role that registers it; a role that may not write anything cannot register. */
const REGISTER = `
CREATE FUNCTION claude_mem.register(new_key text) RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
DECLARE
  number integer;
BEGIN
  IF EXISTS (SELECT FROM claude_mem.repositories WHERE key = new_key AND id = ANY (claude_mem.allowed('read'))) THEN
    RETURN;
  END IF;
  IF NOT EXISTS (SELECT FROM claude_mem.own_grants() WHERE may_write) THEN
    RAISE EXCEPTION 'This role may not register repositories' USING ERRCODE = 'CM002';
  END IF;
  INSERT INTO claude_mem.repositories (key, owner_role, registered_at)
    VALUES (new_key, session_user, claude_mem.now_ms())
    ON CONFLICT (key) DO NOTHING RETURNING id INTO number;
  IF number IS NULL THEN
    IF EXISTS (SELECT FROM claude_mem.repositories WHERE key = new_key AND id = ANY (claude_mem.allowed('read'))) THEN
      RETURN;
    END IF;
    RAISE EXCEPTION 'The repository % is in the shared log and this role has no grant for it', new_key
      USING ERRCODE = 'CM002';
  END IF;
  INSERT INTO claude_mem.grants VALUES (session_user, number, true, true, true, session_user, claude_mem.now_ms());
END $$;
`

/** A grantor gives only rights that it has itself for the same repository, and '*' only with a grant for '*'. */
const GRANTS = `
CREATE FUNCTION claude_mem.check_grantor(number integer, write boolean, erase boolean) RETURNS void
LANGUAGE plpgsql STABLE ${AS_OWNER} AS $$
DECLARE
  own record;
BEGIN
  SELECT coalesce(bool_or(may_grant), false) AS may_grant, coalesce(bool_or(may_write), false) AS may_write,
    coalesce(bool_or(may_erase), false) AS may_erase
    INTO own FROM claude_mem.own_grants() WHERE repository IN (number, 0);
  IF NOT own.may_grant THEN
    RAISE EXCEPTION 'This role may not grant access here' USING ERRCODE = 'CM002';
  END IF;
  IF (write AND NOT own.may_write) OR (erase AND NOT own.may_erase) THEN
    RAISE EXCEPTION 'This role cannot grant a right that it does not have itself' USING ERRCODE = 'CM002';
  END IF;
END $$;

CREATE FUNCTION claude_mem.grant_access(to_role text, key text, write boolean, erase boolean, pass_on boolean)
RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
DECLARE
  number integer := claude_mem.repository_number(key);
BEGIN
  PERFORM claude_mem.check_grantor(number, write, erase);
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = to_role) THEN
    RAISE EXCEPTION 'There is no role %: create it in PostgreSQL first', to_role USING ERRCODE = 'CM001';
  END IF;
  INSERT INTO claude_mem.grants VALUES (to_role, number, write, erase, pass_on, session_user, claude_mem.now_ms())
    ON CONFLICT (role, repository) DO UPDATE SET may_write = excluded.may_write, may_erase = excluded.may_erase,
      may_grant = excluded.may_grant, granted_by = excluded.granted_by, granted_at = excluded.granted_at;
END $$;

CREATE FUNCTION claude_mem.revoke_access(from_role text, key text) RETURNS boolean LANGUAGE plpgsql ${AS_OWNER} AS $$
DECLARE
  number integer := claude_mem.repository_number(key);
BEGIN
  PERFORM claude_mem.check_grantor(number, false, false);
  DELETE FROM claude_mem.grants WHERE role = from_role AND repository = number;
  RETURN FOUND;
END $$;
`

/**
 * Names of authors are taken by the first who uses one. The name of another role cannot be taken, even before that role
 * writes anything. At most ten a role: they are never free again. Of a role's machines the last fifty stay: containers get
 * a new name each.
 */
const MEMBERS = `
CREATE FUNCTION claude_mem.take_name(wanted text) RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
DECLARE
  mine text := claude_mem.folded_name(wanted);
  holder text;
BEGIN
  IF NOT claude_mem.is_name(wanted) THEN
    RAISE EXCEPTION 'This is no name for an author: it has ${NAME_RULE_SQL}. Choose another one (CLAUDE_MEM_TEAM_AUTHOR)'
      USING ERRCODE = 'CM003';
  END IF;
  INSERT INTO claude_mem.author_names VALUES (mine, session_user) ON CONFLICT (folded) DO NOTHING;
  SELECT role INTO holder FROM claude_mem.author_names WHERE folded = mine;
  IF holder <> session_user OR EXISTS (
    SELECT FROM pg_roles WHERE claude_mem.folded_name(rolname) = mine AND rolname <> session_user
  ) THEN
    RAISE EXCEPTION 'The author name % belongs to another member. Choose another one (CLAUDE_MEM_TEAM_AUTHOR)', wanted USING ERRCODE = 'CM003';
  END IF;
  IF (SELECT count(*) FROM claude_mem.author_names WHERE role = session_user) > 10 THEN
    RAISE EXCEPTION 'This role has used ten author names already. Use one of those' USING ERRCODE = 'CM003';
  END IF;
END $$;

CREATE FUNCTION claude_mem.set_member(wanted text) RETURNS text LANGUAGE plpgsql ${AS_OWNER} AS $$
DECLARE
  name text := CASE wanted WHEN '' THEN session_user::text ELSE wanted END;
BEGIN
  IF NOT EXISTS (SELECT FROM claude_mem.own_grants()) THEN
    RAISE EXCEPTION 'This role has no grant for any repository' USING ERRCODE = 'CM002';
  END IF;
  IF EXISTS (SELECT FROM claude_mem.members WHERE role = session_user AND author = name) THEN RETURN name; END IF;
  PERFORM claude_mem.take_name(name);
  INSERT INTO claude_mem.members VALUES (session_user, name, claude_mem.now_ms())
    ON CONFLICT (role) DO UPDATE SET author = excluded.author;
  RETURN name;
END $$;

CREATE FUNCTION claude_mem.see_machine(name text) RETURNS void LANGUAGE plpgsql ${AS_OWNER} AS $$
DECLARE
  at bigint := claude_mem.now_ms();
BEGIN
  -- Once a day is enough, so that a push seldom writes here.
  IF EXISTS (
    SELECT FROM claude_mem.machines WHERE role = session_user AND machine = name AND seen_at > at - 86400000
  ) OR NOT claude_mem.is_name(name) OR NOT EXISTS (SELECT FROM claude_mem.own_grants() WHERE may_write) THEN
    RETURN;
  END IF;
  INSERT INTO claude_mem.machines VALUES (session_user, name, at)
    ON CONFLICT (role, machine) DO UPDATE SET seen_at = excluded.seen_at;
  DELETE FROM claude_mem.machines WHERE role = session_user AND machine NOT IN (
    SELECT machine FROM claude_mem.machines WHERE role = session_user ORDER BY seen_at DESC, machine LIMIT 50
  );
END $$;

CREATE FUNCTION claude_mem.list_members() RETURNS jsonb LANGUAGE sql STABLE ${AS_OWNER} AS $$
  WITH visible AS (
    SELECT g.*, coalesce(r.key, '*') AS key FROM claude_mem.grants g LEFT JOIN claude_mem.repositories r ON r.id = g.repository
    WHERE g.repository = ANY (claude_mem.allowed('grant'))
      OR EXISTS (SELECT FROM claude_mem.own_grants() o WHERE o.repository = 0 AND o.may_grant)
      OR (g.role, g.repository) IN (SELECT o.role, o.repository FROM claude_mem.own_grants() o)
  )
  SELECT coalesce(jsonb_agg(member ORDER BY member ->> 'role'), '[]') FROM (
    SELECT jsonb_build_object(
      'role', v.role, 'author', coalesce(m.author, v.role),
      'machines', (SELECT coalesce(jsonb_agg(machine ORDER BY seen_at DESC), '[]') FROM claude_mem.machines c WHERE c.role = v.role),
      'grants', jsonb_agg(jsonb_build_object(
        'repository', v.key, 'mayWrite', v.may_write, 'mayEraseOthers', v.may_erase, 'mayGrant', v.may_grant
      ) ORDER BY v.key)
    ) AS member
    FROM visible v LEFT JOIN claude_mem.members m ON m.role = v.role GROUP BY v.role, m.author
  ) listed
$$;
`

export const accessMigration: LogMigration = {
  version: 2,
  oldestProgram: 2,
  sql: `${RIGHTS}${POLICIES}${REGISTER}${GRANTS}${MEMBERS}`,
}
