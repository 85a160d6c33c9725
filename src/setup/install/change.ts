/**
 * Changes several settings files together: all of them or none. Each change has a record in the data directory, so that
 * it can be undone byte for byte: a copy of the file before the first change, and the digest of what was written.
 */

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { structuredPatch } from 'diff'
import * as z from 'zod'
import { maskSecrets } from '../../domain/secrets.ts'
import { errorMessage, MemError, systemCode } from '../../lib/errors.ts'
import { moveFileSync } from '../../lib/files.ts'
import { shortHash } from '../../lib/paths.ts'
import type { ClientFile } from './clients/adapter.ts'
import { ENTRY_FORMAT_NAMES, type IsOurs } from './entry-format.ts'
import { refuseReadOnly, removeSettingsFile, type SettingsFile, sameBytes, writeSettingsFile } from './settings-file.ts'

export interface ChangeOptions {
  dataDir: string
  now: Date
  dryRun: boolean
  /** Gets the steps that undo the changes, the last change first (`rollBack`). */
  undo?: (() => void)[]
}

/** One of a client's files, as it is now. */
export interface ClientFileState extends ClientFile {
  client: string
  before: SettingsFile
  record: InstallRecord | null
  isOurs: IsOurs
}

export interface FileChange extends ClientFileState {
  /** The new content; null removes the file. */
  after: Buffer | null
  /** Mode of a file that is created. */
  mode: number
  /** Whether a copy of the old content is kept. */
  keepsCopy: boolean
  /** Null removes the record. `backup` is the copy of the old content. */
  newRecord: ((backup: string | null) => InstallRecord) | null
}

export function changesBytes({ before, after }: Pick<FileChange, 'before' | 'after'>): boolean {
  return !sameBytes(before.bytes, after)
}

/** Longer lines of a diff are cut: some files are a single line. */
const MAX_DIFF_LINE_CHARS = 4_000

/** The diff with secrets masked: a client's file may contain keys next to our entry, and diffs are pasted elsewhere. */
export function maskedDiff(change: FileChange): string[] {
  const { before, after } = change
  if (!changesBytes(change)) return []
  const lines = unifiedDiff(before.bytes?.toString('utf8') ?? null, after?.toString('utf8') ?? null, before.file)
  return lines.map((line) =>
    line.length > MAX_DIFF_LINE_CHARS
      ? `${maskSecrets(line.slice(0, MAX_DIFF_LINE_CHARS))}… (${line.length - MAX_DIFF_LINE_CHARS} more characters)`
      : maskSecrets(line),
  )
}

/** Returns each change with its backup; null for a change without one. */
export function applyChanges<Change extends FileChange>(
  changes: readonly Change[],
  options: ChangeOptions,
): (Change & { backup: string | null })[] {
  for (const change of changes) {
    if (changesBytes(change)) refuseReadOnly(change.before.file, change.before.target)
  }
  if (options.dryRun) return changes.map((change) => ({ ...change, backup: null }))
  const undoSteps: (() => void)[] = []
  try {
    const applied = changes.map((change) => {
      const { backup, undo } = apply(change, options)
      undoSteps.unshift(undo)
      return { ...change, backup }
    })
    for (const { after, record } of changes) {
      if (after === null) removeEmptyDirectories(record?.madeDirectories ?? [])
    }
    options.undo?.unshift(...undoSteps)
    return applied
  } catch (error) {
    throw rollBack(undoSteps, error)
  }
}

/** The missing directories of a file, innermost first. */
export function missingDirectories(file: string): string[] {
  const missing: string[] = []
  for (let path = dirname(file); !existsSync(path) && dirname(path) !== path; path = dirname(path)) missing.push(path)
  return missing
}

/** The record is written before the file: without a record a change could not be undone byte for byte. */
function apply(change: FileChange, { dataDir, now }: ChangeOptions): { backup: string | null; undo(): void } {
  const { before, after, client, record: old, newRecord } = change
  const made = missingDirectories(before.target)
  const backup = change.keepsCopy && before.bytes !== null ? saveCopy(dataDir, before.file, before.bytes, now) : null
  const restoreRecord = () => {
    if (old === null) removeRecord(dataDir, client, before.target)
    else writeRecord(dataDir, old)
    if (backup !== null) rmSync(backup, { force: true })
    removeEmptyDirectories(made)
  }
  try {
    if (newRecord !== null) writeRecord(dataDir, newRecord(backup))
    if (changesBytes(change)) write(before, after, change.mode)
    if (newRecord === null) removeRecord(dataDir, client, before.target)
  } catch (error) {
    restoreRecord()
    throw error
  }
  const undo = () => {
    if (changesBytes(change)) write({ ...before, bytes: after }, before.bytes, change.mode)
    restoreRecord()
  }
  return { backup, undo }
}

function write(before: SettingsFile, after: Buffer | null, mode: number): void {
  if (after === null) removeSettingsFile(before)
  else writeSettingsFile(before, after, mode)
}

/** Undoes changes after an error, and returns the error; with the files that could not be restored, if there are any. */
export function rollBack(undoSteps: readonly (() => void)[], error: unknown): unknown {
  const failures: string[] = []
  for (const undo of undoSteps) {
    try {
      undo()
    } catch (failure) {
      failures.push(errorMessage(failure))
    }
  }
  if (failures.length === 0) return error
  const remaining = `A file that was changed before could not be restored: ${failures.join('; ')}`
  return new MemError('bad_setting', `${errorMessage(error)} ${remaining}`, { cause: error })
}

function removeEmptyDirectories(directories: readonly string[]): void {
  for (const directory of directories) {
    try {
      rmdirSync(directory)
    } catch {
      // It is no longer empty, so it stays.
    }
  }
}

const CONTEXT_LINES = 3

/** The difference as `diff -u` prints it; empty if there is none. Null: the file does not exist. */
export function unifiedDiff(before: string | null, after: string | null, file: string): string[] {
  const { hunks } = structuredPatch(file, file, before ?? '', after ?? '', undefined, undefined, {
    context: CONTEXT_LINES,
    stripTrailingCr: true,
  })
  if (hunks.length === 0) return []
  return [
    `--- ${before === null ? '/dev/null' : file}`,
    `+++ ${after === null ? '/dev/null' : file}`,
    ...hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${firstLine(oldStart, oldLines)},${oldLines} +${firstLine(newStart, newLines)},${newLines} @@`,
      ...lines.join('\n').split(/\n(?!\\)/),
    ]),
  ]
}

/** An empty range starts at the line before it. */
function firstLine(start: number, lines: number): number {
  return lines === 0 ? start - 1 : start
}

const commonRecordFields = {
  /** The settings file with symbolic links resolved. */
  file: z.string(),
  /** A copy of the file without our entries; null if there was no file. */
  original: z.string().nullable(),
  /** Digest of the file as we wrote it. */
  wrote: z.string(),
  /** Command lines that we wrote, newest first. */
  commands: z.array(z.string()),
  at: z.string().catch(''),
}

const recordSchema = z
  .object({
    v: z.literal(2),
    client: z.string(),
    scope: z.enum(['user', 'project']),
    /** Root of the project; null for the user's settings. */
    root: z.string().nullable().catch(null),
    /** The settings file as the user knows it. */
    path: z.string().nullable().catch(null),
    format: z.enum(ENTRY_FORMAT_NAMES),
    /** Directories that were created for the file, innermost first. */
    madeDirectories: z.array(z.string()),
    ...commonRecordFields,
  })
  .transform((record) => ({ ...record, path: record.path ?? record.file }))

/** One per client and file. Settings may contain keys: records and copies are readable only by their owner. */
export type InstallRecord = z.infer<typeof recordSchema>

/** Version 1 knew only the hooks in Claude Code's user settings. */
const firstRecordSchema = z
  .object({ v: z.literal(1), madeDirectory: z.string().nullable().catch(null), ...commonRecordFields })
  .transform(({ madeDirectory, ...record }): InstallRecord => {
    const madeDirectories = madeDirectory === null ? [] : [madeDirectory]
    const hooksOfUser = { client: 'claude-code', scope: 'user', root: null, format: 'hooks' } as const
    return { ...record, ...hooksOfUser, v: 2, path: record.file, madeDirectories }
  })

export const RECORDS_DIRECTORY = 'install'
/** Old commands identify our entries after node or the program has moved. */
const KEPT_COMMANDS = 20

export function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** `file`: with symbolic links resolved. */
export function readRecord(dataDir: string, client: string, file: string): InstallRecord | null {
  const record = parseRecord(recordFile(dataDir, client, file))
  return record?.file === file ? record : null
}

/** The records of all clients and scopes. */
export function allRecords(dataDir: string): InstallRecord[] {
  let names: string[]
  try {
    names = readdirSync(join(dataDir, RECORDS_DIRECTORY))
  } catch {
    return []
  }
  const isRecordName = (name: string) => /^[a-z][a-z-]*-[0-9a-f]{16}\.json$/.test(name)
  return names
    .filter(isRecordName)
    .sort()
    .flatMap((name) => parseRecord(join(dataDir, RECORDS_DIRECTORY, name)) ?? [])
}

function writeRecord(dataDir: string, record: InstallRecord): void {
  const path = recordFile(dataDir, record.client, record.file)
  const kept = { ...record, commands: [...new Set(record.commands)].slice(0, KEPT_COMMANDS) }
  inRecordsDirectory(dataDir, () => {
    writeFileSync(`${path}.tmp`, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600, flush: true })
    moveFileSync(`${path}.tmp`, path)
  })
}

function removeRecord(dataDir: string, client: string, file: string): void {
  rmSync(recordFile(dataDir, client, file), { force: true })
}

/** Writes a copy with the time in its name and returns its path. */
export function saveCopy(dataDir: string, file: string, bytes: Buffer, now: Date): string {
  const stamp = now.toISOString().replaceAll(':', '-')
  return inRecordsDirectory(dataDir, () => {
    for (let n = 0; ; n++) {
      const copy = join(dataDir, RECORDS_DIRECTORY, `${stamp}${n === 0 ? '' : `-${n}`}-${basename(file)}`)
      try {
        writeFileSync(copy, bytes, { flag: 'wx', mode: 0o600, flush: true })
        return copy
      } catch (error) {
        if (systemCode(error) !== 'EEXIST') throw error
      }
    }
  })
}

export function readCopy(copy: string): Buffer | null {
  try {
    return readFileSync(copy)
  } catch {
    return null
  }
}

/** If records cannot be written, nothing is changed. */
function inRecordsDirectory<T>(dataDir: string, write: () => T): T {
  const directory = join(dataDir, RECORDS_DIRECTORY)
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    return write()
  } catch (cause) {
    const why = `${directory} cannot be written, and copies of the settings are kept there: ${errorMessage(cause)}`
    throw new MemError('bad_setting', `${why}. Nothing was changed.`, { cause })
  }
}

/** One per settings file: with CLAUDE_CONFIG_DIR or projects a client has several. */
function recordFile(dataDir: string, client: string, file: string): string {
  return join(dataDir, RECORDS_DIRECTORY, `${client}-${shortHash(file)}.json`)
}

function parseRecord(path: string): InstallRecord | null {
  try {
    return z.union([recordSchema, firstRecordSchema]).parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    // Missing or damaged: our entries are then recognised by their command lines.
    return null
  }
}
