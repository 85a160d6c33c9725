/** Which process a number means: numbers are used again. The hook bundles this file, so it may not import a package. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * When a process was started: together with its number it means one process only. Null: it has ended, or cannot be known, as
 * on Windows.
 */
export function processStart(pid: number): string | null {
  if (!Number.isInteger(pid) || pid <= 0) return null
  try {
    if (process.platform === 'linux') return linuxStart(pid)
    if (process.platform === 'win32') return null
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null
  } catch {
    return null
  }
}

/** The fields of /proc/PID/stat after the program's name, which may contain blanks and parentheses: state and start time. */
const STATE = 0
const START_TICKS = 19

function linuxStart(pid: number): string | null {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = fields[START_TICKS]
  // A zombie has ended; its parent has not noticed.
  if (ticks === undefined || fields[STATE] === 'Z') return null
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()} ${ticks}`
}
