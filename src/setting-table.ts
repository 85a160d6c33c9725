/** Every setting: name, default, what it may be, and why one would change it. The README's table is made from this. */
import { CONTEXT_MESSAGES, CONTEXT_PARTS } from './memory/context-parts.ts'
import { OBSERVATION_TYPES } from './memory/observation.ts'
import {
  address,
  boolean,
  choice,
  integer,
  list,
  number,
  pathPatterns,
  prices,
  type SettingSpec,
  secret,
  some,
  text,
} from './setting-rules.ts'

export const SETTINGS = {
  CLAUDE_MEM_WORKER_PORT: integer(
    37777,
    0,
    65535,
    'TCP port on 127.0.0.1 for REST and viewer; 0 picks a free one; busy: another one, recorded',
  ),
  CLAUDE_MEM_PROVIDER: choice(
    'auto',
    ['auto', 'anthropic', 'claude-code', 'gemini', 'openrouter', 'offline', 'plain'],
    'Who observes: a model, `offline` (rules, no model) or `plain` (one bare note per tool use); `auto` takes the first that is set up below, else `offline`',
  ),
  CLAUDE_MEM_MODEL: text('', "The model to ask; empty: the provider's default (`claude-mem providers` names it)"),
  CLAUDE_MEM_ANTHROPIC_API_KEY: secret('Key for `anthropic`'),
  CLAUDE_MEM_ANTHROPIC_BASE_URL: address("Another address that speaks Anthropic's Messages API"),
  CLAUDE_CODE_PATH: text(
    '',
    'The `claude` program for `claude-code`, which uses your subscription; setting it chooses it',
  ),
  CLAUDE_MEM_GEMINI_API_KEY: secret('Key for `gemini`'),
  CLAUDE_MEM_GEMINI_BASE_URL: address('Another address that speaks the Gemini API'),
  CLAUDE_MEM_OPENROUTER_API_KEY: secret('Key for `openrouter`; local servers need none'),
  CLAUDE_MEM_OPENROUTER_BASE_URL: address(
    'Any address that speaks the OpenAI chat API, or one of `openrouter`, `ollama`, `lmstudio`',
    ['openrouter', 'ollama', 'lmstudio'],
  ),
  CLAUDE_MEM_WHEN_UNAVAILABLE: choice(
    'wait',
    ['wait', 'offline'],
    'What happens while the model cannot be reached: messages `wait` for it, or are observed `offline`',
  ),
  CLAUDE_MEM_DAILY_BUDGET_USD: number(
    2,
    0,
    10_000,
    'US dollars that the observer may spend in a day; then it goes on offline until midnight. 0: no model is asked',
  ),
  CLAUDE_MEM_DAILY_BUDGET_TOKENS: integer(
    5_000_000,
    0,
    1_000_000_000,
    'Tokens that it may use in a day, cache reads at a tenth: the limit where no price is known. 0: no model is asked',
  ),
  CLAUDE_MEM_PRICES: prices(
    'Prices that replace ours, `MODEL=INPUT/OUTPUT[/CACHE_READ/CACHE_WRITE]` in US dollars for a million tokens',
  ),
  CLAUDE_MEM_LANGUAGE: text('English', 'Language in which a model writes observations'),
  CLAUDE_MEM_VERBOSITY: choice(
    'normal',
    ['minimal', 'normal', 'verbose'],
    'How much a model writes down: `minimal` skips all but changes and decisions, `verbose` hardly anything',
  ),
  CLAUDE_MEM_PROMPT_DIR: text(
    '',
    'Folder with your own prompts, which replace ours file by file; empty: `prompts` in the data directory, if it is there',
  ),
  CLAUDE_MEM_NOVELTY_ENABLED: boolean(
    true,
    'Leave out what adds nothing before a model is asked: the same file read again unchanged, listings, status',
  ),
  CLAUDE_MEM_NEVER_SEND_TOOLS: list(
    [],
    'Tools whose uses are never sent to a model; `mcp__mail__*` matches a whole server',
  ),
  CLAUDE_MEM_NEVER_SEND_PATHS: pathPatterns(
    'Further files whose contents are never sent to a model, beside `.env`, keys, `.ssh/` and the like; a name or pattern matches anywhere, `dir/` everything below it, `!.env` takes one of ours back',
  ),
  CLAUDE_MEM_BATCHING_ENABLED: boolean(
    true,
    'Gather messages and observe them together; off makes every message its own batch',
  ),
  CLAUDE_MEM_BATCH_MAX_SIZE: integer(
    20,
    1,
    500,
    'Messages after which a batch is observed before the turn ends; 200 with `offline` unless it is set',
  ),
  CLAUDE_MEM_IDLE_FLUSH_MINUTES: integer(10, 1, 1440, 'Silence after which waiting messages are observed'),
  CLAUDE_MEM_IDLE_EXIT_MINUTES: integer(30, 0, 10080, 'Idle time after which the daemon stops by itself; 0: never'),
  CLAUDE_MEM_EFFECT_CONCURRENCY: integer(2, 1, 16, 'Observer calls at the same time'),
  CLAUDE_MEM_EFFECT_TIMEOUT_SECONDS: integer(120, 1, 3600, 'Time one observer call may take'),
  CLAUDE_MEM_COMPACT_TOKENS: integer(
    24_000,
    2_000,
    1_000_000,
    "Size of the observer's conversation at which it is compacted",
  ),
  CLAUDE_MEM_EMBEDDER: text(
    'static',
    'What makes vectors of memories: `static` (word vectors that come with the program) or a model (`claude-mem models`)',
  ),
  CLAUDE_MEM_SEARCH_LEXICAL: number(1, 0, 10, 'What words count in the ranking of a search; see docs/retrieval.md'),
  CLAUDE_MEM_SEARCH_SEMANTIC: number(0.7, 0, 10, 'What meaning counts: more with a better embedder than `static`'),
  CLAUDE_MEM_SEARCH_SESSION: number(0.3, 0, 10, 'What the part of its session that a memory stands in counts'),
  CLAUDE_MEM_SEARCH_RECENCY: number(0.05, 0, 10, 'What being new counts; 0 treats all times alike'),
  CLAUDE_MEM_SEARCH_TYPE: number(0.05, 0, 10, 'What its type counts: decisions and mended faults before mere changes'),
  CLAUDE_MEM_SEARCH_HALF_LIFE_DAYS: integer(90, 1, 36_500, 'Days after which a memory counts half as new'),
  CLAUDE_MEM_VECTOR_INDEX_FROM: integer(
    20_000,
    100,
    100_000_000,
    'Vectors of a project from which on an index is kept for them; below, they are looked through one by one',
  ),
  // 10,000 characters: of a longer text Claude Code gives its model the first two thousand, and a path.
  CLAUDE_MEM_CONTEXT_TOKENS: integer(
    2_000,
    0,
    2_500,
    'Tokens that the memory given to a starting session may take; 0 gives none',
  ),
  CLAUDE_MEM_CONTEXT_OBSERVATIONS: integer(
    50,
    0,
    500,
    'Rows that it may have beside pinned ones: more only say something with more tokens, fewer leave room for details',
  ),
  CLAUDE_MEM_CONTEXT_SUMMARIES: integer(3, 0, 20, 'Turns before the last one that it tells of in a line each'),
  CLAUDE_MEM_CONTEXT_PARTS: some(
    CONTEXT_PARTS,
    CONTEXT_PARTS,
    'What it is made of; a part that is left out makes room',
  ),
  CLAUDE_MEM_CONTEXT_TYPES: some(
    OBSERVATION_TYPES,
    OBSERVATION_TYPES,
    'Types of observations in its rows; pinned ones are shown whatever they are',
  ),
  CLAUDE_MEM_CONTEXT_MESSAGE: choice(
    'full',
    CONTEXT_MESSAGES,
    'What you are told when a session starts: `full`, only `problems`, or nothing (`off`)',
  ),
  CLAUDE_MEM_PROMPT_CONTEXT: boolean(
    false,
    'Give a prompt the memories that are about the same, each once a session; see docs/context.md',
  ),
  CLAUDE_MEM_PROMPT_CONTEXT_FLOOR: number(
    0.4,
    0,
    1,
    'How much of what a prompt says a memory must say too: lower gives more, and more that does not belong',
  ),
  CLAUDE_MEM_PROMPT_CONTEXT_ITEMS: integer(3, 1, 10, 'Memories that a prompt is given at most'),
  CLAUDE_MEM_FILE_CONTEXT: boolean(
    false,
    'Say what is known about a file before it is read, as far as it is newer than the file; then run `claude-mem install` again',
  ),
  CLAUDE_MEM_FILES_ROWS: integer(
    8,
    1,
    50,
    'Rows of the section that `claude-mem files on` keeps in `CLAUDE.md`: every session pays for them',
  ),
  CLAUDE_MEM_FILES_FOLDERS: integer(10, 1, 200, 'Folders that have a section of their own, those touched last'),
  CLAUDE_MEM_MAX_MESSAGE_KB: integer(5_120, 64, 65_536, 'Largest message that the daemon accepts'),
  CLAUDE_MEM_MAX_FIELD_KB: integer(
    64,
    1,
    1_024,
    'Longest text kept of one tool input or output field; the middle is cut out',
  ),
  CLAUDE_MEM_SKIP_TOOLS: list(
    ['TodoWrite', 'ListMcpResourcesTool', 'AskUserQuestion'],
    "Tools that are never observed; claude-mem's own are always left out",
  ),
  CLAUDE_MEM_EXCLUDED_PROJECTS: list([], 'Directories that leave no trace, with everything below them; ~ is your home'),
  CLAUDE_MEM_KEEP_PAYLOADS_DAYS: integer(
    7,
    0,
    3650,
    'Days for which masked tool payloads are kept for provenance and replay; 0 keeps none',
  ),
  CLAUDE_MEM_KEEP_PAYLOADS_MB: integer(256, 0, 102_400, 'Size that kept payloads may have together'),
  CLAUDE_MEM_KEEP_TRACE_DAYS: integer(30, 1, 3650, "Days for which a session's transitions are kept"),
  CLAUDE_MEM_KEEP_OBSERVER_TURNS_DAYS: integer(30, 1, 3650, "Days for which the observer's conversations are kept"),
  CLAUDE_MEM_KEEP_BACKUPS: integer(7, 1, 365, 'Daily backups kept'),
  CLAUDE_MEM_KEEP_LOGS: integer(5, 1, 100, 'Log files kept, of 5 MB each'),
  CLAUDE_MEM_LOG_LEVEL: choice(
    'info',
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace'],
    'What is logged; only debug and trace show payload content',
  ),
} as const satisfies Record<string, SettingSpec>
