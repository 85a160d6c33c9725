/** What to start for the path that the user gave: a program, a script for node, or what a Windows shim stands for. */
import { readFile, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, extname, join, win32 } from 'node:path'
import { ObserverError } from '../../port.ts'

export interface Command {
  program: string
  args: readonly string[]
}

const SCRIPT = new Set(['.js', '.mjs', '.cjs'])
const SHIM = new Set(['.cmd', '.bat', '.ps1'])

export async function commandOf(path: string, platform: NodeJS.Platform = process.platform): Promise<Command> {
  const given = /^~[\\/]/.test(path) ? join(homedir(), path.slice(2)) : path
  // What npm puts on the PATH is a link to a script. A bare name is for the system to find.
  const found = await realpath(given).catch(() => null)
  const file = found ?? given
  const kind = extname(file).toLowerCase()
  if (found === null && (file === '' || file !== basename(file))) throw noProgram(given || 'claude')
  if (SCRIPT.has(kind)) return { program: process.execPath, args: [file] }
  if (platform !== 'win32' || !SHIM.has(kind)) return { program: file, args: [] }
  return await commandOfShim(file)
}

export const SET_PROGRAM = 'claude-mem config set claude-code-path FILE'

export function noProgram(program: string): ObserverError {
  return new ObserverError('provider', `there is no program ${program}; say where claude is: ${SET_PROGRAM}`)
}

/** Node starts no batch file without a shell, and no shell takes our arguments as they are. */
async function commandOfShim(file: string): Promise<Command> {
  const target = shimTarget(await readFile(file, 'utf8').catch(() => ''))
  if (target === null) {
    throw new ObserverError(
      'provider',
      `${file} cannot be started without a shell; name the claude.exe or cli.js behind it: ${SET_PROGRAM}`,
    )
  }
  const path = win32.join(dirname(file), target)
  return SCRIPT.has(extname(path)) ? { program: process.execPath, args: [path] } : { program: path, args: [] }
}

/** As npm, pnpm and yarn write them: `"%dp0%\node_modules\…\cli.js"`, in PowerShell `"$basedir/node_modules/…"`. */
const TARGET = /"(?:%~?dp0%?|\$basedir)[\\/]([^"\r\n]+\.(?:js|mjs|cjs|exe))"/gi

/** Relative to the shim; null: not in any form that we know. */
export function shimTarget(text: string): string | null {
  const targets = [...text.matchAll(TARGET)].map(([, path = '']) => path)
  return targets.find((path) => !/^node\.exe$/i.test(win32.basename(path))) ?? null
}
