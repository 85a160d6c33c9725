import { isSecretSetting, loadSettings, type SettingName, shownValue } from '../../settings.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { oneOf, UsageError } from '../failure.ts'
import { problemLines, settingLines, settingView, settingViews, valueText } from '../render/settings.ts'
import { askHidden, readValue } from '../secret-input.ts'
import { setSetting, settingNamed, unsetSetting } from '../settings-file.ts'
import { clean } from '../text.ts'

const ACTIONS = ['list', 'get', 'set', 'unset'] as const

export const config = command({
  usage: 'config [action] [name] [value]',
  group: 'Keep it in shape',
  summary: 'Settings: list, get, set, unset',
  about:
    'Settings are kept in settings.json in the data directory; an environment variable of the same name wins. A name may ' +
    'be written short: batch-max-size is CLAUDE_MEM_BATCH_MAX_SIZE. A key is better not typed as an argument, which the ' +
    'shell remembers: leave the value out and you are asked for it, or give - and it is read from stdin. Of a key only ' +
    'its last characters are ever shown.',
  examples: [
    ['claude-mem config', 'every setting, its value and where that comes from'],
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
    value: { type: 'string', describe: 'Its new value; - reads it from stdin' },
  },
  options: { json: jsonOption },
  run: async ({ action, name, value, json }, cli) => {
    const chosen = oneOf('action', action, ACTIONS)
    if (chosen !== 'set' && value !== undefined) throw new UsageError(`config ${chosen} takes no value`)
    switch (chosen) {
      case 'list':
        if (name !== undefined)
          throw new UsageError('config list takes no name; to see one setting: claude-mem config get')
        return list(cli, json === true)
      case 'get':
        return get(cli, given(name, chosen), json === true)
      case 'set':
        return await set(cli, settingNamed(given(name, chosen)), value, json === true)
      case 'unset':
        return unset(cli, given(name, chosen), json === true)
    }
  },
})

function given(name: string | undefined, action: string): string {
  if (name !== undefined) return name
  throw new UsageError(`config ${action} needs the name of a setting; claude-mem config lists them`)
}

function list(cli: Cli, json: boolean): number {
  const loaded = loadSettings(cli.paths.dataDir, cli.env)
  if (json) cli.printJson({ settings: settingViews(loaded), problems: loaded.problems })
  else cli.print(...settingLines(loaded, cli.look()))
  return 0
}

function get(cli: Cli, name: string, json: boolean): number {
  const loaded = loadSettings(cli.paths.dataDir, cli.env)
  const view = settingView(settingNamed(name), loaded)
  if (json) cli.printJson(view)
  else cli.print(clean(valueText(view.value)))
  for (const line of problemLines(
    { ...loaded, problems: loaded.problems.filter((p) => p.name === view.name) },
    cli.look(),
  )) {
    cli.tell(line)
  }
  return 0
}

async function set(cli: Cli, name: SettingName, given: string | undefined, json: boolean): Promise<number> {
  const raw = await newValue(cli, name, given)
  const value = shownValue(name, setSetting(cli.paths.dataDir, name, raw))
  if (json) cli.printJson({ name, value })
  else cli.print(`${name} is now ${clean(valueText(value)) || '(none)'}`, ...whenItHolds(cli, name))
  return 0
}

async function newValue(cli: Cli, name: SettingName, given: string | undefined): Promise<string> {
  const asks = cli.interactive && isSecretSetting(name)
  if (asks && (given === undefined || given === '-')) return await askHidden(`${name}: `, process.stdin, process.stderr)
  if (given === '-') return await readValue(process.stdin)
  if (given !== undefined) return given
  throw new UsageError(
    isSecretSetting(name)
      ? `config set needs a value, or - to read it from stdin: claude-mem config set ${name} -`
      : 'config set needs a value: claude-mem config set NAME VALUE',
  )
}

function unset(cli: Cli, given: string, json: boolean): number {
  const name = settingNamed(given)
  const removed = unsetSetting(cli.paths.dataDir, name)
  const { value } = settingView(name, loadSettings(cli.paths.dataDir, cli.env))
  if (json) cli.printJson({ name, removed, value })
  else if (!removed) cli.print(`${name} was not set; it is ${clean(valueText(value)) || '(none)'}`)
  else cli.print(`${name} is now ${clean(valueText(value)) || '(none)'}`, ...whenItHolds(cli, name))
  return 0
}

function whenItHolds(cli: Cli, name: SettingName): string[] {
  const inEnvironment = cli.env[name]
  if (inEnvironment !== undefined)
    return [`But the environment says ${name}=${clean(valueText(shownValue(name, inEnvironment)))}, which wins.`]
  return ['A running daemon takes it up at its next start: claude-mem restart']
}
