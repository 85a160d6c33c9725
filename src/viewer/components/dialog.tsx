/** Modal dialogs and toasts. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { errorMessage } from '../../lib/errors.ts'
import { Observable, useObservable } from '../observable.ts'
import { Icon } from './icon.tsx'

interface Toast {
  id: number
  text: string
  bad: boolean
}

const toasts = new Observable<readonly Toast[]>([])
/** Long enough to read a sentence twice, in ms. */
const TOAST_MS = 6_000
const MAX_TOASTS = 3
let lastToastId = 0

export function showToast(text: string, bad = false): void {
  const toast = { id: ++lastToastId, text, bad }
  toasts.set([...toasts.value.slice(1 - MAX_TOASTS), toast])
  setTimeout(() => toasts.set(toasts.value.filter(({ id }) => id !== toast.id)), TOAST_MS)
}

export function Toasts() {
  return (
    <div class="toasts stack" role="status" aria-live="polite">
      {useObservable(toasts).map(({ id, text, bad }) => (
        <p key={id} class={bad ? 'toast popup bad' : 'toast popup'}>
          {text}
        </p>
      ))}
    </div>
  )
}

/** Shows the text that an action returns, or its error, as a toast. True: the action succeeded. */
export async function runWithToast(action: () => Promise<string>): Promise<boolean> {
  try {
    showToast(await action())
    return true
  } catch (error) {
    showToast(errorMessage(error), true)
    return false
  }
}

/** `run` is ignored while it is running: a second click does nothing. */
export function useBusy(run: () => Promise<unknown>): { busy: boolean; start(): void } {
  const [busy, setBusy] = useState(false)
  const start = () => {
    if (busy) return
    setBusy(true)
    void run().finally(() => setBusy(false))
  }
  return { busy, start }
}

interface DialogProps {
  title: string
  onClose(): void
  children: ComponentChildren
  /** Buttons at the bottom. */
  actions?: ComponentChildren
}

/** Focused first: the first field, else the first button, which never changes anything. */
const FIRST_FOCUS = '.dialog-body :is(input, select, textarea), footer button'

/** The browser's own modal dialog, which handles the focus, Escape and the background. */
export function Dialog({ title, onClose, children, actions }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const previous = document.activeElement
    dialog.current?.showModal()
    dialog.current?.querySelector<HTMLElement>(FIRST_FOCUS)?.focus()
    // A dialog that is removed without being closed does not restore the focus.
    return () => {
      const isLost = document.activeElement === null || document.activeElement === document.body
      if (isLost && previous instanceof HTMLElement) previous.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog ref={dialog} class="dialog popup" aria-label={title} onClose={onClose}>
      <header class="row spread">
        <h2>{title}</h2>
        <button type="button" class="plain" onClick={() => dialog.current?.close()} aria-label="Close">
          <Icon name="close" />
        </button>
      </header>
      <div class="dialog-body stack">{children}</div>
      {actions === undefined ? null : <footer class="row">{actions}</footer>}
      {/* Toasts below a modal dialog would be hidden and not read out. */}
      <Toasts />
    </dialog>
  )
}

interface ActionDialogProps extends Omit<DialogProps, 'actions'> {
  cancel?: string
  confirm: string
  confirmClass?: 'primary' | 'danger'
  disabled?: boolean
  /** The dialog is closed if it resolves with true. */
  onConfirm(): Promise<boolean>
}

/** A dialog with a button to cancel and one that runs an action. */
export function ActionDialog(props: ActionDialogProps) {
  const { cancel = 'Cancel', confirm, confirmClass = 'primary', disabled = false, onConfirm, onClose } = props
  const { busy, start } = useBusy(async () => {
    if (await onConfirm()) onClose()
  })
  const actions = (
    <>
      <button type="button" onClick={onClose}>
        {cancel}
      </button>
      <button type="button" class={confirmClass} disabled={disabled || busy} onClick={start}>
        {confirm}
      </button>
    </>
  )
  return (
    <Dialog title={props.title} onClose={onClose} actions={actions}>
      {props.children}
    </Dialog>
  )
}
