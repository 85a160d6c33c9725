/** The panel of an opened memory, and elements that observations, summaries and prompts share. */
import type { ComponentChildren, ComponentProps } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { EmptyState, ErrorNotice, LoadingRows } from '../../components/basics.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { Icon, KindIcon } from '../../components/icon.tsx'
import { shortDay, Time, timeOfDay } from '../../format.tsx'
import type { Query } from '../../queries.ts'
import { viewHref } from '../../route.ts'
import { safeLine, safeText } from '../../safe-text.ts'
import { filterHref } from './memory-query.ts'

interface DetailPanelProps {
  label: string
  onClose(): void
  actions?: ComponentChildren
  children: ComponentChildren
}

/** Beside the list on wide screens, else over it. */
export function DetailPanel({ label, onClose, actions, children }: DetailPanelProps) {
  const panel = useRef<HTMLElement>(null)
  useEffect(() => panel.current?.focus({ preventScroll: true }), [])
  return (
    <section class="memory-open column" ref={panel} tabIndex={-1} aria-label={label} data-testid="memory-open">
      <header class="memory-open-bar row wrap spread">
        <button type="button" class="plain memory-back" onClick={onClose}>
          <Icon name="back" />
          Memory
        </button>
        <div class="memory-open-actions row">{actions}</div>
        <button type="button" class="plain memory-close" onClick={onClose} aria-label="Close" title="Close (Esc)">
          <Icon name="close" />
        </button>
      </header>
      <div class="memory-open-body">{children}</div>
    </section>
  )
}

interface PanelSectionProps {
  title: string
  about?: string
  children: ComponentChildren
}

export function PanelSection({ title, about, children }: PanelSectionProps) {
  return (
    <section class="memory-section">
      <h3>
        {title}
        {about === undefined ? null : <span class="soft"> {about}</span>}
      </h3>
      {children}
    </section>
  )
}

interface MissingMemoryProps {
  kind: string
  query: Query<unknown>
  onClose(): void
}

/** The panel while a memory is loading, or if it cannot be loaded. */
export function MissingMemory({ kind, query: { data, error, loading, reload }, onClose }: MissingMemoryProps) {
  const isLoading = loading && data === null
  return (
    <DetailPanel label={kind} onClose={onClose}>
      {isLoading ? <LoadingRows /> : <ErrorNotice text={error} retry={reload} />}
      {isLoading || error !== null ? null : (
        <EmptyState icon="memory" title={`This ${kind} does not exist`}>
          <p>It may have been forgotten.</p>
        </EmptyState>
      )}
    </DetailPanel>
  )
}

interface MemoryLinkProps {
  href: string
  kind: ComponentProps<typeof KindIcon>['kind']
  title: string
  /** The link leads to the memory that is open. */
  current?: boolean
  children?: ComponentChildren
}

/** One line of a list of memories. */
export function MemoryLink({ href, kind, title, current = false, children }: MemoryLinkProps) {
  return (
    <li>
      <a href={href} aria-current={current ? 'true' : undefined}>
        <KindIcon kind={kind} />
        <span class="ellipsis" dir="auto">
          {safeLine(title)}
        </span>
        {children}
      </a>
    </li>
  )
}

export function ProseText({ text }: { text: string }) {
  return (
    <p class="memory-prose" dir="auto">
      {safeText(text)}
    </p>
  )
}

/** Files in a list; the rest is counted. */
const MAX_FILES = 60

/** Each path links to the memories about the file. */
export function FileList({ label, files }: { label: string; files: readonly string[] }) {
  if (files.length === 0) return null
  return (
    <div class="memory-files">
      <h4 class="row small soft">{label}</h4>
      <ul>
        {files.slice(0, MAX_FILES).map((file) => (
          <li key={file} class="row spread">
            <a class="mono plain-link" href={filterHref({ files: [file] })} title="Memories about this file">
              {safeLine(file, 400)}
            </a>
            <CopyButton text={file} what="path" />
          </li>
        ))}
      </ul>
      {files.length > MAX_FILES ? <p class="soft">and {files.length - MAX_FILES} more</p> : null}
    </div>
  )
}

interface MemoryMetaProps {
  session: string
  /** 0: outside of any turn. */
  turn: number
  at: number
  children?: ComponentChildren
}

/** Time and session of a memory. */
export function MemoryMeta({ session, turn, at, children }: MemoryMetaProps) {
  return (
    <ul class="memory-meta wrap soft">
      {children}
      <li>
        <Icon name="clock" size={14} />
        <Time at={at} class="figure">
          {shortDay(at)}, {timeOfDay(at)}
        </Time>
      </li>
      <li>
        <Icon name="sessions" size={14} />
        <a href={viewHref('session', session, { turn: turn > 0 ? `${turn}` : '' })} title={safeLine(session)}>
          session {safeLine(session.slice(0, 8))}
          {turn > 0 ? `, turn ${turn}` : ''}
        </a>
      </li>
    </ul>
  )
}
