/**
 * Gets another version of the program for `claude-mem update`: our package from the registry, or a packed file that the user
 * names. What was fetched is one file, whose checksum the user sees and confirms before anything of it is unpacked. The
 * database driver is taken from the program that is running where it is the same version, so that an update compiles nothing.
 */
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import * as z from 'zod'
import { parseJsonObject } from '../../hook/payload.ts'
import { errorMessage, MemError } from '../../lib/errors.ts'
import { moveFileSync, readRegularFileSync, readTextFile } from '../../lib/files.ts'
import { PACKAGE_NAME } from '../../lib/names.ts'
import { runNpm } from '../../lib/npm.ts'
import { resolvePackage } from '../../lib/packages.ts'
import type { Paths } from '../../lib/paths.ts'
import { readBuildInfo, UNCHANGED } from './place.ts'

const DRIVER = 'better-sqlite3'
const DRIVER_BINARY = join('build', 'Release', 'better_sqlite3.node')

export interface FetchProgramOptions {
  env: NodeJS.ProcessEnv
  signal: AbortSignal
  /** An empty directory; the caller removes it. */
  directory: string
}

/** A package as one file, in the directory for temporary files. */
export interface PackedProgram {
  file: string
  version: string
  bytes: number
  /** As in lock files: `sha512-…`. */
  integrity: string
}

/** What npm is asked for. `from`: a packed file, a version or `latest`. Throws for anything else. */
export function programSource(from: string): string {
  // A file of this name in the current directory is meant by `./latest`.
  if (from === 'latest' || /^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(from)) return `${PACKAGE_NAME}@${from}`
  const path = resolve(from)
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return path
  throw new MemError('not_found', `there is no file ${path}, and "${from}" is not a version. ${UNCHANGED}`)
}

const packedSchema = z.tuple([z.object({ name: z.string(), version: z.string(), filename: z.string() })])

/** Fetches or copies the packed file. npm compares it with the registry's checksum. */
export async function fetchPackedProgram(source: string, options: FetchProgramOptions): Promise<PackedProgram> {
  const { directory, env, signal } = options
  const args = ['pack', source, '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', directory]
  const printed = await explained(source, runNpm(args, { cwd: directory, env, signal }))
  const [{ name, version, filename }] = packedSchema.parse(JSON.parse(printed))
  if (name !== PACKAGE_NAME) {
    throw new MemError('bad_request', `${source} is the package ${name}, not ${PACKAGE_NAME}. ${UNCHANGED}`)
  }
  const file = join(directory, filename)
  const content = readRegularFileSync(file)
  const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`
  return { file, version, bytes: content.length, integrity }
}

/** Unpacks the file without running anything of it. Resolves with the directory `dist` of its program. */
export async function unpackProgram(
  packed: PackedProgram,
  paths: Paths,
  options: FetchProgramOptions,
): Promise<string> {
  const { directory, env, signal } = options
  writeFileSync(join(directory, 'package.json'), '{ "private": true }\n')
  const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--loglevel=error']
  await runNpm(['install', ...quiet, packed.file], { cwd: directory, env, signal })
  const root = join(directory, 'node_modules', PACKAGE_NAME)
  const dist = join(root, 'dist')
  if (readBuildInfo(dist) === null) {
    throw new MemError('bad_request', `${packed.version} has no complete program: pack it with npm pack. ${UNCHANGED}`)
  }
  await installPinned(root, packed, paths, options)
  return dist
}

/** The packages that the program needs, as its npm-shrinkwrap.json names them. npm 11 no longer heeds that of a dependency. */
async function installPinned(
  root: string,
  packed: PackedProgram,
  paths: Paths,
  options: FetchProgramOptions,
): Promise<void> {
  const { directory, env, signal } = options
  const lock = readTextFile(join(root, 'npm-shrinkwrap.json'))
  if (lock === undefined) {
    const text = `${packed.version} has no npm-shrinkwrap.json with the checksums of its packages: pack it with npm pack`
    throw new MemError('bad_request', `${text}. ${UNCHANGED}`)
  }
  const pinned = join(directory, 'pinned')
  mkdirSync(pinned)
  const { dependencies } = parseJsonObject(readTextFile(join(root, 'package.json')) ?? '') ?? {}
  writeFileSync(join(pinned, 'package.json'), JSON.stringify({ private: true, dependencies }))
  writeFileSync(join(pinned, 'package-lock.json'), lock)
  await runNpm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: pinned, env, signal })
  await prepareDriver(pinned, paths, options)
  rmSync(join(root, 'node_modules'), { recursive: true, force: true })
  moveFileSync(join(pinned, 'node_modules'), join(root, 'node_modules'))
}

/** The newest version in the registry. */
export async function newestVersion(
  options: Omit<FetchProgramOptions, 'directory'>,
): Promise<Pick<PackedProgram, 'version' | 'integrity'>> {
  const newest = `${PACKAGE_NAME}@latest`
  const args = ['view', newest, 'version', 'dist.integrity', '--json', '--loglevel=error']
  const printed = await explained(newest, runNpm(args, { cwd: dirname(process.execPath), ...options }))
  const { version, 'dist.integrity': integrity } = parseJsonObject(printed) ?? {}
  return { version: String(version), integrity: String(integrity) }
}

async function explained(source: string, answer: Promise<string>): Promise<string> {
  try {
    return await answer
  } catch (cause) {
    if (!source.startsWith(`${PACKAGE_NAME}@`) || !/\b404\b|E404|ETARGET|No matching version/.test(errorMessage(cause)))
      throw cause
    const text = `${source.replace(/@latest$/, '')} is not in the registry. To update from a packed file: claude-mem update --from FILE`
    throw new MemError('not_found', `${text}. ${UNCHANGED}`, { cause })
  }
}

async function prepareDriver(root: string, paths: Paths, { env, signal }: FetchProgramOptions): Promise<void> {
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
  await runNpm(['rebuild', DRIVER, '--foreground-scripts', '--loglevel=error'], { cwd: root, env, signal })
}

/** `main`: its main file, lib/index.js. */
function driverDirectory(main: string | null): string | null {
  return main === null ? null : dirname(dirname(main))
}

function versionOf(directory: string): unknown {
  return parseJsonObject(readTextFile(join(directory, 'package.json')) ?? '')?.version
}
