/** `claude-mem config`: lists and changes settings. */
import {
  displayedValue,
  isSecretSetting,
  isSettingName,
  type LoadedSettings,
  loadSettings,
  parseSetting,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingValue,
} from '../../settings/settings.ts'
import { unsetSetting, writeSetting } from '../../settings/settings-file.ts'
import { didYouMean, oneOf, refuseIf, UsageError } from '../arguments.ts'
import { type Cli, printResult } from '../cli.ts'
import { defineCommand } from '../command.ts'
import { askSecret, readStdinValue } from '../input.ts'
import type { Display } from '../style.ts'
import { cutColumn, type TableCell, tableLines } from '../table.ts'
import { terminalSafe } from '../text.ts'

const ACTIONS = ['list', 'get', 'set', 'unset'] as const
const SETTING_PREFIX = 'CLAUDE_MEM_'

export const configCommand = defineCommand({
  usage: 'config [action] [name] [value]',
  group: 'Maintenance',
  summary: 'Settings: list, get, set, unset',
  about:
    'Settings are stored in settings.json in the data directory. An environment variable of the same name overrides it for ' +
    'commands and for a daemon that you start with claude-mem start; a daemon that a hook starts uses the file alone. ' +
    'Names can be short: batch-max-size is CLAUDE_MEM_BATCH_MAX_SIZE. Do not pass an API key as an argument, because the ' +
    'shell stores it in its history: without a value the command asks for it, and with - it reads standard input. ' +
    'Only the last characters of a key are ever printed.',
  examples: [
    ['claude-mem config', 'every setting, its value and its source'],
    ['claude-mem config get batch-max-size', ''],
    ['claude-mem config set batch-max-size 50', ''],
    ['claude-mem config set skip-tools TodoWrite,Glob', 'a list'],
    ['claude-mem config set anthropic-api-key', 'asks for it, without showing what you type'],
    ['pass show anthropic | claude-mem config set anthropic-api-key -', 'from a password store'],
    ['claude-mem config unset batch-max-size', 'back to the default'],
  ],
  positionals: {
    action: { type: 'string', describe: 'list, get, set or unset', default: 'list' },
    name: { type: 'string', describe: 'A setting' },
    value: { type: 'string', describe: 'Its new value; - reads standard input' },
  },
  run: async ({ action, name, value }, cli) => {
    const chosen = oneOf('action', action, ACTIONS)
    refuseIf(chosen !== 'set' && value !== undefined, `config ${chosen} takes no value`)
    if (chosen === 'list') {
      refuseIf(name !== undefined, 'config list takes no name; to see one setting: claude-mem config get NAME')
      return listSettings(cli)
    }
    if (name === undefined)
      throw new UsageError(`config ${chosen} needs the name of a setting; claude-mem config lists them`)
    const setting = parseSettingName(name)
    switch (chosen) {
      case 'get':
        return printSetting(cli, setting)
      case 'set':
        return await changeSetting(cli, setting, value)
      case 'unset':
        return removeSetting(cli, setting)
    }
  },
})

/** Accepts `batch-max-size` for `CLAUDE_MEM_BATCH_MAX_SIZE`. */
export function parseSettingName(given: string): SettingName {
  const upper = given.trim().toUpperCase().replaceAll('-', '_')
  if (isSettingName(upper)) return upper
  const full = upper.startsWith(SETTING_PREFIX) ? upper : SETTING_PREFIX + upper
  if (isSettingName(full)) return full
  throw new UsageError(`unknown setting "${given}"${didYouMean(full, SETTING_NAMES, 'claude-mem config lists them')}`)
}

/** Parses `raw` as typed on the command line, stores it and returns the parsed value. */
export function setSetting(dataDir: string, name: SettingName, raw: string | readonly string[]): SettingValue {
  const parsed = parseSetting(name, raw)
  if (!parsed.ok) throw new UsageError(parsed.message)
  writeSetting(dataDir, name, parsed.value)
  return parsed.value
}

/** One line if an environment variable overrides the setting that was just changed. */
export function overrideLines(cli: Cli, name: SettingName): string[] {
  const value = cli.env[name]
  if (value === undefined) return []
  return [`The environment variable ${name}=${shownText(displayedValue(name, value))} overrides this setting.`]
}

function listSettings(cli: Cli): void {
  const loaded = loadSettings(cli.paths.dataDir, cli.env)
  const settings = SETTING_NAMES.map((name) => settingView(name, loaded))
  printResult(cli, { settings, problems: loaded.problems }, () => [
    ...settingLines(settings, cli.display()),
    ...problemLines(loaded.problems, cli.display()),
  ])
}

function printSetting(cli: Cli, name: SettingName): void {
  const loaded = loadSettings(cli.paths.dataDir, cli.env)
  const view = settingView(name, loaded)
  printResult(cli, view, () => shownText(view.value))
  const problems = loaded.problems.filter((problem) => problem.name === name)
  for (const line of problemLines(problems, cli.display())) cli.printStderr(line)
}

async function changeSetting(cli: Cli, name: SettingName, given: string | undefined): Promise<void> {
  const value = displayedValue(name, setSetting(cli.paths.dataDir, name, await newValue(cli, name, given)))
  printResult(cli, { name, value }, () => nowLines(cli, name, value))
  const { problems } = loadSettings(cli.paths.dataDir, {})
  const own = problems.filter((problem) => problem.name === name)
  for (const line of problemLines(own, cli.display())) cli.printStderr(line)
}

async function newValue(cli: Cli, name: SettingName, given: string | undefined): Promise<string> {
  const isSecret = isSecretSetting(name)
  if (isSecret && cli.interactive && (given === undefined || given === '-')) {
    return await askSecret(`${name}: `, process.stdin, process.stderr)
  }
  if (given === '-') return await readStdinValue(process.stdin)
  if (given !== undefined) return given
  throw new UsageError(
    isSecret
      ? `config set needs a value, or - to read it from stdin: claude-mem config set ${name} -`
      : 'config set needs a value: claude-mem config set NAME VALUE',
  )
}

function removeSetting(cli: Cli, name: SettingName): void {
  const removed = unsetSetting(cli.paths.dataDir, name)
  const { value } = settingView(name, loadSettings(cli.paths.dataDir, cli.env))
  printResult(cli, { name, removed, value }, () =>
    removed ? nowLines(cli, name, value) : `${name} was not set; it is ${valueOrNone(value)}`,
  )
}

function nowLines(cli: Cli, name: SettingName, value: SettingValue): string[] {
  const overridden = overrideLines(cli, name)
  const effect = overridden.length > 0 ? overridden : ['A running daemon applies it after: claude-mem restart']
  return [`${name} is now ${valueOrNone(value)}`, ...effect]
}

/** Secrets are masked. */
function settingView(name: SettingName, { values, sources }: LoadedSettings) {
  const { rule, about } = SETTINGS[name]
  return { name, value: displayedValue(name, values[name]), source: sources[name], default: rule.default, about }
}
type SettingView = ReturnType<typeof settingView>

/** As it would be typed. */
function shownText(value: SettingValue): string {
  return terminalSafe(typeof value === 'object' ? value.join(',') : String(value))
}

function valueOrNone(value: SettingValue): string {
  return shownText(value) || '(none)'
}

/** Two lines for each setting: its value, and what it is for. */
function settingLines(views: readonly SettingView[], display: Display): string[] {
  const { style } = display
  const rows = views.map(({ name, value, source, default: usual }): TableCell[] => [
    { text: name, paint: style.bold },
    { text: valueOrNone(value), paint: source === 'default' ? style.dim : style.cyan },
    source,
    { text: source === 'default' ? '' : valueOrNone(usual), paint: style.dim },
  ])
  const columns = ['SETTING', cutColumn('VALUE'), 'SOURCE', cutColumn('DEFAULT')]
  const [header = '', ...lines] = tableLines(columns, rows, display)
  return [header, ...lines.flatMap((line, i) => [line, style.dim(`  ${views[i]?.about ?? ''}`)])]
}

function problemLines(problems: LoadedSettings['problems'], { style }: Display): string[] {
  return problems.map(({ message }) => style.yellow(`! ${terminalSafe(message)}`))
}
