/**
 * Where programs are installed in a data directory, and which of them may serve it (setup/program/place.ts installs them).
 * After an update or a rollback, processes of the other version still run: hooks, MCP servers of open sessions. They use
 * the daemon of the current version and start no other.
 */
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { readTextFile } from './files.ts'
import { COMMAND_NAME } from './names.ts'
import { isInside, type Paths } from './paths.ts'

export const CURRENT_PROGRAM = 'current'

/** Through the link: the same path after an update. */
export function currentDist(paths: Paths): string {
  return join(paths.program, CURRENT_PROGRAM, 'dist')
}

/** What `install` has made of the command `claude-mem` (setup/program/shell-command.ts), beside the records of clients' files. */
export function commandRecord({ dataDir }: Pick<Paths, 'dataDir'>): string {
  return join(dataDir, 'install', 'command.json')
}

/** How to run our command line on this machine: by its name only where a new shell finds it. */
export function commandCall(paths: Pick<Paths, 'dataDir'>): string {
  try {
    const { call } = JSON.parse(readTextFile(commandRecord(paths)) ?? '{}')
    return typeof call === 'string' ? call : COMMAND_NAME
  } catch {
    return COMMAND_NAME
  }
}

/** Whether the program in `dist` was installed here and another one has taken its place. */
export function isReplacedProgram(paths: Paths, dist: string): boolean {
  const program = realPath(paths.program)
  const here = realPath(dist)
  const current = realPath(currentDist(paths))
  return program !== null && here !== null && current !== null && isInside(program, here) && here !== current
}

/** The directory from which a daemon is started: of the installed program, unless this one runs from a place of its own. */
export function daemonDist(paths: Paths, dist: string): string {
  const isTemporary = /[\\/]_npx[\\/]/.test(dist)
  const program = realPath(paths.program)
  const isInstalled = program !== null && isInside(program, realPath(dist) ?? dist)
  const current = currentDist(paths)
  return (isTemporary || isInstalled) && existsSync(join(current, 'daemon.js')) ? (realPath(current) ?? dist) : dist
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}
