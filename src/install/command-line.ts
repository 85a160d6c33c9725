/** The command lines that clients run: quoted paths, nothing for a shell to look up or to expand. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { MemError } from '../errors.ts'

export const HOOK_FILE = 'hook.cjs'
export const CLI_FILE = 'cli.js'
/** What `cli.js` is told to serve its tools. */
export const SERVE = 'mcp'

export function hookCommand(node: string, hook: string, platform: NodeJS.Platform = process.platform): string {
  return `${quoted(node, platform)} ${quoted(hook, platform)}`
}

/**
 * For a client other than Claude Code. On Windows these run hooks with PowerShell or cmd, and PowerShell takes a quoted
 * word at the beginning for text: node is found on the PATH there.
 */
export function clientHookCommand(
  node: string,
  hook: string,
  client: string,
  platform: NodeJS.Platform = process.platform,
): string {
  const program = platform === 'win32' ? 'node' : quoted(node, platform)
  return `${program} ${quoted(hook, platform)} --client ${client}`
}

/** How an MCP server is written down to be recognised: as if a shell ran it. */
export function serverCommand(node: string, args: readonly string[]): string {
  const [file = '', ...words] = args
  return [hookCommand(node, file), ...words].join(' ')
}

/** The client on Windows runs hooks with the bash that comes with Git, which takes slashes and would eat backslashes. */
function quoted(path: string, platform: NodeJS.Platform): string {
  if (/[\r\n\0]/.test(path)) {
    throw new MemError(
      'bad_setting',
      `no hook can be run from ${JSON.stringify(path)}: its name has a line break in it`,
    )
  }
  const portable = platform === 'win32' ? path.replaceAll('\\', '/') : path.replaceAll('\\', '\\\\')
  return `"${portable.replace(/["$`]/g, '\\$&')}"`
}

const OURS = /^(?:"((?:[^"\\]|\\.)+)"|(node)) "((?:[^"\\]|\\.)+)"(?: (--client [a-z][a-z-]*|mcp))?$/
const NODE = /^node(?:\.exe)?$/i

/**
 * Whether a command in somebody's settings is ours, also after node or the program has moved. `written` are the
 * commands that we remember; without that memory its shape and what lies where it points must tell.
 */
export function isOurCommand(command: unknown, written: readonly string[]): boolean {
  if (typeof command !== 'string') return false
  if (written.includes(command)) return true
  const [, path, name, program = '', words] = OURS.exec(command) ?? []
  const node = path ?? name ?? ''
  const file = program.replace(/\\(["$`\\])/g, '$1').replaceAll('\\', '/')
  const wanted = words === SERVE ? CLI_FILE : HOOK_FILE
  if (basename(file) !== wanted || !NODE.test(basename(node.replaceAll('\\', '/')))) return false
  return /(?:^|\/)claude-mem[^/]*\//.test(file) || isOurPackage(dirname(dirname(file)))
}

function isOurPackage(directory: string): boolean {
  const manifest = join(directory, 'package.json')
  try {
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).name === 'claude-mem'
  } catch {
    return false
  }
}
