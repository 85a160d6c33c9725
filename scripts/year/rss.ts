import { readFileSync } from 'node:fs'
import { rounded } from '../lib/stats.ts'

/** The most that a process ever had in memory. Linux only. */
export function peakRssMb(pid: number): number | null {
  if (process.platform !== 'linux') return null
  const line = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return line?.[1] === undefined ? null : rounded(Number(line[1]) / 1024, 1)
}
