/** The panel of an opened memory: beside the list on wide screens, else over it. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { EmptyState } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { shortDay, Time, timeOfDay } from '../../format.tsx'
import { viewHref } from '../../route.ts'
import { safeLine } from '../../safe-text.ts'
import { filterHref } from './memory-query.ts'

interface PanelProps {
  label: string
  onClose(): void
  children: ComponentChildren
}

export function Panel({ label, onClose, children }: PanelProps) {
  const panel = useRef<HTMLElement>(null)
  useEffect(() => panel.current?.focus({ preventScroll: true }), [])
  return (
    <section class="panel stack" ref={panel} tabIndex={-1} aria-label={label} data-testid="memory-open">
      <button type="button" class="plain panel-close" onClick={onClose} title="Close (Esc)">
        <Icon name="close" /> Close
      </button>
      {children}
    </section>
  )
}

export function MissingMemory({ what }: { what: string }) {
  return (
    <EmptyState icon="memory" title={`This ${what} does not exist`}>
      <p>It may have been forgotten.</p>
    </EmptyState>
  )
}

interface PlaceProps {
  session: string
  /** 0: outside of any turn. */
  turn: number
  at: number
  project: string
  projectName: string
}

/** Project, time and turn of a memory. */
export function MemoryPlace({ session, turn, at, project, projectName }: PlaceProps) {
  return (
    <p class="row wrap small soft">
      <a href={filterHref({ project })} title="All of this project">
        {safeLine(projectName)}
      </a>
      <Time at={at} class="figure">
        {shortDay(at)}, {timeOfDay(at)}
      </Time>
      <a href={viewHref('session', session, { turn: turn > 0 ? `${turn}` : '' })} title={safeLine(session)}>
        {turn > 0 ? `turn ${turn} of its session` : 'its session'}
      </a>
    </p>
  )
}
