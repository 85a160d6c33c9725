/** What a format of a client's file has to provide (`entries.ts` and `toml-server.ts` implement it), and what they share. */
import { MemError } from '../../lib/errors.ts'
import type { Json } from './json-edit.ts'

export const ENTRY_FORMAT_NAMES = [
  'hooks',
  'flat-hooks',
  'mcp-servers',
  'hooks-and-servers',
  'toml-server',
  'own-file',
] as const
export type EntryFormat = (typeof ENTRY_FORMAT_NAMES)[number]
export type IsOurs = (command: unknown) => boolean

/** What a client's files should contain: a hook for each event, and the MCP server. */
export interface WantedEntries {
  events: readonly string[]
  /** The hook's command line. */
  command: string
  server: Json
  /** The entry of a hook in a group; absent: as Claude Code has it. */
  hookEntry?: (event: string, command: string) => { readonly [key: string]: Json }
  /** Hooks whose trust the installer writes, for a client that asks its user to trust hooks. */
  trust?: readonly TrustedHook[]
  /** The content of files that are ours as a whole, by file name. */
  ownFiles?: Readonly<Record<string, string>>
}

/** The key of a hook in the client's own list of trusted hooks, and the hash of its entry. */
export interface TrustedHook {
  key: string
  hash: string
}

/** How the text of a file is checked before it is changed; `text` is anything. */
export type EntrySyntax = 'json' | 'json-with-comments' | 'toml' | 'text'

/** A hook or a server in a file, ours or another's. */
export interface RegisteredCommand {
  kind: 'hook' | 'server'
  /** Event of a hook, or name of a server. */
  event: string
  /** Empty for a server that starts no program. */
  command: string
}

/** `text` must be valid in its syntax; `file` is its name for error messages. */
export interface EntryFormatSpec {
  /** What our entries are, for messages. */
  what: string
  syntax: EntrySyntax
  /** Adds our entries, or updates them. */
  merge(text: string, wanted: WantedEntries, isOurs: IsOurs, file: string): string
  remove(text: string, isOurs: IsOurs, file: string): string
  /** The names of our entries; a duplicate is listed twice. */
  ours(text: string, isOurs: IsOurs): string[]
  /** All hooks, and the server under our name. */
  list(text: string): RegisteredCommand[]
  /** Whether a file without our entries contains nothing that the user could have written. */
  isBare(text: string): boolean
}

/** The name of our MCP server. */
export const SERVER_NAME = 'claude-mem'

export function unknownShape(file: string, problem: string): MemError {
  return new MemError('bad_setting', `${file} ${problem}; repair it, then try again. Nothing was changed.`)
}

/** Every hook of a file with groups, with its position under its event. */
export function listHooks(text: string): { event: string; group: number; index: number; command: unknown }[] {
  const { hooks }: { hooks?: unknown } = Object(JSON.parse(text.replace(/^\uFEFF/, '')))
  return Object.entries(Object(hooks)).flatMap(([event, groups]) =>
    itemsIn(groups).flatMap((group, at) =>
      itemsIn(group.hooks).map(({ command }, index) => ({ event, group: at, index, command })),
    ),
  )
}

function itemsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map((item) => ({ ...Object(item) })) : []
}
