/** One observation, summary or skip as it stands in a reply, before its fields are understood. */
import type { Attributes } from './attributes.ts'
import type { ListName, RootName, TextName } from './tags.ts'

export interface Item {
  kind: 'item'
  attributes: Attributes
  raw: string
  /** What tags inside say, where the item is made of parts. */
  parts: ReadonlyMap<string, string>
}
export type Entry = Item | { kind: 'loose'; raw: string }

export interface Element {
  root: RootName
  /** Null where the fields stand without a root around them. */
  attributes: Attributes | null
  texts: Map<TextName, string[]>
  lists: Map<ListName, Entry[]>
  /** Text outside all fields. */
  loose: string
  start: number
  end: number
  closed: boolean
}

export function addTo<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const values = map.get(key)
  if (values === undefined) map.set(key, [value])
  else values.push(value)
}
