/** Which parts are new, modified, deleted or renamed, from the outlines of both sides. */
import type { FunctionChange } from '../../../memory/observation.ts'
import type { Language, Side } from './language.ts'
import type { Outline } from './outline.ts'
import type { Part } from './part.ts'
import { clean } from './text.ts'

export const SYMBOLS_MAX = 40
/** Share of lines two bodies must have in common to be one part under two names. */
const SAME_BODY = 0.5
/** Comparing bodies is quadratic in the number of candidates. */
const RENAME_CANDIDATES = 20

export interface View {
  side: Side
  outline: Outline
}

export interface SymbolChanges {
  symbols: FunctionChange[]
  renamed: { from: string; to: string }[]
  /** The parts behind the sentences about exports, tests and routes. */
  added: Part[]
  deleted: Part[]
  modified: Part[]
}

export function symbolChanges(file: string, before: View, after: View, language: Language): SymbolChanges {
  const oldNames = new Map(before.outline.parts.map((part) => [key(part), part]))
  const newNames = new Set(after.outline.parts.map(key))
  let added = after.outline.parts.filter((part) => isChanged(after, part.at) && !oldNames.has(key(part)))
  let deleted = before.outline.parts.filter((part) => isChanged(before, part.at) && !newNames.has(key(part)))
  const renames = findRenames(deleted, added, before, after)
  const pairs = [...renames]
  for (const [from, to] of renames) {
    // Members follow their class to its new name.
    for (const member of deleted.filter((part) => part.parent === from)) {
      const same = added.find((part) => part.parent === to && part.own === member.own)
      if (same) pairs.push([member, same])
    }
  }
  const from = new Set(pairs.map((pair) => pair[0]))
  const to = new Set(pairs.map((pair) => pair[1]))
  added = added.filter((part) => !to.has(part))
  deleted = deleted.filter((part) => !from.has(part))

  const fresh = new Set(added.map(key))
  let modified = touched(before, after, language, false)
  if (modified.length === 0 && added.length === 0 && deleted.length === 0)
    modified = touched(before, after, language, true)
  const gone = new Set([...deleted, ...from].map(key))
  modified = modified.filter((part) => !fresh.has(key(part)) && !gone.has(key(part)))
  for (const [, part] of renames) if (!modified.some((one) => key(one) === key(part))) modified.push(part)

  const symbols: FunctionChange[] = []
  const seen = new Set<string>()
  const put = (list: Part[], action: FunctionChange['action']): void => {
    for (const part of list) {
      if (!isSymbol(part)) continue
      const name = clean(part.name)
      if (name === '' || seen.has(name) || symbols.length >= SYMBOLS_MAX) continue
      seen.add(name)
      symbols.push({ name, file, action })
    }
  }
  put(added, 'new')
  put(modified, 'modified')
  put(deleted, 'deleted')
  const renamed = renames
    .filter(([old]) => isSymbol(old))
    .map(([old, now]) => ({ from: clean(old.name), to: clean(now.name) }))
    .slice(0, SYMBOLS_MAX)
  return { symbols, renamed, added, deleted, modified }
}

function key(part: Part): string {
  return part.kind === 'test' || part.kind === 'route' ? `${part.kind} ${part.name}` : part.name
}

export function isSymbol(part: Part): boolean {
  return part.kind !== 'test' && part.kind !== 'route' && part.kind !== 'namespace' && part.own !== ''
}

function isChanged(view: View, line: number): boolean {
  return (view.side.change[line] ?? 0) > 0
}

const HOLLOW = /^[\s{}()[\];,]*(?:end|done|fi)?[\s{}()[\];,]*$/

/** Parts that hold a changed line, innermost, in the order of the new side. */
function touched(before: View, after: View, language: Language, comments: boolean): Part[] {
  const found = new Map<string, Part>()
  for (const view of [after, before]) {
    const { lines, change } = view.side
    for (let i = 0; i < lines.length; i++) {
      if (change[i] === 0) continue
      const line = lines[i] ?? ''
      const part = named(view.outline.owner[i] ?? null)
      if (part === null || found.has(key(part)) || HOLLOW.test(line)) continue
      if (i < part.at && sameHead(part, view, view === after ? before : after)) continue
      if (!comments && language.nesting !== 'flat' && language.comment.test(line.trimStart())) continue
      found.set(key(part), part)
    }
  }
  return [...found.values()]
}

/** A patch may show as new the decorators of the old part below a new one. */
function sameHead(part: Part, view: View, other: View): boolean {
  const head = (it: Part, at: View): string => at.side.lines.slice(it.start, it.at).join('\n')
  const twin = other.outline.parts.find((one) => key(one) === key(part))
  return twin !== undefined && head(part, view) === head(twin, other)
}

function named(part: Part | null): Part | null {
  let one = part
  while (one && one.kind === 'namespace') one = one.parent
  return one
}

function findRenames(deleted: Part[], added: Part[], before: View, after: View): [Part, Part][] {
  const pairs: [Part, Part][] = []
  const taken = new Set<Part>()
  for (const old of deleted.slice(0, RENAME_CANDIDATES)) {
    let best: Part | null = null
    let bestScore = 0
    for (const now of added.slice(0, RENAME_CANDIDATES)) {
      if (taken.has(now) || now.kind !== old.kind || now.parent?.name !== old.parent?.name) continue
      const score = likeness(old, now, before, after)
      if (score > bestScore) {
        best = now
        bestScore = score
      }
    }
    if (best === null || bestScore < SAME_BODY) continue
    taken.add(best)
    pairs.push([old, best])
  }
  return pairs
}

/** 0 to 1: the share of lines that both bodies have, or sameness of the declarations where there are no bodies. */
function likeness(old: Part, now: Part, before: View, after: View): number {
  const sameChange = before.side.change[old.at] === after.side.change[now.at]
  const head = (view: View, part: Part): string => (view.side.lines[part.at] ?? '').replace(part.own, '').trim()
  const sameHead = head(before, old) === head(after, now)
  const oldBody = body(before, old)
  const newBody = body(after, now)
  if (oldBody.length === 0 || newBody.length === 0)
    return sameHead && sameChange && oldBody.length === newBody.length ? 1 : 0
  const there = new Set(newBody)
  const shared = oldBody.filter((line) => there.has(line)).length / Math.max(oldBody.length, newBody.length)
  return sameHead && sameChange ? Math.max(shared, oldBody.length <= 2 && newBody.length <= 2 ? SAME_BODY : 0) : shared
}

function body(view: View, part: Part): string[] {
  return view.side.lines
    .slice(part.at + 1, Math.min(part.end + 1, part.at + 200))
    .map((line) => line.trim())
    .filter((line) => line !== '' && !HOLLOW.test(line))
}
