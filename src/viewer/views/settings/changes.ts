/** The settings of the daemon, and how this page changes them. */
import type { Answer } from '../../../channel/protocol.ts'
import { Cell } from '../../cell.ts'
import { ask } from '../../connection.ts'
import { settings } from '../../model/status.ts'

type SettingsAnswer = Extract<Answer, { type: 'settings' }>

/** What is wrong in the file or the environment. */
export const problems = new Cell<SettingsAnswer['problems']>([])

export async function loadAll(): Promise<SettingsAnswer> {
  return take(await ask('settings', { type: 'settings' }))
}

/** As people write it; null: back to the default. Rejects with the daemon's own sentence. */
export async function change(name: string, value: string | readonly string[] | null): Promise<void> {
  take(await ask('settings', { type: 'setting_set', name, value }))
}

function take(answer: SettingsAnswer): SettingsAnswer {
  settings.set(answer.settings)
  problems.set(answer.problems)
  return answer
}
