/** Our entries in the text of Claude Code's settings: put in, brought up to date, taken out. */
import { isDeepStrictEqual } from 'node:util'
import { MemError } from '../errors.ts'
import { type EventName, groupFor, hookEntry } from './events.ts'
import { dropAll, dropSurplus, type Entries, type IsOurs, listsOf, wrongOutline } from './hook-lists.ts'
import {
  type ArrayNode,
  addItem,
  addMember,
  memberOf,
  type Node,
  parsedAt,
  removePart,
  replaceNode,
  scan,
} from './json-text.ts'

/** One of our entries, by its place in the lists of the file. */
interface Place {
  event: string
  member: number
  group: number
  hook: number
}

/** `text` is JSON; `file` names it for people. */
export function mergeHooks(
  text: string,
  events: readonly EventName[],
  command: string,
  isOurs: IsOurs,
  file: string,
): string {
  checkShape(text, file)
  let merged = dropSurplus(text, events, entriesOf(isOurs))
  for (const event of events) merged = mergeEvent(merged, event, command, isOurs)
  return merged
}

export function removeHooks(text: string, isOurs: IsOurs, file: string): string {
  checkShape(text, file)
  return dropAll(text, entriesOf(isOurs))
}

/** The events under which there is an entry of ours; one that is there twice is named twice. */
export function registeredEvents(text: string, isOurs: IsOurs): string[] {
  return ourPlaces(text, isOurs).map(({ event }) => event)
}

/** A file that is laid out in another way than we know is left to its owner. */
function checkShape(text: string, file: string): void {
  const wrong = wrongOutline(text)
  if (wrong === null) return
  throw new MemError('bad_setting', `${file} ${wrong}; repair it, then try again. Nothing was changed.`)
}

const entriesOf = (isOurs: IsOurs): Entries<Place> => ({
  places: (text) => ourPlaces(text, isOurs),
  remove: removePlace,
})

function mergeEvent(text: string, event: EventName, command: string, isOurs: IsOurs): string {
  const place = ourPlaces(text, isOurs).find((found) => found.event === event)
  if (place !== undefined) {
    const node = hookList(listsOf(text)?.members[place.member]?.value, place.group)?.items[place.hook]
    const entry = hookEntry(event, command)
    return node === undefined || isDeepStrictEqual(parsedAt(text, node), entry) ? text : replaceNode(text, node, entry)
  }
  const group = groupFor(event, command)
  const lists = listsOf(text)
  if (lists === undefined) {
    const root = scan(text)
    return root.kind === 'object' ? addMember(text, root, 'hooks', { [event]: [group] }) : text
  }
  const groups = memberOf(lists, event)?.value
  return groups?.kind === 'array' ? addItem(text, groups, group) : addMember(text, lists, event, [group])
}

function ourPlaces(text: string, isOurs: IsOurs): Place[] {
  return (listsOf(text)?.members ?? []).flatMap(({ key, value }, member) =>
    groupsOf(value).flatMap((_, group) =>
      (hookList(value, group)?.items ?? []).flatMap((node, hook) =>
        isOurs(commandOf(text, node)) ? [{ event: key, member, group, hook }] : [],
      ),
    ),
  )
}

/** What would be left empty goes with it: the group, the event, the hooks. */
function removePlace(text: string, { member, group, hook }: Place): string {
  const root = scan(text)
  const lists = listsOf(text)
  const groups = lists?.members[member]?.value
  const hooks = hookList(groups, group)
  if (root.kind !== 'object' || lists === undefined || groups?.kind !== 'array' || hooks === undefined) return text
  if (hooks.items.length > 1) return removePart(text, hooks, hook)
  if (groups.items.length > 1) return removePart(text, groups, group)
  if (lists.members.length > 1) return removePart(text, lists, member)
  return removePart(
    text,
    root,
    root.members.findLastIndex(({ key }) => key === 'hooks'),
  )
}

const groupsOf = (list: Node): readonly Node[] => (list.kind === 'array' ? list.items : [])

function hookList(list: Node | undefined, group: number): ArrayNode | undefined {
  const held = list?.kind === 'array' ? list.items[group] : undefined
  const hooks = held?.kind === 'object' ? memberOf(held, 'hooks')?.value : undefined
  return hooks?.kind === 'array' ? hooks : undefined
}

function commandOf(text: string, hook: Node): unknown {
  const command = hook.kind === 'object' ? memberOf(hook, 'command')?.value : undefined
  return command === undefined ? undefined : parsedAt(text, command)
}
