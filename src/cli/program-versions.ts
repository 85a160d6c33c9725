/** Versions of the installed program and the daemon: which database each understands, and the handover between them. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { errorMessage, MemError } from '../lib/errors.ts'
import { INSTALL_NEWER } from '../lib/names.ts'
import type { Paths } from '../lib/paths.ts'
import { compareVersions } from '../lib/version.ts'
import type { BuildInfo, InstalledProgram } from '../setup/program/place.ts'
import { schemaVersion } from '../store/migrations/index.ts'
import { Database } from '../store/sqlite/database.ts'
import type { Cli } from './cli.ts'
import { fetchDaemonStatus, stopDaemon } from './daemon-process.ts'

export function isInNpxCache(path: string): boolean {
  return /[\\/]_npx[\\/]/.test(path)
}

/** The schema of the database; null if there is none or it cannot be read, which its program handles at its start. */
export function databaseSchema(paths: Paths): number | null {
  return fileSchema(paths.database)
}

export function fileSchema(file: string): number | null {
  return readDatabase(file, schemaVersion)
}

/** What would be missing in a backup of this time. */
export function memoriesSince(paths: Paths, at: number): { observations: number; events: number } {
  const counted = readDatabase(paths.database, (db) => ({
    observations: db.number`SELECT count(*) AS n FROM observations WHERE created_at_epoch > ${at}`,
    events: db.number`SELECT count(*) AS n FROM events WHERE received_at > ${at}`,
  }))
  return counted ?? { observations: 0, events: 0 }
}

/** Null if the file cannot be read. */
function readDatabase<T>(file: string, read: (db: Database) => T): T | null {
  let db: Database | null = null
  try {
    db = new Database(file, { readonly: true, fileMustExist: true })
    return read(db)
  } catch {
    return null
  } finally {
    db?.close()
  }
}

/** An older program must not become the current one: its daemon would refuse the database. */
export function refuseNewerDatabase(paths: Paths, { version, schema }: BuildInfo): void {
  const found = databaseSchema(paths)
  if (found === null || found <= schema) return
  throw new MemError(
    'newer_database',
    `${paths.database} was written by a newer claude-mem (schema ${found}; claude-mem ${version} supports up to ${schema}). ` +
      `Install the newer one again: ${INSTALL_NEWER}. Nothing was changed.`,
  )
}

/** A daemon starts in seconds, and waits up to ten for the one before. */
const START_TIMEOUT_MS = 60_000

/**
 * Starts the daemon of a newer program, which takes over from a running older one. Without a running daemon the next hook
 * starts it. Resolves with whether it was started.
 */
export async function handOverTo(cli: Cli, program: InstalledProgram): Promise<boolean> {
  const running = await fetchDaemonStatus(cli.paths).catch(() => null)
  if (running === null || compareVersions(running.version, program.version) >= 0) return false
  await startDaemonOf(cli, program)
  return true
}

/**
 * A running daemon of another version makes place: a newer program takes over by itself, an older one is started after the
 * newer has stopped. Resolves with whether a daemon was running.
 */
export async function replaceDaemon(cli: Cli, program: InstalledProgram): Promise<boolean> {
  const running = await fetchDaemonStatus(cli.paths).catch(() => null)
  if (running === null) return false
  if (compareVersions(running.version, program.version) >= 0) await stopDaemon(cli)
  await startDaemonOf(cli, program)
  return true
}

/** The older program restores the backup itself: a newer one would upgrade it. */
export async function restoreWith(cli: Cli, program: InstalledProgram, backup: string): Promise<void> {
  try {
    await runProgramOf(cli, program, ['backup', 'restore', backup, '--json'])
  } catch (cause) {
    throw new MemError(
      'storage',
      `the backup could not be restored: ${errorMessage(cause)}. The version in use stays`,
      { cause },
    )
  }
}

/** Runs `start` of that program: it knows how its daemon is started. */
async function startDaemonOf(cli: Cli, program: InstalledProgram): Promise<void> {
  try {
    await runProgramOf(cli, program, ['start', '--json'])
  } catch (cause) {
    const text = `claude-mem ${program.version} is installed, but its daemon did not start: ${errorMessage(cause)}`
    throw new MemError('not_running', `${text}. The next hook tries again; see: claude-mem logs`, { cause })
  }
}

async function runProgramOf(cli: Cli, { directory }: InstalledProgram, args: readonly string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [join(directory, 'dist', 'cli.js'), ...args], {
    env: { ...cli.env, CLAUDE_MEM_DATA_DIR: cli.paths.dataDir },
    timeout: START_TIMEOUT_MS,
    windowsHide: true,
  })
}
