/**
 * Every setting: group, when a change takes effect, default and allowed values, and what it does. `docs/settings.md`,
 * `claude-mem config` and the viewer's settings page are made from this table. The hook bundles it, so it may not
 * import a package.
 */

import { isAbsolute } from 'node:path'
import { CONTEXT_MESSAGES, CONTEXT_PARTS } from '../domain/context-parts.ts'
import { isName, NAME_RULE } from '../domain/names.ts'
import type { SettingGroupName, SettingRule, SettingSpec } from './rules.ts'

/** The settings of a group: `now` and `restart` say when a change takes effect. */
const settingsOf = (group: SettingGroupName) => ({
  now: <const Rule extends SettingRule>(rule: Rule, about: string) =>
    ({ group, takesEffect: 'now', rule, about }) as const,
  restart: <const Rule extends SettingRule>(rule: Rule, about: string) =>
    ({ group, takesEffect: 'restart', rule, about }) as const,
})
/** Only the local door may change it. */
const local = <Spec extends object>(spec: Spec) => ({ ...spec, localOnly: true }) as const
const observer = settingsOf('Observer')
const budget = settingsOf('Budget')
const context = settingsOf('Context')
const search = settingsOf('Search')
const privacy = settingsOf('Privacy')
const files = settingsOf('Files')
const team = settingsOf('Team')
const keeping = settingsOf('Retention')
const running = settingsOf('Daemon')

const boolean = (value: boolean) => ({ kind: 'boolean', default: value }) as const
const integer = (value: number, min: number, max: number) => ({ kind: 'integer', default: value, min, max }) as const
const number = (value: number, min: number, max: number) => ({ kind: 'number', default: value, min, max }) as const
const choice = (value: string, choices: readonly string[]) => ({ kind: 'choice', default: value, choices }) as const
const text = (value: string) => ({ kind: 'text', default: value }) as const
const list = (value: readonly string[], check?: (item: string) => string | null) =>
  ({ kind: 'list', default: value, ...(check === undefined ? {} : { check }) }) as const
/** A list of some of these words; all of them by default. */
const subset = (words: readonly string[]) =>
  list(words, (item) => (words.includes(item) ? null : `a list of some of ${words.join(', ')}`))
const secret = { kind: 'text', default: '', secret: true, check: checkSecret } as const
const address = (words: readonly string[] = []) =>
  ({ kind: 'text', default: '', check: (given: string) => checkAddress(given, words), warn: insecureAddress }) as const

/** A secret is sent as a request header, which allows only these characters. */
function checkSecret(given: string): string | null {
  return /^[\x21-\x7e]+$/.test(given) ? null : 'a key: letters, digits and signs without blanks'
}

function checkAddress(given: string, words: readonly string[]): string | null {
  if (words.includes(given)) return null
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return ['an address that starts with https:// or http://', ...words].join(', or ')
  }
  // `fetch` refuses addresses with credentials.
  return url.username === '' && url.password === '' ? null : 'an address without a name or password in it'
}

const LOOPBACK_HOST = /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/

/** What the user should know about an address that is allowed; null: nothing. */
function insecureAddress(given: string): string | null {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || url.protocol !== 'http:' || LOOPBACK_HOST.test(url.hostname)) return null
  return `keys and prompts go to ${url.hostname} unencrypted; use https:// if it has it`
}

function checkAbsolutePath(given: string): string | null {
  return isAbsolute(given) ? null : 'an absolute path'
}

/** `claude-haiku-4-5=1/5`: US dollars for a million tokens of input and output, then of cache read and cache write. */
const PRICE = /^[^=\s]+=\d+(?:\.\d+)?(?:\/\d+(?:\.\d+)?){1,3}$/

function checkPrice(item: string): string | null {
  return PRICE.test(item) ? null : 'a list of MODEL=INPUT/OUTPUT[/CACHE_READ/CACHE_WRITE]'
}

/** Shown to other people and in a terminal: no blanks at the ends, no control characters. */
function checkTeamName(given: string): string | null {
  return isName(given) ? null : `a name with ${NAME_RULE}`
}

/** The pattern language of `pathPatterns` in src/observer/model. */
function checkPathPattern(item: string): string | null {
  return item.includes('[') ? 'a list of names and patterns with * and ? (brackets are not understood)' : null
}

export const SETTINGS = {
  CLAUDE_MEM_WORKER_PORT: running.restart(
    integer(37777, 0, 65535),
    'TCP port on 127.0.0.1 for REST and viewer; 0 picks a free one. If it is busy, another one is used and recorded',
  ),
  CLAUDE_MEM_PROVIDER: local(
    observer.restart(
      choice('auto', ['auto', 'anthropic', 'claude-code', 'gemini', 'openrouter', 'offline', 'plain']),
      'Who observes: a model, `offline` (rules, no model) or `plain` (one bare note per tool use); `auto` takes the first that is set up below, else `offline`',
    ),
  ),
  CLAUDE_MEM_MODEL: local(
    observer.restart(text(''), "The model to use; empty: the provider's default (`claude-mem providers` names it)"),
  ),
  CLAUDE_MEM_ANTHROPIC_API_KEY: local(observer.restart(secret, 'Key for `anthropic`')),
  CLAUDE_MEM_ANTHROPIC_BASE_URL: local(
    observer.restart(address(), "Another address that speaks Anthropic's Messages API"),
  ),
  CLAUDE_CODE_PATH: local(
    observer.restart(
      text(''),
      'The `claude` program for `claude-code`, which uses your subscription; setting it makes `auto` choose `claude-code`',
    ),
  ),
  CLAUDE_MEM_GEMINI_API_KEY: local(observer.restart(secret, 'Key for `gemini`')),
  CLAUDE_MEM_GEMINI_BASE_URL: local(observer.restart(address(), 'Another address that speaks the Gemini API')),
  CLAUDE_MEM_OPENROUTER_API_KEY: local(observer.restart(secret, 'Key for `openrouter`; local servers need none')),
  CLAUDE_MEM_OPENROUTER_BASE_URL: local(
    observer.restart(
      address(['openrouter', 'ollama', 'lmstudio']),
      'Any address that speaks the OpenAI chat API, or one of `openrouter`, `ollama`, `lmstudio`',
    ),
  ),
  CLAUDE_MEM_CA_CERTS: local(
    observer.restart(
      { kind: 'text', default: '', check: checkAbsolutePath },
      'File with more certificate authorities (PEM) that the daemon trusts, for a network that inspects TLS; NODE_EXTRA_CA_CERTS of a hook is not used',
    ),
  ),
  CLAUDE_MEM_CLONES: running.now(
    choice('together', ['together', 'apart']),
    'Further clones of a repository get its memory once you link them (`together`), or each has its own, unasked (`apart`); what was joined stays joined until `projects split`',
  ),
  CLAUDE_MEM_WHEN_UNAVAILABLE: observer.now(
    choice('wait', ['wait', 'offline']),
    'While the model cannot be reached, messages `wait` for it or are observed `offline`',
  ),
  CLAUDE_MEM_DAILY_BUDGET_USD: budget.now(
    number(2, 0, 10_000),
    'US dollars that the observer may spend in a day; after that the offline observer is used until midnight. 0: never call a model',
  ),
  CLAUDE_MEM_DAILY_BUDGET_TOKENS: budget.now(
    integer(5_000_000, 0, 1_000_000_000),
    'Tokens that the observer may use in a day, cache reads counted at a tenth: the limit where no price is known. 0: never call a model',
  ),
  CLAUDE_MEM_PRICES: budget.now(
    list([], checkPrice),
    'Prices that replace the built-in ones, `MODEL=INPUT/OUTPUT[/CACHE_READ/CACHE_WRITE]` in US dollars for a million tokens',
  ),
  CLAUDE_MEM_LANGUAGE: observer.restart(text('English'), 'Language in which a model writes observations'),
  CLAUDE_MEM_VERBOSITY: observer.restart(
    choice('normal', ['minimal', 'normal', 'verbose']),
    'How much a model writes down: `minimal` skips all but changes and decisions, `verbose` skips hardly anything',
  ),
  CLAUDE_MEM_PROMPT_DIR: local(
    observer.restart(
      text(''),
      'Folder with your own prompts, which replace the built-in ones file by file; empty: `prompts` in the data directory, if it exists',
    ),
  ),
  CLAUDE_MEM_NOVELTY_ENABLED: observer.restart(
    boolean(true),
    'Do not send a model what adds nothing: the same file read again unchanged, listings, status',
  ),
  CLAUDE_MEM_NEVER_SEND_TOOLS: local(
    privacy.restart(
      list([]),
      'Tools whose uses are never sent to a model, and make no passages; `mcp__mail__*` matches a whole server',
    ),
  ),
  CLAUDE_MEM_NEVER_SEND_PATHS: local(
    privacy.restart(
      list([], checkPathPattern),
      'More files whose contents are never sent to a model, in addition to `.env`, keys, `.ssh/` and the like; a name or pattern matches anywhere, `dir/` everything below it, `!.env` removes a built-in one. Uses of those that you add make no passages either',
    ),
  ),
  CLAUDE_MEM_BATCHING_ENABLED: observer.now(
    boolean(true),
    'Collect messages and observe them together; off makes every message its own batch',
  ),
  CLAUDE_MEM_BATCH_MAX_SIZE: observer.now(
    integer(20, 1, 500),
    'Messages after which a batch is observed before the turn ends; 200 with `offline` unless it is set',
  ),
  CLAUDE_MEM_IDLE_FLUSH_MINUTES: observer.now(
    integer(10, 1, 1440),
    'Minutes without an event after which pending messages are observed',
  ),
  CLAUDE_MEM_IDLE_EXIT_MINUTES: running.now(integer(30, 0, 10080), 'Idle time after which the daemon stops; 0: never'),
  CLAUDE_MEM_EFFECT_CONCURRENCY: running.now(integer(2, 1, 16), 'Observer calls at the same time'),
  CLAUDE_MEM_EFFECT_TIMEOUT_SECONDS: running.now(integer(120, 1, 3600), 'Timeout of one observer call'),
  CLAUDE_MEM_QUEUE_ALERT_MINUTES: running.now(
    integer(30, 0, 10_080),
    'A message that was due this many minutes ago and is not observed is an alert: a provider is tried again every 5 minutes at least. 0: never',
  ),
  CLAUDE_MEM_QUEUE_ALERT_MESSAGES: running.now(
    integer(500, 0, 1_000_000),
    'A queue that grows and has this many messages is an alert: more than two of the largest usual batches. 0: never',
  ),
  CLAUDE_MEM_DELETE_TIMEOUT: running.now(
    integer(5, 0, 600),
    'Seconds that closing, deleting, flushing or summarising a session waits for its observer call before it is answered; the call goes on',
  ),
  CLAUDE_MEM_COMPACT_TOKENS: observer.restart(
    integer(24_000, 2_000, 1_000_000),
    "Size of the observer's conversation at which it is compacted; between two turns from half of it on",
  ),
  CLAUDE_MEM_EMBEDDER: local(
    search.restart(
      text('static'),
      'What makes vectors of memories: `static` (built-in word vectors) or a model (`claude-mem models`)',
    ),
  ),
  CLAUDE_MEM_VECTOR_INDEX_FROM: search.restart(
    integer(20_000, 100, 100_000_000),
    'Vectors of a project from which on an index is kept for them; below that, all of them are scanned',
  ),
  // 2,500 tokens are 10,000 characters: of a longer text Claude Code gives its model the first 2,000 and a path.
  CLAUDE_MEM_CONTEXT_TOKENS: context.now(
    integer(2_000, 0, 2_500),
    'Tokens that the context of a starting session may take; 0: no context',
  ),
  CLAUDE_MEM_CONTEXT_PARTS: context.now(
    subset(CONTEXT_PARTS),
    'Parts of the context; a part that is left out makes room for the others',
  ),
  CLAUDE_MEM_CONTEXT_MESSAGE: context.now(
    choice('full', CONTEXT_MESSAGES),
    'The message that you see when a session starts: `full`, only `problems`, or none (`off`)',
  ),
  CLAUDE_MEM_PROMPT_CONTEXT: context.now(
    boolean(false),
    'Add memories about the same subject to a prompt, each once per session; see docs/context.md',
  ),
  CLAUDE_MEM_PROMPT_CONTEXT_FLOOR: context.now(
    number(0.4, 0, 1),
    'How much of a prompt a memory must cover: lower adds more memories, and more unrelated ones',
  ),
  CLAUDE_MEM_PROMPT_CONTEXT_ITEMS: context.now(integer(3, 1, 10), 'Most memories that are added to a prompt'),
  CLAUDE_MEM_FILE_CONTEXT: context.now(
    boolean(false),
    'Before a file is read, add what is known about it, if that is newer than the file; then run `claude-mem install` again',
  ),
  CLAUDE_MEM_FILES_ROWS: files.now(
    integer(8, 1, 50),
    'Rows of the section that `claude-mem files on` keeps in `CLAUDE.md`; every session pays for them',
  ),
  CLAUDE_MEM_FILES_FOLDERS: files.now(integer(10, 1, 200), 'Folders that get their own section: the ones changed last'),
  CLAUDE_MEM_MAX_MESSAGE_KB: running.restart(integer(5_120, 64, 65_536), 'Largest message that the daemon accepts'),
  CLAUDE_MEM_MAX_FIELD_KB: running.now(
    integer(64, 1, 1_024),
    'Longest text kept of one tool input or output field; the middle is cut out',
  ),
  CLAUDE_MEM_AGENT_SCOPE: local(
    privacy.now(
      choice('project', ['project', 'all']),
      'What an agent may read and forget with the MCP tools: only the memory of the `project` it works in, or that of `all` projects',
    ),
  ),
  CLAUDE_MEM_TEAM_AUTHOR: local(
    team.restart(
      { kind: 'text', default: '', check: checkTeamName },
      'The name under which your memories are shown to a team; empty: the PostgreSQL role of the connection',
    ),
  ),
  CLAUDE_MEM_TEAM_MACHINE: local(
    team.restart(
      { kind: 'text', default: '', check: checkTeamName },
      'The name of this machine in a team; empty: `machine-` and six random characters, made once',
    ),
  ),
  CLAUDE_MEM_TEAM_PASSAGES: local(
    team.now(
      boolean(false),
      'Whether a project that is shared from now on also shares its passages, the pieces of sessions behind observations',
    ),
  ),
  // Less than a hook waits for the answer to a session start (2 s): the context must still be rendered.
  CLAUDE_MEM_TEAM_START_WAIT_MS: team.now(
    integer(1_200, 0, 1_800),
    "How long the first session of a shared project waits for the team's newest memories when this machine has none of them, in ms; 0: it does not wait",
  ),
  CLAUDE_MEM_SKIP_TOOLS: privacy.now(
    list(['TodoWrite', 'ListMcpResourcesTool']),
    "Tools that are never observed; claude-mem's own tools never are",
  ),
  CLAUDE_MEM_EXCLUDED_PROJECTS: local(
    privacy.now(list([]), 'Directories that are never observed, with everything below them; ~ is your home'),
  ),
  CLAUDE_MEM_KEEP_PAYLOADS_DAYS: keeping.now(
    integer(7, 0, 3650),
    'Days for which masked tool payloads are kept for provenance and replay; 0 keeps none',
  ),
  CLAUDE_MEM_KEEP_PAYLOADS_MB: keeping.now(integer(256, 0, 102_400), 'Total size of kept payloads'),
  CLAUDE_MEM_PASSAGE_DAYS: keeping.now(
    // Observations stay for good; their evidence is asked for while the work is remembered.
    integer(365, 0, 3650),
    'Days for which passages are kept, the pieces of sessions behind the observations; 0 keeps none',
  ),
  CLAUDE_MEM_PASSAGE_MB: keeping.now(
    // Some 150,000 passages: a year of daily work, in less space than the rest of its memory.
    integer(160, 0, 10_240),
    'Total size of passages with their search index, about; the newest ones are kept, 0 keeps none',
  ),
  CLAUDE_MEM_KEEP_TRACE_DAYS: keeping.now(integer(30, 1, 3650), "Days for which a session's transitions are kept"),
  CLAUDE_MEM_KEEP_OBSERVER_TURNS_DAYS: keeping.now(
    integer(30, 1, 3650),
    "Days for which the observer's conversations are kept",
  ),
  CLAUDE_MEM_KEEP_BACKUPS: keeping.now(integer(7, 1, 365), 'Daily backups kept'),
  CLAUDE_MEM_KEEP_LOGS: keeping.restart(integer(5, 1, 100), 'Log files kept, of 5 MB each'),
  CLAUDE_MEM_LOG_LEVEL: running.restart(
    choice('info', ['fatal', 'error', 'warn', 'info', 'debug', 'trace']),
    'What is logged; only debug and trace show payload content',
  ),
} as const satisfies Record<string, SettingSpec>
