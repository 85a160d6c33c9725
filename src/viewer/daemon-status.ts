/** Status and settings of the daemon, for all views. */
import type { OutputOf } from '../api/index.ts'
import type { DaemonStatus } from '../api/operations/daemon.ts'
import type { SettingInfo } from '../settings/settings.ts'
import { callDaemon, connectionState, loadGeneration, onStreamMessages } from './connection.ts'
import { Observable } from './observable.ts'

type SettingsAnswer = OutputOf<'settings'>

export const daemonStatus = new Observable<DaemonStatus | null>(null)
export const daemonSettings = new Observable<readonly SettingInfo[]>([])

/** Changes within this time cause one request, in ms. */
const STATUS_THROTTLE_MS = 800
/** Some values change without a stream message, such as the daily budget at midnight, in ms. */
const STATUS_POLL_MS = 20_000

let statusTimer: ReturnType<typeof setTimeout> | undefined

export function trackDaemonStatus(): void {
  loadGeneration.subscribe(() => {
    void loadStatus()
    void ifConnected(loadDaemonSettings)
  })
  onStreamMessages(() => {
    statusTimer ??= setTimeout(() => void loadStatus(), STATUS_THROTTLE_MS)
  })
  setInterval(() => void loadStatus(), STATUS_POLL_MS)
}

async function ifConnected(load: () => Promise<unknown>): Promise<void> {
  if (connectionState.value !== 'live') return
  try {
    await load()
  } catch {
    // The connection broke. Everything is loaded again after it is restored.
  }
}

/** Undefined until the settings are loaded. Use with `useObservable(daemonSettings)`. */
export function daemonSettingValue(name: string): SettingInfo['value'] | undefined {
  return daemonSettings.value.find((setting) => setting.name === name)?.value
}

async function loadStatus(): Promise<void> {
  clearTimeout(statusTimer)
  statusTimer = undefined
  await ifConnected(async () => daemonStatus.set((await callDaemon('status')).status))
}

/** Invalid values in the settings file or the environment. */
export const settingProblems = new Observable<SettingsAnswer['problems']>([])

export async function loadDaemonSettings(): Promise<SettingsAnswer> {
  return publishSettings(await callDaemon('settings'))
}

/** Null resets to the default. Rejects with the daemon's message when the value is invalid. */
export async function changeSetting(name: string, value: string | readonly string[] | null): Promise<void> {
  publishSettings(await callDaemon('setting_set', { name, value }))
}

function publishSettings(answer: SettingsAnswer): SettingsAnswer {
  daemonSettings.set(answer.settings)
  settingProblems.set(answer.problems)
  return answer
}
