/** What the team page says: the connection, the next step and what waits. */
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

interface NextStep {
  text: string
  /** For a terminal; null: there is nothing to type. */
  command: string | null
}

const RECONNECT = 'claude-mem team connect'
const DOCTOR = 'claude-mem team doctor'

/** By the code of the failure; the line above says what happened. */
const FAILURE_STEPS: Readonly<Record<string, NextStep>> = {
  auth: { text: 'Connect again with a role and password that the server accepts:', command: RECONNECT },
  tls: { text: 'Connect again with a certificate that this machine can check:', command: RECONNECT },
  schema_missing: { text: 'Make or update the tables of the log:', command: 'claude-mem team init' },
  schema_newer: {
    text: 'Update claude-mem on this machine. Until then everything stays here and works as before.',
    command: null,
  },
  denied: { text: 'Ask the owner of the log for the right. To see what this role may do:', command: DOCTOR },
  read_only: { text: 'The server or the role must accept writes. To see why it does not:', command: DOCTOR },
}

const WAIT_FOR_SERVER: NextStep = {
  text: 'Nothing is lost: records wait on this machine and are sent when the server answers. To check the server:',
  command: DOCTOR,
}

/** What the user can do next; null: nothing has to be done. */
export function nextStep({ connection, problem, sync, line, projects }: TeamAnswer): NextStep | null {
  if (connection === null) return problem === null ? null : { text: 'Connect again:', command: RECONNECT }
  if (sync?.phase.is === 'waiting') return FAILURE_STEPS[sync.phase.failure.code] ?? WAIT_FOR_SERVER
  if (line?.state === 'problem') return { text: 'To see the state of the server and the rights:', command: DOCTOR }
  if (projects.length === 0) return { text: 'Nothing is shared yet.', command: null }
  return null
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
