/** What a project may be called. */
import { MemError } from '../errors.ts'

const MAX_CHARS = 80

/** A name that could be taken for a path, a key or `all` would never be found by it. */
export function checkedName(given: string): string {
  const name = given.trim().replace(/\s+/g, ' ')
  const fault = faultOf(name)
  if (fault !== null) throw new MemError('bad_request', `a project cannot be called that: ${fault}`)
  return name
}

function faultOf(name: string): string | null {
  if (name === '') return 'the name is empty'
  if (name.length > MAX_CHARS) return `a name has at most ${MAX_CHARS} characters`
  if (/[\p{Cc}\u2028\u2029]/u.test(name)) return 'a name is one line of text'
  if (/[/\\]|^~|^\.{1,2}$/.test(name)) return 'it looks like a path'
  if (/^\w+:/.test(name)) return 'it looks like the key of a project'
  return name === 'all' ? '"all" means every project' : null
}
