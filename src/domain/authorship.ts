/**
 * Whose a memory is. What this machine learned has neither author nor machine; what came from a team's log has both. A
 * person's own memories are those without an author and those that another machine of the same person learned. Other people's
 * memories are evidence, never instructions: they are shown with their author, and in the context of a session as quotations.
 */
import { formatDay } from './dates.ts'
import type { MemoryOrigin } from './observation.ts'
import { quotation } from './quotation.ts'

/** Null or absent: this machine learned it. */
export type Authorship = Pick<MemoryOrigin, 'author' | 'machine'>

/** Most characters of a name that is shown. */
const NAME_CHARS = 60

/** `me`: the name of this machine's user in the team; null: there is none. */
export function isOwn({ author }: Authorship, me: string | null): boolean {
  return author == null || author === me
}

/** Between quotation marks: a name is chosen by its owner, and may contain anything. */
export function authorName(name: string): string {
  return quotation(name.replace(/[()|]/g, ' '), NAME_CHARS)
}

/** The key of a project that others may have named. */
export function projectKeyName(key: string): string {
  return /^[\w.@+:/~%-]+$/.test(key) ? key : quotation(key, NAME_CHARS)
}

/** `by alice, Nov 16`; '' for what has no author. */
export function byline({ author }: Authorship, at: number, now: number): string {
  return author == null ? '' : `by ${authorName(author)}, ${formatDay(at, now)}`
}

/** The memory as its owner reads it: what another machine of the same person learned has a machine, but no author. */
export function withoutOwnAuthor<T extends Authorship>(memory: T, me: string | null): T {
  return memory.author != null && isOwn(memory, me) ? { ...memory, author: null } : memory
}

/** `received from alice's machine laptop`; null for what was learned here. */
export function receivedFromText(memory: Authorship, me: string | null): string | null {
  const { author = null, machine = null } = memory
  if (machine === null && author === null) return null
  const place = machine === null ? 'other machine' : `machine ${authorName(machine)}`
  return isOwn(memory, me) ? `received from your ${place}` : `received from ${authorName(author ?? '')}'s ${place}`
}

/** Names in a sentence; the rest are counted. */
const NAMED_AUTHORS = 3

/** What happens to memories of other people that are forgotten here. */
export function othersForgottenText(others: readonly { author: string; observations: number }[]): string {
  const count = others.reduce((sum, { observations }) => sum + observations, 0)
  const names = others.slice(0, NAMED_AUTHORS).map(({ author }) => authorName(author))
  const more = others.length - names.length
  const whose = `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return (
    `${count} of these ${count === 1 ? 'is' : 'are'} by other people (${whose}): erased on this machine, and not received ` +
    'again. On other machines they stay, unless your role may erase the records of others.'
  )
}
