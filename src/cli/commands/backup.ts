/** `claude-mem backup`: lists, makes and restores backups. */
import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { MemError } from '../../lib/errors.ts'
import { formatBytes } from '../../lib/format.ts'
import type { BackupInfo } from '../../store/port.ts'
import type { DaemonLock } from '../../transport/daemon-lock.ts'
import { oneOf, refuseIf, UsageError } from '../arguments.ts'
import { type Cli, printResult } from '../cli.ts'
import { defineCommand } from '../command.ts'
import { withDaemonIfRunning } from '../daemon-connection.ts'
import { formatAgo } from '../format.ts'
import { rightColumn, tableLines } from '../table.ts'
import { terminalSafe } from '../text.ts'

const ACTIONS = ['list', 'now', 'restore'] as const
/** Time to wait for the lock of the data directory before a restore fails. */
const LOCK_TIMEOUT_MS = 10_000
const LOCK_POLL_MS = 50
/** A database of some gigabytes takes minutes to copy and check. */
const BACKUP_TIMEOUT_MS = 600_000

export const backupCommand = defineCommand({
  usage: 'backup [action] [file]',
  group: 'Maintenance',
  summary: 'Backups: list, make or restore one',
  about:
    'The daemon makes a backup each day and before each upgrade. restore replaces the database by a backup; the replaced ' +
    'database is kept as another backup, so that a restore can be undone.',
  examples: [
    ['claude-mem backup', 'all backups, newest first'],
    ['claude-mem backup now', 'make one now'],
    ['claude-mem backup restore latest', 'restore the newest'],
  ],
  positionals: {
    action: { type: 'string', describe: 'list, now or restore', default: 'list' },
    file: { type: 'string', describe: 'restore: a backup, or latest' },
  },
  run: async ({ action, file }, cli) => {
    const chosen = oneOf('action', action, ACTIONS)
    refuseIf(chosen !== 'restore' && file !== undefined, `backup ${chosen} takes no file`)
    switch (chosen) {
      case 'list':
        return await listBackups(cli)
      case 'now':
        return await makeBackup(cli)
      case 'restore':
        if (file === undefined)
          throw new UsageError('backup restore needs a file, or latest; claude-mem backup lists them')
        // Found before the daemon is stopped.
        return await restore(await findBackup(cli, file), cli)
    }
  },
})

async function readBackups(cli: Cli): Promise<BackupInfo[]> {
  const store = await import('../../store/recovery/backup.ts')
  return store.listBackups(cli.paths.backups)
}

async function listBackups(cli: Cli): Promise<void> {
  const backups = await readBackups(cli)
  printResult(cli, { directory: cli.paths.backups, backups }, () => {
    if (backups.length === 0) return 'No backup yet; make one with: claude-mem backup now'
    const display = cli.display()
    const columns = ['BACKUP', 'MADE', rightColumn('SIZE'), 'WHY']
    const rows = backups.map(({ file, at, bytes, reason }) => [
      basename(file),
      formatAgo(at, display.now),
      formatBytes(bytes),
      reason,
    ])
    return [...tableLines(columns, rows, display), '', display.style.dim(`in ${terminalSafe(cli.paths.backups)}`)]
  })
}

async function makeBackup(cli: Cli): Promise<void> {
  const made = await withDaemonIfRunning(cli.paths, async (client) => {
    cli.progress('Writing the backup …')
    return await client.call('backup', {}, BACKUP_TIMEOUT_MS).finally(() => cli.progress(''))
  })
  const notRunning = 'backups are made by the daemon, which is not running; start it with: claude-mem start'
  if (made === null) throw new MemError('not_running', notRunning)
  const [backup] = made.backups
  if (backup === undefined) throw new MemError('internal', 'the daemon named no backup; see: claude-mem backup')
  printResult(cli, backup, () => `Backup written: ${terminalSafe(backup.file)} (${formatBytes(backup.bytes)})`)
}

async function findBackup(cli: Cli, given: string): Promise<string> {
  if (given === 'latest') {
    // The database that a restore replaced is the newest backup, but not the one to go back to.
    const newest = (await readBackups(cli)).find((backup) => backup.reason !== 'before-restore')
    if (newest !== undefined) return newest.file
    throw new MemError('not_found', `there is no backup in ${cli.paths.backups} yet`)
  }
  const found = [resolve(given), join(cli.paths.backups, given)].find((file) => existsSync(file))
  if (found !== undefined) return found
  throw new MemError('not_found', `there is no backup ${given}; claude-mem backup lists them`)
}

async function restore(file: string, cli: Cli): Promise<void> {
  const [{ restoreBackup }, { ensureDaemonRunning }] = await Promise.all([
    import('../../store/recovery/recover.ts'),
    import('../daemon-process.ts'),
  ])
  const { lock, wasRunning } = await stopAndLock(cli)
  let before: string | null
  try {
    before = (await restoreBackup(cli.paths, file)).before
  } finally {
    lock.release()
    if (wasRunning) await ensureDaemonRunning(cli)
  }
  printResult(cli, { restored: file, before, running: wasRunning }, () => [
    `Restored ${terminalSafe(file)}`,
    ...(before === null ? [] : [`The replaced database is kept as ${terminalSafe(before)}`]),
    wasRunning ? 'claude-mem is running again' : 'claude-mem is not running; start it with: claude-mem start',
  ])
}

/** Stops the daemon and takes its lock. Repeated, because a hook may start the next daemon in between. */
async function stopAndLock(cli: Cli): Promise<{ lock: DaemonLock; wasRunning: boolean }> {
  const [{ tryLock }, { stopDaemon }] = await Promise.all([
    import('../../transport/daemon-lock.ts'),
    import('../daemon-process.ts'),
  ])
  const deadline = Date.now() + LOCK_TIMEOUT_MS
  let wasRunning = false
  for (;;) {
    wasRunning = (await stopDaemon(cli)) !== null || wasRunning
    const lock = tryLock(cli.paths.lock)
    if (lock !== null) return { lock, wasRunning }
    if (Date.now() > deadline) {
      throw new MemError('already_running', `another process holds ${cli.paths.lock}; stop it and try again`)
    }
    await sleep(LOCK_POLL_MS)
  }
}
