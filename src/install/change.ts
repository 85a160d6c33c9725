/** Several settings files changed together: all of them or none, each with a record that can undo it. */
import { existsSync, rmdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { MemError, messageOf } from '../errors.ts'
import { maskSecrets } from '../memory/secrets.ts'
import { unifiedDiff } from './diff.ts'
import { type InstallRecord, removeRecord, saveCopy, writeRecord } from './record.ts'
import { refuseReadOnly, removeSettingsFile, type SettingsFile, writeSettingsFile } from './settings-file.ts'

export interface Ground {
  dataDir: string
  now: Date
  dryRun: boolean
}

export interface Change {
  client: string
  before: SettingsFile
  /** What the file will hold; null when it will not be there. */
  after: Buffer | null
  /** Of a file that is made. */
  mode: number
  /** Whether what it held is kept as a copy of its own. */
  keepsCopy: boolean
  old: InstallRecord | null
  /** Null: there will be none. `backup` is the copy of what the file held. */
  record: ((backup: string | null) => InstallRecord) | null
}

export function isChange({ before, after }: Pick<Change, 'before' | 'after'>): boolean {
  if (before.bytes === null || after === null) return before.bytes !== after
  return !before.bytes.equals(after)
}

/** A file written in one line is shown by its beginning, in characters. */
const MAX_DIFF_LINE = 4_000

/** For people: a client's file may hold keys right beside our entry, and a diff is shown, piped and pasted. */
export function diffOf(change: Change): string[] {
  const { before, after } = change
  if (!isChange(change)) return []
  const lines = unifiedDiff(before.bytes?.toString('utf8') ?? null, after?.toString('utf8') ?? null, before.file)
  return lines.map((line) =>
    line.length > MAX_DIFF_LINE
      ? `${maskSecrets(line.slice(0, MAX_DIFF_LINE))}… (${line.length - MAX_DIFF_LINE} more characters)`
      : maskSecrets(line),
  )
}

/** The copies, in the order of the changes; null where none was needed. */
export function applyAll(changes: readonly Change[], ground: Ground): (string | null)[] {
  for (const change of changes) {
    if (isChange(change)) refuseReadOnly(change.before.file, change.before.target)
  }
  if (ground.dryRun) return changes.map(() => null)
  const done: Applied[] = []
  try {
    for (const change of changes) done.push(apply(change, ground))
  } catch (error) {
    throw rolledBack(done, error)
  }
  for (const { after, old } of changes) {
    if (after === null) removeEmptyDirectories(old?.madeDirectories ?? [])
  }
  return done.map(({ backup }) => backup)
}

/** Directories that are missing for a file, the innermost first. */
export function missingDirectories(file: string): string[] {
  const missing: string[] = []
  for (let at = dirname(file); !existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.push(at)
  return missing
}

interface Applied {
  backup: string | null
  undo(): void
}

/** The record comes first: settings that nobody remembers writing could not be undone to the byte. */
function apply(change: Change, { dataDir, now }: Ground): Applied {
  const { before, after, client, old } = change
  const made = missingDirectories(before.target)
  const backup = change.keepsCopy && before.bytes !== null ? saveCopy(dataDir, before.file, before.bytes, now) : null
  const restoreRecord = () => {
    if (old === null) removeRecord(dataDir, client, before.target)
    else writeRecord(dataDir, old)
    if (backup !== null) rmSync(backup, { force: true })
  }
  try {
    if (change.record !== null) writeRecord(dataDir, change.record(backup))
    if (isChange(change)) write(before, after, change.mode)
    if (change.record === null) removeRecord(dataDir, client, before.target)
  } catch (error) {
    restoreRecord()
    removeEmptyDirectories(made)
    throw error
  }
  return {
    backup,
    undo: () => {
      if (isChange(change)) write({ ...before, bytes: after }, before.bytes, change.mode)
      restoreRecord()
      removeEmptyDirectories(made)
    },
  }
}

function write(before: SettingsFile, after: Buffer | null, mode: number): void {
  if (after === null) removeSettingsFile(before)
  else writeSettingsFile(before, after, mode)
}

function rolledBack(done: readonly Applied[], error: unknown): unknown {
  const failures: string[] = []
  for (const { undo } of done.toReversed()) {
    try {
      undo()
    } catch (failure) {
      failures.push(messageOf(failure))
    }
  }
  if (failures.length === 0) return error
  const left = `A file that was changed before could not be changed back: ${failures.join('; ')}`
  return new MemError('bad_setting', `${messageOf(error)} ${left}`, { cause: error })
}

function removeEmptyDirectories(directories: readonly string[]): void {
  for (const directory of directories) {
    try {
      rmdirSync(directory)
    } catch {
      // Somebody put something there since: it stays.
    }
  }
}
