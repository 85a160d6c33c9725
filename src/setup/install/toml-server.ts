/**
 * The MCP server in a `config.toml` of Codex: the table `[mcp_servers.claude-mem]` at the end of the file, below a comment
 * that says whose it is. With the hooks, Codex keeps in the same file which of them the user trusts
 * (`[hooks.state."<hooks.json>:session_start:0:0"]`): those of our hooks are removed with them.
 */
import { basename, dirname, join } from 'node:path'
import { readTextFile } from '../../lib/files.ts'
import { serverCommand } from './command-line.ts'
import {
  type EntryFormatSpec,
  type IsOurs,
  listHooks,
  SERVER_NAME,
  type TrustedHook,
  unknownShape,
  type WantedEntries,
} from './entry-format.ts'
import { resolveLinkTarget } from './settings-file.ts'
import {
  isTomlPath,
  parseTomlString,
  parseTomlStrings,
  readTomlTables,
  startsWithTomlPath,
  type TomlTable,
  tomlLineEnd,
  tomlString,
} from './toml-edit.ts'

const SERVERS = 'mcp_servers'
const OUR_PATH = [SERVERS, SERVER_NAME]
const COMMENT = '# claude-mem: added by "claude-mem install", removed by "claude-mem uninstall"'

export const TOML_SERVER_FORMAT: EntryFormatSpec = {
  what: 'MCP server',
  syntax: 'toml',
  merge: (text, wanted, isOurs, file) => mergeTrust(mergeServer(text, wanted, isOurs, file), wanted.trust ?? [], file),
  remove: (text, isOurs, file) => removeTrust(removeServer(text, isOurs, file), isOurs, file),
  ours: (text, isOurs) => (isOursIn(readTomlTables(text, 'config.toml'), text, isOurs) ? [SERVER_NAME] : []),
  list: (text) => {
    const tables = readTomlTables(text, 'config.toml')
    if (!hasServer(tables)) return []
    return [{ kind: 'server', event: SERVER_NAME, command: registeredCommand(tables, text) ?? '' }]
  },
  isBare: (text) => text.trim() === '',
}

function mergeServer(text: string, { server }: WantedEntries, isOurs: IsOurs, file: string): string {
  const tables = readTomlTables(text, file)
  const values = serverValues(server)
  const lineEnd = tomlLineEnd(text)
  const lines = values.map(([key, value]) => `${key} = ${value}${lineEnd}`)
  if (!hasServer(tables)) {
    refuseInlineServers(tables, file)
    const before = text === '' || text.endsWith('\n') ? text : `${text}${lineEnd}`
    const gap = before.trim() === '' ? '' : lineEnd
    return `${before}${gap}${COMMENT}${lineEnd}[${SERVERS}.${SERVER_NAME}]${lineEnd}${lines.join('')}`
  }
  if (!isOursIn(tables, text, isOurs)) return text
  return values.reduceRight((merged, [key, value]) => withValue(merged, key, value, file), text)
}

/** Other keys of the table (a timeout, which tools are on) are the user's. */
function withValue(text: string, key: string, value: string, file: string): string {
  const table = readTomlTables(text, file).find(({ path }) => isTomlPath(path, OUR_PATH))
  if (table === undefined) return text
  const known = table.keys.find(({ path }) => isTomlPath(path, [key]))
  if (known === undefined) {
    return `${text.slice(0, table.body)}${key} = ${value}${tomlLineEnd(text)}${text.slice(table.body)}`
  }
  return text.slice(known.start, known.end).trim() === value
    ? text
    : `${text.slice(0, known.start)}${value}${text.slice(known.end)}`
}

function serverValues(server: WantedEntries['server']): [key: string, value: string][] {
  const { command, args }: { command?: unknown; args?: unknown } = Object(server)
  const list = Array.isArray(args) ? args.map((arg) => tomlString(String(arg))) : []
  return [
    ['command', tomlString(String(command))],
    ['args', `[${list.join(', ')}]`],
  ]
}

/** `mcp_servers = { … }` and `mcp_servers.x = …` cannot be extended by a table below. */
function refuseInlineServers(tables: readonly TomlTable[], file: string): void {
  const [top] = tables
  const inline = top?.keys.some(({ path }) => path[0] === SERVERS) === true
  const array = tables.some(({ path, isArray }) => isArray && isTomlPath(path, [SERVERS]))
  if (inline || array) throw unknownShape(file, `has "${SERVERS}" that are not tables ([${SERVERS}.NAME])`)
}

/** A table, or keys under `[mcp_servers]`. */
function hasServer(tables: readonly TomlTable[]): boolean {
  return tables.some(
    ({ path, keys }) =>
      startsWithTomlPath(path, OUR_PATH) || keys.some((key) => startsWithTomlPath([...path, ...key.path], OUR_PATH)),
  )
}

function isOursIn(tables: readonly TomlTable[], text: string, isOurs: IsOurs): boolean {
  const command = registeredCommand(tables, text)
  return command !== null && isOurs(command)
}

/** Null: there is no such table, or it starts no program with arguments. */
function registeredCommand(tables: readonly TomlTable[], text: string): string | null {
  const table = tables.find(({ path, isArray }) => !isArray && isTomlPath(path, OUR_PATH))
  const value = (name: string) => {
    const key = table?.keys.find(({ path }) => isTomlPath(path, [name]))
    return key === undefined ? null : text.slice(key.start, key.end).trim()
  }
  const [command, args] = [value('command'), value('args')]
  const program = command === null ? null : parseTomlString(command)
  const words = args === null ? null : parseTomlStrings(args)
  if (program === null || words === null) return null
  try {
    return serverCommand(program, words)
  } catch {
    // A path with a line break, which we never write.
    return null
  }
}

/** With tables below it (`[mcp_servers.claude-mem.env]`), which have no meaning without it. */
function removeServer(text: string, isOurs: IsOurs, file: string): string {
  const tables = readTomlTables(text, file)
  if (!isOursIn(tables, text, isOurs)) return text
  return tables
    .filter(({ path }) => startsWithTomlPath(path, OUR_PATH))
    .reduceRight((rest, table) => withoutTable(rest, table), text)
}

/** Comments above the next header belong to that one, and stay. Our comment and the blank line above it go. */
function withoutTable(text: string, { start, body, keys }: TomlTable): string {
  const lineEnd = text.indexOf('\n', keys.at(-1)?.end ?? body - 1)
  const before = text.slice(0, start).replace(new RegExp(`(?:\\r?\\n)?${escaped(COMMENT)}\\r?\\n$`), '')
  // The line before our blank line ends with a line break of its own.
  const kept =
    before === '' || before.endsWith('\n') || before.length === start ? before : `${before}${tomlLineEnd(text)}`
  return kept + (lineEnd === -1 ? '' : text.slice(lineEnd + 1))
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

const TRUST_PATH = ['hooks', 'state']
const TRUST_KEY = 'trusted_hash'

function mergeTrust(text: string, trust: readonly TrustedHook[], file: string): string {
  const lineEnd = tomlLineEnd(text)
  return trust.reduce((merged, { key, hash }) => {
    const table = readTomlTables(merged, file).find(({ path }) => isTomlPath(path, [...TRUST_PATH, key]))
    const value = table?.keys.find(({ path }) => isTomlPath(path, [TRUST_KEY]))
    if (value !== undefined) return `${merged.slice(0, value.start)}${tomlString(hash)}${merged.slice(value.end)}`
    const header = `[${TRUST_PATH.join('.')}.${tomlString(key)}]`
    return `${merged}${lineEnd}${header}${lineEnd}${TRUST_KEY} = ${tomlString(hash)}${lineEnd}`
  }, text)
}

/**
 * Events of our hooks in `hooks.json` that the user has not trusted yet. Whether a hash is current only Codex knows: `current`
 * are those that it was asked for.
 */
export function untrustedEvents(
  config: string,
  hooks: string,
  hooksFile: string,
  isOurs: IsOurs,
  current: readonly TrustedHook[] = [],
): string[] {
  const trusted = new Map(
    readTomlTables(config, 'config.toml').flatMap(({ path, keys }): [string, string][] => {
      const value = keys.find((key) => isTomlPath(key.path, [TRUST_KEY]))
      if (value === undefined || path[2] === undefined || !startsWithTomlPath(path, TRUST_PATH)) return []
      return [[path[2], config.slice(value.start, value.end)]]
    }),
  )
  const hashes = new Map(current.map(({ key, hash }) => [key, hash]))
  const isTrusted = (key: string) => trusted.get(key)?.includes(hashes.get(key) ?? '') === true
  return listHooks(hooks)
    .filter(({ command }) => isOurs(command))
    .filter((hook) => !trustKeys(hooksFile, hook).some(isTrusted))
    .map(({ event }) => event)
}

/** `<file>:<event>:<group>:<hook>`, counted from 0. */
function trustKeys(
  hooksFile: string,
  { event, group, index }: { event: string; group: number; index: number },
): string[] {
  return namesInCodex(hooksFile).map((file) => `${file}:${snakeCase(event)}:${group}:${index}`)
}

/** Codex resolves links in CODEX_HOME, but not in `~/.codex`, and never a `hooks.json` that is a link. */
export function namesInCodex(hooksFile: string): string[] {
  return [...new Set([hooksFile, join(resolveLinkTarget(dirname(hooksFile)), basename(hooksFile))])]
}

function removeTrust(text: string, isOurs: IsOurs, file: string): string {
  const hooksFile = join(dirname(file), 'hooks.json')
  const hooks = readTextFile(hooksFile)
  if (hooks === undefined) return text
  const keys = new Set(
    listHooks(hooks)
      .filter(({ command }) => isOurs(command))
      .flatMap((hook) => trustKeys(hooksFile, hook)),
  )
  const tables = readTomlTables(text, file)
  return tables
    .filter(({ path }) => path.length === 3 && startsWithTomlPath(path, TRUST_PATH) && keys.has(path[2] ?? ''))
    .reduceRight((rest, table) => rest.slice(0, table.start) + rest.slice(table.end), text)
}

/** `SessionStart` is `session_start`. */
export function snakeCase(event: string): string {
  return event.replace(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase()
}
