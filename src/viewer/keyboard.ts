/** The views and the keyboard shortcuts. */
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Observable } from './observable.ts'
import { navigate, viewHref } from './route.ts'

export const VIEWS = [
  { view: 'start', name: 'Start', key: '1', about: 'What your next session will be told' },
  { view: 'memory', name: 'Memory', key: '2', about: 'Search and correct what is remembered' },
  { view: 'session', name: 'Sessions', key: '3', about: 'Sessions by their request and outcome' },
  { view: 'usage', name: 'Usage', key: '4', about: 'Activity and cost' },
  { view: 'settings', name: 'Settings', key: '5', about: 'Settings' },
  { view: 'team', name: 'Team', key: '6', about: 'Memory shared between machines' },
] as const

/** Keys and descriptions for the help dialog. */
export const KEY_HELP: readonly (readonly [string, string])[] = [
  ...VIEWS.map(({ key, name }) => [key, name] as const),
  ['/', 'Search the memory'],
  ['j k', 'Next, previous in a list'],
  ['Enter', 'Open the focused row'],
  ['Esc', 'Close, or leave the field'],
  ['?', 'Show these keys'],
]

export const helpVisible = new Observable(false)

/** `/` focuses the search field of the memory view. */
export const SEARCH_FIELD_ID = 'search-field'

export function listenForKeys(): void {
  addEventListener('keydown', (event) => {
    const leavesField = event.key === 'Escape' && isTyping(event) && !event.defaultPrevented
    if (leavesField && event.target instanceof HTMLElement) event.target.blur()
    if (!isShortcut(event)) return
    const view = VIEWS.find(({ key }) => key === event.key)
    if (view !== undefined) navigate(viewHref(view.view))
    else if (event.key === '?') helpVisible.set(true)
    else if (event.key === '/') focusSearchField()
    else return
    event.preventDefault()
  })
}

function focusSearchField(): void {
  const focus = () => document.getElementById(SEARCH_FIELD_ID)?.focus()
  if (document.getElementById(SEARCH_FIELD_ID) === null) {
    navigate(viewHref('memory'))
    requestAnimationFrame(() => requestAnimationFrame(focus))
  } else {
    focus()
  }
}

/** Whether a key press may be a shortcut: no modifier, no field focused, no dialog open. */
function isShortcut(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false
  return !isTyping(event) && document.querySelector('dialog[open]') === null
}

function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest('input, textarea, select') !== null
}

/** Calls the newest `onKey` for every shortcut. */
export function useShortcut(onKey: (event: KeyboardEvent) => void): void {
  const handler = useRef(onKey)
  handler.current = onKey
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      if (isShortcut(event)) handler.current(event)
    }
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [])
}

/** `j` and `k` move the focus through the elements of a list that have `data-row`. */
export function useRowKeys(list: RefObject<HTMLElement | null>): void {
  useShortcut((event) => {
    if ((event.key !== 'j' && event.key !== 'k') || list.current === null) return
    const rows = [...list.current.querySelectorAll<HTMLElement>('[data-row]')]
    const focused = rows.findIndex((row) => row.matches(':focus'))
    const next = rows[focused === -1 ? 0 : focused + (event.key === 'j' ? 1 : -1)]
    if (next === undefined) return
    next.focus()
    next.scrollIntoView({ block: 'nearest' })
    event.preventDefault()
  })
}
