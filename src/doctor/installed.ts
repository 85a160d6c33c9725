/** What is registered in the clients' settings: everything that the doctor has to do with the installer. */
import { join } from 'node:path'
import { messageOf } from '../errors.ts'
import type { Adapter, Client, Scope, Where } from '../install/clients/adapter.ts'
import { claudeConfigDirectory } from '../install/clients/claude-code.ts'
import { CLIENTS } from '../install/clients/index.ts'
import { CLI_FILE, HOOK_FILE, isOurCommand, serverCommand } from '../install/command-line.ts'
import type { FormatName } from '../install/formats.ts'
import { SERVER_NAME } from '../install/mcp-server.ts'
import { type InstallRecord, readRecord } from '../install/record.ts'
import { readSettingsFile } from '../install/settings-file.ts'
import { isByHand } from './command-words.ts'
import type { Surroundings } from './facts.ts'

export const CLIENT_NAMES = CLIENTS.map(({ name, title }) => ({ name, title }))

export interface Entry {
  /** Of a hook; of a server its name. */
  event: string
  command: string
  /** Somebody wrote `claude-mem hook` there. */
  byHand: boolean
  /** Its user wrote it, or our installer. What else a project's settings hold came with the project, from anyone: it is never run. */
  isOwn: boolean
}

export interface InstalledFile {
  scope: Scope
  path: string
  kind: 'hooks' | 'server'
  /** Why it says nothing. */
  unreadable: string | null
  entries: Entry[]
  /** Another program's server stands under our name. */
  taken: boolean
  record: InstallRecord | null
  /** What it holds at all. */
  json: Record<string, unknown>
}

export interface Connection {
  name: string
  title: string
  client: Client | null
  files: InstalledFile[]
  /** What should be registered. */
  events: readonly string[]
  /** What the client does not know. */
  unknown: readonly string[]
  /** Why nothing can be registered in this client. */
  tooOld: string | null
  installCommand(scope: Scope): string
  uninstallCommand(scope: Scope): string
}

export async function connectionsOf(around: Surroundings, fileContext: boolean): Promise<Connection[]> {
  return await Promise.all(CLIENTS.map((adapter) => connectionOf(adapter, around, fileContext)))
}

/** Where Claude Code keeps its settings and transcripts. */
export function configDirectory({ env, home }: Surroundings): string {
  return claudeConfigDirectory(env, home)
}

async function connectionOf(adapter: Adapter, around: Surroundings, fileContext: boolean): Promise<Connection> {
  const { env, home, root, node, dist } = around
  const program = { node, hook: join(dist, HOOK_FILE), cli: join(dist, CLI_FILE) }
  const { commands } = adapter.registration(program, { version: null, fileContext, registered: [] })
  const own: Where = { scope: 'user', env, home, root }
  const files = [own, { ...own, scope: 'project' } as const].flatMap((where) =>
    adapter.files(where).map(({ path, format }) => look(adapter, where.scope, path, format, commands, around)),
  )
  const client = await adapter.find(own)
  const registered = hookEntries(files).map(({ event }) => event)
  const words = (verb: string, scope: Scope) =>
    [
      `claude-mem ${verb}`,
      ...(adapter === CLIENTS[0] ? [] : [`--client ${adapter.name}`]),
      ...(scope === 'user' ? [] : [`--scope ${scope}`]),
    ].join(' ')
  const connection = {
    name: adapter.name,
    title: adapter.title,
    client,
    // In a home directory the project's files are the user's.
    files: files.filter(({ path }, index) => files.findIndex((other) => other.path === path) === index),
    installCommand: (scope: Scope) => words('install', scope),
    uninstallCommand: (scope: Scope) => words('uninstall', scope),
  }
  try {
    const circumstances = { version: client?.version ?? null, fileContext, registered }
    const { events, leftOut } = adapter.registration(program, circumstances)
    return { ...connection, events, unknown: leftOut, tooOld: null }
  } catch (error) {
    return { ...connection, events: [], unknown: [], tooOld: messageOf(error) }
  }
}

export function hookEntries(files: readonly InstalledFile[]): (Entry & { file: InstalledFile })[] {
  return files
    .filter(({ kind }) => kind === 'hooks')
    .flatMap((file) => file.entries.map((entry) => ({ ...entry, file })))
}

function look(
  adapter: Adapter,
  scope: Scope,
  path: string,
  format: FormatName,
  commands: readonly string[],
  { paths }: Surroundings,
): InstalledFile {
  const kind = format === 'mcp-servers' ? 'server' : 'hooks'
  const base = { scope, path, kind, unreadable: null, taken: false, record: null } as const
  try {
    const { text, target } = readSettingsFile(path)
    const record = readRecord(paths.dataDir, adapter.name, target)
    const written = [...commands, ...(record?.commands ?? [])]
    const json = fieldsOf(JSON.parse(text))
    const all = kind === 'server' ? servers(json) : format === 'hooks' ? grouped(json) : flat(json)
    const entries = all.flatMap(({ event, command }) => {
      const byHand = isByHand(command)
      const isOwn = scope === 'user' || written.includes(command)
      return byHand || isOurCommand(command, written) ? [{ event, command, byHand, isOwn }] : []
    })
    return { ...base, entries, taken: kind === 'server' && all.length > entries.length, record, json }
  } catch (error) {
    const unreadable = messageOf(error).replace(/ Nothing was changed\.$/, '')
    return { ...base, entries: [], unreadable, json: {} }
  }
}

type Named = Pick<Entry, 'event' | 'command'>

/** As Claude Code has them: under an event groups, each with a list of hooks. */
function grouped({ hooks }: Record<string, unknown>): Named[] {
  return Object.entries(fieldsOf(hooks)).flatMap(([event, groups]) =>
    itemsOf(groups).flatMap((group) => itemsOf(group.hooks).flatMap((hook) => named(event, hook.command))),
  )
}

/** As Cursor has them: under an event a list. */
function flat({ hooks }: Record<string, unknown>): Named[] {
  return Object.entries(fieldsOf(hooks)).flatMap(([event, list]) =>
    itemsOf(list).flatMap((hook) => named(event, hook.command)),
  )
}

function servers({ mcpServers }: Record<string, unknown>): Named[] {
  const held = fieldsOf(mcpServers)[SERVER_NAME]
  if (held === undefined) return []
  const { command, args } = fieldsOf(held)
  if (typeof command !== 'string' || !Array.isArray(args)) return named(SERVER_NAME, '')
  return named(SERVER_NAME, serverCommand(command, args.map(String)))
}

function named(event: string, command: unknown): Named[] {
  return typeof command === 'string' ? [{ event, command }] : []
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

function itemsOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}
