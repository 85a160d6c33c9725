/** One session on one line, wherever sessions are listed. */
import type { Answer } from '../../../channel/protocol.ts'
import type { LiveSession } from '../../model/sessions.ts'
import { inWords, safeLine } from '../../parts/safe-text.ts'
import { Ago } from '../../parts/time.tsx'
import { hrefOf } from '../../route.ts'
import { count, counted } from '../../times.ts'
import './row.css'

export type SessionLine = Extract<Answer, { type: 'sessions' }>['sessions'][number]

export function SessionRow({ line, arrived = false }: { line: SessionLine; arrived?: boolean }) {
  const waits = line.pending + line.processing
  return (
    <li class={arrived ? 'session-row arrived' : 'session-row'}>
      <a href={hrefOf('session', line.session)} data-row data-session={line.session}>
        <span class="session-row-name">
          <b>{safeLine(line.projectName)}</b>
          <span class="mono soft">{safeLine(shortId(line.session))}</span>
        </span>
        <span class="session-row-state">
          <StatusChip line={line} />
        </span>
        <span class="session-row-figures figure soft">
          <span title="Prompts that its user wrote">{counted(line.prompts, 'prompt')}</span>
          <span title="Observations that came of it">{counted(line.observations, 'observation')}</span>
          <span>{waits === 0 ? '' : `${count(waits)} waiting`}</span>
          {line.failed === 0 ? null : <span class="session-row-failed">{count(line.failed)} failed</span>}
        </span>
        <span class="session-row-time soft figure">
          <Ago at={line.updatedAt} />
        </span>
      </a>
    </li>
  )
}

type Chipped = Pick<SessionLine, 'status' | 'state' | 'waiting' | 'quarantine'>

/** How it is, in one word and a colour. */
export function StatusChip({ line: { status, state, waiting, quarantine } }: { line: Chipped }) {
  if (quarantine !== null) return <span class="chip bad">quarantined</span>
  if (status === 'active' && waiting !== null) return <span class="chip warn">{inWords(state)}</span>
  const tone = { active: 'chip live', completed: 'chip', interrupted: 'chip warn', failed: 'chip bad' }[status]
  return <span class={tone}>{status === 'active' ? inWords(state) : status}</span>
}

export function lineOf(session: LiveSession): SessionLine {
  const { id, transitions: _, heard: __, ...rest } = session
  return { ...rest, session: id, processing: 0, status: statusOf(session.status) }
}

function statusOf(status: string): SessionLine['status'] {
  return STATUSES.find((known) => known === status) ?? 'active'
}

export const STATUSES = ['active', 'completed', 'interrupted', 'failed'] as const satisfies SessionLine['status'][]

/** The first characters of an id are enough to tell it from others, and to ask for it in a terminal. */
export function shortId(id: string): string {
  return id.length > 13 ? id.slice(0, 8) : id
}
