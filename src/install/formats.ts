/** The forms in which clients keep what we write: how our entries are found in them and taken out again. */
import { flatEvents, isBareFlatHooks, removeFlatHooks } from './flat-hooks.ts'
import type { IsOurs } from './hook-lists.ts'
import { registeredEvents, removeHooks } from './hooks.ts'
import { ourServer, removeServer } from './mcp-server.ts'

interface Format {
  /** For people. */
  what: string
  remove(text: string, isOurs: IsOurs, file: string): string
  /** Where our entries are, by name; one that is there twice is named twice. */
  ours(text: string, isOurs: IsOurs): string[]
  /** Nothing is left that anybody but us would have written. */
  isBare(text: string): boolean
}

const isEmptyObject = (text: string) => /^\s*\{\s*\}\s*$/.test(text)

export const FORMATS = {
  hooks: { what: 'hooks', remove: removeHooks, ours: registeredEvents, isBare: isEmptyObject },
  'flat-hooks': { what: 'hooks', remove: removeFlatHooks, ours: flatEvents, isBare: isBareFlatHooks },
  'mcp-servers': { what: 'MCP server', remove: removeServer, ours: ourServer, isBare: isEmptyObject },
} as const satisfies Record<string, Format>

export type FormatName = keyof typeof FORMATS

export function isFormatName(name: unknown): name is FormatName {
  return typeof name === 'string' && Object.hasOwn(FORMATS, name)
}
