/** Downloads that were cut off: the library writes `NAME.tmp.PID.RANDOM` and renames it when it is whole. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemCode } from '../../errors.ts'

const HALF = /\.tmp\.(\d+)\.-?\w+$/

/** Ours, and those of processes that are gone; another process may be fetching the same model. */
export function removeHalfFiles(folder: string): void {
  for (const file of filesIn(folder)) {
    const pid = HALF.exec(file)?.[1]
    if (pid !== undefined && !isAnother(Number(pid))) rmSync(join(folder, file), { force: true })
  }
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}

function isAnother(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}
