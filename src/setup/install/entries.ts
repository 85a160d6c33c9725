/**
 * Our entries in the text of a client's file: add, update, find and remove them. Three formats are known: hooks of
 * Claude Code (groups under each event), hooks of Cursor (a flat list under each event) and MCP servers. Everything else
 * in the file stays as it is; a file whose structure is not known is refused.
 */
import { isDeepStrictEqual } from 'node:util'
import { MemError } from '../../lib/errors.ts'
import { type HookEventName, hookEntry, hookGroup } from './claude-code-events.ts'
import { serverCommand } from './command-line.ts'
import {
  type ArrayNode,
  addItem,
  addMember,
  findMember,
  type Json,
  type JsonNode,
  nodeValue,
  type ObjectNode,
  parseNodes,
  removeChild,
  replaceNode,
} from './json-edit.ts'

export type IsOurs = (command: unknown) => boolean

interface EntryFormatSpec {
  /** What our entries are, for messages. */
  what: string
  remove(text: string, isOurs: IsOurs, file: string): string
  /** The names of our entries; a duplicate is listed twice. */
  ours(text: string, isOurs: IsOurs): string[]
  /** Whether the file contains nothing that the user could have written. */
  isBare(text: string): boolean
}

const isEmptyObject = (text: string) => /^\s*\{\s*\}\s*$/.test(text)

export const ENTRY_FORMATS = {
  hooks: {
    what: 'hooks',
    remove: removeHooks,
    ours: (text, isOurs) => findHooks(text, GROUPED, isOurs).map(({ event }) => event),
    isBare: isEmptyObject,
  },
  'flat-hooks': {
    what: 'hooks',
    remove: (text, isOurs, file) => {
      checkFlatHooks(text, file)
      return removeAllHooks(text, FLAT, isOurs)
    },
    ours: (text, isOurs) => findHooks(text, FLAT, isOurs).map(({ event }) => event),
    isBare: isBareFlatHooks,
  },
  'mcp-servers': { what: 'MCP server', remove: removeServer, ours: findServer, isBare: isEmptyObject },
} as const satisfies Record<string, EntryFormatSpec>

export type EntryFormat = keyof typeof ENTRY_FORMATS

export function isEntryFormat(name: unknown): name is EntryFormat {
  return typeof name === 'string' && Object.hasOwn(ENTRY_FORMATS, name)
}

/** A child of an object or array, by its index. */
interface Position {
  container: ObjectNode | ArrayNode
  index: number
}

/** What differs between the two formats of hooks. */
interface HookForm<Event extends string> {
  /** The entries in the list of one event; each with its positions from the entry up to that list. */
  entries(list: ArrayNode): { node: JsonNode; positions: Position[] }[]
  /** The list item for an event without an entry of ours. */
  newItem(event: Event, command: string): Json
  update(text: string, entry: JsonNode, event: Event, command: string): string
}

/** Claude Code: each item of the list is a group with a list of `hooks`. */
const GROUPED: HookForm<HookEventName> = {
  entries: (groups) =>
    groups.items.flatMap((group, index) => {
      const hooks = group.kind === 'object' ? findMember(group, 'hooks')?.value : undefined
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
const FLAT: HookForm<string> = {
  entries: (list) => list.items.map((node, index) => ({ node, positions: [{ container: list, index }] })),
  newItem: (_, command) => ({ command }),
  update: (text, entry, _, command) => {
    const node = commandNode(entry)
    return node === undefined || nodeValue(text, node) === command ? text : replaceNode(text, node, command)
  },
}

/** `text` must be valid JSON; `file` is its name for error messages. */
export function mergeHooks(
  text: string,
  events: readonly HookEventName[],
  command: string,
  isOurs: IsOurs,
  file: string,
): string {
  checkHooks(text, file)
  return mergeAllHooks(text, GROUPED, events, command, isOurs)
}

export function mergeFlatHooks(
  text: string,
  events: readonly string[],
  command: string,
  isOurs: IsOurs,
  file: string,
): string {
  checkFlatHooks(text, file)
  return mergeAllHooks(withVersion(removeSurplusHooks(text, FLAT, events, isOurs)), FLAT, events, command, isOurs)
}

export function removeHooks(text: string, isOurs: IsOurs, file: string): string {
  checkHooks(text, file)
  return removeAllHooks(text, GROUPED, isOurs)
}

interface FoundHook {
  event: string
  node: JsonNode
  /** From the entry outwards to the member `hooks` of the file. */
  positions: Position[]
}

function findHooks<E extends string>(text: string, form: HookForm<E>, isOurs: IsOurs): FoundHook[] {
  const root = parseNodes(text)
  const lists = hookLists(root)
  if (root.kind !== 'object' || lists === undefined) return []
  const hooksMember = { container: root, index: root.members.findLastIndex(({ key }) => key === 'hooks') }
  return lists.members.flatMap(({ key: event, value: list }, index) => {
    if (list.kind !== 'array') return []
    return form.entries(list).flatMap(({ node, positions }) => {
      const command = commandNode(node)
      if (!isOurs(command === undefined ? undefined : nodeValue(text, command))) return []
      return [{ event, node, positions: [...positions, { container: lists, index }, hooksMember] }]
    })
  })
}

/** Objects and lists that would be left empty are removed too. */
function removeHook(text: string, { positions }: FoundHook): string {
  const inner = positions.find(({ container }) => childCount(container) > 1) ?? positions.at(-1)
  return inner === undefined ? text : removeChild(text, inner.container, inner.index)
}

const childCount = (node: ObjectNode | ArrayNode) => (node.kind === 'object' ? node.members : node.items).length

function removeAllHooks<E extends string>(text: string, form: HookForm<E>, isOurs: IsOurs): string {
  for (let rest = text; ; ) {
    const hook = findHooks(rest, form, isOurs).at(-1)
    if (hook === undefined) return rest
    rest = removeHook(rest, hook)
  }
}

/** Keeps only the last of our entries under each of these events, and none under other events. */
function removeSurplusHooks<E extends string>(
  text: string,
  form: HookForm<E>,
  events: readonly string[],
  isOurs: IsOurs,
): string {
  const isSurplus = ({ event }: FoundHook, index: number, all: readonly FoundHook[]): boolean =>
    !events.includes(event) || all.slice(index + 1).some((other) => other.event === event)
  for (let rest = text; ; ) {
    const surplus = findHooks(rest, form, isOurs).find(isSurplus)
    if (surplus === undefined) return rest
    rest = removeHook(rest, surplus)
  }
}

function mergeAllHooks<E extends string>(
  text: string,
  form: HookForm<E>,
  events: readonly E[],
  command: string,
  isOurs: IsOurs,
): string {
  return events.reduce(
    (merged, event) => mergeHook(merged, form, event, command, isOurs),
    removeSurplusHooks(text, form, events, isOurs),
  )
}

function mergeHook<E extends string>(
  text: string,
  form: HookForm<E>,
  event: E,
  command: string,
  isOurs: IsOurs,
): string {
  const hook = findHooks(text, form, isOurs).find((found) => found.event === event)
  if (hook !== undefined) return form.update(text, hook.node, event, command)
  const item = form.newItem(event, command)
  const root = parseNodes(text)
  const lists = hookLists(root)
  if (lists === undefined) return root.kind === 'object' ? addMember(text, root, 'hooks', { [event]: [item] }) : text
  const list = findMember(lists, event)?.value
  return list?.kind === 'array' ? addItem(text, list, item) : addMember(text, lists, event, [item])
}

function hookLists(root: JsonNode): ObjectNode | undefined {
  const hooks = root.kind === 'object' ? findMember(root, 'hooks')?.value : undefined
  return hooks?.kind === 'object' ? hooks : undefined
}

function commandNode(entry: JsonNode): JsonNode | undefined {
  return entry.kind === 'object' ? findMember(entry, 'command')?.value : undefined
}

function checkHooks(text: string, file: string): void {
  const root = parseNodes(text)
  if (root.kind !== 'object') throw unknownShape(file, 'does not hold a JSON object')
  const hooks = findMember(root, 'hooks')?.value
  if (hooks === undefined) return
  if (hooks.kind !== 'object') throw unknownShape(file, 'has "hooks" that are not an object')
  const other = hooks.members.find(({ value }) => value.kind !== 'array')
  if (other === undefined) return
  throw unknownShape(file, `has "hooks" in which ${JSON.stringify(other.key)} is not a list`)
}

function unknownShape(file: string, problem: string): MemError {
  return new MemError('bad_setting', `${file} ${problem}; repair it, then try again. Nothing was changed.`)
}

/** The only version of Cursor's `hooks.json`. */
const FLAT_HOOKS_VERSION = 1

function checkFlatHooks(text: string, file: string): void {
  checkHooks(text, file)
  const root = parseNodes(text)
  const version = root.kind === 'object' ? findMember(root, 'version') : undefined
  if (version === undefined || nodeValue(text, version.value) === FLAT_HOOKS_VERSION) return
  const problem = `has a "version" other than ${FLAT_HOOKS_VERSION}, which this claude-mem does not know`
  throw new MemError('bad_setting', `${file} ${problem}; update claude-mem. Nothing was changed.`)
}

function withVersion(text: string): string {
  const root = parseNodes(text)
  if (root.kind !== 'object' || findMember(root, 'version') !== undefined) return text
  return addMember(text, root, 'version', FLAT_HOOKS_VERSION)
}

function isBareFlatHooks(text: string): boolean {
  const root = parseNodes(text)
  return root.kind === 'object' && root.members.every(({ key }) => key === 'version')
}

export const SERVER_NAME = 'claude-mem'
const SERVERS = 'mcpServers'

/** Another program's server under our name is left alone. */
export function mergeServer(text: string, server: Json, isOurs: IsOurs, file: string): string {
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
  const root = parseNodes(text, SERVERS)
  const servers = root.kind === 'object' ? findMember(root, SERVERS)?.value : undefined
  const member = servers?.kind === 'object' ? findMember(servers, SERVER_NAME) : undefined
  return member !== undefined && isOurs(registeredServerCommand(nodeValue(text, member.value))) ? [SERVER_NAME] : []
}

function parseServers(text: string, file: string): { root: ObjectNode; servers: ObjectNode | undefined } {
  const root = parseNodes(text, SERVERS)
  if (root.kind !== 'object') throw unknownShape(file, 'does not hold a JSON object')
  const servers = findMember(root, SERVERS)?.value
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
