/** Settings for people. */
import {
  type LoadedSettings,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  type SettingValue,
  shownValue,
} from '../../settings.ts'
import type { Look } from '../style.ts'
import { type Cell, type Column, table } from '../table.ts'
import { clean } from '../text.ts'

export interface SettingView {
  name: SettingName
  /** Of a secret, what may be shown of it. */
  value: SettingValue
  source: LoadedSettings['sources'][SettingName]
  default: SettingValue
  about: string
}

export function settingView(name: SettingName, { values, sources }: LoadedSettings): SettingView {
  const { rule, about } = SETTINGS[name]
  return { name, value: shownValue(name, values[name]), source: sources[name], default: rule.default, about }
}

export function settingViews(loaded: LoadedSettings): SettingView[] {
  return SETTING_NAMES.map((name) => settingView(name, loaded))
}

/** As it would be typed. */
export function valueText(value: SettingValue): string {
  return typeof value === 'object' ? value.join(',') : String(value)
}

/** One line for the value, one for what it is about. */
export function settingLines(loaded: LoadedSettings, look: Look): string[] {
  const { style } = look
  const views = settingViews(loaded)
  const rows = views.map(({ name, value, source, default: usual }): Cell[] => [
    { text: name, paint: style.bold },
    { text: valueText(value) || '(none)', paint: source === 'default' ? style.dim : style.cyan },
    source,
    { text: source === 'default' ? '' : valueText(usual) || '(none)', paint: style.dim },
  ])
  const columns: Column[] = [
    { title: 'SETTING' },
    { title: 'VALUE', narrow: 'cut' },
    { title: 'SOURCE' },
    { title: 'DEFAULT', narrow: 'cut' },
  ]
  const [header = '', ...lines] = table(columns, rows, look)
  const explained = lines.flatMap((line, i) => [line, style.dim(`  ${views[i]?.about ?? ''}`)])
  return [header, ...explained, ...problemLines(loaded, look)]
}

export function problemLines({ problems }: LoadedSettings, { style }: Look): string[] {
  return problems.map(({ message }) => style.yellow(`! ${clean(message)}`))
}
