/** The session that somebody meant by the first characters of its id. */
import { MemError } from '../errors.ts'

export function chosenSession(prefix: string, found: readonly string[]): string {
  const [only] = found
  if (found.includes(prefix)) return prefix
  if (only === undefined) throw noSession(prefix)
  if (found.length > 1) {
    throw new MemError('bad_request', `${found.length} sessions start with "${prefix}"; type more of it`)
  }
  return only
}

export function noSession(prefix: string): MemError {
  return new MemError('not_found', `no session starts with "${prefix}"; claude-mem inspect lists them`)
}
