/**
 * Our entries in the text of a client's file: add, update, find and remove them. Formats: hooks in groups under each event
 * (Claude Code, Codex, Gemini CLI), hooks in a flat list under each event (Cursor), MCP servers in JSON or TOML, a file with
 * hooks and servers, and a file that is ours as a whole. Everything else in the file stays as it is; a file whose structure
 * is not known is refused. A new format is a name and an entry in `ENTRY_FORMATS`.
 */
import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { MemError } from '../../lib/errors.ts'
import { hookEntry, hookGroup } from './claude-code-events.ts'
import { serverCommand } from './command-line.ts'
import {
  type EntryFormat,
  type EntryFormatSpec,
  type IsOurs,
  type RegisteredCommand,
  SERVER_NAME,
  unknownShape,
  type WantedEntries,
} from './entry-format.ts'
import {
  type ArrayNode,
  addItem,
  addMember,
  findMember,
  hasComments,
  isOnlyChild,
  type Json,
  type JsonNode,
  nodeValue,
  type ObjectNode,
  parseNodes,
  removeChild,
  replaceNode,
} from './json-edit.ts'
import { TOML_SERVER_FORMAT } from './toml-server.ts'

/** A child of an object or array, by its index. */
interface Position {
  container: ObjectNode | ArrayNode
  index: number
}

/** What differs between the two formats of hooks. */
interface HookForm {
  /** The `version` of the file; null if it has none. */
  version: number | null
  /** The entries in the list of one event; each with its positions from the entry up to that list. */
  entries(list: ArrayNode): { node: JsonNode; positions: Position[] }[]
  /** The list item for an event without an entry of ours. */
  newItem(event: string, wanted: WantedEntries): Json
  update(text: string, entry: JsonNode, event: string, wanted: WantedEntries): string
}

/** Claude Code: each item of the list is a group with a list of `hooks`. */
const GROUPED: HookForm = {
  version: null,
  entries: (groups) =>
    groups.items.flatMap((group, index) => {
      const hooks = memberValue(group, 'hooks')
      if (hooks?.kind !== 'array') return []
      return hooks.items.map((node, at) => ({
        node,
        positions: [
          { container: hooks, index: at },
          { container: groups, index },
        ],
      }))
    }),
  newItem: (event, { command, hookEntry: ownEntry }) =>
    ownEntry === undefined ? hookGroup(event, command) : { hooks: [ownEntry(event, command)] },
  update: (text, entry, event, { command, hookEntry: ownEntry = hookEntry }) => {
    const wanted = ownEntry(event, command)
    return isDeepStrictEqual(nodeValue(text, entry), wanted) ? text : replaceNode(text, entry, wanted)
  },
}

/** Cursor: each item of the list is an entry. Only its command is updated: a timeout set by the user stays. */
const FLAT: HookForm = {
  version: 1,
  entries: (list) => list.items.map((node, index) => ({ node, positions: [{ container: list, index }] })),
  newItem: (_, { command }) => ({ command }),
  update: (text, entry, _, { command }) => {
    const node = memberValue(entry, 'command')
    return node === undefined || nodeValue(text, node) === command ? text : replaceNode(text, node, command)
  },
}

const SERVERS_FORMAT: EntryFormatSpec = {
  what: 'MCP server',
  syntax: 'json',
  merge: mergeServer,
  remove: removeServer,
  ours: findServer,
  list: (text) => {
    const servers = memberValue(parseNodes(text, SERVERS), SERVERS)
    const server = servers === undefined ? undefined : memberValue(servers, SERVER_NAME)
    if (server === undefined) return []
    return [{ kind: 'server', event: SERVER_NAME, command: registeredServerCommand(nodeValue(text, server)) ?? '' }]
  },
  isBare: hasOnlyKeys([]),
}

/** A file with both: the settings of Gemini CLI and Qwen Code, which read them without `//` and `/*` comments. */
function combinedFormat(hooks: EntryFormatSpec, servers: EntryFormatSpec): EntryFormatSpec {
  return {
    what: 'hooks and MCP server',
    syntax: 'json-with-comments',
    merge: (text, wanted, isOurs, file) => servers.merge(hooks.merge(text, wanted, isOurs, file), wanted, isOurs, file),
    remove: (text, isOurs, file) => servers.remove(hooks.remove(text, isOurs, file), isOurs, file),
    ours: (text, isOurs) => [...hooks.ours(text, isOurs), ...servers.ours(text, isOurs)],
    list: (text) => [...hooks.list(text), ...servers.list(text)],
    isBare: (text) => hooks.isBare(text) && servers.isBare(text),
  }
}

/** In each of our files, so that a file of another program under its name is left alone. */
const OWN_FILE_MARK = 'claude-mem'

/** The event under which the hook of a plugin is listed. */
export const PLUGIN_EVENT = 'plugin'
const OWN_FILE_COMMAND = /^\/\/ claude-mem (hook|server): (.+)$/gm

/** Comment lines at the beginning of a plugin that say which programs of ours it runs. */
export function ownFileHead(hook: string, server: string): string {
  return `// ${OWN_FILE_MARK} hook: ${hook}\n// ${OWN_FILE_MARK} server: ${server}\n`
}

function listOwnFile(text: string): RegisteredCommand[] {
  return [...text.matchAll(OWN_FILE_COMMAND)].map(([, kind, command = '']) =>
    kind === 'server' ? { kind, event: SERVER_NAME, command } : { kind: 'hook', event: PLUGIN_EVENT, command },
  )
}

/** A file that only we write, such as a plugin. */
const OWN_FILE_FORMAT: EntryFormatSpec = {
  what: 'plugin file',
  syntax: 'text',
  merge: (text, { ownFiles }, _, file) => {
    const content = ownFiles?.[basename(file)]
    if (content === undefined) return text
    if (text !== '' && !text.includes(OWN_FILE_MARK)) throw unknownShape(file, 'is not a file of claude-mem')
    return content
  },
  remove: (text) => (text.includes(OWN_FILE_MARK) ? '' : text),
  ours: (text) => (text.includes(OWN_FILE_MARK) ? [OWN_FILE_MARK] : []),
  list: listOwnFile,
  isBare: (text) => text.trim() === '',
}

export const ENTRY_FORMATS: Readonly<Record<EntryFormat, EntryFormatSpec>> = {
  hooks: hooksFormat(GROUPED),
  'flat-hooks': hooksFormat(FLAT),
  'mcp-servers': SERVERS_FORMAT,
  'hooks-and-servers': combinedFormat(hooksFormat(GROUPED), SERVERS_FORMAT),
  'toml-server': TOML_SERVER_FORMAT,
  'own-file': OWN_FILE_FORMAT,
}

/** Whether a file without our entries may have these keys and no others. A comment is the user's. */
function hasOnlyKeys(keys: readonly string[]): (text: string) => boolean {
  return (text) => !hasComments(text) && Object.keys(JSON.parse(text)).every((key) => keys.includes(key))
}

function hooksFormat(form: HookForm): EntryFormatSpec {
  return {
    what: 'hooks',
    syntax: 'json',
    merge: (text, wanted, isOurs, file) => {
      const { events } = wanted
      checkHooks(text, form, file)
      const prepared = withVersion(removeSurplusHooks(text, form, events, isOurs), form)
      return events.reduce((merged, event) => mergeHook(merged, form, event, wanted, isOurs), prepared)
    },
    remove: (text, isOurs, file) => {
      checkHooks(text, form, file)
      return removeHooks(text, form, isOurs, () => true)
    },
    ours: (text, isOurs) => findHooks(text, form, isOurs).map(({ event }) => event),
    list: (text) =>
      findHooks(text, form, (command) => typeof command === 'string').map(({ event, node }) => {
        const command = memberValue(node, 'command')
        return { kind: 'hook', event, command: command === undefined ? '' : String(nodeValue(text, command)) }
      }),
    isBare: hasOnlyKeys(form.version === null ? [] : ['version']),
  }
}

interface FoundHook {
  event: string
  node: JsonNode
  /** From the entry outwards to the member `hooks` of the file. */
  positions: Position[]
}

function findHooks(text: string, form: HookForm, isOurs: IsOurs): FoundHook[] {
  const root = parseNodes(text)
  const lists = memberValue(root, 'hooks')
  if (root.kind !== 'object' || lists?.kind !== 'object') return []
  const hooksMember = { container: root, index: root.members.findLastIndex(({ key }) => key === 'hooks') }
  return lists.members.flatMap(({ key: event, value: list }, index) => {
    if (list.kind !== 'array') return []
    return form.entries(list).flatMap(({ node, positions }) => {
      const command = memberValue(node, 'command')
      if (!isOurs(command === undefined ? undefined : nodeValue(text, command))) return []
      return [{ event, node, positions: [...positions, { container: lists, index }, hooksMember] }]
    })
  })
}

/** Removes those of our entries, one after the other, with objects and lists that would be left empty. */
function removeHooks(
  text: string,
  form: HookForm,
  isOurs: IsOurs,
  isUnwanted: (hook: FoundHook, index: number, all: readonly FoundHook[]) => boolean,
): string {
  for (let rest = text; ; ) {
    const hook = findHooks(rest, form, isOurs).findLast(isUnwanted)
    const inner = hook?.positions.find(({ container }) => !isOnlyChild(rest, container)) ?? hook?.positions.at(-1)
    if (inner === undefined) return rest
    rest = removeChild(rest, inner.container, inner.index)
  }
}

/** Keeps only the last of our entries under each of these events, and none under other events. */
function removeSurplusHooks(text: string, form: HookForm, events: readonly string[], isOurs: IsOurs): string {
  return removeHooks(
    text,
    form,
    isOurs,
    ({ event }, index, all) => !events.includes(event) || all.slice(index + 1).some((other) => other.event === event),
  )
}

function mergeHook(text: string, form: HookForm, event: string, wanted: WantedEntries, isOurs: IsOurs): string {
  const hook = findHooks(text, form, isOurs).find((found) => found.event === event)
  if (hook !== undefined) return form.update(text, hook.node, event, wanted)
  const item = form.newItem(event, wanted)
  const root = parseNodes(text)
  const lists = memberValue(root, 'hooks')
  if (lists?.kind !== 'object')
    return root.kind === 'object' ? addMember(text, root, 'hooks', { [event]: [item] }) : text
  const list = memberValue(lists, event)
  return list?.kind === 'array' ? addItem(text, list, item) : addMember(text, lists, event, [item])
}

/** Undefined if there is no such member, or the node is not an object. */
function memberValue(node: JsonNode, key: string): JsonNode | undefined {
  return node.kind === 'object' ? findMember(node, key)?.value : undefined
}

function checkHooks(text: string, { version }: HookForm, file: string): void {
  const root = parseNodes(text)
  if (root.kind !== 'object') throw unknownShape(file, 'does not hold a JSON object')
  const hooks = memberValue(root, 'hooks')
  if (hooks !== undefined && hooks.kind !== 'object') throw unknownShape(file, 'has "hooks" that are not an object')
  const other = hooks?.members.find(({ value }) => value.kind !== 'array')
  if (other !== undefined) {
    throw unknownShape(file, `has "hooks" in which ${JSON.stringify(other.key)} is not a list`)
  }
  const given = memberValue(root, 'version')
  if (version === null || given === undefined || nodeValue(text, given) === version) return
  const problem = `has a "version" other than ${version}, which this claude-mem does not know`
  throw new MemError('bad_setting', `${file} ${problem}; update claude-mem. Nothing was changed.`)
}

function withVersion(text: string, { version }: HookForm): string {
  if (version === null) return text
  const root = parseNodes(text)
  if (root.kind !== 'object' || findMember(root, 'version') !== undefined) return text
  return addMember(text, root, 'version', version)
}

const SERVERS = 'mcpServers'

/** Another program's server under our name is left alone. */
function mergeServer(text: string, { server }: WantedEntries, isOurs: IsOurs, file: string): string {
  const { root, servers } = parseServers(text, file)
  if (servers === undefined) return addMember(text, root, SERVERS, { [SERVER_NAME]: server })
  const member = findMember(servers, SERVER_NAME)
  if (member === undefined) return addMember(text, servers, SERVER_NAME, server)
  const value = nodeValue(text, member.value)
  if (!isOurs(registeredServerCommand(value)) || isDeepStrictEqual(value, server)) return text
  return replaceNode(text, member.value, server)
}

/** An `mcpServers` that would be left empty is removed too. */
function removeServer(text: string, isOurs: IsOurs, file: string): string {
  const { root, servers } = parseServers(text, file)
  if (servers === undefined || findServer(text, isOurs).length === 0) return text
  const [parent, name] = isOnlyChild(text, servers) ? [root, SERVERS] : [servers, SERVER_NAME]
  return removeChild(
    text,
    parent,
    parent.members.findLastIndex(({ key }) => key === name),
  )
}

function findServer(text: string, isOurs: IsOurs): string[] {
  const servers = memberValue(parseNodes(text, SERVERS), SERVERS)
  const server = servers === undefined ? undefined : memberValue(servers, SERVER_NAME)
  return server !== undefined && isOurs(registeredServerCommand(nodeValue(text, server))) ? [SERVER_NAME] : []
}

function parseServers(text: string, file: string): { root: ObjectNode; servers: ObjectNode | undefined } {
  const root = parseNodes(text, SERVERS)
  if (root.kind !== 'object') throw unknownShape(file, 'does not hold a JSON object')
  const servers = memberValue(root, SERVERS)
  if (servers !== undefined && servers.kind !== 'object') {
    throw unknownShape(file, `has "${SERVERS}" that are not an object`)
  }
  return { root, servers }
}

function registeredServerCommand(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { command, args }: { command?: unknown; args?: unknown } = value
  if (typeof command !== 'string' || !Array.isArray(args)) return undefined
  try {
    return serverCommand(command, args.map(String))
  } catch {
    // A path with a line break, which we never write.
    return undefined
  }
}
