import type { InstallRecord } from '../../install/record.ts'
import type { Cli } from '../cli.ts'
import { command, jsonOption } from '../command.ts'
import { UsageError } from '../failure.ts'
import { clean } from '../text.ts'
import { dryRunOption, placeOf, placeOptions, undoCommand } from './install.ts'

export const uninstall = command({
  usage: 'uninstall',
  group: 'Connect it',
  summary: "Take everything of ours out of the client's settings again; --purge deletes the memory too",
  about:
    "Leaves the client's settings as they were before claude-mem install, to the byte; where they were changed since, only " +
    "claude-mem's own entries are taken out. The memory itself stays. --purge does so for every client and project that " +
    'claude-mem was installed in, removes the sections it wrote into files (claude-mem files), stops the daemon and deletes ' +
    'the data directory, with everything that was remembered, its backups, your claude-mem settings and prompts. It asks ' +
    'first. To keep the memory, export it before: claude-mem export.',
  examples: [
    ['claude-mem uninstall --dry-run', 'what would change'],
    ['claude-mem uninstall', ''],
    ['claude-mem uninstall --client cursor', ''],
    ['claude-mem uninstall --purge --dry-run', 'what would be gone for good'],
    ['claude-mem uninstall --purge', 'as if it had never been there'],
  ],
  positionals: {},
  options: {
    ...placeOptions,
    purge: { type: 'boolean', describe: 'Everywhere, and delete the memory' },
    yes: { type: 'boolean', alias: 'y', describe: 'With --purge: do it, do not ask' },
    'dry-run': dryRunOption,
    json: jsonOption,
  },
  run: async ({ client, scope, purge, yes, 'dry-run': dryRun, json }, cli) => {
    const how = { dryRun: dryRun === true, json: json === true, yes: yes === true }
    if (purge === true) {
      const { purgeAll } = await import('../purge.ts')
      return await purgeAll(cli, await placeOf(cli, client, scope), how)
    }
    if (how.yes) throw new UsageError('--yes belongs to --purge')
    return await uninstallOne(cli, client, scope, how)
  },
})

async function uninstallOne(
  cli: Cli,
  client: string,
  scope: string,
  { dryRun, json }: { dryRun: boolean; json: boolean },
): Promise<number> {
  const { uninstall: takeOut } = await import('../../install/install.ts')
  const { allRecords } = await import('../../install/record.ts')
  const { dryRunLines, uninstalledLines } = await import('../render/install.ts')
  const { adapter, where, program } = await placeOf(cli, client, scope)
  const result = takeOut(adapter, where, program, { dataDir: cli.paths.dataDir, now: new Date(), dryRun })
  if (json) cli.printJson({ client: adapter.name, scope: where.scope, dryRun, ...result })
  else if (dryRun) cli.print(...dryRunLines(result.files, cli.look()))
  else {
    const install = undoCommand(adapter, where.scope).replace('uninstall', 'install')
    const after = [
      '',
      `The memory stays in ${clean(cli.paths.dataDir)}. The daemon, if it runs, stops with: claude-mem stop`,
      `Bring it back with: ${install}`,
    ]
    const elsewhere = elsewhereLines(allRecords(cli.paths.dataDir))
    cli.print(...uninstalledLines(adapter.title, result, cli.look()), ...(result.changed ? after : []), ...elsewhere)
  }
  return 0
}

/** It is still there for another client, or in a project. */
function elsewhereLines(records: readonly InstallRecord[]): string[] {
  if (records.length === 0) return []
  const files = [...new Set(records.map(({ path }) => clean(path)))]
  return [`It is still installed in ${files.join(', ')}; everywhere at once: claude-mem uninstall --purge`]
}
