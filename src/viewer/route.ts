/** Where the page is: everything that can be linked to stands behind the `#`. */
import { Cell } from './cell.ts'

export interface Route {
  /** `memory` of `#/memory/12?type=bugfix` */
  view: string
  /** `12` */
  id: string | null
  query: URLSearchParams
}

export const route = new Cell<Route>(read())

addEventListener('hashchange', () => route.set(read()))

function read(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?')
  const [view = '', id] = path.split('/')
  return {
    view: view === '' ? 'now' : view,
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

export function hrefOf(view: string, id: string | number | null = null, query: Record<string, string> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '')
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
  return `#/${view}${id === null ? '' : `/${encodeURIComponent(id)}`}${search}`
}

export function go(href: string): void {
  location.hash = href
}

/** For what should not become a step back in the history: a filter that is being typed. */
export function replace(href: string): void {
  history.replaceState(null, '', href)
  route.set(read())
}
