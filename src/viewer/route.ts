/** The current view, from the hash of the address, so that every view can be linked to. */
import { Observable } from './observable.ts'

interface ViewerRoute {
  /** `memory` of `#/memory/12?type=bugfix` */
  view: string
  /** `12` */
  id: string | null
  query: URLSearchParams
}

export const currentRoute = new Observable<ViewerRoute>(readRoute())

addEventListener('hashchange', () => currentRoute.set(readRoute()))

function readRoute(): ViewerRoute {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [view = '', id] = path.split('/')
  return {
    view: view === '' ? 'start' : view,
    id: id === undefined || id === '' ? null : decoded(id),
    query: new URLSearchParams(query),
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function viewHref(view: string, id: string | number | null = null, query: Record<string, string> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '')
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
  return `#/${view}${id === null ? '' : `/${encodeURIComponent(id)}`}${search}`
}

export function navigate(href: string): void {
  location.hash = href
}

/** Without a new history entry, for filters that change while the user types. */
export function replaceRoute(href: string): void {
  history.replaceState(null, '', href)
  currentRoute.set(readRoute())
}
