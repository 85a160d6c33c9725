/**
 * Temporary directories for copies of memories. They are inside the data directory, and their names contain the process id:
 * what a killed process left behind is found and removed by the next one.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemCode } from './errors.ts'

/** `<purpose>-<process id>-<random>` */
const NAME = /^[a-z]+-(\d+)-/

/** `parent`: the directory `temporary` of the data directory. */
export function makeTemporaryDirectory(parent: string, purpose: string): string {
  mkdirSync(parent, { recursive: true, mode: 0o700 })
  removeStaleTemporary(parent)
  return mkdtempSync(join(parent, `${purpose}-${process.pid}-`))
}

/** Returns the removed directories. Those of running processes stay. */
export function removeStaleTemporary(parent: string): string[] {
  return namesIn(parent).flatMap((name) => {
    const pid = Number(NAME.exec(name)?.[1] ?? 0)
    if (pid > 0 && isRunning(pid)) return []
    const directory = join(parent, name)
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
    return [directory]
  })
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return [] // it does not exist before the first use
  }
}
