/** `claude-mem packages`: packages that are not part of the program, fetched into the data directory. */
import { formatBytes } from '../../lib/format.ts'
import { UNBUNDLED_PACKAGE_NAMES, UNBUNDLED_PACKAGES, type UnbundledPackage } from '../../lib/packages.ts'
import { oneOf, refuseIf, UsageError } from '../arguments.ts'
import { type Cli, printResult, withInterruptSignal } from '../cli.ts'
import { defineCommand } from '../command.ts'
import { progressBar } from '../progress.ts'
import { cutColumn, rightColumn, tableLines, wrapColumn } from '../table.ts'
import { terminalSafe, truncate } from '../text.ts'

const ACTIONS = ['list', 'install', 'remove'] as const

export const packagesCommand = defineCommand({
  usage: 'packages [action] [name]',
  group: 'Maintenance',
  summary: 'Packages that are fetched on demand: list, install and remove',
  about:
    'Most packages are part of the program. Native code and heavy optional parts are not: the database driver comes with ' +
    'npm and is otherwise fetched once, the runtime of embedding models is fetched by claude-mem models, and an index for ' +
    'very large projects by install. They are in the directory packages of the data directory, and npm fetches them.',
  examples: [
    ['claude-mem packages', 'which are there'],
    ['claude-mem packages install hnswlib-node', 'fast search by meaning in more than 20,000 vectors'],
    ['claude-mem packages remove hnswlib-node', ''],
  ],
  positionals: {
    action: { type: 'string', describe: 'list, install or remove', default: 'list' },
    name: { type: 'string', describe: `install, remove: ${UNBUNDLED_PACKAGE_NAMES.join(', ')}` },
  },
  run: async ({ action, name }, cli) => {
    const chosen = oneOf('action', action, ACTIONS)
    refuseIf(chosen === 'list' && name !== undefined, 'packages list takes no name')
    if (chosen === 'list') return await listPackages(cli)
    if (name === undefined)
      throw new UsageError(`packages ${chosen} needs a name: ${UNBUNDLED_PACKAGE_NAMES.join(', ')}`)
    const wanted = oneOf('package', name, UNBUNDLED_PACKAGE_NAMES)
    return chosen === 'install' ? await installPackage(cli, wanted) : await removePackage(cli, wanted)
  },
})

async function listPackages(cli: Cli): Promise<void> {
  const { resolvePackage } = await import('../../lib/packages.ts')
  const packages = UNBUNDLED_PACKAGE_NAMES.map((name) => ({
    name,
    ...UNBUNDLED_PACKAGES[name],
    file: resolvePackage(name, cli.paths.packages),
  }))
  printResult(cli, { directory: cli.paths.packages, packages }, () => {
    const columns = [cutColumn('PACKAGE'), rightColumn('SIZE'), 'INSTALLED', wrapColumn('PURPOSE')]
    const rows = packages.map(({ name, installedBytes, file, purpose }) => [
      name,
      formatBytes(installedBytes),
      file === null ? 'no' : 'yes',
      purpose,
    ])
    return tableLines(columns, rows, cli.display())
  })
}

async function installPackage(cli: Cli, name: UnbundledPackage): Promise<void> {
  const directory = await fetchWithProgress(cli, name)
  printResult(cli, { name, directory }, () => [
    `${name} is installed in ${terminalSafe(directory)}`,
    'A running daemon uses it after: claude-mem restart',
  ])
}

async function removePackage(cli: Cli, name: UnbundledPackage): Promise<void> {
  const { removeFetchedPackage } = await import('../../lib/fetch-packages.ts')
  const removed = removeFetchedPackage(cli.paths.packages, name)
  printResult(cli, { name, removed }, () =>
    removed ? `${name} is removed` : `${name} was not fetched into ${terminalSafe(cli.paths.packages)}`,
  )
}

/** Fetches a package with a progress bar. Resolves with its directory. */
export async function fetchWithProgress(cli: Cli, name: UnbundledPackage): Promise<string> {
  const { fetchPackage } = await import('../../lib/fetch-packages.ts')
  const { installedBytes: whole, version } = UNBUNDLED_PACKAGES[name]
  const showProgress = (bytes: number) => {
    const { columns } = cli.display()
    const line = `Fetching ${name} ${version} ${progressBar(bytes, whole)} ${formatBytes(bytes)} of about ${formatBytes(whole)}`
    cli.progress(columns === null ? line : truncate(line, columns - 1))
  }
  showProgress(0)
  const fetched = await withInterruptSignal((signal) =>
    fetchPackage(name, { packages: cli.paths.packages, env: cli.env, signal, onProgress: showProgress }),
  ).finally(() => cli.progress(''))
  if (fetched === null) throw new UsageError(`another process is fetching ${name}; wait for it, then try again`)
  return fetched
}
