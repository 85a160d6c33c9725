/** `claude-mem update`: another version of the installed program, and back to the one before. */
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { MemError } from '../../lib/errors.ts'
import { pluralize } from '../../lib/format.ts'
import { makeTemporaryDirectory } from '../../lib/temporary.ts'
import { compareVersions, VERSION } from '../../lib/version.ts'
import type { InstalledProgram } from '../../setup/program/place.ts'
import type { BackupInfo } from '../../store/port.ts'
import { refuseIf } from '../arguments.ts'
import { type Cli, printResult, withInterruptSignal } from '../cli.ts'
import { defineCommand, stringOption } from '../command.ts'
import { terminalSafe } from '../text.ts'

const LATEST = 'latest'

export const updateCommand = defineCommand({
  usage: 'update',
  group: 'Integrations',
  summary: 'Update the installed program, or go back to the version before',
  about:
    'Fetches the newest version with npm (or takes the one of --from), tries it, and makes it the current one: hooks and MCP ' +
    'server run it from then on, and a running daemon hands over to it. Nothing is lost, also in open sessions. Whatever ' +
    'fails before, the version in use stays. The version before is kept, and --rollback goes back to it. If the database ' +
    'was upgraded since, the older version cannot read it: --rollback then changes nothing and names the backup of that ' +
    'upgrade; with --restore-backup it is restored, without what was remembered after it.',
  examples: [
    ['claude-mem update --check', 'is there a newer version?'],
    ['claude-mem update', ''],
    ['claude-mem update --from ./claude-mem-0.2.0.tgz', 'a packed file, a directory or a version'],
    ['claude-mem update --rollback', 'back to the version before'],
  ],
  options: {
    from: stringOption('A packed file (npm pack), a directory with a build, or a version'),
    check: { type: 'boolean', describe: 'Only print whether there is a newer version' },
    rollback: { type: 'boolean', describe: 'Go back to the version before' },
    'restore-backup': {
      type: 'boolean',
      describe: 'With --rollback: also restore the database from before its upgrade',
    },
  },
  run: async ({ from, check, rollback, 'restore-backup': restoreBackup }, cli) => {
    refuseIf(
      [from !== undefined, check, rollback].filter(Boolean).length > 1,
      'use one of --from, --check and --rollback',
    )
    refuseIf(restoreBackup && !rollback, '--restore-backup is an option of --rollback')
    if (check) return await checkForUpdate(cli)
    if (rollback) return await rollBack(cli, restoreBackup)
    return await update(cli, from ?? LATEST)
  },
})

async function checkForUpdate(cli: Cli): Promise<void> {
  const [{ newestVersion }, { currentProgram }] = await Promise.all([
    import('../../setup/program/fetch.ts'),
    import('../../setup/program/place.ts'),
  ])
  cli.progress('Asking the registry …')
  const newest = await withInterruptSignal((signal) => newestVersion({ env: cli.env, signal })).finally(() =>
    cli.progress(''),
  )
  const current = currentProgram(cli.paths)?.version ?? VERSION
  const isNewer = compareVersions(newest, current) > 0
  printResult(cli, { current, newest, isNewer }, () =>
    isNewer
      ? `claude-mem ${newest} is available; ${current} is installed. To update: claude-mem update`
      : `claude-mem ${current} is installed; there is no newer version (the registry has ${newest})`,
  )
}

async function update(cli: Cli, from: string): Promise<void> {
  const [place, { fetchProgram, parseProgramSource }, versions] = await Promise.all([
    import('../../setup/program/place.ts'),
    import('../../setup/program/fetch.ts'),
    import('../program-versions.ts'),
  ])
  const { paths } = cli
  requireInstalled(place.currentProgram(paths))
  const source = parseProgramSource(from)
  const result = await place
    .withProgramLock(
      paths,
      async () => {
        const before = requireInstalled(place.currentProgram(paths))
        cli.progress(source.at === 'npm' ? `Fetching ${basename(source.wanted)} …` : 'Reading the program …')
        const directory = makeTemporaryDirectory(paths.temporary, 'update')
        const program = await withInterruptSignal(async (signal) => {
          const dist = await fetchProgram(source, paths, { env: cli.env, signal, directory })
          cli.progress('Trying the new version …')
          return await place.placeProgram(dist, paths)
        }).finally(() => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }))
        versions.refuseNewerDatabase(paths, program)
        place.switchProgram(paths, program)
        return { before, program, changed: before.name !== program.name }
      },
      () => cli.progress('Waiting for another installation …'),
    )
    .finally(() => cli.progress(''))
  const restarted = result.changed && (await versions.replaceDaemon(cli, result.program))
  const { before, program, changed } = result
  printResult(cli, { version: program.version, before: before.version, changed, restarted }, () =>
    changed
      ? [
          `claude-mem ${program.version} is in use; before it was ${before.version}`,
          restarted ? 'The daemon was handed over' : 'The next hook starts its daemon',
          'To go back: claude-mem update --rollback',
        ]
      : `claude-mem ${program.version} is already in use; nothing changed`,
  )
}

function requireInstalled(current: InstalledProgram | null): InstalledProgram {
  if (current !== null) return current
  throw new MemError('not_found', 'no program is installed in the data directory yet; install it: claude-mem install')
}

async function rollBack(cli: Cli, restoreBackup: boolean): Promise<void> {
  const [place, versions] = await Promise.all([
    import('../../setup/program/place.ts'),
    import('../program-versions.ts'),
  ])
  const { paths } = cli
  const result = await place.withProgramLock(paths, async () => {
    const from = requireInstalled(place.currentProgram(paths))
    const to = place.previousProgram(paths)
    if (to === null)
      throw new MemError('not_found', `there is no version before ${from.version} here; nothing was changed`)
    const schema = versions.databaseSchema(paths)
    const isReadable = schema === null || schema <= to.schema
    const backup = isReadable ? null : await backupBeforeUpgrade(cli, to)
    if (backup !== null && !restoreBackup)
      throw upgradedError(cli, to, backup, versions.memoriesSince(paths, backup.at))
    // Hooks run the older version from here on, so that none starts a daemon of the newer one.
    place.switchProgram(paths, to)
    try {
      if (backup !== null) await versions.restoreWith(cli, to, backup.file)
    } catch (error) {
      place.switchProgram(paths, from)
      throw error
    }
    return { from, to, backup }
  })
  const { from, to, backup } = result
  const restarted = await versions.replaceDaemon(cli, to)
  printResult(cli, { version: to.version, before: from.version, restored: backup?.file ?? null, restarted }, () => [
    `claude-mem ${to.version} is in use again; before it was ${from.version}`,
    ...(backup === null
      ? []
      : [
          `The database of ${new Date(backup.at).toISOString()} was restored; claude-mem backup lists the replaced one`,
        ]),
    `To undo it: claude-mem update --rollback`,
  ])
}

/** The newest backup that the older program understands. */
async function backupBeforeUpgrade(cli: Cli, { version, schema }: InstalledProgram): Promise<BackupInfo> {
  const [{ listBackups }, { fileSchema }] = await Promise.all([
    import('../../store/recovery/backup.ts'),
    import('../program-versions.ts'),
  ])
  const found = listBackups(cli.paths.backups).find(
    ({ file }) => (fileSchema(file) ?? Number.POSITIVE_INFINITY) <= schema,
  )
  if (found !== undefined) return found
  throw new MemError(
    'newer_database',
    `claude-mem ${version} cannot read the database, which was upgraded since, and there is no backup from before in ` +
      `${cli.paths.backups}. Nothing was changed. To take the memory along: claude-mem export, then claude-mem import with ` +
      'the older version and another CLAUDE_MEM_DATA_DIR',
  )
}

function upgradedError(
  cli: Cli,
  { version }: InstalledProgram,
  { file, at }: BackupInfo,
  { observations, events }: { observations: number; events: number },
): MemError {
  const since = `${pluralize(observations, 'observation')} and ${pluralize(events, 'event')}`
  return new MemError(
    'newer_database',
    `claude-mem ${version} cannot read the database, which was upgraded since. Nothing was changed. The backup ` +
      `${terminalSafe(join(cli.paths.backups, basename(file)))} is from ${new Date(at).toISOString()}, before the upgrade. To go back ` +
      `to it, without the ${since} that came after it: claude-mem update --rollback --restore-backup (export them ` +
      'before, with claude-mem export, to keep them)',
  )
}
