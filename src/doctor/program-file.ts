/** The program that a registered command runs: whether it is there, and of which version. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { findProgram, isProgram } from '../find-program.ts'
import { VERSION } from '../version.ts'
import { commandWords, isNode } from './command-words.ts'
import type { Surroundings } from './facts.ts'

export interface ProgramFile {
  /** Null where the command finds node by itself. */
  node: string | null
  /** Our file, or what a shell would run. */
  file: string
  /** Of these, what is not there. */
  missing: string[]
  /** Null: nothing there says so. */
  version: string | null
}

export async function programFile(command: string, around: Surroundings): Promise<ProgramFile> {
  const [first = '', second = ''] = commandWords(command).words
  const isRun = isNode(first)
  const program = await located(first, around.env)
  const file = isRun ? second : (program ?? first)
  const missing = [...(program === null ? [first] : []), ...(isRun && !existsSync(second) ? [second] : [])]
  return { node: isRun ? program : null, file, missing, version: versionOf(file, around.dist) }
}

async function located(program: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  if (!isAbsolute(program)) return await findProgram(program, env)
  return (await isProgram(program)) ? program : null
}

/** The build writes its version into the plugin beside it; a package has it in its manifest. */
function versionOf(file: string, dist: string): string | null {
  const directory = dirname(real(file))
  if (directory === real(dist)) return VERSION
  return (
    versionIn(join(directory, 'plugin', '.claude-plugin', 'plugin.json')) ??
    versionIn(join(directory, '.claude-plugin', 'plugin.json')) ??
    versionIn(join(dirname(directory), 'package.json'))
  )
}

function versionIn(manifest: string): string | null {
  try {
    const { name, version }: { name?: unknown; version?: unknown } = JSON.parse(readFileSync(manifest, 'utf8'))
    return name === 'claude-mem' && typeof version === 'string' ? version : null
  } catch {
    // Not there, or somebody else's.
    return null
  }
}

function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
