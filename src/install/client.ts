/** The installed Claude Code: which version its `claude` says it is. */
import { execFile } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export interface Client {
  path: string
  version: string
}

/** Starting it takes a second on a slow disk. */
const ANSWER_MS = 15_000
const NAMES = process.platform === 'win32' ? ['claude.exe', 'claude.cmd'] : ['claude']

/** The first one that answers; null when there is none. */
export async function findClient(env: NodeJS.ProcessEnv, home: string, configDir: string): Promise<Client | null> {
  for (const path of candidates(env, home, configDir)) {
    const version = await versionOf(path, env)
    if (version !== null) return { path, version }
  }
  return null
}

/** On the PATH, then where the client's own installers put it. */
function candidates(env: NodeJS.ProcessEnv, home: string, configDir: string): string[] {
  const onPath = (env.PATH ?? env.Path ?? '').split(delimiter).filter((directory) => directory !== '')
  const directories = [...onPath, join(home, '.local', 'bin'), join(configDir, 'local')]
  const files = directories.flatMap((directory) => NAMES.map((name) => join(directory, name)))
  return [...new Set(files)].filter(isProgram)
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

function versionOf(path: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  // Node runs a .cmd file only through the shell.
  const shell = path.endsWith('.cmd')
  return new Promise((resolve) => {
    const child = execFile(
      shell ? `"${path}"` : path,
      ['--version'],
      { env, shell, timeout: ANSWER_MS, windowsHide: true },
      (error, stdout) => resolve(error === null ? (/\d+\.\d+\.\d+(?:-[\w.]+)?/.exec(stdout)?.[0] ?? null) : null),
    )
    child.stdin?.end()
  })
}
