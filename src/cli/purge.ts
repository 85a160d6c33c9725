/** `claude-mem uninstall --purge`: as if claude-mem had never been there. */
import { homedir } from 'node:os'
import type { FileOutcome } from '../context/files/change.ts'
import { MemError, messageOf } from '../errors.ts'
import type { Adapter, Program, Where } from '../install/clients/adapter.ts'
import { clientNamed } from '../install/clients/index.ts'
import { ownEntries } from '../install/data-directory.ts'
import { type Uninstalled, uninstall, uninstallRecorded } from '../install/install.ts'
import { allRecords, type InstallRecord } from '../install/record.ts'
import type { Cli } from './cli.ts'
import { eraseDataDirectory, stopForGood } from './erase.ts'
import { EXIT_FAILED } from './failure.ts'
import { dryRunLines, fileLines } from './render/install.ts'
import { clean, counted } from './text.ts'

interface Asked {
  adapter: Adapter
  where: Where
  program: Program
}
interface How {
  dryRun: boolean
  json: boolean
  yes: boolean
}

export async function purgeAll(cli: Cli, asked: Asked, { dryRun, json, yes }: How): Promise<number> {
  const { dataDir } = cli.paths
  const home = homedir()
  // Before anything is touched: a directory that is not ours is a sign that something else is wrong, too.
  const entries = ownEntries(cli.paths, home)
  const places = placesOf(asked, allRecords(dataDir))
  const planned = takeOut(places, { dataDir, now: new Date(), dryRun: true })
  if (dryRun) {
    const projections = await removeFiles(cli, dryRun)
    if (json) cli.printJson({ dryRun, dataDir, exists: entries !== null, ...planned, projections })
    else {
      cli.print(
        ...planned.installations.flatMap(({ files }) => dryRunLines(files, cli.look())),
        ...projections.flatMap(projectionLines),
        entries === null ? `There is no ${clean(dataDir)}` : `${clean(dataDir)} would be deleted`,
      )
      for (const failure of planned.failures) cli.tell(`claude-mem: ${clean(failure)}`)
    }
    return planned.failures.length === 0 ? 0 : EXIT_FAILED
  }
  if (planned.failures.length > 0) throw stopped(planned.failures)
  if (!yes && !(await agreed(cli, planned.installations))) return EXIT_FAILED
  const { installations, failures } = takeOut(places, { dataDir, now: new Date(), dryRun: false })
  // The records of what could not be taken out are in the data directory.
  if (failures.length > 0) throw stopped(failures)
  const pids = await stopForGood(cli)
  const projections = await removeFiles(cli, dryRun)
  eraseDataDirectory(cli.paths, home)
  const left = projections.filter(({ what }) => what === 'left')
  if (json) cli.printJson({ dryRun, dataDir, deleted: entries !== null, stopped: pids, installations, projections })
  else cli.print(...doneLines(cli, installations, projections, entries !== null))
  for (const { file, why } of left)
    cli.tell(`claude-mem: ${clean(file)} keeps its section of ours: ${clean(why ?? '')}`)
  return left.length === 0 ? 0 : EXIT_FAILED
}

interface Place {
  client: string
  where: string
  uninstall(ground: Parameters<typeof uninstallRecorded>[1]): Uninstalled
}

/** One for each client and project that records know of, and the one that was asked for. */
function placesOf({ adapter, where, program }: Asked, records: readonly InstallRecord[]): Place[] {
  const keyOf = ({ client, scope, root }: InstallRecord) => JSON.stringify([client, scope, root])
  const keys = [...new Set(records.map(keyOf))]
  const recorded = keys.map((key): Place => {
    const own = records.filter((record) => keyOf(record) === key)
    const [first] = own
    return {
      client: clientNamed(first?.client ?? '')?.title ?? first?.client ?? '',
      where: first?.root ?? 'everywhere',
      uninstall: (ground) => uninstallRecorded(own, ground),
    }
  })
  const named: Place = {
    client: adapter.title,
    where: where.scope === 'project' ? where.root : 'everywhere',
    uninstall: (ground) => uninstall(adapter, where, program, ground),
  }
  // Last: it finds what the records know nothing of.
  return [...recorded, named]
}

interface Taken {
  installations: { client: string; where: string; files: Uninstalled['files'] }[]
  failures: string[]
}

function takeOut(places: readonly Place[], ground: Parameters<typeof uninstallRecorded>[1]): Taken {
  const taken: Taken = { installations: [], failures: [] }
  // In a dry run the place that was asked for shows again what its records know.
  const seen = new Set<string>()
  for (const { client, where, uninstall: undo } of places) {
    try {
      const files = undo(ground).files.filter(({ file, changed }) => changed && !seen.has(file))
      for (const { file } of files) seen.add(file)
      if (files.length > 0) taken.installations.push({ client, where, files })
    } catch (error) {
      taken.failures.push(messageOf(error))
    }
  }
  return taken
}

function stopped(failures: readonly string[]): MemError {
  return new MemError('bad_setting', `${failures.join('\n')} The memory was not deleted: mend that, then try again.`)
}

async function agreed(cli: Cli, installations: Taken['installations']): Promise<boolean> {
  const where = installations.flatMap(({ files }) => files.map(({ file }) => file))
  const settings = where.length === 0 ? '' : `take our entries out of ${where.map(clean).join(', ')} and `
  if (!cli.interactive) {
    cli.tell(`Nothing was changed: this would ${settings}delete ${clean(cli.paths.dataDir)}. Say --yes if you mean it`)
    return false
  }
  cli.tell(`This will ${settings}delete everything that is remembered.`)
  const yes = await cli.confirm(`Delete ${clean(cli.paths.dataDir)} for good?`)
  if (!yes) cli.tell('Nothing was changed')
  return yes
}

/** What `claude-mem files` wrote into projects. Without a database that can be read nobody knows where. */
async function removeFiles(cli: Cli, dryRun: boolean): Promise<FileOutcome[]> {
  const { SqliteReader } = await import('../store/sqlite/reader.ts')
  const { removeProjections } = await import('../context/files/remove.ts')
  try {
    const reader = await SqliteReader.open(cli.paths.database)
    try {
      return await removeProjections(reader, dryRun)
    } finally {
      await reader.close()
    }
  } catch (error) {
    if (!(error instanceof MemError && error.code === 'not_found')) {
      cli.tell(`claude-mem: files that show the memory could not be looked for: ${clean(messageOf(error))}`)
    }
    return []
  }
}

function projectionLines({ file, what, why }: FileOutcome): string[] {
  if (what === 'cleaned') return [`Our section would be taken out of ${clean(file)}`]
  if (what === 'deleted') return [`${clean(file)} would be deleted`]
  return what === 'left' ? [`${clean(file)} would keep its section of ours: ${clean(why ?? '')}`] : []
}

function doneLines(
  cli: Cli,
  installations: Taken['installations'],
  projections: readonly FileOutcome[],
  deleted: boolean,
): string[] {
  const { bold, green } = cli.look().style
  const cleaned = projections.filter(({ what }) => what === 'cleaned' || what === 'deleted').length
  return [
    `${green('✓')} ${bold('claude-mem is gone')}`,
    ...installations.flatMap(({ files }) => files.flatMap((file) => fileLines(file, false))),
    ...(cleaned === 0 ? [] : [`  Its section was taken out of ${counted(cleaned, 'file')}.`]),
    deleted ? `  ${clean(cli.paths.dataDir)} is deleted.` : `  There was no ${clean(cli.paths.dataDir)}.`,
    '',
    'A session that is open now still has the hooks and would start it again: close it. The program itself goes with npm.',
  ]
}
