/**
 * The settings of a running daemon. A change is written to `settings.json` first and then applied at once where the
 * table says `takesEffect: 'now'`. The other settings keep the value that the daemon started with until its next start,
 * everywhere, so that no two parts of the daemon see different values.
 */

import type { Door } from '../domain/doors.ts'
import { MemError } from '../lib/errors.ts'
import { isSecretRule, type SettingSpec } from '../settings/rules.ts'
import {
  displayedValue,
  isSecretSetting,
  isSettingName,
  type LoadedSettings,
  loadSettings,
  parseSetting,
  SETTING_NAMES,
  SETTINGS,
  type SettingInfo,
  type SettingName,
  type SettingProblem,
  type SettingValue,
} from '../settings/settings.ts'
import { unsetSetting, writeSetting } from '../settings/settings-file.ts'

interface LiveSettingsOptions {
  dataDir: string
  /** The settings that the daemon started with; updated in place. */
  loaded: LoadedSettings
  env: NodeJS.ProcessEnv
  /** Called after these settings were applied. */
  changed?: (names: readonly SettingName[]) => void
}

export class LiveSettings {
  readonly #options: LiveSettingsOptions

  constructor(options: LiveSettingsOptions) {
    this.#options = options
  }

  /** The configured values, including those that take effect at the next start. */
  list(door: Door): { settings: SettingInfo[]; problems: SettingProblem[] } {
    const set = this.#read()
    return { settings: SETTING_NAMES.map((name) => settingInfo(name, set, door)), problems: set.problems }
  }

  /** Where the values come from that the daemon uses now; settings with their defaults are left out. */
  sources(): { name: SettingName; source: 'file' | 'environment' }[] {
    const { sources } = this.#options.loaded
    return SETTING_NAMES.flatMap((name) => {
      const source = sources[name]
      return source === 'default' ? [] : [{ name, source }]
    })
  }

  /** `raw` is not yet validated; null removes the setting from the file. */
  set(name: string, raw: string | readonly string[] | null, door: Door): void {
    if (!isSettingName(name))
      throw new MemError('not_found', `there is no setting "${name.slice(0, MAX_QUOTED_CHARS)}"`)
    const locked = lockReason(name, this.#read(), door)
    if (locked !== null) throw new MemError('forbidden', `${name} cannot be changed here: ${locked}`)
    if (raw === null) unsetSetting(this.#options.dataDir, name)
    else writeSetting(this.#options.dataDir, name, checkedValue(name, raw))
    this.#apply()
  }

  #read(): LoadedSettings {
    return loadSettings(this.#options.dataDir, this.#options.env)
  }

  #apply(): void {
    const { loaded, changed } = this.#options
    const fresh = this.#read()
    const names = SETTING_NAMES.filter((name) => SETTINGS[name].takesEffect === 'now' && differs(name, loaded, fresh))
    for (const name of names) {
      Object.assign(loaded.values, { [name]: fresh.values[name] })
      loaded.sources[name] = fresh.sources[name]
    }
    if (names.length > 0) changed?.(names)
  }
}

const MAX_QUOTED_CHARS = 100

function settingInfo(name: SettingName, set: LoadedSettings, door: Door): SettingInfo {
  const { rule, about, group, takesEffect }: SettingSpec = SETTINGS[name]
  const isNumber = rule.kind === 'integer' || rule.kind === 'number'
  return {
    name,
    value: displayedValue(name, set.values[name]),
    default: rule.default,
    source: set.sources[name],
    about,
    group,
    kind: rule.kind,
    secret: isSecretSetting(name),
    min: isNumber ? rule.min : null,
    max: isNumber ? rule.max : null,
    choices: rule.kind === 'choice' ? rule.choices : null,
    holds: takesEffect,
    locked: lockReason(name, set, door),
  }
}

function lockReason(name: SettingName, { sources }: LoadedSettings, door: Door): string | null {
  if (sources[name] === 'environment') return "it is set in the daemon's environment"
  const { localOnly, rule }: SettingSpec = SETTINGS[name]
  if (localOnly !== true || door === 'local') return null
  return `change it in a terminal: claude-mem config set ${name}${isSecretRule(rule) ? '' : ' VALUE'}`
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
