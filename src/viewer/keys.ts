/** Keys that work everywhere, unless somebody is typing. */
import { Cell } from './cell.ts'
import { go, hrefOf } from './route.ts'

export const VIEWS = [
  { view: 'now', name: 'Now', key: '1', about: 'Sessions at work' },
  { view: 'memory', name: 'Memory', key: '2', about: 'What was learned' },
  { view: 'session', name: 'Sessions', key: '3', about: 'From first prompt to summary' },
  { view: 'usage', name: 'Usage', key: '4', about: 'What it costs' },
  { view: 'settings', name: 'Settings', key: '5', about: 'How it behaves' },
] as const

/** Keys for people to learn, by where they work. */
export const KEYS: readonly (readonly [string, string])[] = [
  ...VIEWS.map(({ key, name }) => [key, name] as const),
  ['/', 'Search the memory'],
  ['j  k', 'Next, previous in a list'],
  ['Enter', 'Open what is chosen'],
  ['Esc', 'Close, or leave the field'],
  ['?', 'These keys'],
]

export const helpShown = new Cell(false)

/** Where `/` leads: the memory's search field. */
export const SEARCH_FIELD = 'search-field'

export function followKeys(): void {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    const field = event.target instanceof Element ? event.target.closest('input, textarea, select') : null
    if (field !== null) {
      if (event.key === 'Escape' && field instanceof HTMLElement) field.blur()
      return
    }
    if (document.querySelector('dialog[open]') !== null) return
    const view = VIEWS.find(({ key }) => key === event.key)
    if (view !== undefined) go(hrefOf(view.view))
    else if (event.key === '?') helpShown.set(true)
    else if (event.key === '/') toSearch()
    else return
    event.preventDefault()
  })
}

function toSearch(): void {
  const focus = () => document.getElementById(SEARCH_FIELD)?.focus()
  if (document.getElementById(SEARCH_FIELD) === null) {
    go(hrefOf('memory'))
    requestAnimationFrame(() => requestAnimationFrame(focus))
  } else {
    focus()
  }
}
