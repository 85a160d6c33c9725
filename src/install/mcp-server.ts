/** Our MCP server in the text of a settings file: one entry under `mcpServers`, whatever else is there. */
import { isDeepStrictEqual } from 'node:util'
import { MemError } from '../errors.ts'
import { serverCommand } from './command-line.ts'
import type { IsOurs } from './hook-lists.ts'
import {
  addMember,
  type Json,
  memberOf,
  type ObjectNode,
  parsedAt,
  removePart,
  replaceNode,
  scan,
} from './json-text.ts'

export const SERVER_NAME = 'claude-mem'
const SERVERS = 'mcpServers'

/** One that is not ours is left alone, also under our name. `text` is JSON; `file` names it for people. */
export function mergeServer(text: string, server: Json, isOurs: IsOurs, file: string): string {
  const { root, servers } = checked(text, file)
  if (servers === undefined) return addMember(text, root, SERVERS, { [SERVER_NAME]: server })
  const there = memberOf(servers, SERVER_NAME)
  if (there === undefined) return addMember(text, servers, SERVER_NAME, server)
  const value = parsedAt(text, there.value)
  if (!isOurs(commandOf(value)) || isDeepStrictEqual(value, server)) return text
  return replaceNode(text, there.value, server)
}

/** What would be left empty goes with it. */
export function removeServer(text: string, isOurs: IsOurs, file: string): string {
  const { root, servers } = checked(text, file)
  if (servers === undefined || ourServer(text, isOurs).length === 0) return text
  const index = (members: ObjectNode['members'], name: string) => members.findLastIndex(({ key }) => key === name)
  if (servers.members.length > 1) return removePart(text, servers, index(servers.members, SERVER_NAME))
  return removePart(text, root, index(root.members, SERVERS))
}

/** The name of our server, where it is. */
export function ourServer(text: string, isOurs: IsOurs): string[] {
  const root = scan(text, SERVERS)
  const servers = root.kind === 'object' ? memberOf(root, SERVERS)?.value : undefined
  const there = servers?.kind === 'object' ? memberOf(servers, SERVER_NAME) : undefined
  return there !== undefined && isOurs(commandOf(parsedAt(text, there.value))) ? [SERVER_NAME] : []
}

/** A file that is laid out in another way than we know is left to its owner. */
function checked(text: string, file: string): { root: ObjectNode; servers: ObjectNode | undefined } {
  const wrong = (what: string) =>
    new MemError('bad_setting', `${file} ${what}; repair it, then try again. Nothing was changed.`)
  const root = scan(text, SERVERS)
  if (root.kind !== 'object') throw wrong('does not hold a JSON object')
  const held = memberOf(root, SERVERS)?.value
  if (held === undefined) return { root, servers: undefined }
  if (held.kind !== 'object') throw wrong(`has "${SERVERS}" that are not an object`)
  return { root, servers: held }
}

function commandOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { command, args }: { command?: unknown; args?: unknown } = value
  if (typeof command !== 'string' || !Array.isArray(args)) return undefined
  try {
    return serverCommand(command, args.map(String))
  } catch {
    // A path that we would never write.
    return undefined
  }
}
