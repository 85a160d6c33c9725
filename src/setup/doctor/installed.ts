/** What is registered in the clients' files, read with the installer's code, and the programs that it runs. */

import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { parseJsonObject } from '../../hook/payload.ts'
import { errorMessage } from '../../lib/errors.ts'
import { readTextFile } from '../../lib/files.ts'
import { findProgram, isProgram } from '../../lib/find-program.ts'
import { PACKAGE_NAME } from '../../lib/names.ts'
import { VERSION } from '../../lib/version.ts'
import { type InstallRecord, readRecord } from '../install/change.ts'
import type { InstallAdapter, InstalledClient, InstallScope, InstallTarget } from '../install/clients/adapter.ts'
import { INSTALL_ADAPTERS } from '../install/clients/index.ts'
import { CLI_FILE, HOOK_FILE, isFastHookCommand, isOurCommand } from '../install/command-line.ts'
import { ENTRY_FORMATS } from '../install/entries.ts'
import type { EntryFormat } from '../install/entry-format.ts'
import { readSettingsFile } from '../install/settings-file.ts'
import { readBuildInfo } from '../program/place.ts'
import type { DoctorEnvironment } from './check.ts'

interface InstalledEntry {
  /** Event of a hook, or name of a server. */
  event: string
  command: string
  /** Written by the user: `claude-mem hook`. */
  byHand: boolean
  /** In the user's settings, or written by our installer. Other entries came with the project and are never run. */
  isOwn: boolean
}

export interface InstalledFile {
  scope: InstallScope
  path: string
  kind: 'hooks' | 'server'
  /** Why it could not be read. */
  unreadable: string | null
  entries: InstalledEntry[]
  /** Another program's server has our name. */
  taken: boolean
  record: InstallRecord | null
}

export interface ClientConnection {
  name: string
  title: string
  client: InstalledClient | null
  files: InstalledFile[]
  /** Events that should be registered. */
  events: readonly string[]
  /** Events that the client does not support. */
  unknown: readonly string[]
  /** Why nothing can be registered in this client. */
  tooOld: string | null
  /** Events of our hooks that the user has still to trust in the client. */
  untrusted: readonly string[]
  installCommand(scope: InstallScope): string
  uninstallCommand(scope: InstallScope): string
}

export async function findConnections(
  environment: DoctorEnvironment,
  fileContext: boolean,
): Promise<ClientConnection[]> {
  return await Promise.all(INSTALL_ADAPTERS.map((adapter) => findConnection(adapter, environment, fileContext)))
}

async function findConnection(
  adapter: InstallAdapter,
  environment: DoctorEnvironment,
  fileContext: boolean,
): Promise<ClientConnection> {
  const { env, home, root, node, dist } = environment
  const program = { node, hook: join(dist, HOOK_FILE), cli: join(dist, CLI_FILE), dataDir: environment.paths.dataDir }
  const { commands } = adapter.registration(program, { version: null, fileContext, registered: [] })
  const userTarget: InstallTarget = { scope: 'user', env, home, root }
  const files = [userTarget, { ...userTarget, scope: 'project' } as const].flatMap((where) =>
    adapter
      .files(where)
      .flatMap(({ path, format }) => readInstalledFile(adapter, where.scope, path, format, commands, environment)),
  )
  const client = await adapter.find(userTarget)
  const registered = hookEntries(files).map(({ event }) => event)
  const command = (verb: string, scope: InstallScope) =>
    [
      `claude-mem ${verb}`,
      ...(adapter === INSTALL_ADAPTERS[0] ? [] : [`--client ${adapter.name}`]),
      ...(scope === 'user' ? [] : [`--scope ${scope}`]),
    ].join(' ')
  const connection = {
    untrusted: await missingTrust(adapter, userTarget, client, hookEntries(files)),
    name: adapter.name,
    title: adapter.title,
    client,
    // In the home directory the project's files are the user's files.
    files: files.filter(
      ({ path, kind }, index) => files.findIndex((other) => other.path === path && other.kind === kind) === index,
    ),
    installCommand: (scope: InstallScope) => command('install', scope),
    uninstallCommand: (scope: InstallScope) => command('uninstall', scope),
  }
  try {
    const options = { version: client?.version ?? null, fileContext, registered }
    const { events, leftOut } = adapter.registration(program, options)
    return { ...connection, events, unknown: leftOut, tooOld: null }
  } catch (error) {
    return { ...connection, events: [], unknown: [], tooOld: errorMessage(error) }
  }
}

async function missingTrust(
  { trust }: InstallAdapter,
  where: InstallTarget,
  client: InstalledClient | null,
  entries: readonly RegisteredHook[],
): Promise<string[]> {
  if (trust === undefined || entries.length === 0) return []
  const commands = new Set<unknown>(entries.map(({ command }) => command))
  const [command] = entries.filter(({ file }) => file.scope === where.scope).map((entry) => entry.command)
  try {
    // A client that does not answer is reported by another check.
    const asked = client === null || command === undefined ? [] : trust.hashes(where, client, command)
    const current = await Promise.resolve(asked).catch(() => [])
    return trust.missing(where, (one) => commands.has(one), current)
  } catch {
    // A file that cannot be read is reported by the check of the hooks.
    return []
  }
}

export type RegisteredHook = InstalledEntry & { file: InstalledFile }

export function hookEntries(files: readonly InstalledFile[]): RegisteredHook[] {
  return files
    .filter(({ kind }) => kind === 'hooks')
    .flatMap((file) => file.entries.map((entry) => ({ ...entry, file })))
}

/** A file with hooks and servers is two: what the checks say about it differs. */
const FILE_KINDS: Record<EntryFormat, readonly InstalledFile['kind'][]> = {
  hooks: ['hooks'],
  'flat-hooks': ['hooks'],
  'mcp-servers': ['server'],
  'hooks-and-servers': ['hooks', 'server'],
  'toml-server': ['server'],
  'own-file': ['hooks', 'server'],
}

function readInstalledFile(
  adapter: InstallAdapter,
  scope: InstallScope,
  path: string,
  format: EntryFormat,
  commands: readonly string[],
  { paths }: DoctorEnvironment,
): InstalledFile[] {
  const base = { scope, path, unreadable: null, taken: false, record: null }
  try {
    const { text, target } = readSettingsFile(path, ENTRY_FORMATS[format].syntax)
    const record = readRecord(paths.dataDir, adapter.name, target)
    const written = [...commands, ...(record?.commands ?? [])]
    const all = ENTRY_FORMATS[format].list(text)
    return FILE_KINDS[format].map((kind) => {
      const ofKind = all.filter((entry) => entry.kind === (kind === 'server' ? 'server' : 'hook'))
      const entries = ofKind.flatMap(({ event, command }) => {
        const byHand = isByHand(command)
        const isOwn = scope === 'user' || written.includes(command)
        return byHand || isOurCommand(command, written) ? [{ event, command, byHand, isOwn }] : []
      })
      return { ...base, kind, entries, taken: kind === 'server' && ofKind.length > entries.length, record }
    })
  } catch (error) {
    const unreadable = errorMessage(error).replace(/ Nothing was changed\.$/, '')
    return FILE_KINDS[format].map((kind) => ({ ...base, kind, entries: [], unreadable }))
  }
}

/** A quoted or plain word; our command lines use no other shell syntax. */
const WORD = /"((?:[^"\\]|\\.)*)"|'([^']*)'|[^\s"']+/g

interface CommandWords {
  words: string[]
  /** The first word, including its quotes. */
  program: string
}

/** Splits a registered command line as a shell would. */
export function commandWords(command: string): CommandWords {
  const found = [...command.matchAll(WORD)]
  const words = found.map(([whole, double, single]) => single ?? double?.replace(/\\(["$`\\])/g, '$1') ?? whole)
  return { words, program: found[0]?.[0] ?? '' }
}

/** Subcommands of `claude-mem` in entries that users write by hand. */
const HAND_WRITTEN_COMMANDS = ['hook', 'context', 'new', 'save', 'summary', 'mcp']

function isByHand(command: string): boolean {
  const [program = '', action = ''] = commandWords(command).words
  return /^claude-mem(?:\.cmd|\.exe)?$/i.test(fileName(program)) && HAND_WRITTEN_COMMANDS.includes(action)
}

export function isNode(program: string): boolean {
  return /^node(?:\.exe)?$/i.test(fileName(program))
}

function fileName(path: string): string {
  return basename(path.replaceAll('\\', '/'))
}

/** The program that a registered command runs. */
interface ProgramFile {
  /** Null if the command does not name a node. */
  node: string | null
  /** Our file, or the program that a shell would run. */
  file: string
  /** Which of these do not exist. */
  missing: string[]
  /** Null if unknown. */
  version: string | null
}

export async function locateCommand(command: string, environment: DoctorEnvironment): Promise<ProgramFile> {
  const [first = '', second = ''] = commandWords(command).words
  const fast = fastHookWords(command)
  if (fast !== null) {
    const { script, node, curl } = fast
    const programs = [node, curl, first]
    const found = await Promise.all(programs.map((program) => isProgram(program)))
    const missing = [...(existsSync(script) ? [] : [script]), ...programs.filter((_, index) => found[index] !== true)]
    return { node, file: script, missing, version: programVersion(script, environment.dist) }
  }
  const runsNode = isNode(first)
  const program = await locateProgram(first, environment.env)
  const file = runsNode ? second : (program ?? first)
  const missing = [...(program === null ? [first] : []), ...(runsNode && !existsSync(second) ? [second] : [])]
  return { node: runsNode ? program : null, file, missing, version: programVersion(file, environment.dist) }
}

/** The files that the fast hook's command names; null for another command. */
export function fastHookWords(command: string): { script: string; node: string; curl: string } | null {
  if (!isFastHookCommand(command)) return null
  const [, script = '', node = '', curl = ''] = commandWords(command).words
  return { script, node, curl }
}

async function locateProgram(program: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  if (!isAbsolute(program)) return await findProgram(program, env)
  return (await isProgram(program)) ? program : null
}

/** A build has its version beside it, a package in its package.json. */
function programVersion(file: string, dist: string): string | null {
  const directory = dirname(realPathOrSame(file))
  if (directory === realPathOrSame(dist)) return VERSION
  return (
    readBuildInfo(directory)?.version ??
    versionIn(join(directory, 'package.json')) ??
    versionIn(join(dirname(directory), 'package.json'))
  )
}

function versionIn(manifest: string): string | null {
  const { name, version } = parseJsonObject(readTextFile(manifest) ?? '') ?? {}
  return name === PACKAGE_NAME && typeof version === 'string' ? version : null
}

/** With symbolic links resolved; unchanged if it does not exist. */
export function realPathOrSame(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
