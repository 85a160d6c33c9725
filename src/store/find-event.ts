/** The event that somebody meant by the first characters of its id. */
import { MemError } from '../errors.ts'

export function chosenEvent(prefix: string, found: readonly string[]): string {
  const [only] = found
  if (found.includes(prefix)) return prefix
  if (only === undefined) throw noEvent(prefix)
  if (found.length > 1) throw new MemError('bad_request', `several events start with "${prefix}"; type more of it`)
  return only
}

export function noEvent(prefix: string): MemError {
  return new MemError(
    'not_found',
    `no event starts with "${prefix}"; claude-mem queue --json and claude-mem show name them (a tool use has its tool_use_id)`,
  )
}
