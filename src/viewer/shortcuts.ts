/** Which key presses are shortcuts, and the shortcuts of plain lists. */
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Whether a key press may be a shortcut: no modifier, no field focused, no dialog open. */
export function isShortcut(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false
  return !isTyping(event) && document.querySelector('dialog[open]') === null
}

export function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('input, textarea, select') !== null
}

/** Calls the newest `onKey` for every key press on the page. */
export function useKeyDown(onKey: (event: KeyboardEvent) => void): void {
  const handler = useRef(onKey)
  handler.current = onKey
  useEffect(() => {
    const listener = (event: KeyboardEvent) => handler.current(event)
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [])
}

/** `j` and `k` move the focus through the elements of a list that have `data-row`. */
export function useRowKeys(list: RefObject<HTMLElement | null>): void {
  useKeyDown((event) => {
    if ((event.key !== 'j' && event.key !== 'k') || !isShortcut(event) || list.current === null) return
    const rows = [...list.current.querySelectorAll<HTMLElement>('[data-row]')]
    const focused = rows.findIndex((row) => row.matches(':focus'))
    const next = rows[focused === -1 ? 0 : focused + (event.key === 'j' ? 1 : -1)]
    if (next === undefined) return
    next.focus()
    next.scrollIntoView({ block: 'nearest' })
    event.preventDefault()
  })
}
