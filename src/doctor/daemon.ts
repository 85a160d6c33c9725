/** The daemon: whether it answers, is the right one, and what it has to say. Not running is fine: hooks start it. */
import { realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Status } from '../channel/protocol.ts'
import { SETTINGS_FILE } from '../settings.ts'
import { compareVersions, VERSION } from '../version.ts'
import { advice, type Examination, type Finding, faultsOr, ok, problem } from './check.ts'
import type { Facts, Surroundings } from './facts.ts'
import { lastFailure } from './log-end.ts'

export function daemon(facts: Facts): Examination {
  return {
    id: 'daemon',
    title: 'Daemon',
    look: async () => {
      const { around } = facts
      const state = await facts.daemon()
      if (state.type === 'stopped') return stopped(around)
      if (state.type === 'mute') {
        const text = `something listens on ${around.paths.socket} and does not answer: ${state.reason}`
        return [problem(text, 'claude-mem restart; if that does not help, end the process that claude-mem logs names')]
      }
      const { status } = state
      const well = `${status.version} ${status.state}, pid ${status.pid}`
      return faultsOr([...identityFaults(status, around), ...noticeFaults(status)], well)
    },
  }
}

function stopped({ paths }: Surroundings): Finding[] {
  const failure = lastFailure(paths.logs)
  if (failure === null) return [ok('not running; the next hook starts it')]
  return [
    problem(`the last one ended with an error: ${failure}`, 'mend that, then claude-mem start; see claude-mem logs'),
  ]
}

function identityFaults(status: Status, { paths, dist }: Surroundings): Finding[] {
  const faults: Finding[] = []
  const difference = compareVersions(status.version, VERSION)
  if (difference < 0) {
    faults.push(problem(`version ${status.version} runs, and this program is ${VERSION}`, 'claude-mem restart'))
  } else if (difference > 0) {
    const text = `version ${status.version} runs, and this program is the older ${VERSION} (${dist})`
    faults.push(problem(text, 'npm install -g claude-mem@latest, or remove the older one from your PATH'))
  }
  if (real(status.dataDir) !== real(paths.dataDir)) {
    const text = `it keeps ${status.dataDir}, and this program looks at ${paths.dataDir}`
    faults.push(problem(text, 'see what CLAUDE_MEM_DATA_DIR says here and where the daemon was started'))
  }
  if (status.state !== 'serving') faults.push(advice(`it is ${status.state}`, 'wait a moment, then look again'))
  const settings = statSync(join(paths.dataDir, SETTINGS_FILE), { throwIfNoEntry: false })
  if (settings !== undefined && settings.mtimeMs > status.startedAt) {
    faults.push(advice(`${SETTINGS_FILE} was changed since it started`, 'claude-mem restart, which takes it up'))
  }
  return faults
}

/** What it wants people to know; news are no fault. */
function noticeFaults({ notices }: Status): Finding[] {
  const fix = 'claude-mem status says when; claude-mem logs says more; claude-mem restart forgets it'
  return notices
    .filter(({ level }) => level !== 'info')
    .map(({ level, text }) => (level === 'error' ? problem(text, fix) : advice(text, fix)))
}

function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
