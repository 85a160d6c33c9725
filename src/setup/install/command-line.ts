/** The command lines that clients run, quoted so that no shell expands anything, and how to recognise ours. */
import { basename, dirname, join } from 'node:path'
import { FAST_HOOK_FILE } from '../../hook/fast-hook.ts'
import { parseJsonObject } from '../../hook/payload.ts'
import { MemError } from '../../lib/errors.ts'
import { readTextFile } from '../../lib/files.ts'
import { PACKAGE_NAME } from '../../lib/names.ts'

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

/** Every Linux and macOS has it; no profile is read by it. */
export const FAST_HOOK_SHELL = '/bin/sh'

/** A shell whose script is gone may end with 2, which is how a hook of Claude Code refuses a prompt. */
const NEVER_FAILS = ' || true'

/** A hook's command line with the fast hook instead, which is beside `hook`. Another form of command stays as it is. */
export function fastHookCommand(command: string, node: string, hook: string, curl: string): string {
  const plain = hookCommand(node, hook)
  if (command !== plain && !command.startsWith(`${plain} `)) return command
  const words = [join(dirname(hook), FAST_HOOK_FILE), node, curl].map((word) => quoted(word, 'linux'))
  return [FAST_HOOK_SHELL, ...words].join(' ') + command.slice(plain.length) + NEVER_FAILS
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
const OURS_FAST =
  /^\/bin\/sh "((?:[^"\\]|\\.)+)" "((?:[^"\\]|\\.)+)" "(?:[^"\\]|\\.)+"(?: --client [a-z][a-z-]*)?(?: \|\| true)?$/
const NODE = /^node(?:\.exe)?$/i

/**
 * Whether a registered command is ours, also after node or the program has moved. `written` are the recorded commands;
 * without a record the command is recognised by its shape and by the package at its path.
 */
export function isOurCommand(command: unknown, written: readonly string[]): boolean {
  if (typeof command !== 'string') return false
  if (written.includes(command)) return true
  const [, script, nodeOfScript] = OURS_FAST.exec(command) ?? []
  const [, path, name, plainFile = '', words] = OURS.exec(command) ?? []
  const node = nodeOfScript ?? path ?? name ?? ''
  const program = script ?? plainFile
  const file = program.replace(/\\(["$`\\])/g, '$1').replaceAll('\\', '/')
  const expectedFile = script !== undefined ? FAST_HOOK_FILE : words === MCP_ARGUMENT ? CLI_FILE : HOOK_FILE
  if (basename(file) !== expectedFile || !NODE.test(basename(node.replaceAll('\\', '/')))) return false
  return /(?:^|\/)\.?claude-mem[^/]*\//.test(file) || isOurPackage(dirname(dirname(file)))
}

/** Whether a command of ours runs the fast hook. */
export function isFastHookCommand(command: string): boolean {
  const [, script = ''] = OURS_FAST.exec(command) ?? []
  return basename(script) === FAST_HOOK_FILE
}

function isOurPackage(directory: string): boolean {
  return parseJsonObject(readTextFile(join(directory, 'package.json')) ?? '')?.name === PACKAGE_NAME
}
