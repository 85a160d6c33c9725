/** Our hooks in Claude Code's user settings: put there, and taken away as if they had never been there. */
import { existsSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hookCommand, isOurCommand } from './command-line.ts'
import { unifiedDiff } from './diff.ts'
import { EVENT_NAMES, type EventName, eventsFor } from './events.ts'
import { type IsOurs, mergeHooks, registeredEvents, removeHooks } from './hooks.ts'
import { digest, type InstallRecord, readCopy, readRecord, removeRecord, saveCopy, writeRecord } from './record.ts'
import {
  readSettingsFile,
  refuseReadOnly,
  removeSettingsFile,
  type SettingsFile,
  writeSettingsFile,
} from './settings-file.ts'

export interface Where {
  /** The client's settings file. */
  file: string
  dataDir: string
  node: string
  /** `hook.cjs` */
  hook: string
  dryRun: boolean
  now: Date
}

export interface Installed {
  changed: boolean
  command: string
  events: EventName[]
  /** What this client does not know. */
  leftOut: EventName[]
  /** A copy of the settings before the change; null when nothing was there to copy or nothing was written. */
  backup: string | null
  diff: string[]
  /** The settings switch off all hooks, whoever's they are. */
  hooksOff: boolean
}

export interface Uninstalled {
  changed: boolean
  /** `restored`: as it was, to the byte; `removed`: our entries were taken out of a file that has changed since. */
  how: 'nothing' | 'restored' | 'removed' | 'file removed'
  backup: string | null
  diff: string[]
}

export function claudeConfigDirectory(env: NodeJS.ProcessEnv, home: string): string {
  const configured = env.CLAUDE_CONFIG_DIR
  return configured !== undefined && configured !== '' ? configured : join(home, '.claude')
}

/** `clientVersion` is null when no client was found. */
export function install(where: Where, clientVersion: string | null): Installed {
  const before = readSettingsFile(where.file)
  const record = readRecord(where.dataDir, before.target)
  const command = hookCommand(where.node, where.hook)
  const isOurs = ours(record, command)
  const known = eventsFor(clientVersion)
  const there = registeredEvents(before.text, isOurs)
  // A client that cannot be found now was found when it got more than that.
  const events = EVENT_NAMES.filter((name) => known.includes(name) || (clientVersion === null && there.includes(name)))
  const text = mergeHooks(before.text, events, command, isOurs, before.file)
  const changed = text !== before.text
  const result: Installed = {
    changed,
    command,
    events,
    leftOut: EVENT_NAMES.filter((name) => !events.includes(name)),
    backup: null,
    diff: changed ? unifiedDiff(textOf(before), before.bom + text, before.file) : [],
    hooksOff: /^true$/.test(String(JSON.parse(text).disableAllHooks)),
  }
  if (!changed) return result
  refuseReadOnly(before.file, before.target)
  if (where.dryRun) return result
  const bytes = Buffer.from(before.bom + text)
  const backup = before.bytes === null ? null : saveCopy(where.dataDir, before.file, before.bytes, where.now)
  const undo = undoOf(where, before, record, isOurs, backup)
  writeRecorded(where, before, bytes, record, {
    v: 1,
    file: before.target,
    ...undo,
    wrote: digest(bytes),
    commands: [command, ...(record?.commands ?? [])],
    at: where.now.toISOString(),
  })
  return { ...result, backup }
}

export function uninstall(where: Where): Uninstalled {
  const before = readSettingsFile(where.file)
  const record = readRecord(where.dataDir, before.target)
  const plan = planUninstall(where, before, record)
  const after = plan.bytes?.toString('utf8') ?? null
  const changed = plan.how !== 'nothing'
  const result: Uninstalled = {
    changed,
    how: plan.how,
    backup: null,
    diff: changed ? unifiedDiff(textOf(before), after, before.file) : [],
  }
  if (changed) refuseReadOnly(before.file, before.target)
  if (where.dryRun) return result
  if (plan.how === 'removed' && before.bytes !== null) {
    result.backup = saveCopy(where.dataDir, before.file, before.bytes, where.now)
  }
  if (changed) {
    if (plan.bytes === null) removeSettingsFile(before)
    else writeSettingsFile(before, plan.bytes)
  }
  if (plan.bytes === null && record !== null) removeMadeDirectory(record)
  removeRecord(where.dataDir, before.target)
  return result
}

/** `bytes` is what the file will hold; null when it will not be there. */
interface Plan {
  how: Uninstalled['how']
  bytes: Buffer | null
}

function planUninstall(where: Where, before: SettingsFile, record: InstallRecord | null): Plan {
  if (before.bytes === null) return { how: 'nothing', bytes: null }
  if (record !== null && record.wrote === digest(before.bytes)) {
    if (record.original === null) return { how: 'file removed', bytes: null }
    const original = readCopy(record.original)
    if (original !== null) return { how: 'restored', bytes: original }
  }
  const isOurs = ours(record, hookCommand(where.node, where.hook))
  const text = removeHooks(before.text, isOurs, before.file)
  if (text === before.text) return { how: 'nothing', bytes: before.bytes }
  if (record !== null && record.original === null && /^\s*\{\s*\}\s*$/.test(text)) {
    return { how: 'file removed', bytes: null }
  }
  return { how: 'removed', bytes: Buffer.from(before.bom + text) }
}

function ours(record: InstallRecord | null, command: string): IsOurs {
  const written = [command, ...(record?.commands ?? [])]
  return (found) => isOurCommand(found, written)
}

/** What uninstall will bring back. Our own earlier writing is not what its owner had. */
function undoOf(
  where: Where,
  before: SettingsFile,
  record: InstallRecord | null,
  isOurs: IsOurs,
  backup: string | null,
): Pick<InstallRecord, 'original' | 'madeDirectory'> {
  if (before.bytes === null) {
    const directory = dirname(before.target)
    return { original: null, madeDirectory: existsSync(directory) ? null : directory }
  }
  if (record !== null && record.wrote === digest(before.bytes)) {
    return { original: record.original, madeDirectory: record.madeDirectory }
  }
  const without = removeHooks(before.text, isOurs, before.file)
  if (without === before.text) return { original: backup, madeDirectory: null }
  const bytes = Buffer.from(before.bom + without)
  return { original: saveCopy(where.dataDir, before.file, bytes, where.now), madeDirectory: null }
}

/** The record comes first: settings that nobody remembers writing could not be undone to the byte. */
function writeRecorded(
  where: Where,
  before: SettingsFile,
  bytes: Buffer,
  old: InstallRecord | null,
  record: InstallRecord,
): void {
  writeRecord(where.dataDir, record)
  try {
    writeSettingsFile(before, bytes)
  } catch (error) {
    if (old === null) removeRecord(where.dataDir, before.target)
    else writeRecord(where.dataDir, old)
    throw error
  }
}

function removeMadeDirectory(record: InstallRecord): void {
  if (record.madeDirectory === null) return
  try {
    rmdirSync(record.madeDirectory)
  } catch {
    // Somebody put something there since: it stays.
  }
}

function textOf(file: SettingsFile): string | null {
  return file.bytes === null ? null : file.bytes.toString('utf8')
}
