/** What waits to be remembered, and why. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { MemError, systemCode } from '../errors.ts'
import { counted } from '../memory/counts.ts'
import { startOfDay } from '../memory/day.ts'
import type { QueueStats } from '../store/port.ts'
import { advice, type Examination, type Finding, faultsOr, problem } from './check.ts'
import type { DaemonState, Facts } from './facts.ts'

const NOTHING: QueueStats = { pending: 0, processing: 0, failed: 0, sessions: 0, oldestAt: null }
/** A daemon looks into the spool every few seconds; what lies there longer (ms) is not taken. */
const TAKEN_WITHIN_MS = 60_000

export function waiting(facts: Facts): Examination {
  const { paths, now } = facts.around
  return {
    id: 'waiting',
    title: 'Waiting',
    look: async () => {
      const daemon = await facts.daemon()
      const queue = await queueOf(daemon, facts)
      const spooled = spooledFiles(paths.spool)
      const faults = [...observerFaults(daemon, queue), ...spoolFaults(spooled, daemon.type === 'running', now)]
      const bad = namesIn(join(paths.spool, 'bad')).length
      if (bad > 0) {
        const text = `set aside in ${join(paths.spool, 'bad')}, as not understood: ${counted(bad, 'event')}`
        faults.push(advice(text, 'look at what is in there, then delete it'))
      }
      if (queue.failed > 0) {
        const text = `set aside after failing: ${counted(queue.failed, 'message')}`
        faults.push(advice(text, 'claude-mem queue says why; claude-mem queue retry tries again'))
      }
      const waits = queue.pending + queue.processing
      return faultsOr(faults, waits === 0 ? 'nothing' : `${counted(waits, 'message')}, as it should be`)
    },
  }
}

async function queueOf(daemon: DaemonState, { around }: Facts): Promise<QueueStats> {
  if (daemon.type === 'running') return daemon.status.queue
  const { SqliteReader } = await import('../store/sqlite/reader.ts')
  try {
    const reader = await SqliteReader.open(around.paths.database)
    return await reader.stats(startOfDay(around.now)).finally(() => reader.close())
  } catch (error) {
    // No memory yet, or one of another version, which is said where the database is looked at.
    if (error instanceof MemError && UNREAD.includes(error.code)) return NOTHING
    throw error
  }
}

const UNREAD = ['not_found', 'unsupported_version', 'newer_database']

function observerFaults(daemon: DaemonState, { pending, processing }: QueueStats): Finding[] {
  if (daemon.type !== 'running') return []
  const { waiting: held, provider, budget } = daemon.status
  const faults: Finding[] = []
  if (held !== null) {
    const since = new Date(held.since).toISOString()
    const waits = counted(pending + processing, 'message')
    const test = 'claude-mem providers shows what is missing; claude-mem providers test makes one tiny call'
    faults.push(
      held.offline
        ? advice(`the offline observer stands in for ${provider} since ${since}: ${held.reason}`, test)
        : problem(`${provider} does not answer since ${since} (${held.reason}); for it waits: ${waits}`, test),
    )
  }
  if (budget !== null && budget.reason !== null) {
    const fix = 'it goes on at midnight; more: claude-mem config set daily-budget-usd 5, then claude-mem restart'
    faults.push(advice(`the offline observer stands in: ${budget.reason}`, fix))
  }
  return faults
}

function spoolFaults(spooled: readonly string[], running: boolean, now: number): Finding[] {
  if (spooled.length === 0) return []
  if (!running) {
    return [
      advice(
        `${counted(spooled.length, 'event')} in the spool, for the daemon that the next hook starts`,
        'claude-mem start',
      ),
    ]
  }
  // Their names begin with the time.
  const oldest = Number(spooled[0]?.split('-', 1)[0])
  if (now - oldest < TAKEN_WITHIN_MS) return []
  const text = `not taken from the spool: ${counted(spooled.length, 'event')}`
  return [problem(text, 'claude-mem logs says why; claude-mem restart')]
}

/** Names of complete events, oldest first. Looks only: what a dead writer left is the daemon's to adopt. */
export function spooledFiles(directory: string): string[] {
  return namesIn(directory)
    .filter((name) => name.endsWith('.json'))
    .sort()
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}
