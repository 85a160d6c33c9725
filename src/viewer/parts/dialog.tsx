/** A window above the page: the browser's own, so that focus, Escape and the background behave. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface DialogProps {
  title: string
  onClose(): void
  children: ComponentChildren
  /** Buttons at its foot. */
  actions?: ComponentChildren
}

export function Dialog({ title, onClose, children, actions }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    dialog.current?.showModal()
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
    </dialog>
  )
}
