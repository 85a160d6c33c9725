/** Names whose value changed, came or went. */
import type { ValueChange } from '../types.ts'
import type { Entry, Language } from './language.ts'
import { changedLiterals } from './literals.ts'
import type { Part } from './part.ts'
import type { View } from './symbols.ts'
import { clean, discreet, LINE_MAX, MASK, unquote } from './text.ts'

export const VALUES_MAX = 30
const VALUE_MAX = 80
const EMPTY = /^(?:0|null|None|nil|true|false|True|False|''|""|\[\]|\{\}|new \w+\(\)|\w+\(\))$/

export function valueChanges(before: View, after: View, language: Language): ValueChange[] {
  if (language.entries) return finish(compare(language.entries(before.side), language.entries(after.side)), language)
  const constants = compare(constantsOf(before, language), constantsOf(after, language)).filter(
    (value) => !isInitial(value),
  )
  const known = new Set(constants.map((value) => lastPiece(value.name)))
  const literals = changedLiterals(before, after, language).filter((value) => !known.has(lastPiece(value.name)))
  return finish([...constants, ...literals], language)
}

/** A field that begins empty tells nothing by that. */
function isInitial(value: ValueChange): boolean {
  const one = value.from === null ? value.to : value.to === null ? value.from : null
  return one !== null && value.name.includes('.') && EMPTY.test(one)
}

function lastPiece(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

/** What one side has and the other has not, paired by name in the order they stand. */
function compare(old: Entry[], now: Entry[]): ValueChange[] {
  const left = new Map<string, string[]>()
  for (const { name, value } of old) {
    const list = left.get(name)
    if (list) list.push(value)
    else left.set(name, [value])
  }
  const rest: Entry[] = []
  for (const entry of now) {
    const list = left.get(entry.name)
    const at = list?.indexOf(entry.value) ?? -1
    if (at >= 0) list?.splice(at, 1)
    else rest.push(entry)
  }
  const changes: ValueChange[] = rest.map(({ name, value }) => ({
    name,
    from: left.get(name)?.shift() ?? null,
    to: value,
  }))
  for (const [name, values] of left) for (const value of values) changes.push({ name, from: value, to: null })
  return changes
}

/** Constants of the file and of its classes; what a function keeps to itself is no news by its name. */
function constantsOf(view: View, language: Language): Entry[] {
  const entries: Entry[] = []
  if (!language.constants) return entries
  const { lines, change } = view.side
  for (let i = 0; i < lines.length && entries.length < VALUES_MAX * 4; i++) {
    const line = lines[i] ?? ''
    if (change[i] === 0 || line.length >= LINE_MAX) continue
    const owner = holder(view.outline.owner[i] ?? null)
    if (!holdsConstants(owner, i)) continue
    const text = line.trim()
    for (const pattern of language.constants) {
      const groups = pattern.exec(text)?.groups
      if (!groups?.name || groups.value === undefined) continue
      const inside = owner && owner.own !== groups.name && owner.own !== '' ? `${owner.own}.` : ''
      entries.push({ name: inside + groups.name, value: groups.value.trim() })
      break
    }
  }
  return entries
}

function holder(part: Part | null): Part | null {
  let one = part
  while (one && one.kind === 'namespace') one = one.parent
  return one
}

function holdsConstants(owner: Part | null, line: number): boolean {
  return owner === null || owner.kind === 'type' || owner.kind === 'section' || owner.at === line
}

function finish(changes: ValueChange[], language: Language): ValueChange[] {
  const seen = new Set<string>()
  const result: ValueChange[] = []
  for (const change of changes) {
    const name = clean(change.name)
    if (name === '') continue
    const show = (value: string | null): string | null => {
      if (value === null) return null
      return language.secret ? MASK : clean(discreet(name, unquote(value.trim())), VALUE_MAX)
    }
    const value = { name, from: show(change.from), to: show(change.to) }
    const key = `${value.name}\0${value.from}\0${value.to}`
    if (seen.has(key) || (value.from === value.to && value.to !== MASK)) continue
    seen.add(key)
    result.push(value)
    if (result.length >= VALUES_MAX) break
  }
  return result
}
