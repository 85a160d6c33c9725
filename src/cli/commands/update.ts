/** `claude-mem update`: another version of the installed program, and back to the one before. */
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { MemError } from '../../lib/errors.ts'
import { pluralize } from '../../lib/format.ts'
import { PACKAGE_NAME } from '../../lib/names.ts'
import { makeTemporaryDirectory } from '../../lib/temporary.ts'
import { compareVersions, VERSION } from '../../lib/version.ts'
import type { InstalledProgram } from '../../setup/program/place.ts'
import type { BackupInfo } from '../../store/port.ts'
import { refuseIf } from '../arguments.ts'
import { type Cli, confirmChange, printResult, withInterruptSignal } from '../cli.ts'
import { defineCommand, EXIT_FAILED, stringOption, yesOption } from '../command.ts'
import { terminalSafe } from '../text.ts'

const LATEST = 'latest'

export const updateCommand = defineCommand({
  usage: 'update',
  group: 'Integrations',
  summary: 'Update the installed program, or go back to the version before',
  about:
    'Takes the packed file of --from, or the newest version of the package coding-agent-memory in the registry of npm (no other ' +
    'package is taken), shows its version, size and integrity, and asks. Then it tries it and makes it the current one: hooks ' +
    'and MCP server run it from then on, and a running daemon hands over to it. Nothing is lost, also in open sessions. Whatever ' +
    'fails before, the version in use stays. The version before is kept, and --rollback goes back to it. If the database ' +
    'was upgraded since, the older version cannot read it: --rollback then changes nothing and names the backup of that ' +
    'upgrade; with --restore-backup it is restored, without what was remembered after it.',
  examples: [
    ['claude-mem update --from ./coding-agent-memory-0.2.0.tgz', 'a packed file, made with npm pack in a clone'],
    ['claude-mem update --rollback', 'back to the version before'],
  ],
  options: {
    from: stringOption('A packed file (npm pack), or a version in the registry'),
    check: { type: 'boolean', describe: 'Only print whether there is a newer version' },
    rollback: { type: 'boolean', describe: 'Go back to the version before' },
    yes: yesOption,
    'restore-backup': {
      type: 'boolean',
      describe: 'With --rollback: also restore the database from before its upgrade',
    },
  },
  run: async ({ from, check, rollback, yes, 'restore-backup': restoreBackup }, cli) => {
    refuseIf(
      [from !== undefined, check, rollback].filter(Boolean).length > 1,
      'use one of --from, --check and --rollback',
    )
    refuseIf(restoreBackup && !rollback, '--restore-backup is an option of --rollback')
    if (check) return await checkForUpdate(cli)
    if (rollback) return await rollBack(cli, restoreBackup)
    return await update(cli, from ?? LATEST, yes)
  },
})

async function checkForUpdate(cli: Cli): Promise<number> {
  const [{ newestVersion }, { currentProgram }] = await Promise.all([
    import('../../setup/program/fetch.ts'),
    import('../../setup/program/place.ts'),
  ])
  cli.progress('Asking the registry …')
  const newest = await withInterruptSignal((signal) => newestVersion({ env: cli.env, signal })).finally(() =>
    cli.progress(''),
  )
  const current = currentProgram(cli.paths)?.version ?? VERSION
  const isNewer = compareVersions(newest.version, current) > 0
  printResult(cli, { current, newest: newest.version, integrity: newest.integrity, isNewer }, () =>
    isNewer
      ? `${PACKAGE_NAME} ${newest.version} (${newest.integrity}) is available; ${current} is installed. To update: claude-mem update`
      : `claude-mem ${current} is installed; there is no newer version (the registry has ${newest.version})`,
  )
  return 0
}

/** Resolves with the exit code. */
async function update(cli: Cli, from: string, yes: boolean): Promise<number> {
  const [place, { fetchPackedProgram, programSource, unpackProgram }, versions] = await Promise.all([
    import('../../setup/program/place.ts'),
    import('../../setup/program/fetch.ts'),
    import('../program-versions.ts'),
  ])
  const { paths } = cli
  const { version: current } = requireInstalled(place.currentProgram(paths))
  const source = programSource(from)
  const directory = makeTemporaryDirectory(paths.temporary, 'update')
  try {
    cli.progress(`Fetching ${basename(source)} …`)
    const packed = await withInterruptSignal((signal) =>
      fetchPackedProgram(source, { env: cli.env, signal, directory }),
    ).finally(() => cli.progress(''))
    cli.printStderr(`${PACKAGE_NAME} ${packed.version}, ${packed.bytes} bytes, from ${terminalSafe(source)}`)
    cli.printStderr(packed.integrity)
    const question = `It would replace claude-mem ${current} and run with your rights. Update?`
    if (!yes && !(await confirmChange(cli, question, 'Nothing was changed'))) return EXIT_FAILED
    const result = await place
      .withProgramLock(
        paths,
        async () => {
          const before = requireInstalled(place.currentProgram(paths))
          cli.progress('Trying the new version …')
          const program = await withInterruptSignal(async (signal) => {
            const dist = await unpackProgram(packed, paths, { env: cli.env, signal, directory })
            return await place.placeProgram(dist, paths)
          })
          versions.refuseNewerDatabase(paths, program)
          place.switchProgram(paths, program)
          return { before, program, changed: before.name !== program.name }
        },
        () => cli.progress('Waiting for another installation …'),
      )
      .finally(() => cli.progress(''))
    const restarted = result.changed && (await versions.replaceDaemon(cli, result.program))
    const { before, program, changed } = result
    const { bytes, integrity } = packed
    const view = { version: program.version, before: before.version, changed, restarted, bytes, integrity }
    printResult(cli, view, () =>
      changed
        ? [
            `claude-mem ${program.version} is in use; before it was ${before.version}`,
            restarted ? 'The daemon was handed over' : 'The next hook starts its daemon',
            'To go back: claude-mem update --rollback',
          ]
        : `claude-mem ${program.version} is already in use; nothing changed`,
    )
    return 0
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

function requireInstalled(current: InstalledProgram | null): InstalledProgram {
  if (current !== null) return current
  throw new MemError('not_found', 'no program is installed in the data directory yet; install it: claude-mem install')
}

async function rollBack(cli: Cli, restoreBackup: boolean): Promise<number> {
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
  return 0
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
