/** How the daemon is: asked for after changes, and now and then. */
import type { SettingInfo, Status } from '../../channel/protocol.ts'
import { Cell } from '../cell.ts'
import { ask, connectionState, generation, onItems } from '../connection.ts'

export const status = new Cell<Status | null>(null)
export const settings = new Cell<readonly SettingInfo[]>([])

/** After a change: several in a row are one question, in ms. */
const SETTLE_MS = 800
/** Without any: the day turns, a provider comes back, in ms. */
const EVERY_MS = 20_000

let timer: ReturnType<typeof setTimeout> | undefined

export function followStatus(): void {
  generation.subscribe(() => {
    void load()
    void loadSettings()
  })
  onItems(() => {
    timer ??= setTimeout(() => void load(), SETTLE_MS)
  })
  setInterval(() => void load(), EVERY_MS)
}

export async function loadSettings(): Promise<void> {
  if (connectionState.value !== 'live') return
  try {
    settings.set((await ask('settings', { type: 'settings' })).settings)
  } catch {
    // The connection broke: they are asked for again when there is one.
  }
}

/** What a setting is; undefined before it is known. */
export function settingValue(name: string): SettingInfo['value'] | undefined {
  return settings.value.find((setting) => setting.name === name)?.value
}

async function load(): Promise<void> {
  clearTimeout(timer)
  timer = undefined
  if (connectionState.value !== 'live') return
  try {
    status.set((await ask('status', { type: 'status' })).status)
  } catch {
    // The connection broke: it is asked again when there is one.
  }
}
