/** `claude-mem uninstall --purge`: removes all installations, the sections in files, the daemon and the data directory. */
import { lstatSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FileOutcome } from '../context/files/edit-file.ts'
import { removeAllSections } from '../context/files/file-sections.ts'
import { errorMessage, MemError, systemCode } from '../lib/errors.ts'
import { pluralize } from '../lib/format.ts'
import type { Paths } from '../lib/paths.ts'
import { allRecords, type InstallRecord } from '../setup/install/change.ts'
import { installAdapterNamed } from '../setup/install/clients/index.ts'
import { type UninstallResult, uninstallClient, uninstallRecorded } from '../setup/install/install.ts'
import { removableEntries } from '../setup/install/purge.ts'
import { removeCommand } from '../setup/program/shell-command.ts'
import { openStoreReader } from '../store/sqlite/reader.ts'
import { removeStaleSocket, tryLock } from '../transport/daemon-lock.ts'
import { type Cli, confirmChange, printResult } from './cli.ts'
import { EXIT_FAILED } from './command.ts'
import type { InstallClient } from './commands/install.ts'
import { stopDaemon } from './daemon-process.ts'
import { installDryRunLines, uninstalledFileLines } from './render/install.ts'
import { terminalSafe } from './text.ts'

/** Time for a stopped daemon's process to exit; a loaded machine may be slow. */
const EXIT_TIMEOUT_MS = 10_000
const EXIT_POLL_MS = 20
/** A hook of an open session may start the daemon again while it is being stopped. */
const MAX_STOP_ATTEMPTS = 3

/** Resolves with the exit code. */
export async function purgeAll(
  cli: Cli,
  client: InstallClient,
  { dryRun, yes }: { dryRun: boolean; yes: boolean },
): Promise<number> {
  const { dataDir } = cli.paths
  const home = homedir()
  // Throws before anything is changed if the directory contains files of other programs.
  const exists = removableEntries(cli.paths, home) !== null
  const installations = listInstallations(client, allRecords(dataDir))
  const planned = uninstallAll(installations, { dataDir, now: new Date(), dryRun: true })
  const around = { paths: cli.paths, env: cli.env, home, node: client.program.node, cli: client.program.cli }
  if (dryRun) return await printDryRun(cli, planned, exists, removeCommand(around, true))
  if (planned.failures.length > 0) throw notDeletedError(planned.failures)
  if (!yes && !(await confirmPurge(cli, planned))) return EXIT_FAILED
  const removed = uninstallAll(installations, { dataDir, now: new Date(), dryRun: false })
  // The records of installations that could not be removed are in the data directory.
  if (removed.failures.length > 0) throw notDeletedError(removed.failures)
  const command = removeCommand(around, false)
  const pids = await stopDaemonPermanently(cli)
  const sections = await removeFileSections(cli, dryRun)
  deleteDataDirectory(cli.paths, home)
  const skipped = sections.filter(({ what }) => what === 'left')
  const { installations: changed } = removed
  printResult(
    cli,
    {
      dryRun,
      dataDir,
      deleted: exists,
      shellCommand: command,
      stopped: pids,
      installations: changed,
      projections: sections,
    },
    () => resultLines(cli, removed, sections, exists, command),
  )
  for (const { file, why } of skipped) {
    cli.printStderr(`claude-mem: our section in ${terminalSafe(file)} was not removed: ${terminalSafe(why ?? '')}`)
  }
  return skipped.length === 0 ? 0 : EXIT_FAILED
}

async function printDryRun(
  cli: Cli,
  planned: UninstallOutcome,
  exists: boolean,
  command: string | null,
): Promise<number> {
  const { dataDir } = cli.paths
  const sections = await removeFileSections(cli, true)
  printResult(cli, { dryRun: true, dataDir, exists, shellCommand: command, ...planned, projections: sections }, () => [
    ...planned.installations.flatMap(({ files }) => installDryRunLines(files, cli.display())),
    ...sections.flatMap(plannedSectionLines),
    ...(command === null ? [] : [`${terminalSafe(command)} would be deleted`]),
    exists ? `${terminalSafe(dataDir)} would be deleted` : `There is no ${terminalSafe(dataDir)}`,
  ])
  if (!cli.json) for (const failure of planned.failures) cli.printStderr(`claude-mem: ${terminalSafe(failure)}`)
  return planned.failures.length === 0 ? 0 : EXIT_FAILED
}

type UninstallOptions = Parameters<typeof uninstallRecorded>[1]

interface Installation {
  client: string
  where: string
  uninstall(options: UninstallOptions): UninstallResult
}

/** One for each client and project in the records, and the one that the command line names. */
function listInstallations({ adapter, where, program }: InstallClient, records: readonly InstallRecord[]) {
  const recordKey = ({ client, scope, root }: InstallRecord) => JSON.stringify([client, scope, root])
  const recorded = [...new Set(records.map(recordKey))].map((key): Installation => {
    const own = records.filter((record) => recordKey(record) === key)
    const [first] = own
    return {
      client: installAdapterNamed(first?.client ?? '')?.title ?? first?.client ?? '',
      where: first?.root ?? 'everywhere',
      uninstall: (options) => uninstallRecorded(own, options),
    }
  })
  const named: Installation = {
    client: adapter.title,
    where: where.scope === 'project' ? where.root : 'everywhere',
    uninstall: (options) => uninstallClient(adapter, where, program, options),
  }
  // Last, because it finds entries without a record.
  return [...recorded, named]
}

interface UninstallOutcome {
  installations: { client: string; where: string; files: UninstallResult['files'] }[]
  failures: string[]
}

function uninstallAll(installations: readonly Installation[], options: UninstallOptions): UninstallOutcome {
  const outcome: UninstallOutcome = { installations: [], failures: [] }
  // In a dry run the named installation lists the files of its records again.
  const seen = new Set<string>()
  for (const { client, where, uninstall } of installations) {
    try {
      const files = uninstall(options).files.filter(({ file, changed }) => changed && !seen.has(file))
      for (const { file } of files) seen.add(file)
      if (files.length > 0) outcome.installations.push({ client, where, files })
    } catch (error) {
      outcome.failures.push(errorMessage(error))
    }
  }
  return outcome
}

function notDeletedError(failures: readonly string[]): MemError {
  return new MemError('bad_setting', `${failures.join('\n')} The memory was not deleted: fix that, then try again.`)
}

async function confirmPurge(cli: Cli, { installations }: UninstallOutcome): Promise<boolean> {
  const files = installations.flatMap(({ files }) => files.map(({ file }) => terminalSafe(file)))
  const entries = files.length === 0 ? '' : `remove our entries from ${files.join(', ')} and `
  const dataDir = terminalSafe(cli.paths.dataDir)
  cli.printStderr(`This would ${entries}delete ${dataDir} with everything that is remembered.`)
  return await confirmChange(cli, `Delete ${dataDir} permanently?`, 'Nothing was changed')
}

/** The sections that `claude-mem files` wrote. Their list is in the database, so an unreadable one gives none. */
async function removeFileSections(cli: Cli, dryRun: boolean): Promise<FileOutcome[]> {
  try {
    const reader = await openStoreReader(cli.paths.database)
    return await removeAllSections(reader, dryRun).finally(() => reader.close())
  } catch (error) {
    if (!(error instanceof MemError && error.code === 'not_found')) {
      cli.printStderr(`claude-mem: sections in files could not be searched: ${terminalSafe(errorMessage(error))}`)
    }
    return []
  }
}

function plannedSectionLines({ file, what, why }: FileOutcome): string[] {
  if (what === 'cleaned') return [`Our section would be removed from ${terminalSafe(file)}`]
  if (what === 'deleted') return [`${terminalSafe(file)} would be deleted`]
  return what === 'left' ? [`Our section would stay in ${terminalSafe(file)}: ${terminalSafe(why ?? '')}`] : []
}

function resultLines(
  cli: Cli,
  { installations }: UninstallOutcome,
  sections: readonly FileOutcome[],
  deleted: boolean,
  command: string | null,
): string[] {
  const { bold, green } = cli.display().style
  const cleaned = sections.filter(({ what }) => what === 'cleaned' || what === 'deleted').length
  const dataDir = terminalSafe(cli.paths.dataDir)
  return [
    `${green('✓')} ${bold('claude-mem is removed')}`,
    ...installations.flatMap(({ files }) => files.flatMap((file) => uninstalledFileLines(file, false))),
    ...(cleaned === 0 ? [] : [`  Its section was removed from ${pluralize(cleaned, 'file')}.`]),
    ...(command === null ? [] : [`  ${terminalSafe(command)} is deleted.`]),
    deleted ? `  ${dataDir} is deleted.` : `  There was no ${dataDir}.`,
    '',
    'Close sessions that are open now: they still have its hooks.',
  ]
}

/** Resolves with the pids of the stopped daemons. */
async function stopDaemonPermanently(cli: Cli): Promise<number[]> {
  const pids: number[] = []
  for (let attempt = 0; attempt < MAX_STOP_ATTEMPTS; attempt++) {
    const stopped = await stopDaemon(cli)
    if (stopped === null) return pids
    pids.push(stopped.pid)
    await waitForExit(stopped.pid)
  }
  throw new MemError(
    'already_running',
    'the daemon was started again while it was being stopped; close all open sessions, then try again',
    { retryable: true },
  )
}

async function waitForExit(pid: number): Promise<void> {
  const deadline = Date.now() + EXIT_TIMEOUT_MS
  while (isAlive(pid)) {
    if (Date.now() > deadline) {
      const text = `the daemon (pid ${pid}) has not exited after ${EXIT_TIMEOUT_MS / 1000} s; end that process, then try again`
      throw new MemError('already_running', text)
    }
    await sleep(EXIT_POLL_MS)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}

/** Holds the lock meanwhile, so that a daemon that a hook starts cannot use the directory. */
export function deleteDataDirectory(paths: Paths, home: string): void {
  if (removableEntries(paths, home) === null) return
  const lock = tryLock(paths.lock)
  if (lock === null) {
    throw new MemError('already_running', `another process uses ${paths.dataDir}; stop it, then try again`, {
      retryable: true,
    })
  }
  // Listed again, because taking the lock creates files.
  const entries = removableEntries(paths, home) ?? []
  const isLock = (name: string) => name.startsWith(basename(paths.lock))
  const remove = (name: string) => rmSync(join(paths.dataDir, name), { recursive: true, force: true, maxRetries: 3 })
  try {
    for (const name of entries.filter((name) => !isLock(name))) remove(name)
    removeStaleSocket(paths.socket)
    // An open file cannot be deleted on Windows.
    if (process.platform === 'win32') lock.release()
    for (const name of entries.filter(isLock)) remove(name)
    removeDirectory(paths.dataDir)
  } finally {
    if (process.platform !== 'win32') lock.release()
  }
  if (dirname(paths.socket) !== paths.dataDir) removeIfEmpty(dirname(paths.socket))
}

/** Removes a symbolic link together with its target. */
function removeDirectory(directory: string): void {
  const isLink = lstatSync(directory).isSymbolicLink()
  try {
    rmdirSync(isLink ? realpathSync(directory) : directory)
  } catch (error) {
    if (systemCode(error) !== 'ENOTEMPTY') throw error
    throw new MemError(
      'already_running',
      `a file was written to ${directory} while it was being deleted; close all open sessions, then try again`,
      { cause: error, retryable: true },
    )
  }
  if (isLink) rmSync(directory)
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory)
  } catch {
    // It contains the socket of another data directory, or it is the directory of a Windows pipe.
  }
}
