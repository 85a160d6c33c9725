/** The command lines that clients run, quoted so that no shell expands anything, and how to recognise ours. */
import { basename, dirname, join } from 'node:path'
import { parseJsonObject } from '../../hook/payload.ts'
import { MemError } from '../../lib/errors.ts'
import { readTextFile } from '../../lib/files.ts'

export const HOOK_FILE = 'hook.cjs'
export const CLI_FILE = 'cli.js'
/** The argument of `cli.js` that starts the MCP server. */
export const MCP_ARGUMENT = 'mcp'

export function hookCommand(node: string, hook: string, platform: NodeJS.Platform = process.platform): string {
  return `${quoted(node, platform)} ${quoted(hook, platform)}`
}

/**
 * For a client other than Claude Code. On Windows these run hooks with PowerShell or cmd, and PowerShell treats a quoted
 * first word as text, so `node` is found on the PATH there.
 */
export function clientHookCommand(
  node: string,
  hook: string,
  client: string,
  platform: NodeJS.Platform = process.platform,
): string {
  if (platform === 'win32' && /[$`%]/.test(hook)) {
    // Each shell has its own escape for these, and the client decides which shell it is.
    throw new MemError(
      'bad_setting',
      `no hook of ${client} can be run from ${hook}: PowerShell and cmd replace $, \` and % in a path; move the program elsewhere`,
    )
  }
  const program = platform === 'win32' ? 'node' : quoted(node, platform)
  return `${program} ${quoted(hook, platform)} --client ${client}`
}

/** An MCP server as one command line, to recognise it like a hook. */
export function serverCommand(node: string, args: readonly string[]): string {
  const [file = '', ...words] = args
  return [hookCommand(node, file), ...words].join(' ')
}

/** Claude Code on Windows runs hooks with Git's bash, where a backslash is an escape: slashes are used instead. */
function quoted(path: string, platform: NodeJS.Platform): string {
  if (/[\r\n\0]/.test(path)) {
    throw new MemError(
      'bad_setting',
      `no hook can be run from ${JSON.stringify(path)}: the path contains a line break; move the program elsewhere`,
    )
  }
  const portable = platform === 'win32' ? path.replaceAll('\\', '/') : path.replaceAll('\\', '\\\\')
  return `"${portable.replace(/["$`]/g, '\\$&')}"`
}

const OURS = /^(?:"((?:[^"\\]|\\.)+)"|(node)) "((?:[^"\\]|\\.)+)"(?: (--client [a-z][a-z-]*|mcp))?$/
const NODE = /^node(?:\.exe)?$/i

/**
 * Whether a registered command is ours, also after node or the program has moved. `written` are the recorded commands;
 * without a record the command is recognised by its shape and by the package at its path.
 */
export function isOurCommand(command: unknown, written: readonly string[]): boolean {
  if (typeof command !== 'string') return false
  if (written.includes(command)) return true
  const [, path, name, program = '', words] = OURS.exec(command) ?? []
  const node = path ?? name ?? ''
  const file = program.replace(/\\(["$`\\])/g, '$1').replaceAll('\\', '/')
  const expectedFile = words === MCP_ARGUMENT ? CLI_FILE : HOOK_FILE
  if (basename(file) !== expectedFile || !NODE.test(basename(node.replaceAll('\\', '/')))) return false
  return /(?:^|\/)\.?claude-mem[^/]*\//.test(file) || isOurPackage(dirname(dirname(file)))
}

function isOurPackage(directory: string): boolean {
  return parseJsonObject(readTextFile(join(directory, 'package.json')) ?? '')?.name === 'claude-mem'
}
