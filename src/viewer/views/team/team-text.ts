/** What the team page says: the connection, the command that helps and what waits. */
import type { OutputOf } from '../../../api/index.ts'
import { countOf, fullCount } from '../../format.tsx'
import { safeLine } from '../../safe-text.ts'

export type TeamAnswer = OutputOf<'team_status'>['team']
type SyncAnswer = NonNullable<TeamAnswer['sync']>

export const CONNECT_COMMAND = 'claude-mem team connect postgres://ROLE@HOST/DATABASE'

const STATE_TONES = { ok: 'live', working: 'warn', problem: 'bad' } as const

/** The state in one line. Null: no team is connected. */
export function connectionLine({ line }: TeamAnswer): { tone: 'live' | 'warn' | 'bad'; text: string } | null {
  if (line === null) return null
  const text = safeLine(line.text, 600)
  return { tone: STATE_TONES[line.state], text: `${text.charAt(0).toUpperCase()}${text.slice(1)}.` }
}

/** The command that helps; null: nothing has to be done. */
export function nextCommand({ connection, sync, line }: TeamAnswer): string | null {
  if (connection === null) return CONNECT_COMMAND
  return sync?.phase.is === 'waiting' || line?.state === 'problem' ? 'claude-mem team doctor' : null
}

export interface WaitingText {
  text: string
  /** How `at` is introduced. */
  since: string
  at: number | null
}

export function toBeSent({ outbox: { waiting, oldestAt } }: SyncAnswer): WaitingText {
  if (waiting === 0) return { text: 'Nothing waits', since: '', at: null }
  return { text: countOf(waiting, 'record'), since: 'the oldest from', at: oldestAt }
}

/** `shared`: the number of shared projects. Nothing is received of others. */
export function toBeReceived({ loading, currentAt, phase }: SyncAnswer, shared: number): WaitingText {
  if (shared === 0) return { text: 'Nothing: no project is shared', since: '', at: null }
  if (loading !== null) {
    const text = `${fullCount(loading.done)} of ${countOf(loading.total, 'record')} received`
    return { text, since: 'begun', at: loading.since }
  }
  if (phase.is === 'connected' && currentAt !== null) return { text: 'Nothing waits', since: 'checked', at: currentAt }
  if (currentAt === null)
    return { text: 'Not known: the log was not read since the daemon started', since: '', at: null }
  return { text: 'Not known while there is no connection', since: 'everything was received', at: currentAt }
}
