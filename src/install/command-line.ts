/** The command line of the hook: two quoted paths, nothing for a shell to look up or to expand. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { MemError } from '../errors.ts'

export const HOOK_FILE = 'hook.cjs'

export function hookCommand(node: string, hook: string, platform: NodeJS.Platform = process.platform): string {
  return `${quoted(node, platform)} ${quoted(hook, platform)}`
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

const TWO_PATHS = /^"((?:[^"\\]|\\.)+)" "((?:[^"\\]|\\.)+)"$/
const NODE = /^node(?:\.exe)?$/i

/**
 * Whether a command in somebody's settings is ours, also after node or the program has moved. `written` are the
 * commands that we remember; without that memory its shape and what lies where it points must tell.
 */
export function isOurCommand(command: unknown, written: readonly string[]): boolean {
  if (typeof command !== 'string') return false
  if (written.includes(command)) return true
  const [, node = '', hook = ''] = TWO_PATHS.exec(command) ?? []
  const file = hook.replace(/\\(["$`\\])/g, '$1').replaceAll('\\', '/')
  if (basename(file) !== HOOK_FILE || !NODE.test(basename(node.replaceAll('\\', '/')))) return false
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
