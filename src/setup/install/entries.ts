/**
 * Our entries in the text of a client's file: add, update, find and remove them. Three formats are known: hooks of
 * Claude Code (groups under each event), hooks of Cursor (a flat list under each event) and MCP servers. Everything else
 * in the file stays as it is; a file whose structure is not known is refused.
 */
import { isDeepStrictEqual } from 'node:util'
import { MemError } from '../../lib/errors.ts'
import { hookEntry, hookGroup } from './claude-code-events.ts'
import { serverCommand } from './command-line.ts'
import {
  type ArrayNode,
  addItem,
  addMember,
  childrenOf,
  findMember,
  type Json,
  type JsonNode,
  nodeValue,
  type ObjectNode,
  parseNodes,
  removeChild,
  replaceNode,
} from './json-edit.ts'

export const ENTRY_FORMAT_NAMES = ['hooks', 'flat-hooks', 'mcp-servers'] as const
export type EntryFormat = (typeof ENTRY_FORMAT_NAMES)[number]
export type IsOurs = (command: unknown) => boolean

/** What a client's files should contain: a hook for each event, and the MCP server. */
export interface WantedEntries {
  events: readonly string[]
  /** The hook's command line. */
  command: string
  server: Json
}

/** `text` must be valid JSON; `file` is its name for error messages. */
interface EntryFormatSpec {
  /** What our entries are, for messages. */
  what: string
  /** Adds our entries, or updates them. */
  merge(text: string, wanted: WantedEntries, isOurs: IsOurs, file: string): string
  remove(text: string, isOurs: IsOurs, file: string): string
  /** The names of our entries; a duplicate is listed twice. */
  ours(text: string, isOurs: IsOurs): string[]
  /** Top-level keys that a file without entries of the user may have. */
  bareKeys: readonly string[]
}

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
  newItem(event: string, command: string): Json
  update(text: string, entry: JsonNode, event: string, command: string): string
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
  newItem: hookGroup,
  update: (text, entry, event, command) => {
    const wanted = hookEntry(event, command)
    return isDeepStrictEqual(nodeValue(text, entry), wanted) ? text : replaceNode(text, entry, wanted)
  },
}

/** Cursor: each item of the list is an entry. Only its command is updated: a timeout set by the user stays. */
const FLAT: HookForm = {
  version: 1,
  entries: (list) => list.items.map((node, index) => ({ node, positions: [{ container: list, index }] })),
  newItem: (_, command) => ({ command }),
  update: (text, entry, _, command) => {
    const node = memberValue(entry, 'command')
    return node === undefined || nodeValue(text, node) === command ? text : replaceNode(text, node, command)
  },
}

export const ENTRY_FORMATS: Readonly<Record<EntryFormat, EntryFormatSpec>> = {
  hooks: hooksFormat(GROUPED),
  'flat-hooks': hooksFormat(FLAT),
  'mcp-servers': { what: 'MCP server', merge: mergeServer, remove: removeServer, ours: findServer, bareKeys: [] },
}

/** Whether the file contains nothing that the user could have written. */
export function isBare(text: string, format: EntryFormat): boolean {
  return Object.keys(JSON.parse(text)).every((key) => ENTRY_FORMATS[format].bareKeys.includes(key))
}

function hooksFormat(form: HookForm): EntryFormatSpec {
  return {
    what: 'hooks',
    merge: (text, { events, command }, isOurs, file) => {
      checkHooks(text, form, file)
      const prepared = withVersion(removeSurplusHooks(text, form, events, isOurs), form)
      return events.reduce((merged, event) => mergeHook(merged, form, event, command, isOurs), prepared)
    },
    remove: (text, isOurs, file) => {
      checkHooks(text, form, file)
      return removeHooks(text, form, isOurs, () => true)
    },
    ours: (text, isOurs) => findHooks(text, form, isOurs).map(({ event }) => event),
    bareKeys: form.version === null ? [] : ['version'],
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
    const inner = hook?.positions.find(({ container }) => childrenOf(container).length > 1) ?? hook?.positions.at(-1)
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

function mergeHook(text: string, form: HookForm, event: string, command: string, isOurs: IsOurs): string {
  const hook = findHooks(text, form, isOurs).find((found) => found.event === event)
  if (hook !== undefined) return form.update(text, hook.node, event, command)
  const item = form.newItem(event, command)
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

function unknownShape(file: string, problem: string): MemError {
  return new MemError('bad_setting', `${file} ${problem}; repair it, then try again. Nothing was changed.`)
}

function withVersion(text: string, { version }: HookForm): string {
  if (version === null) return text
  const root = parseNodes(text)
  if (root.kind !== 'object' || findMember(root, 'version') !== undefined) return text
  return addMember(text, root, 'version', version)
}

export const SERVER_NAME = 'claude-mem'
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
  const [parent, name] = servers.members.length > 1 ? [servers, SERVER_NAME] : [root, SERVERS]
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
