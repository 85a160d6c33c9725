/** The status of a session, and its row in a list. */
import type { OutputOf } from '../../../api/index.ts'
import { clientTitle } from '../../../domain/clients.ts'
import { isHandWritten } from '../../../domain/observation.ts'
import { Chip, type Tone } from '../../components/basics.tsx'
import { receivedNote } from '../../components/memory-parts.tsx'
import { countOf, fullCount, RelativeTime } from '../../format.tsx'
import { viewHref } from '../../route.ts'
import { safeLine, stateLabel, titleText } from '../../safe-text.ts'

export type ListedSession = OutputOf<'sessions'>['sessions'][number]

export const SESSION_STATUSES = [
  'active',
  'completed',
  'interrupted',
  'failed',
] as const satisfies ListedSession['status'][]

type StatusFields = Pick<ListedSession, 'status' | 'state' | 'waiting' | 'quarantine'>

const TONES: Partial<Record<string, Tone>> = { interrupted: 'warn', failed: 'bad' }

export function StatusChip({ session: { status, state, waiting, quarantine } }: { session: StatusFields }) {
  if (quarantine !== null) return <Chip tone="bad">quarantined</Chip>
  if (status === 'active') return <Chip tone={waiting === null ? 'live' : 'warn'}>{stateLabel(state)}</Chip>
  const tone = TONES[status]
  return tone === undefined ? <Chip>{status}</Chip> : <Chip tone={tone}>{status}</Chip>
}

function unknownRequest(row: ListedSession): string {
  return isHandWritten(row) ? 'Observations written by hand' : 'No prompt yet'
}

interface SessionRowProps {
  row: ListedSession
  isNew: boolean
}

/** A session by its request and what came of it. */
export function SessionRow({ row, isNew }: SessionRowProps) {
  const waiting = row.pending + row.processing
  return (
    <li class={isNew ? 'hit arrived' : 'hit'} data-testid="session-row" data-session={row.session}>
      <div class="grow">
        <h2 class="clamp" dir="auto">
          <a href={viewHref('session', row.session)} data-row>
            {row.request === null ? unknownRequest(row) : titleText(row.request)}
          </a>
        </h2>
        {row.outcome === null ? null : (
          <p class="small soft clamp" dir="auto">
            {titleText(row.outcome)}
          </p>
        )}
        <p class="row wrap small soft">
          <span>{safeLine(row.projectName)}</span>
          <span>{safeLine(clientTitle(row.client))}</span>
          <span>
            {countOf(row.prompts, 'turn')}, {countOf(row.observations, 'observation')}
          </span>
          {waiting === 0 ? null : <span>{fullCount(waiting)} waiting</span>}
          {row.failed === 0 ? null : <span class="bad">{fullCount(row.failed)} failed</span>}
        </p>
      </div>
      <div class="hit-side small soft">
        <RelativeTime at={row.updatedAt} />
        {row.author == null ? <StatusChip session={row} /> : <Chip>{receivedNote(row)}</Chip>}
      </div>
    </li>
  )
}
