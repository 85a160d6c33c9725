/** Databases as versions of the original claude-mem leave them: only the tables and columns that matter here. */
import BetterSqlite3 from 'better-sqlite3'

export const AT = Date.UTC(2026, 4, 5, 10)

/** A recent one: content and memory sessions, prompts, agents, models, merged projects. */
const RECENT = `
CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER UNIQUE NOT NULL, applied_at TEXT NOT NULL);
CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT UNIQUE NOT NULL,
  memory_session_id TEXT UNIQUE, project TEXT NOT NULL, platform_source TEXT NOT NULL DEFAULT 'claude',
  user_prompt TEXT, started_at TEXT NOT NULL, started_at_epoch INTEGER NOT NULL, completed_at TEXT,
  completed_at_epoch INTEGER, status TEXT NOT NULL DEFAULT 'active', worker_port INTEGER,
  prompt_counter INTEGER DEFAULT 0);
CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,
  project TEXT NOT NULL, text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT,
  concepts TEXT, files_read TEXT, files_modified TEXT, prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0,
  content_hash TEXT, agent_type TEXT, agent_id TEXT, merged_into_project TEXT, generated_by_model TEXT,
  created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL,
  project TEXT NOT NULL, request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT,
  files_read TEXT, files_edited TEXT, notes TEXT, prompt_number INTEGER, merged_into_project TEXT,
  created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
CREATE TABLE user_prompts (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL, prompt_text TEXT NOT NULL, created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL);
INSERT INTO sdk_sessions (content_session_id, memory_session_id, project, started_at, started_at_epoch, prompt_counter)
  VALUES ('content-1', 'memory-1', 'shop', '', ${AT}, 2), ('content-2', 'memory-2', 'blog', '', ${AT}, 1);
INSERT INTO user_prompts (content_session_id, prompt_number, prompt_text, created_at, created_at_epoch)
  VALUES ('content-1', 1, 'fix the login', '', ${AT}), ('content-1', 2, 'and test it', '', ${AT + 5_000});
INSERT INTO observations (memory_session_id, project, type, title, subtitle, narrative, facts, concepts, files_read,
    files_modified, prompt_number, discovery_tokens, agent_type, generated_by_model, created_at, created_at_epoch)
  VALUES ('memory-1', 'shop', 'bugfix', 'Login fixed', 'Expiry', 'The token had expired.', '["one hour","UTC"]',
    '["how-it-works"]', '["src/a.ts"]', '["src/b.ts"]', 1, 1234, 'explorer', 'a-model', '', ${AT + 1_000}),
  ('memory-1', 'shop', 'security_alert', 'Key found', NULL, 'In a log.', 'not json', NULL, '', '[]', 2, NULL, NULL,
    NULL, '', ${AT + 6_000}),
  ('memory-2', 'blog-tree', 'feature', 'Posts paged', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, '',
    ${AT + 2_000}),
  ('memory-lost', 'shop', 'decision', 'No ORM', NULL, NULL, '[]', '[]', '[]', '[]', 3, 0, NULL, NULL, '', ${AT + 9_000});
UPDATE observations SET merged_into_project = 'blog' WHERE project = 'blog-tree';
INSERT INTO session_summaries (memory_session_id, project, request, learned, files_read, files_edited, prompt_number,
    created_at, created_at_epoch)
  VALUES ('memory-1', 'shop', 'Fix the login', 'Tokens live an hour', '["src/a.ts"]', 'src/b.ts', 1, '', ${AT + 3_000});
`

/** The first with these tables: other names, one text, no prompts, times in seconds here. */
const FIRST = `
CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, claude_session_id TEXT UNIQUE NOT NULL,
  sdk_session_id TEXT UNIQUE, project TEXT NOT NULL, user_prompt TEXT, started_at TEXT NOT NULL,
  started_at_epoch INTEGER NOT NULL, completed_at TEXT, completed_at_epoch INTEGER, status TEXT);
CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT, sdk_session_id TEXT NOT NULL,
  project TEXT NOT NULL, text TEXT NOT NULL, type TEXT NOT NULL, created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL);
INSERT INTO sdk_sessions (claude_session_id, sdk_session_id, project, user_prompt, started_at, started_at_epoch)
  VALUES ('content-1', 'memory-1', 'shop', 'fix the login', '', ${AT / 1_000});
INSERT INTO observations (sdk_session_id, project, text, type, created_at, created_at_epoch)
  VALUES ('memory-1', 'shop', 'The token had expired.', 'bugfix', '', ${AT / 1_000 + 1}),
  ('memory-1', 'shop', 'Without a time', 'bugfix', 'unknown', 0);
`

/** Open, in the mode that the original uses; whoever closes it leaves no log behind. */
export function originalDatabase(file: string, version: 'recent' | 'first' = 'recent'): BetterSqlite3.Database {
  const db = new BetterSqlite3(file)
  db.pragma('journal_mode = WAL')
  db.exec(version === 'recent' ? RECENT : FIRST)
  return db
}
