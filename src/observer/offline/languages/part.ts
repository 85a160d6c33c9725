/** A named piece of a file, and how a declaration becomes one. */
import type { Declaration, Language, PartKind } from './language.ts'

const NAME = /^[\p{L}_$#@][\p{L}\p{N}_$]*[?!=]?$/u
const NAME_MAX = 80

export interface Part {
  /** As a person would say it: `Cart.addItem`. */
  name: string
  own: string
  kind: PartKind
  parent: Part | null
  /** First and last line, decorators included. */
  start: number
  end: number
  /** The line that declares it. */
  at: number
  exported: boolean
  test: boolean
}

export interface Found {
  rule: Declaration
  match: RegExpExecArray
}

export function declared(text: string, language: Language, parent: Part | null): Found | null {
  for (const rule of language.declarations) {
    if ((rule.member === true) !== (parent !== null)) continue
    const match = rule.pattern.exec(text)
    if (match) return { rule, match }
  }
  return null
}

export function makePart(
  found: Found,
  language: Language,
  parent: Part | null,
  start: number,
  at: number,
  lines: string[],
): Part | null {
  const { rule, match } = found
  // What a function keeps in a local is the function's affair.
  if (
    (rule.kind === 'const' || rule.kind === 'object') &&
    parent &&
    !holdsMembers(parent) &&
    parent.kind !== 'namespace'
  )
    return null
  const own = (match.groups?.name ?? '').trim()
  const owner = match.groups?.owner
  const free = rule.kind === 'test' || rule.kind === 'route' || rule.kind === 'namespace' || rule.kind === 'section'
  if (!free && (own.length > NAME_MAX || !(language.identifier ?? NAME).test(own))) return null
  const line = lines[at] ?? ''
  const verb = match.groups?.verb
  return {
    name: verb ? `${verb.toUpperCase()} ${own}` : owner ? `${owner}.${own}` : qualified(own, parent, rule.kind),
    own,
    kind: rule.kind,
    parent,
    start,
    end: at,
    at,
    exported: language.exported?.(line.trim(), own) ?? false,
    test: language.test ? lines.slice(start, at + 1).some((one) => language.test?.test(one.trim())) : false,
  }
}

/** At most the nearest owner: `Shop.Cart.addItem` is `Cart.addItem` to those who work on it. */
function qualified(own: string, parent: Part | null, kind: PartKind): string {
  if (kind === 'test' || kind === 'section') return own
  let holder = parent
  while (
    holder &&
    (holder.kind === 'namespace' || holder.kind === 'test' || holder.kind === 'route' || holder.own === '')
  )
    holder = holder.parent
  return holder ? `${holder.own}.${own}` : own
}

export function holdsMembers(part: Part): boolean {
  return part.kind === 'type' || part.kind === 'object'
}
