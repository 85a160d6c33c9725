/** Finds a program on the PATH as the system would, without a shell. */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { posix, win32 } from 'node:path'

/** Used on Windows if PATHEXT is not set. */
const DEFAULT_PATHEXT = '.COM;.EXE;.BAT;.CMD'

/** The first match on the PATH; null if there is none. */
export async function findProgram(name: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  for (const file of programFiles(name, env, process.platform)) {
    if (await isProgram(file)) return file
  }
  return null
}

/** All candidate files. Relative PATH entries are left out: they depend on the working directory. */
export function programFiles(name: string, env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string[] {
  const { delimiter, isAbsolute, join } = platform === 'win32' ? win32 : posix
  const names = platform === 'win32' ? windowsNames(name, env) : [name]
  return (env.PATH ?? env.Path ?? '')
    .split(delimiter)
    .map((directory) => (platform === 'win32' ? directory.replaceAll('"', '') : directory))
    .filter((directory) => isAbsolute(directory))
    .flatMap((directory) => names.map((candidate) => join(directory, candidate)))
}

function windowsNames(name: string, env: NodeJS.ProcessEnv): string[] {
  const extensions = (env.PATHEXT ?? DEFAULT_PATHEXT).split(';').filter((extension) => extension.startsWith('.'))
  return extensions.map((extension) => name + extension.toLowerCase())
}

export async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}
