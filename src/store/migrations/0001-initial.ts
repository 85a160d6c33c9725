import type { Migration } from './index.ts'

/**
 * Every table has an integer key that is never reused: rows that are salvaged from a damaged file keep their ids, and
 * `obs_{id}_…` always means the same observation.
 */
export const initialMigration: Migration = {
  version: 1,
  sql: `
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta (name, value) VALUES ('seq', 0);

CREATE TABLE sdk_sessions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT NOT NULL UNIQUE,
  memory_session_id TEXT NOT NULL,
  project TEXT NOT NULL,
  project_name TEXT NOT NULL,
  client TEXT NOT NULL,
  cwd TEXT NOT NULL,
  transcript_path TEXT,
  status TEXT NOT NULL CHECK (status IN ('active', 'completed', 'interrupted', 'failed')),
  state TEXT NOT NULL,
  revision INTEGER NOT NULL CHECK (revision >= 1),
  machine_version INTEGER NOT NULL,
  wake_at INTEGER,
  waiting TEXT,
  quarantine TEXT,
  prompts INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  context_tokens INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  trace_count INTEGER NOT NULL DEFAULT 0,
  trace_dropped INTEGER NOT NULL DEFAULT 0,
  seq INTEGER NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  updated_at_epoch INTEGER NOT NULL,
  effect TEXT CHECK (effect IS NULL OR json_valid(effect)),
  snapshot TEXT NOT NULL
) STRICT;
CREATE INDEX sdk_sessions_wake ON sdk_sessions (wake_at) WHERE wake_at IS NOT NULL AND quarantine IS NULL;
CREATE INDEX sdk_sessions_effect ON sdk_sessions (content_session_id) WHERE effect IS NOT NULL AND quarantine IS NULL;
CREATE INDEX sdk_sessions_seq ON sdk_sessions (seq);
CREATE INDEX sdk_sessions_updated ON sdk_sessions (updated_at_epoch);
CREATE INDEX sdk_sessions_status ON sdk_sessions (status, updated_at_epoch);
CREATE INDEX sdk_sessions_project ON sdk_sessions (project, updated_at_epoch);
CREATE INDEX sdk_sessions_trace ON sdk_sessions (trace_count);

CREATE TABLE events (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT NOT NULL REFERENCES sdk_sessions (content_session_id) ON DELETE CASCADE,
  event_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('session_start', 'prompt', 'tool_use', 'tool_failure', 'subagent_end',
    'pre_compact', 'turn_end', 'session_end')),
  tool TEXT,
  at INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  outcome TEXT CHECK (outcome IN ('noted', 'skipped', 'observed', 'folded', 'failed', 'dropped')),
  reason TEXT,
  observation_ids TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(observation_ids)),
  UNIQUE (content_session_id, event_id)
) STRICT;
CREATE INDEX events_session ON events (content_session_id, id);

CREATE TABLE user_prompts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT NOT NULL REFERENCES sdk_sessions (content_session_id) ON DELETE CASCADE,
  event_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL,
  prompt_text TEXT NOT NULL,
  private INTEGER NOT NULL CHECK (private IN (0, 1)),
  seq INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL,
  UNIQUE (content_session_id, prompt_number)
) STRICT;
CREATE INDEX user_prompts_seq ON user_prompts (seq);

CREATE TABLE pending_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT NOT NULL REFERENCES sdk_sessions (content_session_id) ON DELETE CASCADE,
  event_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  tool TEXT,
  prompt_number INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'failed')),
  claimed_at INTEGER,
  effect_id TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  created_at_epoch INTEGER NOT NULL,
  payload TEXT NOT NULL CHECK (json_valid(payload)),
  UNIQUE (content_session_id, event_id),
  FOREIGN KEY (content_session_id, event_id) REFERENCES events (content_session_id, event_id) ON DELETE CASCADE,
  CHECK ((status = 'processing') = (effect_id IS NOT NULL))
) STRICT;
CREATE INDEX pending_messages_session ON pending_messages (content_session_id, status, id);
CREATE INDEX pending_messages_effect ON pending_messages (content_session_id, effect_id) WHERE effect_id IS NOT NULL;
CREATE INDEX pending_messages_status ON pending_messages (status, content_session_id, created_at_epoch);

CREATE TABLE payloads (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT NOT NULL REFERENCES sdk_sessions (content_session_id) ON DELETE CASCADE,
  event_id TEXT NOT NULL,
  kept_at INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  payload TEXT NOT NULL,
  UNIQUE (content_session_id, event_id),
  FOREIGN KEY (content_session_id, event_id) REFERENCES events (content_session_id, event_id) ON DELETE CASCADE
) STRICT;
CREATE INDEX payloads_age ON payloads (kept_at, id, bytes);

CREATE TABLE observations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT NOT NULL REFERENCES sdk_sessions (content_session_id) ON DELETE CASCADE,
  project TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('bugfix', 'feature', 'refactor', 'decision', 'discovery', 'change')),
  title TEXT,
  subtitle TEXT,
  narrative TEXT,
  facts TEXT NOT NULL CHECK (json_valid(facts)),
  concepts TEXT NOT NULL CHECK (json_valid(concepts)),
  files_read TEXT NOT NULL CHECK (json_valid(files_read)),
  files_modified TEXT NOT NULL CHECK (json_valid(files_modified)),
  functions_changed TEXT NOT NULL CHECK (json_valid(functions_changed)),
  agent TEXT,
  discovery_tokens INTEGER NOT NULL,
  discovery_estimated INTEGER NOT NULL CHECK (discovery_estimated IN (0, 1)),
  sources TEXT NOT NULL CHECK (json_valid(sources)),
  prompt_number INTEGER NOT NULL,
  content_hash TEXT NOT NULL,
  prompt_version TEXT,
  model TEXT,
  seq INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL
) STRICT;
CREATE INDEX observations_session ON observations (content_session_id, prompt_number, id);
CREATE INDEX observations_project ON observations (project, created_at_epoch);
CREATE INDEX observations_created ON observations (created_at_epoch);
CREATE INDEX observations_seq ON observations (seq);

CREATE TABLE session_summaries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT NOT NULL REFERENCES sdk_sessions (content_session_id) ON DELETE CASCADE,
  project TEXT NOT NULL,
  request TEXT,
  investigated TEXT,
  learned TEXT,
  completed TEXT,
  next_steps TEXT,
  notes TEXT,
  files_read TEXT NOT NULL CHECK (json_valid(files_read)),
  files_edited TEXT NOT NULL CHECK (json_valid(files_edited)),
  prompt_number INTEGER NOT NULL,
  model TEXT,
  seq INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL
) STRICT;
CREATE INDEX session_summaries_session ON session_summaries (content_session_id, created_at_epoch);
CREATE INDEX session_summaries_project ON session_summaries (project, created_at_epoch);
CREATE INDEX session_summaries_created ON session_summaries (created_at_epoch);
CREATE INDEX session_summaries_seq ON session_summaries (seq);

CREATE TABLE observer_turns (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT NOT NULL REFERENCES sdk_sessions (content_session_id) ON DELETE CASCADE,
  generation INTEGER NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
  model TEXT,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cache_read_tokens INTEGER,
  cache_write_tokens INTEGER,
  at INTEGER NOT NULL,
  content TEXT NOT NULL
) STRICT;
CREATE INDEX observer_turns_session ON observer_turns (content_session_id, generation, id);
CREATE INDEX observer_turns_age ON observer_turns (at);

CREATE TABLE embeddings (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  fragment TEXT NOT NULL,
  observation_id INTEGER NOT NULL REFERENCES observations (id) ON DELETE CASCADE,
  embedder TEXT NOT NULL,
  dimensions INTEGER NOT NULL,
  vector BLOB NOT NULL,
  UNIQUE (embedder, fragment)
) STRICT;
CREATE INDEX embeddings_observation ON embeddings (observation_id);

CREATE TABLE trace (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  content_session_id TEXT NOT NULL REFERENCES sdk_sessions (content_session_id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  event TEXT NOT NULL,
  event_id TEXT,
  from_state TEXT NOT NULL,
  to_state TEXT NOT NULL,
  reason TEXT NOT NULL,
  effect_id TEXT
) STRICT;
CREATE INDEX trace_session ON trace (content_session_id, id);
CREATE INDEX trace_age ON trace (at);
`,
}
