/** A data directory of our own under the system's temporary directory, and which processes work in it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Paths, pathsOf } from '../../src/paths.ts'

export interface Place {
  paths: Paths
  /** For every process that is to work here. */
  env: NodeJS.ProcessEnv
  remove(): void
}

export function makePlace(name: string, settings: Record<string, string> = {}): Place {
  const dataDir = mkdtempSync(join(tmpdir(), `claude-mem-${name}-`))
  const inherited = Object.entries(process.env).filter(([key]) => !key.startsWith('CLAUDE_MEM_'))
  return {
    paths: pathsOf(dataDir),
    env: {
      ...Object.fromEntries(inherited),
      CLAUDE_MEM_DATA_DIR: dataDir,
      CLAUDE_MEM_WORKER_PORT: '0',
      CLAUDE_MEM_PROVIDER: 'plain',
      ...settings,
    },
    remove: () => rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 }),
  }
}

/** Every living process that was started for this place, whoever started it. Linux only: elsewhere none are seen. */
export function processesIn(place: Place): number[] {
  if (process.platform !== 'linux') return []
  const mark = `CLAUDE_MEM_DATA_DIR=${place.paths.dataDir}\0`
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && environmentOf(pid).includes(mark))
}

/** Empty for a process that is gone, a zombie, or not ours. */
function environmentOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}

/** True when it was there to be killed. */
export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
