/** Where what is open stands, and its parts. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from '../../parts/icon.tsx'
import { Empty, Trouble, Waiting } from '../../parts/plain.tsx'

interface PanelProps {
  label: string
  onClose(): void
  actions?: ComponentChildren
  children: ComponentChildren
}

/** Beside the list where there is room, else over it. */
export function Panel({ label, onClose, actions, children }: PanelProps) {
  const box = useRef<HTMLElement>(null)
  // Whoever opened it reads it now.
  useEffect(() => box.current?.focus({ preventScroll: true }), [])
  return (
    <section class="memory-open" ref={box} tabIndex={-1} aria-label={label} data-testid="memory-open">
      <header class="memory-open-bar">
        <button type="button" class="plain memory-back" onClick={onClose}>
          <Icon name="back" />
          Memory
        </button>
        <div class="memory-open-actions">{actions}</div>
        <button type="button" class="plain memory-close" onClick={onClose} aria-label="Close" title="Close (Esc)">
          <Icon name="close" />
        </button>
      </header>
      <div class="memory-open-body">{children}</div>
    </section>
  )
}

/** A part of what is open, under its heading. */
export function Part({ title, about, children }: { title: string; about?: string; children: ComponentChildren }) {
  return (
    <section class="memory-part">
      <h3>
        {title}
        {about === undefined ? null : <span class="memory-part-about"> {about}</span>}
      </h3>
      {children}
    </section>
  )
}

interface NotThereProps {
  what: string
  loading: boolean
  error: string | null
  onRetry(): void
}

export function NotThere({ what, loading, error, onRetry }: NotThereProps) {
  if (loading) return <Waiting />
  if (error !== null) return <Trouble text={error} retry={onRetry} />
  return (
    <Empty icon="memory" title={`This ${what} is not there`}>
      <p>It may have been forgotten.</p>
    </Empty>
  )
}
