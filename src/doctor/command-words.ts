/** A command line of somebody's settings, taken apart as a shell would. */
import { basename } from 'node:path'

/** Quoted or plain; nothing of ours needs more of a shell than that. */
const WORD = /"((?:[^"\\]|\\.)*)"|'([^']*)'|[^\s"']+/g

export interface CommandWords {
  words: string[]
  /** The first word as it stands there, quotes and all. */
  program: string
}

export function commandWords(command: string): CommandWords {
  const found = [...command.matchAll(WORD)]
  const words = found.map(([whole, double, single]) => single ?? double?.replace(/\\(["$`\\])/g, '$1') ?? whole)
  return { words, program: found[0]?.[0] ?? '' }
}

/** What `claude-mem` is told in settings that somebody wrote by hand. */
const BY_HAND = ['hook', 'context', 'new', 'save', 'summary', 'mcp']

export function isByHand(command: unknown): boolean {
  if (typeof command !== 'string') return false
  const [program = '', action = ''] = commandWords(command).words
  return /^claude-mem(?:\.cmd|\.exe)?$/i.test(basename(program.replaceAll('\\', '/'))) && BY_HAND.includes(action)
}

export function isNode(program: string): boolean {
  return /^node(?:\.exe)?$/i.test(basename(program.replaceAll('\\', '/')))
}
