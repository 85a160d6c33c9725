/** Settings as people type them on the command line. */
import { isSettingName, parseSetting, SETTING_NAMES, type SettingName, type SettingValue } from '../settings.ts'
import { writeSetting } from '../settings-file.ts'
import { UsageError } from './failure.ts'
import { didYouMean } from './suggest.ts'

export { readSettings, unsetSetting } from '../settings-file.ts'

const PREFIX = 'CLAUDE_MEM_'

/** `batch-max-size` will do for `CLAUDE_MEM_BATCH_MAX_SIZE`. */
export function settingNamed(given: string): SettingName {
  const upper = given.trim().toUpperCase().replaceAll('-', '_')
  if (isSettingName(upper)) return upper
  const full = upper.startsWith(PREFIX) ? upper : PREFIX + upper
  if (isSettingName(full)) return full
  throw new UsageError(`unknown setting "${given}"${didYouMean(full, SETTING_NAMES, 'claude-mem config lists them')}`)
}

/** `raw`: as people write it; a list may be given as one. */
export function setSetting(dataDir: string, name: SettingName, raw: string | readonly string[]): SettingValue {
  const parsed = parseSetting(name, raw)
  if (!parsed.ok) throw new UsageError(parsed.message)
  writeSetting(dataDir, name, parsed.value)
  return parsed.value
}
