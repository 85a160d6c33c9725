/**
 * The settings of a running daemon. A change that is made through it is written to `settings.json` first; then it holds
 * at once where that is possible. What is read only once keeps the value that the daemon started with until its next
 * start, wherever it is used, so that no setting ever holds by half.
 */
import type { SettingInfo } from './channel/protocol.ts'
import { MemError } from './errors.ts'
import type { Rule } from './setting-rules.ts'
import {
  isSecretSetting,
  isSettingName,
  type LoadedSettings,
  loadSettings,
  parseSetting,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingProblem,
  type SettingValue,
  shownValue,
} from './settings.ts'
import { unsetSetting, writeSetting } from './settings-file.ts'

/** The observer, the search thread, the doors and the log are made from these when the daemon starts. */
const READ_ONCE: ReadonlySet<SettingName> = new Set<SettingName>([
  'CLAUDE_MEM_WORKER_PORT',
  'CLAUDE_MEM_MAX_MESSAGE_KB',
  'CLAUDE_MEM_LOG_LEVEL',
  'CLAUDE_MEM_KEEP_LOGS',
  'CLAUDE_MEM_PROVIDER',
  'CLAUDE_MEM_MODEL',
  'CLAUDE_MEM_ANTHROPIC_API_KEY',
  'CLAUDE_MEM_ANTHROPIC_BASE_URL',
  'CLAUDE_CODE_PATH',
  'CLAUDE_MEM_GEMINI_API_KEY',
  'CLAUDE_MEM_GEMINI_BASE_URL',
  'CLAUDE_MEM_OPENROUTER_API_KEY',
  'CLAUDE_MEM_OPENROUTER_BASE_URL',
  'CLAUDE_MEM_LANGUAGE',
  'CLAUDE_MEM_VERBOSITY',
  'CLAUDE_MEM_PROMPT_DIR',
  'CLAUDE_MEM_NOVELTY_ENABLED',
  'CLAUDE_MEM_NEVER_SEND_TOOLS',
  'CLAUDE_MEM_NEVER_SEND_PATHS',
  // The sizes of an observer's batches and answers come from it.
  'CLAUDE_MEM_COMPACT_TOKENS',
  'CLAUDE_MEM_EMBEDDER',
  'CLAUDE_MEM_SEARCH_LEXICAL',
  'CLAUDE_MEM_SEARCH_SEMANTIC',
  'CLAUDE_MEM_SEARCH_SESSION',
  'CLAUDE_MEM_SEARCH_RECENCY',
  'CLAUDE_MEM_SEARCH_TYPE',
  'CLAUDE_MEM_SEARCH_HALF_LIFE_DAYS',
  'CLAUDE_MEM_VECTOR_INDEX_FROM',
])

/** Whoever may look at the memory may not therefore choose a program that the daemon runs. */
const RUNS_A_PROGRAM: SettingName = 'CLAUDE_CODE_PATH'

export interface LiveSettingsOptions {
  dataDir: string
  /** As the daemon started with them. Changed in place. */
  loaded: LoadedSettings
  env: NodeJS.ProcessEnv
  /** These hold from now on. */
  changed?: (names: readonly SettingName[]) => void
}

export class LiveSettings {
  readonly #options: LiveSettingsOptions

  constructor(options: LiveSettingsOptions) {
    this.#options = options
  }

  /** As they are set, even where the daemon takes them up later. */
  list(): { settings: SettingInfo[]; problems: SettingProblem[] } {
    const set = this.#read()
    return { settings: SETTING_NAMES.map((name) => infoOf(name, set)), problems: set.problems }
  }

  /** `raw`: as people write it; null takes it out of the file again. */
  set(name: string, raw: string | readonly string[] | null): void {
    if (!isSettingName(name)) throw new MemError('not_found', `there is no setting "${name.slice(0, MAX_SHOWN_CHARS)}"`)
    const locked = lockOf(name, this.#read())
    if (locked !== null) throw new MemError('forbidden', `${name} cannot be changed here: ${locked}`)
    if (raw === null) unsetSetting(this.#options.dataDir, name)
    else writeSetting(this.#options.dataDir, name, checkedValue(name, raw))
    this.#takeUp()
  }

  #read(): LoadedSettings {
    return loadSettings(this.#options.dataDir, this.#options.env)
  }

  #takeUp(): void {
    const { loaded, changed } = this.#options
    const fresh = this.#read()
    const names = SETTING_NAMES.filter((name) => !READ_ONCE.has(name) && differs(name, loaded, fresh))
    for (const name of names) {
      Object.assign(loaded.values, { [name]: fresh.values[name] })
      loaded.sources[name] = fresh.sources[name]
    }
    if (names.length > 0) changed?.(names)
  }
}

const MAX_SHOWN_CHARS = 100

function infoOf(name: SettingName, set: LoadedSettings): SettingInfo {
  const { rule, about }: { rule: Rule; about: string } = SETTINGS[name]
  const isNumber = rule.kind === 'integer' || rule.kind === 'number'
  return {
    name,
    value: shownValue(name, set.values[name]),
    default: rule.default,
    source: set.sources[name],
    about,
    kind: rule.kind,
    secret: isSecretSetting(name),
    min: isNumber ? rule.min : null,
    max: isNumber ? rule.max : null,
    choices: rule.kind === 'choice' ? rule.choices : null,
    holds: READ_ONCE.has(name) ? 'restart' : 'now',
    locked: lockOf(name, set),
  }
}

function lockOf(name: SettingName, { sources }: LoadedSettings): string | null {
  if (sources[name] === 'environment') return "it is set in the daemon's environment"
  if (name === RUNS_A_PROGRAM) return `it names a program to run; use claude-mem config set ${name}`
  // Whoever got hold of a page could have the keys sent to an address of theirs.
  return name.endsWith('_BASE_URL') ? `it says where keys are sent; use claude-mem config set ${name}` : null
}

function checkedValue(name: SettingName, raw: string | readonly string[]): SettingValue {
  const parsed = parseSetting(name, raw)
  if (!parsed.ok) throw new MemError('bad_setting', parsed.message)
  return parsed.value
}

function differs(name: SettingName, before: LoadedSettings, after: LoadedSettings): boolean {
  return (
    before.sources[name] !== after.sources[name] ||
    JSON.stringify(before.values[name]) !== JSON.stringify(after.values[name])
  )
}
