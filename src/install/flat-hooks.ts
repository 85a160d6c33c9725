/** Our entries in the text of a `hooks.json` of Cursor's form: under each event a plain list of commands. */
import { MemError } from '../errors.ts'
import { dropAll, dropSurplus, type Entries, type IsOurs, listsOf, wrongOutline } from './hook-lists.ts'
import { addItem, addMember, memberOf, type Node, parsedAt, removePart, replaceNode, scan } from './json-text.ts'

/** The only one there is. */
const VERSION = 1

/** `text` is JSON; `file` names it for people. */
export function mergeFlatHooks(
  text: string,
  events: readonly string[],
  command: string,
  isOurs: IsOurs,
  file: string,
): string {
  checkShape(text, file)
  let merged = withVersion(dropSurplus(text, events, entriesOf(isOurs)))
  for (const event of events) merged = mergeEvent(merged, event, command, isOurs)
  return merged
}

export function removeFlatHooks(text: string, isOurs: IsOurs, file: string): string {
  checkShape(text, file)
  return dropAll(text, entriesOf(isOurs))
}

/** The events under which there is an entry of ours; one that is there twice is named twice. */
export function flatEvents(text: string, isOurs: IsOurs): string[] {
  return ourPlaces(text, isOurs).map(({ event }) => event)
}

/** Nothing but the version: what is left of a file that was ours alone. */
export function isBareFlatHooks(text: string): boolean {
  const root = scan(text)
  return root.kind === 'object' && root.members.every(({ key }) => key === 'version')
}

interface Place {
  event: string
  member: number
  item: number
}

function checkShape(text: string, file: string): void {
  const outline = wrongOutline(text)
  const wrong = outline === null ? wrongVersion(text) : `${outline}; repair it, then try again`
  if (wrong !== null) throw new MemError('bad_setting', `${file} ${wrong}. Nothing was changed.`)
}

function wrongVersion(text: string): string | null {
  const root = scan(text)
  const version = root.kind === 'object' ? memberOf(root, 'version') : undefined
  if (version === undefined || parsedAt(text, version.value) === VERSION) return null
  return `has a "version" other than ${VERSION}, which this claude-mem does not know; update claude-mem`
}

const entriesOf = (isOurs: IsOurs): Entries<Place> => ({
  places: (text) => ourPlaces(text, isOurs),
  remove: removePlace,
})

function withVersion(text: string): string {
  const root = scan(text)
  if (root.kind !== 'object' || memberOf(root, 'version') !== undefined) return text
  return addMember(text, root, 'version', VERSION)
}

function mergeEvent(text: string, event: string, command: string, isOurs: IsOurs): string {
  const lists = listsOf(text)
  const place = ourPlaces(text, isOurs).find((found) => found.event === event)
  if (place !== undefined) {
    const node = commandNode(itemsOf(lists?.members[place.member]?.value)[place.item])
    // Only the command is ours to bring up to date: a limit of time that somebody put beside it stays.
    return node === undefined || parsedAt(text, node) === command ? text : replaceNode(text, node, command)
  }
  if (lists === undefined) {
    const root = scan(text)
    return root.kind === 'object' ? addMember(text, root, 'hooks', { [event]: [{ command }] }) : text
  }
  const list = memberOf(lists, event)?.value
  return list?.kind === 'array' ? addItem(text, list, { command }) : addMember(text, lists, event, [{ command }])
}

function ourPlaces(text: string, isOurs: IsOurs): Place[] {
  return (listsOf(text)?.members ?? []).flatMap(({ key, value }, member) =>
    itemsOf(value).flatMap((entry, item) => {
      const node = commandNode(entry)
      return node !== undefined && isOurs(parsedAt(text, node)) ? [{ event: key, member, item }] : []
    }),
  )
}

/** What would be left empty goes with it: the event, the hooks. */
function removePlace(text: string, { member, item }: Place): string {
  const root = scan(text)
  const lists = listsOf(text)
  const list = lists?.members[member]?.value
  if (root.kind !== 'object' || lists === undefined || list?.kind !== 'array') return text
  if (list.items.length > 1) return removePart(text, list, item)
  if (lists.members.length > 1) return removePart(text, lists, member)
  return removePart(
    text,
    root,
    root.members.findLastIndex(({ key }) => key === 'hooks'),
  )
}

const itemsOf = (list: Node | undefined): readonly Node[] => (list?.kind === 'array' ? list.items : [])

function commandNode(entry: Node | undefined): Node | undefined {
  return entry?.kind === 'object' ? memberOf(entry, 'command')?.value : undefined
}
