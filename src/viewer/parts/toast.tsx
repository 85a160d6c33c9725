/** What just happened, told in passing. */
import { Cell, useCell } from '../cell.ts'

interface Toast {
  id: number
  text: string
  bad: boolean
}

const toasts = new Cell<readonly Toast[]>([])
/** Long enough to be read twice, in ms. */
const SHOWN_MS = 6_000
let next = 0

export function tell(text: string, bad = false): void {
  const toast = { id: ++next, text, bad }
  toasts.set([...toasts.value.slice(-2), toast])
  setTimeout(() => toasts.set(toasts.value.filter(({ id }) => id !== toast.id)), SHOWN_MS)
}

export function Toasts() {
  const shown = useCell(toasts)
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, bad }) => (
        <p key={id} class={bad ? 'toast bad' : 'toast'}>
          {text}
        </p>
      ))}
    </div>
  )
}
