/** The views and the keyboard shortcuts that work everywhere. */
import { Observable } from './observable.ts'
import { navigate, viewHref } from './route.ts'
import { isShortcut, isTyping } from './shortcuts.ts'

export const VIEWS = [
  { view: 'now', name: 'Now', key: '1', about: 'Active sessions' },
  { view: 'memory', name: 'Memory', key: '2', about: 'Observations, summaries and prompts' },
  { view: 'session', name: 'Sessions', key: '3', about: 'Sessions from first prompt to summary' },
  { view: 'usage', name: 'Usage', key: '4', about: 'Activity and cost' },
  { view: 'settings', name: 'Settings', key: '5', about: 'Settings and context preview' },
  { view: 'team', name: 'Team', key: '6', about: 'Memory shared between machines' },
] as const

/** Keys and descriptions for the help dialog. Two spaces separate alternative keys. */
export const KEY_HELP: readonly (readonly [string, string])[] = [
  ...VIEWS.map(({ key, name }) => [key, name] as const),
  ['/', 'Search the memory'],
  ['j  k', 'Next, previous in a list'],
  ['Enter', 'Open the selected row'],
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
