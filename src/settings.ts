/**
 * Every setting: name, default, what it may be, and why one would change it. Read by the hook too, so nothing
 * here may import a package. The README's table is checked against this list.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

type Rule =
  | { kind: 'boolean'; default: boolean }
  | { kind: 'integer'; default: number; min: number; max: number }
  | { kind: 'choice'; default: string; choices: readonly string[] }
  | { kind: 'list'; default: readonly string[] }

export interface SettingSpec {
  rule: Rule
  /** One line for people. */
  about: string
}

const integer = (value: number, min: number, max: number, about: string) =>
  ({ rule: { kind: 'integer', default: value, min, max }, about }) as const
const list = (value: readonly string[], about: string) => ({ rule: { kind: 'list', default: value }, about }) as const

export const SETTINGS = {
  CLAUDE_MEM_WORKER_PORT: integer(
    37777,
    0,
    65535,
    'TCP port on 127.0.0.1 for REST and viewer; 0 picks a free one; busy: another one, recorded',
  ),
  CLAUDE_MEM_PROVIDER: {
    rule: { kind: 'choice', default: 'offline', choices: ['offline', 'plain'] },
    about: 'Who observes: `offline` (rules, no model) or `plain` (one bare note per tool use)',
  },
  CLAUDE_MEM_BATCHING_ENABLED: {
    rule: { kind: 'boolean', default: true },
    about: 'Gather messages and observe them together; off makes every message its own batch',
  },
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
  CLAUDE_MEM_CONTEXT_TOKENS: integer(
    2_000,
    0,
    20_000,
    'Tokens that the memory given to a starting session may take; 0 gives none',
  ),
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
  CLAUDE_MEM_LOG_LEVEL: {
    rule: { kind: 'choice', default: 'info', choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] },
    about: 'What is logged; only debug and trace show payload content',
  },
} as const satisfies Record<string, SettingSpec>

export type SettingName = keyof typeof SETTINGS
export type SettingValue = boolean | number | string | readonly string[]
type ValueOf<N extends SettingName> = (typeof SETTINGS)[N]['rule'] extends { kind: infer K }
  ? K extends 'boolean'
    ? boolean
    : K extends 'integer'
      ? number
      : K extends 'list'
        ? readonly string[]
        : string
  : never
export type Settings = { readonly [N in SettingName]: ValueOf<N> }

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[]

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name)
}

export interface SettingProblem {
  name: string
  message: string
}

export interface LoadedSettings {
  values: Settings
  /** Where each value comes from. */
  sources: Record<SettingName, 'default' | 'file' | 'environment'>
  problems: SettingProblem[]
}

export const SETTINGS_FILE = 'settings.json'

/**
 * Defaults, then the file, then the environment. A value that is not valid is reported and the one below it
 * holds: a typing error in a settings file never stops the memory.
 */
export function loadSettings(dataDir: string, env: NodeJS.ProcessEnv = process.env): LoadedSettings {
  const problems: SettingProblem[] = []
  const file = readSettingsFile(dataDir, problems)
  const values: Record<string, SettingValue> = {}
  const sources: Record<string, 'default' | 'file' | 'environment'> = {}
  for (const name of SETTING_NAMES) {
    values[name] = SETTINGS[name].rule.default
    sources[name] = 'default'
    for (const [source, raw] of [
      ['file', file[name]],
      ['environment', env[name]],
    ] as const) {
      if (raw === undefined) continue
      const parsed = parseSetting(name, raw)
      if (parsed.ok) {
        values[name] = parsed.value
        sources[name] = source
      } else {
        problems.push({ name, message: `${parsed.message} (from the ${source === 'file' ? SETTINGS_FILE : source})` })
      }
    }
  }
  for (const name of Object.keys(file)) {
    if (!isSettingName(name)) problems.push({ name, message: `${name} is not a setting (in ${SETTINGS_FILE})` })
  }
  return { values: values as Settings, sources: sources as LoadedSettings['sources'], problems }
}

function readSettingsFile(dataDir: string, problems: SettingProblem[]): Record<string, unknown> {
  let text: string
  try {
    text = readFileSync(join(dataDir, SETTINGS_FILE), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return {}
    problems.push({ name: SETTINGS_FILE, message: `${SETTINGS_FILE} cannot be read: ${String(error)}` })
    return {}
  }
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
    problems.push({ name: SETTINGS_FILE, message: `${SETTINGS_FILE} must hold a JSON object; it is ignored` })
  } catch (error) {
    problems.push({
      name: SETTINGS_FILE,
      message: `${SETTINGS_FILE} is not valid JSON and is ignored: ${String(error)}`,
    })
  }
  return {}
}

export type ParsedSetting = { ok: true; value: SettingValue } | { ok: false; message: string }

/** Accepts what JSON, an environment variable or a command line would give. */
export function parseSetting(name: SettingName, raw: unknown): ParsedSetting {
  const rule: Rule = SETTINGS[name].rule
  const wrong = (expected: string): ParsedSetting => ({
    ok: false,
    message: `${name} must be ${expected}, not ${JSON.stringify(raw)}`,
  })
  switch (rule.kind) {
    case 'boolean': {
      const text = String(raw).trim().toLowerCase()
      if (['true', '1', 'yes', 'on'].includes(text)) return { ok: true, value: true }
      if (['false', '0', 'no', 'off'].includes(text)) return { ok: true, value: false }
      return wrong('true or false')
    }
    case 'integer': {
      const value =
        typeof raw === 'number' ? raw : typeof raw === 'string' && /^\s*-?\d+\s*$/.test(raw) ? Number(raw) : Number.NaN
      if (Number.isInteger(value) && value >= rule.min && value <= rule.max) return { ok: true, value }
      return wrong(`a whole number from ${rule.min} to ${rule.max}`)
    }
    case 'choice': {
      const value = String(raw).trim()
      return rule.choices.includes(value) ? { ok: true, value } : wrong(`one of ${rule.choices.join(', ')}`)
    }
    case 'list': {
      if (Array.isArray(raw) && raw.every((item) => typeof item === 'string')) return { ok: true, value: raw }
      if (typeof raw !== 'string') return wrong('a list of texts')
      return {
        ok: true,
        value: raw
          .split(',')
          .map((item) => item.trim())
          .filter((item) => item !== ''),
      }
    }
  }
}
