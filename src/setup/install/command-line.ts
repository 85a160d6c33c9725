/** The command lines that clients run, quoted so that no shell expands anything, and how to recognise ours. */
import { basename, dirname, join } from 'node:path'
import { FAST_HOOK_FILE } from '../../hook/fast-hook.ts'
import { parseJsonObject } from '../../hook/payload.ts'
import { MemError } from '../../lib/errors.ts'
import { readTextFile } from '../../lib/files.ts'
import { PACKAGE_NAME } from '../../lib/names.ts'
import { DATA_DIR_FLAG } from '../../lib/paths.ts'

export const HOOK_FILE = 'hook.cjs'
export const CLI_FILE = 'cli.js'
/** The argument of `cli.js` that starts the MCP server. */
export const MCP_ARGUMENT = 'mcp'

/** Of `ProgramPaths`. */
interface HookProgram {
  node: string
  hook: string
  dataDir: string
}

export function hookCommand(program: HookProgram, platform: NodeJS.Platform = process.platform): string {
  const { node, hook } = program
  return `${quoted(node, platform)} ${quoted(hook, platform)} ${dataDirOption(program, platform)}`
}

const dataDirOption = ({ dataDir }: HookProgram, platform: NodeJS.Platform): string =>
  `${DATA_DIR_FLAG} ${quoted(dataDir, platform)}`

/**
 * For a client other than Claude Code. On Windows these run hooks with PowerShell or cmd, and PowerShell treats a quoted
 * first word as text, so `node` is found on the PATH there.
 */
export function clientHookCommand(
  program: HookProgram,
  client: string,
  platform: NodeJS.Platform = process.platform,
): string {
  const { node, hook, dataDir } = program
  const unsafe = [hook, dataDir].find((path) => /[$`%]/.test(path))
  if (platform === 'win32' && unsafe !== undefined) {
    // Each shell has its own escape for these, and the client decides which shell it is.
    throw new MemError(
      'bad_setting',
      `no hook of ${client} can be run with ${unsafe}: PowerShell and cmd replace $, \` and % in a path; move the program elsewhere`,
    )
  }
  const first = platform === 'win32' ? 'node' : quoted(node, platform)
  return `${first} ${quoted(hook, platform)} ${dataDirOption(program, platform)} --client ${client}`
}

/** Every Linux and macOS has it; no profile is read by it. */
export const FAST_HOOK_SHELL = '/bin/sh'

/** A shell whose script is gone may end with 2, which is how a hook of Claude Code refuses a prompt. */
const NEVER_FAILS = ' || true'

/** A hook's command line with the fast hook instead, which is beside `hook`. Another form of command stays as it is. */
export function fastHookCommand(command: string, program: HookProgram, curl: string): string {
  const { node, hook } = program
  const plain = hookCommand(program)
  if (command !== plain && !command.startsWith(`${plain} `)) return command
  const words = [join(dirname(hook), FAST_HOOK_FILE), node, curl].map((word) => quoted(word, 'linux'))
  return (
    [FAST_HOOK_SHELL, ...words, dataDirOption(program, 'linux')].join(' ') + command.slice(plain.length) + NEVER_FAILS
  )
}

export const serverArguments = (cli: string, dataDir: string): string[] => [cli, MCP_ARGUMENT, DATA_DIR_FLAG, dataDir]

/** An MCP server as one command line, to recognise it like a hook. */
export function serverCommand(node: string, args: readonly string[]): string {
  const words = [node, ...args].map((word, at) =>
    at > 1 && /^[\w-]+$/.test(word) ? word : quoted(word, process.platform),
  )
  return words.join(' ')
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

const OURS =
  /^(?:"((?:[^"\\]|\\.)+)"|(node)) "((?:[^"\\]|\\.)+)"(?: (mcp))?(?: --data-dir "(?:[^"\\]|\\.)+")?(?: --client [a-z][a-z-]*)?$/
const OURS_FAST =
  /^\/bin\/sh "((?:[^"\\]|\\.)+)" "((?:[^"\\]|\\.)+)" "(?:[^"\\]|\\.)+"(?: --data-dir "(?:[^"\\]|\\.)+")?(?: --client [a-z][a-z-]*)?(?: \|\| true)?$/
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
