import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DaemonLock } from '../../channel/ownership.ts'
import { MemError } from '../../errors.ts'
import type { BackupInfo } from '../../store/port.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { oneOf, UsageError } from '../failure.ts'
import { table } from '../table.ts'
import { clean } from '../text.ts'
import { ago, bytes } from '../times.ts'

const ACTIONS = ['list', 'now', 'restore'] as const
const LOCK_PATIENCE_MS = 10_000
const LOOK_AGAIN_MS = 50

export const backup = command({
  usage: 'backup [action] [file]',
  group: 'Keep it in shape',
  summary: 'Backups: list them, make one, go back to one',
  about:
    'The daemon makes a backup each day and before each upgrade. restore puts one in the place of the database; what was ' +
    'there before is kept as a backup of its own, so that it can be undone.',
  examples: [
    ['claude-mem backup', 'all backups, newest first'],
    ['claude-mem backup now', 'one more'],
    ['claude-mem backup restore latest', 'back to the newest'],
  ],
  positionals: {
    action: { type: 'string', describe: 'list, now or restore', default: 'list' },
    file: { type: 'string', describe: 'restore: a backup, or latest' },
  },
  options: { json: jsonOption },
  run: async ({ action, file, json }, cli) => {
    const chosen = oneOf('action', action, ACTIONS)
    if (chosen !== 'restore' && file !== undefined) throw new UsageError(`backup ${chosen} takes no file`)
    switch (chosen) {
      case 'list':
        return await list(cli, json === true)
      case 'now':
        return await now(cli, json === true)
      case 'restore':
        if (file === undefined)
          throw new UsageError('backup restore needs a file, or latest; claude-mem backup lists them')
        return await restore(await backupFile(cli, file), cli, json === true)
    }
  },
})

async function backups(cli: Cli): Promise<BackupInfo[]> {
  const { listBackups } = await import('../../store/sqlite/backup.ts')
  return listBackups(cli.paths.backups)
}

async function list(cli: Cli, json: boolean): Promise<number> {
  const all = await backups(cli)
  if (json) cli.printJson({ directory: cli.paths.backups, backups: all })
  else if (all.length === 0) cli.print('No backup yet; make one with: claude-mem backup now')
  else {
    const look = cli.look()
    const columns = [
      { title: 'BACKUP' },
      { title: 'MADE' },
      { title: 'SIZE', align: 'right' as const },
      { title: 'WHY' },
    ]
    const rows = all.map(({ file, at, bytes: size, reason }) => [
      basename(file),
      ago(at, look.now),
      bytes(size),
      reason,
    ])
    cli.print(...table(columns, rows, look), '', look.style.dim(`in ${clean(cli.paths.backups)}`))
  }
  return 0
}

async function now(cli: Cli, json: boolean): Promise<number> {
  const { connectIfRunning } = await import('../reader.ts')
  const client = await connectIfRunning(cli.paths)
  if (client === null) {
    throw new MemError(
      'not_running',
      'the daemon makes the backups and is not running; start it with: claude-mem start',
    )
  }
  try {
    cli.progress('Writing the backup …')
    const [made] = (await client.request('backups', { type: 'backup' }, BACKUP_MS)).backups
    cli.progress('')
    if (made === undefined) throw new MemError('internal', 'the daemon named no backup; see: claude-mem backup')
    if (json) cli.printJson(made)
    else cli.print(`Backup written: ${clean(made.file)} (${bytes(made.bytes)})`)
    return 0
  } finally {
    cli.progress('')
    client.close()
  }
}

/** A database of some gigabytes takes minutes to copy and check. */
const BACKUP_MS = 600_000

/** Looked for before anything is stopped. */
async function backupFile(cli: Cli, given: string): Promise<string> {
  if (given === 'latest') {
    // What was there before a restore is not what somebody who restores wants back.
    const newest = (await backups(cli)).find((backup) => backup.reason !== 'before-restore')
    if (newest !== undefined) return newest.file
    throw new MemError('not_found', `there is no backup in ${cli.paths.backups} yet`)
  }
  const found = [resolve(given), join(cli.paths.backups, given)].find((file) => existsSync(file))
  if (found !== undefined) return found
  throw new MemError('not_found', `there is no backup ${given}; claude-mem backup lists them`)
}

async function restore(file: string, cli: Cli, json: boolean): Promise<number> {
  const { restoreBackup } = await import('../../store/sqlite/restore.ts')
  const { ensureStarted } = await import('../daemon-process.ts')
  const { lock, ran } = await takeOver(cli)
  let before: string | null
  try {
    before = (await restoreBackup(cli.paths, file)).before
  } finally {
    lock.release()
    if (ran) await ensureStarted(cli)
  }
  if (json) cli.printJson({ restored: file, before, running: ran })
  else {
    cli.print(
      `Restored ${clean(file)}`,
      ...(before === null ? [] : [`What was there before is kept as ${clean(before)}`]),
      ran ? 'claude-mem is running again' : 'claude-mem is not running; start it with: claude-mem start',
    )
  }
  return 0
}

/** The data directory for ourselves. A hook may start a daemon right after ours has stopped: it is asked again. */
async function takeOver(cli: Cli): Promise<{ lock: DaemonLock; ran: boolean }> {
  const { takeLock } = await import('../../channel/ownership.ts')
  const { stopDaemon } = await import('../daemon-process.ts')
  const deadline = Date.now() + LOCK_PATIENCE_MS
  let ran = false
  for (;;) {
    ran = (await stopDaemon(cli)) !== null || ran
    const lock = takeLock(cli.paths.lock)
    if (lock !== null) return { lock, ran }
    if (Date.now() > deadline) {
      throw new MemError('already_running', `another process holds ${cli.paths.lock}; stop it and try again`)
    }
    await sleep(LOOK_AGAIN_MS)
  }
}
