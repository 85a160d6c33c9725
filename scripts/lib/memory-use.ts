import { readFileSync } from 'node:fs'
import { rounded } from './stats.ts'

/** What a process has in memory, or (`VmHWM`) the most that it ever had, in MB. Linux only. */
export function memoryMb({ pid }: { pid: number }, field: 'VmRSS' | 'VmHWM'): number | null {
  if (process.platform !== 'linux') return null
  const line = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return line?.[1] === undefined ? null : rounded(Number(line[1]) / 1024, 1)
}
