/** What the forms of hook settings have in common: an object `hooks` with a list under each event. */
import { memberOf, type ObjectNode, scan } from './json-text.ts'

export type IsOurs = (command: unknown) => boolean

/** How entries of ours are found and taken out in one form; a place names its event. */
export interface Entries<P extends { event: string }> {
  places(text: string): P[]
  remove(text: string, place: P): string
}

/** Leaves one entry an event, the last one, and none under an event that is not wanted. */
export function dropSurplus<P extends { event: string }>(
  text: string,
  wanted: readonly string[],
  entries: Entries<P>,
): string {
  const isSurplus = ({ event }: P, index: number, places: readonly P[]): boolean =>
    !wanted.includes(event) || places.slice(index + 1).some((other) => other.event === event)
  for (let left = text; ; ) {
    const surplus = entries.places(left).find(isSurplus)
    if (surplus === undefined) return left
    left = entries.remove(left, surplus)
  }
}

export function dropAll<P extends { event: string }>(text: string, entries: Entries<P>): string {
  for (let left = text; ; ) {
    const place = entries.places(left).at(-1)
    if (place === undefined) return left
    left = entries.remove(left, place)
  }
}

/** What is wrong with the outline, for people; null when we know it. */
export function wrongOutline(text: string): string | null {
  const root = scan(text)
  if (root.kind !== 'object') return 'does not hold a JSON object'
  const hooks = memberOf(root, 'hooks')?.value
  if (hooks === undefined) return null
  if (hooks.kind !== 'object') return 'has "hooks" that are not an object'
  const odd = hooks.members.find(({ value }) => value.kind !== 'array')
  return odd === undefined ? null : `has "hooks" in which ${JSON.stringify(odd.key)} is not a list`
}

export function listsOf(text: string): ObjectNode | undefined {
  const root = scan(text)
  const hooks = root.kind === 'object' ? memberOf(root, 'hooks')?.value : undefined
  return hooks?.kind === 'object' ? hooks : undefined
}
