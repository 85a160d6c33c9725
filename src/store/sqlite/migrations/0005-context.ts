import type { Migration } from './migration.ts'

/**
 * What a session starts with must not take longer the more is known. `project_totals` counts a project's observations
 * as they come and go, so that nobody has to count them again; triggers keep it in step whoever writes: a commit, a
 * salvage, a merge of two projects, a session that is erased. The index finds the newest observations of a type
 * without looking at those of the others.
 *
 * The triggers use no conflict clause: that of the statement they run in would hold instead.
 */
export const context: Migration = {
  version: 5,
  name: 'context',
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
