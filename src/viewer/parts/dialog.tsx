/** A window above the page: the browser's own, so that focus, Escape and the background behave. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { Toasts } from './toast.tsx'

interface DialogProps {
  title: string
  onClose(): void
  children: ComponentChildren
  /** Buttons at its foot. */
  actions?: ComponentChildren
}

/** What somebody came for: its first field, else the button that changes nothing. */
const FIRST = '.dialog-body :is(input, select, textarea), footer button'

export function Dialog({ title, onClose, children, actions }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    const at = dialog.current
    at?.showModal()
    at?.querySelector<HTMLElement>(FIRST)?.focus()
    // Taken off the page without being closed it leaves the focus nowhere.
    return () => {
      const isNowhere = document.activeElement === null || document.activeElement === document.body
      if (isNowhere && before instanceof HTMLElement) before.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog ref={dialog} class="dialog" aria-label={title} onClose={onClose}>
      <header>
        <h2>{title}</h2>
        <button type="button" class="plain" onClick={() => dialog.current?.close()} aria-label="Close">
          <Icon name="close" />
        </button>
      </header>
      <div class="dialog-body">{children}</div>
      {actions === undefined ? null : <footer>{actions}</footer>}
      {/* What lies below the window is neither seen well nor read out. */}
      <Toasts />
    </dialog>
  )
}
