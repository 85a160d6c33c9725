/** The installed Claude Code: which version its `claude` says it is. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { isProgram, programFiles } from '../find-program.ts'
import type { Client } from './clients/adapter.ts'

/** Starting it takes a second on a slow disk. */
const ANSWER_MS = 15_000
const NAME = 'claude'

/** The first one that answers; null when there is none. */
export async function findClient(env: NodeJS.ProcessEnv, home: string, configDir: string): Promise<Client | null> {
  for (const path of candidates(env, home, configDir)) {
    if (!(await isProgram(path))) continue
    const version = await versionOf(path, env)
    if (version !== null) return { path, version }
  }
  return null
}

/** On the PATH, then where the client's own installers put it. */
function candidates(env: NodeJS.ProcessEnv, home: string, configDir: string): string[] {
  const usual = [join(home, '.local', 'bin'), join(configDir, 'local')]
  const files = usual.flatMap((directory) =>
    programFiles(NAME, { PATHEXT: env.PATHEXT, PATH: directory }, process.platform),
  )
  return [...new Set([...programFiles(NAME, env, process.platform), ...files])]
}

function versionOf(path: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  // Node runs a .cmd file only through the shell.
  const shell = /\.(?:cmd|bat)$/i.test(path)
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
