/** The settings as they hold, and what of them does not. */
import { SETTING_NAMES } from '../settings.ts'
import { type Examination, faultsOr, problem } from './check.ts'
import type { Facts } from './facts.ts'

export function settingsExamination({ settings }: Facts): Examination {
  return {
    id: 'settings',
    title: 'Settings',
    look: async () => {
      const changed = SETTING_NAMES.filter((name) => settings.sources[name] !== 'default').length
      const faults = settings.problems.map(({ message }) =>
        problem(message, 'claude-mem config shows what holds; claude-mem config set NAME VALUE'),
      )
      return faultsOr(faults, changed === 0 ? 'all as they come' : `${changed} of ${SETTING_NAMES.length} set`)
    },
  }
}
