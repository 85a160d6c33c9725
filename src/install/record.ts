/**
 * What an installation did, so that it can be undone byte for byte: a copy of the settings as they were, and the
 * digest of what was written. Settings may hold keys: everything here is for its owner alone.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { MemError, messageOf, systemCode } from '../errors.ts'
import { shortHash } from '../paths.ts'
import type { Scope } from './clients/adapter.ts'
import { type FormatName, isFormatName } from './formats.ts'

export interface InstallRecord {
  v: 2
  client: string
  scope: Scope
  /** Top of the project that it is for; null for the user's own settings. */
  root: string | null
  /** The settings file as people know it, and behind links. */
  path: string
  file: string
  format: FormatName
  /** A copy of the settings without us; null when there was no file. */
  original: string | null
  /** Directories that were made for the file, the innermost first. */
  madeDirectories: string[]
  /** Digest of the settings as we left them. */
  wrote: string
  /** Command lines that we wrote, the newest first. */
  commands: string[]
  at: string
}

export const RECORDS_DIRECTORY = 'install'
/** Enough to recognise what was left behind by moves; a list needs an end. */
const KEPT_COMMANDS = 20

export function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** `file` is the one behind links. */
export function readRecord(dataDir: string, client: string, file: string): InstallRecord | null {
  const record = parseRecord(recordFile(dataDir, client, file))
  return record?.file === file ? record : null
}

/** Of every client and scope. */
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

export function writeRecord(dataDir: string, record: InstallRecord): void {
  const path = recordFile(dataDir, record.client, record.file)
  const kept = { ...record, commands: [...new Set(record.commands)].slice(0, KEPT_COMMANDS) }
  keep(dataDir, () => {
    writeFileSync(`${path}.tmp`, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600, flush: true })
    renameSync(`${path}.tmp`, path)
  })
}

export function removeRecord(dataDir: string, client: string, file: string): void {
  rmSync(recordFile(dataDir, client, file), { force: true })
}

/** A copy with the time in its name; its path. */
export function saveCopy(dataDir: string, file: string, bytes: Buffer, now: Date): string {
  const stamp = now.toISOString().replaceAll(':', '-')
  return keep(dataDir, () => {
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

/** Without a place to remember what was done nothing is done. */
function keep<T>(dataDir: string, write: () => T): T {
  const directory = join(dataDir, RECORDS_DIRECTORY)
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    return write()
  } catch (cause) {
    const why = `${directory} cannot be written, where copies of the settings are kept: ${messageOf(cause)}`
    throw new MemError('bad_setting', `${why}. Nothing was changed.`, { cause })
  }
}

/** One a settings file: somebody may have several, by CLAUDE_CONFIG_DIR or by project. */
function recordFile(dataDir: string, client: string, file: string): string {
  return join(dataDir, RECORDS_DIRECTORY, `${client}-${shortHash(file)}.json`)
}

function parseRecord(path: string): InstallRecord | null {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    // None, or not whole: without it our entries are found by what they are.
    return null
  }
  if (typeof value !== 'object' || value === null) return null
  const given: Record<string, unknown> = { ...value }
  const { file, original, wrote, at } = given
  const commands = textsOf(given.commands)
  if (typeof file !== 'string' || typeof wrote !== 'string' || commands === null) return null
  if (original !== null && typeof original !== 'string') return null
  const common = { v: 2, file, original, wrote, commands, at: String(at) } as const
  // The first version knew only hooks in Claude Code's own settings.
  if (given.v === 1) {
    const made = given.madeDirectory
    const madeDirectories = typeof made === 'string' ? [made] : []
    return { ...common, client: 'claude-code', scope: 'user', root: null, path: file, format: 'hooks', madeDirectories }
  }
  const { client, scope, root, format } = given
  const madeDirectories = textsOf(given.madeDirectories)
  if (given.v !== 2 || typeof client !== 'string' || madeDirectories === null || !isFormatName(format)) return null
  if (scope !== 'user' && scope !== 'project') return null
  return {
    ...common,
    client,
    scope,
    root: typeof root === 'string' ? root : null,
    path: typeof given.path === 'string' ? given.path : file,
    format,
    madeDirectories,
  }
}

function textsOf(value: unknown): string[] | null {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : null
}
