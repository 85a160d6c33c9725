/** Elements about one session: its row in a list, its status, its running effect and the size of its context. */

import type { OutputOf } from '../../api/index.ts'
import { clientTitle } from '../../domain/clients.ts'
import { receivedNote } from '../author.tsx'
import { daemonSettings, daemonSettingValue } from '../daemon-status.ts'
import { compactCount, countOf, durationText, exactTime, fullCount, RelativeTime, useNow } from '../format.tsx'
import type { LiveSession } from '../live-sessions.ts'
import { useObservable } from '../observable.ts'
import { viewHref } from '../route.ts'
import { safeLine, stateLabel } from '../safe-text.ts'
import { Meter } from './basics.tsx'

export type SessionListRow = OutputOf<'sessions'>['sessions'][number]
type Effect = NonNullable<LiveSession['effect']>

export const SESSION_STATUSES = [
  'active',
  'completed',
  'interrupted',
  'failed',
] as const satisfies SessionListRow['status'][]

type RowFields = 'session' | 'client' | 'projectName' | 'prompts' | 'observations' | 'pending' | 'failed' | 'updatedAt'

interface SessionRowProps {
  /** `pending` of a live session includes messages that are being observed. */
  row: StatusFields & Pick<SessionListRow, RowFields> & { processing?: number; author?: string | null }
  arrived?: boolean
}

/** A session in a list, linked to its page. */
export function SessionRowItem({ row, arrived = false }: SessionRowProps) {
  const waiting = row.pending + (row.processing ?? 0)
  return (
    <li class={arrived ? 'session-row arrived' : 'session-row'}>
      <a href={viewHref('session', row.session)} data-row data-session={row.session}>
        <span class="session-row-name row">
          <b class="ellipsis">{safeLine(row.projectName)}</b>
          <span class="mono soft">{safeLine(shortSessionId(row.session))}</span>
          <span class="small soft">{safeLine(clientTitle(row.client))}</span>
        </span>
        <span class="session-row-state">
          {row.author == null ? <SessionStatusChip session={row} /> : <span class="chip">{receivedNote(row)}</span>}
        </span>
        <span class="session-row-figures small figure soft">
          <span title="Prompts of the user">{countOf(row.prompts, 'prompt')}</span>
          <span title="Observations made from the session">{countOf(row.observations, 'observation')}</span>
          <span>{waiting === 0 ? '' : `${fullCount(waiting)} waiting`}</span>
          {row.failed === 0 ? null : <span class="bad">{fullCount(row.failed)} failed</span>}
        </span>
        <span class="session-row-time small soft figure">
          <RelativeTime at={row.updatedAt} />
        </span>
      </a>
    </li>
  )
}

interface StatusFields extends Pick<SessionListRow, 'state' | 'waiting' | 'quarantine'> {
  status: string
}

export function SessionStatusChip({ session: { status, state, waiting, quarantine } }: { session: StatusFields }) {
  if (quarantine !== null) return <span class="chip bad">quarantined</span>
  if (status === 'active') return <span class={waiting === null ? 'chip live' : 'chip warn'}>{stateLabel(state)}</span>
  const tone = { interrupted: 'chip warn', failed: 'chip bad' }[status] ?? 'chip'
  return <span class={tone}>{status}</span>
}

/** Colour of the session's statechart. */
export function sessionTone({ quarantine, waiting, status }: StatusFields): 'accent' | 'warn' | 'bad' | 'rest' {
  if (quarantine !== null) return 'bad'
  if (status !== 'active') return 'rest'
  return waiting === null ? 'accent' : 'warn'
}

/** The first characters of an id: enough to find it, also in a terminal. */
export function shortSessionId(id: string): string {
  return id.length > 13 ? id.slice(0, 8) : id
}

/** Size of the observer's conversation against the limit at which it is compacted. */
export function ContextMeter({ tokens, generation }: { tokens: number; generation: number }) {
  useObservable(daemonSettings)
  const limit = daemonSettingValue('CLAUDE_MEM_COMPACT_TOKENS')
  if (typeof limit !== 'number') return null
  const compacted = generation > 1 ? `, compacted ${countOf(generation - 1, 'time')}` : ''
  return (
    <Meter
      label="Observer's conversation"
      value={tokens}
      of={limit}
      text={`${compactCount(tokens)} of ${compactCount(limit)} tokens${compacted}`}
    />
  )
}

const EFFECT_TICK_MS = 1_000

/** The running effect of a session, and the time that is left until its deadline. */
export function EffectProgress({ effect }: { effect: Effect }) {
  const now = useNow(EFFECT_TICK_MS)
  const startedAt = effect.deadline - effect.timeoutMs
  const left = Math.max(0, Math.min(1, (effect.deadline - now) / effect.timeoutMs))
  return (
    <div class="small" data-effect={effect.kind}>
      <p class="meter-words wrap spread">
        <span>{effectText(effect)}</span>
        <span class="figure soft" title={`Times out at ${exactTime(effect.deadline)}`}>
          {durationText(Math.max(0, now - startedAt))} of {durationText(effect.timeoutMs)}
        </span>
      </p>
      <div class="track effect-track">
        <span style={{ transform: `scaleX(${left})` }} />
      </div>
      {effect.offline === null ? null : <p class="soft">Without a model: {safeLine(effect.offline)}</p>}
    </div>
  )
}

function effectText(effect: Effect): string {
  switch (effect.kind) {
    case 'observe':
      return `Observing turn ${effect.prompt}, up to ${countOf(effect.limit, 'message')}`
    case 'summarize':
      return `Summarizing turn ${effect.prompt}`
    case 'compact':
      return 'Compacting the conversation'
  }
}
