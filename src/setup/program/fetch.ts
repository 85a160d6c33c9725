/**
 * Gets another version of the program for `claude-mem update`: from the registry, a packed file or a directory. npm unpacks it
 * into a temporary directory; the database driver is taken from the program that is running where it is the same version, so
 * that an update compiles nothing.
 */
import { copyFileSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, normalize, resolve } from 'node:path'
import { parseJsonObject } from '../../hook/payload.ts'
import { MemError } from '../../lib/errors.ts'
import { readTextFile } from '../../lib/files.ts'
import { runNpm } from '../../lib/npm.ts'
import { resolvePackage } from '../../lib/packages.ts'
import type { Paths } from '../../lib/paths.ts'
import { readBuildInfo, UNCHANGED } from './place.ts'

const PACKAGE = 'claude-mem'
/** The command's file in a package of ours. */
const COMMAND_FILE = 'dist/cli.js'
const DRIVER = 'better-sqlite3'
const DRIVER_BINARY = join('build', 'Release', 'better_sqlite3.node')

export interface FetchProgramOptions {
  env: NodeJS.ProcessEnv
  signal: AbortSignal
  /** An empty directory; the caller removes it. */
  directory: string
}

/** What npm is asked for, or a directory with a built program. */
type ProgramSource = { at: 'npm'; wanted: string } | { at: 'directory'; directory: string }

/** `from`: a packed file, a directory, a version or a tag. Throws for anything else. */
export function parseProgramSource(from: string): ProgramSource {
  const path = resolve(from)
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat?.isDirectory() === true) return { at: 'directory', directory: path }
  if (stat?.isFile() === true) return { at: 'npm', wanted: path }
  // A name with a slash or an ending of an archive is a file that is missing.
  if (/^[\w][\w.-]*$/.test(from) && !/\.(?:tgz|tar|gz|zip)$/.test(from))
    return { at: 'npm', wanted: `${PACKAGE}@${from}` }
  throw new MemError('not_found', `there is no file or directory ${path}, and "${from}" is not a version. ${UNCHANGED}`)
}

/** Resolves with the directory `dist` of the fetched program. */
export async function fetchProgram(source: ProgramSource, paths: Paths, options: FetchProgramOptions): Promise<string> {
  const root = source.at === 'directory' ? source.directory : await unpack(source.wanted, options)
  const { name } = parseJsonObject(readTextFile(join(root, 'package.json')) ?? '') ?? {}
  if (name !== PACKAGE) {
    throw new MemError('bad_request', `${root} is not ${PACKAGE} (its package.json says ${String(name)}). ${UNCHANGED}`)
  }
  const dist = join(root, 'dist')
  if (readBuildInfo(dist) === null) {
    throw new MemError(
      'bad_request',
      `${dist} has no complete program: build it (npm run build), or use a packed file. ${UNCHANGED}`,
    )
  }
  if (source.at === 'npm') await prepareDriver(root, paths, options)
  return dist
}

/** The newest version in the registry. */
export async function newestVersion(options: Omit<FetchProgramOptions, 'directory'>): Promise<string> {
  return await requireOurs(`${PACKAGE}@latest`, options)
}

/** The version that is meant. Throws if the registry has another program under our name. */
async function requireOurs(wanted: string, { env, signal }: Omit<FetchProgramOptions, 'directory'>): Promise<string> {
  const args = ['view', wanted, 'version', 'bin', '--json']
  const printed = await runNpm(args, { cwd: dirname(process.execPath), env, signal })
  const { version, bin } = parseJsonObject(printed) ?? {}
  if (typeof version !== 'string' || !/^\d+\.\d+\.\d+/.test(version)) {
    throw new MemError('not_found', `the registry has no ${wanted}. ${UNCHANGED}`)
  }
  const command: unknown = typeof bin === 'object' && bin !== null ? Reflect.get(bin, PACKAGE) : bin
  if (typeof command !== 'string' || normalize(command) !== normalize(COMMAND_FILE)) {
    throw new MemError(
      'bad_request',
      `${wanted} in the registry (${version}) is another program with the same name. ` +
        `To update: claude-mem update --from FILE, with a packed file or a directory of this one. ${UNCHANGED}`,
    )
  }
  return version
}

/** Without scripts: what they would compile is usually here already. Resolves with the package's directory. */
async function unpack(wanted: string, { directory, env, signal }: FetchProgramOptions): Promise<string> {
  if (wanted.startsWith(`${PACKAGE}@`)) await requireOurs(wanted, { env, signal })
  writeFileSync(join(directory, 'package.json'), '{ "private": true }\n')
  const args = [
    'install',
    '--no-audit',
    '--no-fund',
    '--no-package-lock',
    '--ignore-scripts',
    '--loglevel=error',
    wanted,
  ]
  await runNpm(args, { cwd: directory, env, signal })
  return join(directory, 'node_modules', PACKAGE)
}

async function prepareDriver(
  root: string,
  paths: Paths,
  { directory, env, signal }: FetchProgramOptions,
): Promise<void> {
  const fetched = driverDirectory(createRequire(join(root, 'package.json')).resolve(DRIVER))
  const own = driverDirectory(resolvePackage(DRIVER, paths.packages))
  if (fetched === null) return
  const binary = own === null ? null : join(own, DRIVER_BINARY)
  if (own !== null && binary !== null && existsSync(binary) && versionOf(own) === versionOf(fetched)) {
    const target = join(fetched, DRIVER_BINARY)
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(binary, target)
    return
  }
  await runNpm(['rebuild', DRIVER, '--foreground-scripts', '--loglevel=error'], { cwd: directory, env, signal })
}

/** `main`: its main file, lib/index.js. */
function driverDirectory(main: string | null): string | null {
  return main === null ? null : dirname(dirname(main))
}

function versionOf(directory: string): unknown {
  return parseJsonObject(readTextFile(join(directory, 'package.json')) ?? '')?.version
}
