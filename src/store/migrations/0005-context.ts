import type { Migration } from './index.ts'

/**
 * The context of a session start must not take longer in a larger project. `project_totals` has the number of a project's
 * observations; triggers keep it up to date for every writer: a commit, a salvage, a merge of two projects, an erased
 * session. The index finds the newest observations of one type without reading the others.
 *
 * The triggers have no conflict clause: the one of the outer statement would override it.
 */
export const contextMigration: Migration = {
  version: 5,
  sql: `
CREATE INDEX observations_type ON observations (project, type, created_at_epoch);

CREATE TABLE project_totals (
  project TEXT PRIMARY KEY,
  observations INTEGER NOT NULL,
  discovery_tokens INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER totals_observation_added AFTER INSERT ON observations BEGIN
  INSERT INTO project_totals (project, observations, discovery_tokens)
  SELECT NEW.project, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM project_totals WHERE project = NEW.project);
  UPDATE project_totals SET observations = observations + 1, discovery_tokens = discovery_tokens + NEW.discovery_tokens
  WHERE project = NEW.project;
END;

CREATE TRIGGER totals_observation_removed AFTER DELETE ON observations BEGIN
  UPDATE project_totals SET observations = observations - 1, discovery_tokens = discovery_tokens - OLD.discovery_tokens
  WHERE project = OLD.project;
  DELETE FROM project_totals WHERE project = OLD.project AND observations = 0;
END;

CREATE TRIGGER totals_observation_moved AFTER UPDATE OF project, discovery_tokens ON observations BEGIN
  UPDATE project_totals SET observations = observations - 1, discovery_tokens = discovery_tokens - OLD.discovery_tokens
  WHERE project = OLD.project;
  INSERT INTO project_totals (project, observations, discovery_tokens)
  SELECT NEW.project, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM project_totals WHERE project = NEW.project);
  UPDATE project_totals SET observations = observations + 1, discovery_tokens = discovery_tokens + NEW.discovery_tokens
  WHERE project = NEW.project;
  DELETE FROM project_totals WHERE project = OLD.project AND observations = 0;
END;

INSERT INTO project_totals (project, observations, discovery_tokens)
SELECT project, count(*), sum(discovery_tokens) FROM observations GROUP BY project;
`,
}
