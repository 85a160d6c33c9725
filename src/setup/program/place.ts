/**
 * The installed program: `<data directory>/program/<version>-<digest>/`, one directory for each build, and `current`, a link
 * to the one in use. Hooks, MCP server and daemon run from `current`: they do not depend on the cache of npx, a clone or a
 * global installation from which `claude-mem install` was run.
 *
 * A build is copied into a partial directory, tried there and then renamed, and `current` is replaced last. Whatever fails or
 * is killed before, the former version stays in use; the next installation removes what is left. Directories are never
 * changed after their rename, because a daemon or a hook may be running from them.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readlinkSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as z from 'zod'
import { parseJsonObject } from '../../hook/payload.ts'
import { freeBytes, isDiskFull, RESERVE_BYTES } from '../../lib/disk-space.ts'
import { errorMessage, MemError, systemCode } from '../../lib/errors.ts'
import { faultPoint } from '../../lib/faults.ts'
import { moveFileSync, readRegularFileSync, readTextFile, syncDirectory, syncFile } from '../../lib/files.ts'
import { formatBytes } from '../../lib/format.ts'
import { CURRENT_PROGRAM } from '../../lib/installed-program.ts'
import { loadDatabaseDriver } from '../../lib/packages.ts'
import type { Paths } from '../../lib/paths.ts'
import { tryLock } from '../../transport/daemon-lock.ts'
import type { ProgramPaths } from '../install/clients/adapter.ts'
import { CLI_FILE, HOOK_FILE } from '../install/command-line.ts'

const CURRENT = CURRENT_PROGRAM
const PREVIOUS = 'previous'
const PARTIAL = /^\.partial-/
const LOCK_FILE = 'install.lock'
/** Another installation copies some megabytes and starts node twice. */
const LOCK_TIMEOUT_MS = 120_000
const LOCK_POLL_MS = 100

const buildSchema = z.object({ version: z.string(), schema: z.number() })

/** `schema`: the newest database that it understands. */
export type BuildInfo = z.infer<typeof buildSchema>

export interface InstalledProgram extends BuildInfo {
  /** Name of its directory. */
  name: string
  directory: string
}

/** The files that clients run, of the program in this directory (`dist`). */
export function programPaths(dist: string, { dataDir }: Paths): ProgramPaths {
  return { dataDir, node: process.execPath, hook: join(dist, HOOK_FILE), cli: join(dist, CLI_FILE) }
}

export function currentProgram(paths: Paths): InstalledProgram | null {
  return linkedProgram(paths, CURRENT)
}

/** The version before the current one; null if there is none. */
export function previousProgram(paths: Paths): InstalledProgram | null {
  const previous = linkedProgram(paths, PREVIOUS)
  return previous === null || previous.name === currentProgram(paths)?.name ? null : previous
}

function linkedProgram(paths: Paths, link: string): InstalledProgram | null {
  let name: string
  try {
    // A junction has an absolute target.
    name = basename(readlinkSync(join(paths.program, link)))
  } catch {
    return null
  }
  return readProgram(paths, name)
}

function readProgram(paths: Paths, name: string): InstalledProgram | null {
  const directory = join(paths.program, name)
  const build = readBuildInfo(join(directory, 'dist'))
  return build === null ? null : { name, directory, ...build }
}

/** Null if there is no program in this directory, or one from before this file existed. */
export function readBuildInfo(dist: string): BuildInfo | null {
  return buildSchema.safeParse(parseJsonObject(readTextFile(join(dist, 'build.json')) ?? '')).data ?? null
}

/** One installation, update or rollback at a time; others wait. The lock ends with the process. */
export async function withProgramLock<T>(paths: Paths, work: () => Promise<T>, onWait = () => {}): Promise<T> {
  explained(paths, () => mkdirSync(paths.program, { recursive: true, mode: 0o700 }))
  const deadline = Date.now() + LOCK_TIMEOUT_MS
  for (;;) {
    const lock = explained(paths, () => tryLock(join(paths.program, LOCK_FILE)))
    if (lock !== null) return await work().finally(() => lock.release())
    if (Date.now() > deadline) {
      const text = `another installation has been running in ${paths.program} for two minutes; wait for it or end it, then try again`
      throw new MemError('busy', text, { retryable: true })
    }
    onWait()
    await sleep(LOCK_POLL_MS)
  }
}

/**
 * Copies the program of `dist` into the data directory, unless this build is there already. Does not change which one is in
 * use. Only with the lock.
 */
export async function placeProgram(dist: string, paths: Paths): Promise<InstalledProgram> {
  removePartials(paths)
  const build = readBuildInfo(dist)
  if (build === null) throw new MemError('internal', `${dist} is not a complete program; install claude-mem again`)
  const files = programFiles(dist)
  const name = `${build.version}-${digestOf(files)}`
  const placed = readProgram(paths, name)
  if (placed !== null) return placed
  const partial = join(paths.program, `.partial-${process.pid}`)
  try {
    explained(paths, () => copyFiles(files, partial, paths))
    faultPoint('install.copied')
    await tryProgram(join(partial, 'dist'), build, paths)
    explained(paths, () => {
      moveFileSync(partial, join(paths.program, name))
      syncDirectory(paths.program)
    })
    faultPoint('install.placed')
  } finally {
    rmSync(partial, { recursive: true, force: true, maxRetries: 3 })
  }
  return { name, directory: join(paths.program, name), ...build }
}

/** Makes a placed program the current one, and removes all but it and the one before. Only with the lock. */
export function switchProgram(paths: Paths, program: InstalledProgram): void {
  const before = currentProgram(paths)
  explained(paths, () => {
    if (before !== null && before.name !== program.name) replaceLink(paths, PREVIOUS, before.name)
    faultPoint('install.switch')
    if (before?.name !== program.name) replaceLink(paths, CURRENT, program.name)
    syncDirectory(paths.program)
  })
  faultPoint('install.switched')
  const kept = new Set([program.name, previousProgram(paths)?.name, CURRENT, PREVIOUS])
  for (const name of readdirSync(paths.program)) {
    if (!kept.has(name) && !name.startsWith(LOCK_FILE)) removeQuietly(join(paths.program, name))
  }
}

/** On Windows a junction cannot be replaced at once: it does not exist between removal and creation. */
function replaceLink(paths: Paths, link: string, target: string): void {
  const file = join(paths.program, link)
  const made = join(paths.program, `.partial-${link}-${process.pid}`)
  rmSync(made, { recursive: true, force: true })
  if (process.platform === 'win32') {
    symlinkSync(join(paths.program, target), made, 'junction')
    rmSync(file, { recursive: true, force: true })
  } else {
    symlinkSync(target, made)
  }
  moveFileSync(made, file)
}

function removePartials(paths: Paths): void {
  for (const name of readdirSync(paths.program)) {
    if (PARTIAL.test(name)) removeQuietly(join(paths.program, name))
  }
}

/** A file in use cannot be deleted on Windows; the next installation tries again. */
function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 })
  } catch {
    // See above.
  }
}

interface ProgramFile {
  from: string
  /** Inside the program's directory. */
  to: string
  bytes: number
}

/** Everything that the program needs to run. */
function programFiles(dist: string): ProgramFile[] {
  const root = packageRoot(dist)
  const isNeeded = (path: string) => !/\.map$|^(?:plugin|types)\//.test(path)
  return [
    ...filesBelow(dist, 'dist', isNeeded),
    ...['package.json', 'LICENSE'].flatMap((name) => oneFile(join(root, name), name)),
    ...['prompts', 'assets'].flatMap((name) => filesBelow(join(root, name), name)),
    ...driverFiles(dist),
  ].sort((a, b) => (a.to < b.to ? -1 : 1))
}

/** The directory with prompts and assets; a build for tests is some levels below it. */
function packageRoot(dist: string): string {
  const found = ancestors(dist).find((directory) => existsSync(join(directory, 'prompts', 'init.md')))
  if (found === undefined)
    throw new MemError('internal', `the prompts of ${dist} are missing; install claude-mem again`)
  return found
}

const MAX_LEVELS_UP = 6

function ancestors(directory: string): string[] {
  const list = [dirname(directory)]
  for (let up = 1; up < MAX_LEVELS_UP; up++) list.push(dirname(list.at(-1) ?? directory))
  return list
}

/** Without its sources and what only its installation needs. Empty where it is not installed with the program. */
function driverFiles(dist: string): ProgramFile[] {
  const needed: Record<string, RegExp> = {
    'better-sqlite3': /^(?:package\.json|LICENSE|lib\/.*\.js|build\/Release\/better_sqlite3\.node)$/,
    bindings: /^(?:package\.json|LICENSE.*|bindings\.js)$/,
    'file-uri-to-path': /^(?:package\.json|LICENSE|index\.js)$/,
  }
  let base = join(dist, CLI_FILE)
  try {
    return Object.entries(needed).flatMap(([name, pattern]) => {
      const manifest = createRequire(base).resolve(`${name}/package.json`)
      base = manifest
      const to = `node_modules/${name}`
      return filesBelow(dirname(manifest), to, (path) => pattern.test(path))
    })
  } catch {
    return []
  }
}

function filesBelow(directory: string, to: string, isNeeded: (path: string) => boolean = () => true): ProgramFile[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    if (!entry.isFile()) return []
    const from = join(entry.parentPath, entry.name)
    const path = relative(directory, from).replaceAll('\\', '/')
    return isNeeded(path) ? oneFile(from, `${to}/${path}`) : []
  })
}

function oneFile(from: string, to: string): ProgramFile[] {
  const stat = statSync(from, { throwIfNoEntry: false })
  return stat?.isFile() === true ? [{ from, to, bytes: stat.size }] : []
}

const DIGEST_CHARS = 8

function digestOf(files: readonly ProgramFile[]): string {
  const hash = createHash('sha256')
  for (const { from, to } of files)
    hash.update(`${to}\0`).update(createHash('sha256').update(readRegularFileSync(from)).digest())
  return hash.digest('hex').slice(0, DIGEST_CHARS)
}

function copyFiles(files: readonly ProgramFile[], directory: string, paths: Paths): void {
  const needed = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const free = freeBytes(paths.program)
  if (free < needed + RESERVE_BYTES)
    throw noSpace(paths, `${formatBytes(needed)} are needed, ${formatBytes(free)} are free`)
  const directories = new Set(files.map(({ to }) => dirname(join(directory, to))))
  for (const made of directories) mkdirSync(made, { recursive: true, mode: 0o700 })
  for (const { from, to } of files) {
    const file = join(directory, to)
    copyFileSync(from, file)
    faultPoint('install.file')
    syncFile(file)
  }
}

/** Runs it: says its version, and opens a database with the driver that it will use. */
async function tryProgram(dist: string, { version }: BuildInfo, paths: Paths): Promise<void> {
  const run = promisify(execFile)
  const env = { ...process.env, CLAUDE_MEM_DATA_DIR: paths.dataDir }
  let printed: string
  try {
    printed = (
      await run(process.execPath, [join(dist, CLI_FILE), '--version'], { env, windowsHide: true })
    ).stdout.trim()
  } catch (cause) {
    throw new MemError('internal', `the new program does not run: ${errorMessage(cause)}. ${UNCHANGED}`, { cause })
  }
  if (printed !== version) {
    throw new MemError('internal', `the new program says that it is ${printed}, not ${version}. ${UNCHANGED}`)
  }
  if (existsSync(join(dist, '..', 'node_modules', 'better-sqlite3'))) {
    const open = `new (require('better-sqlite3'))(':memory:').close()`
    const works = await run(process.execPath, ['-e', open], { cwd: dist, windowsHide: true }).then(
      () => true,
      () => false,
    )
    if (works) return
  }
  const { reason } = loadDatabaseDriver(paths.packages)
  if (reason !== null) throw new MemError('internal', `the database driver cannot be loaded: ${reason}. ${UNCHANGED}`)
}

export const UNCHANGED = 'Nothing was changed: the version in use stays'

/** Errors of the disk with what to do. */
function explained<T>(paths: Paths, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof MemError) throw cause
    if (isDiskFull(cause)) throw noSpace(paths, errorMessage(cause), cause)
    const code = systemCode(cause) ?? ''
    // ENOENT: what Node says when a directory cannot be made on a read-only file system.
    const isReadOnly = /^(?:EACCES|EPERM|EROFS|ENOENT|ENOTDIR|SQLITE_CANTOPEN|SQLITE_READONLY)/.test(code)
    if (!isReadOnly) throw cause
    const text = `the program cannot be installed: ${paths.program} cannot be written (${errorMessage(cause)})`
    const fix = 'make it writable, or set CLAUDE_MEM_DATA_DIR to another directory'
    throw new MemError('storage', `${text}; ${fix}. ${UNCHANGED}`, { cause })
  }
}

function noSpace(paths: Paths, why: string, cause?: unknown): MemError {
  const text = `the disk of ${paths.dataDir} is full (${why}); free some space, then try again. ${UNCHANGED}`
  return new MemError('storage', text, { cause })
}
