/**
 * What an installation did, so that it can be undone byte for byte: a copy of the settings as they were, and the
 * digest of what was written. Settings may hold keys: everything here is for its owner alone.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { systemCode } from '../errors.ts'
import { shortHash } from '../paths.ts'

export interface InstallRecord {
  v: 1
  /** The settings file, behind links. */
  file: string
  /** A copy of the settings without us; null when there was no file. */
  original: string | null
  /** A directory that was made for the file; null when it was there. */
  madeDirectory: string | null
  /** Digest of the settings as we left them. */
  wrote: string
  /** Command lines that we wrote, the newest first. */
  commands: string[]
  at: string
}

const DIRECTORY = 'install'
/** Enough to recognise what was left behind by moves; a list needs an end. */
const KEPT_COMMANDS = 20

export function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export function readRecord(dataDir: string, file: string): InstallRecord | null {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(recordFile(dataDir, file), 'utf8'))
  } catch {
    // None, or not whole: without it our entries are found by what they are.
    return null
  }
  return isRecord(value) && value.file === file ? value : null
}

export function writeRecord(dataDir: string, record: InstallRecord): void {
  const path = recordFile(dataDir, record.file)
  prepare(dataDir)
  const kept = { ...record, commands: [...new Set(record.commands)].slice(0, KEPT_COMMANDS) }
  writeFileSync(`${path}.tmp`, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600, flush: true })
  renameSync(`${path}.tmp`, path)
}

export function removeRecord(dataDir: string, file: string): void {
  rmSync(recordFile(dataDir, file), { force: true })
}

/** A copy with the time in its name; its path. */
export function saveCopy(dataDir: string, file: string, bytes: Buffer, now: Date): string {
  prepare(dataDir)
  const stamp = now.toISOString().replaceAll(':', '-')
  for (let n = 0; ; n++) {
    const copy = join(dataDir, DIRECTORY, `${stamp}${n === 0 ? '' : `-${n}`}-${basename(file)}`)
    try {
      writeFileSync(copy, bytes, { flag: 'wx', mode: 0o600, flush: true })
      return copy
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
    }
  }
}

export function readCopy(copy: string): Buffer | null {
  try {
    return readFileSync(copy)
  } catch {
    return null
  }
}

function prepare(dataDir: string): void {
  mkdirSync(join(dataDir, DIRECTORY), { recursive: true, mode: 0o700 })
}

/** One a settings file: somebody may have several, by CLAUDE_CONFIG_DIR. */
function recordFile(dataDir: string, file: string): string {
  return join(dataDir, DIRECTORY, `claude-code-${shortHash(file)}.json`)
}

function isRecord(value: unknown): value is InstallRecord {
  if (typeof value !== 'object' || value === null) return false
  const record: Partial<Record<keyof InstallRecord, unknown>> = value
  const isTextOrNull = (field: unknown) => field === null || typeof field === 'string'
  return (
    record.v === 1 &&
    typeof record.file === 'string' &&
    typeof record.wrote === 'string' &&
    isTextOrNull(record.original) &&
    isTextOrNull(record.madeDirectory) &&
    Array.isArray(record.commands) &&
    record.commands.every((command) => typeof command === 'string')
  )
}
