/** Which parts are new, modified, deleted or renamed, from the outlines of both sides. */
import type { FunctionChange } from '../../../domain/observation.ts'
import { cleanName } from './code-text.ts'
import type { Language } from './language.ts'
import { type CodePart, type OutlinedSide, withoutNamespace } from './outline.ts'

export const MAX_SYMBOLS = 40
/** Share of lines that two bodies must have in common to be one part under two names. */
const SAME_BODY = 0.5
/** The comparison of bodies is quadratic in the number of candidates. */
const MAX_RENAME_CANDIDATES = 20
const MAX_BODY_LINES = 200

export interface SymbolChanges {
  symbols: FunctionChange[]
  renamed: { from: string; to: string }[]
  added: CodePart[]
  deleted: CodePart[]
  modified: CodePart[]
}

export function symbolChanges(
  file: string,
  before: OutlinedSide,
  after: OutlinedSide,
  language: Language,
): SymbolChanges {
  const oldKeys = new Set(before.outline.parts.map(partKey))
  const newKeys = new Set(after.outline.parts.map(partKey))
  const appeared = after.outline.parts.filter((part) => isChanged(after, part.at) && !oldKeys.has(partKey(part)))
  const vanished = before.outline.parts.filter((part) => isChanged(before, part.at) && !newKeys.has(partKey(part)))
  const renames = findRenames(vanished, appeared, before, after)
  const pairs = [...renames, ...renames.flatMap((rename) => renamedMembers(rename, vanished, appeared))]
  const oldParts = new Set(pairs.map(([old]) => old))
  const newParts = new Set(pairs.map(([, now]) => now))
  const added = appeared.filter((part) => !newParts.has(part))
  const deleted = vanished.filter((part) => !oldParts.has(part))

  let touched = touchedParts(before, after, language, false)
  if (touched.length === 0 && added.length === 0 && deleted.length === 0)
    touched = touchedParts(before, after, language, true)
  const notModified = new Set([...added, ...deleted, ...oldParts].map(partKey))
  const modified = touched.filter((part) => !notModified.has(partKey(part)))
  for (const [, part] of renames) if (!modified.some((one) => partKey(one) === partKey(part))) modified.push(part)

  const renamed = renames
    .filter(([old]) => isSymbol(old))
    .map(([old, now]) => ({ from: cleanName(old.name), to: cleanName(now.name) }))
    .slice(0, MAX_SYMBOLS)
  return { symbols: functionChanges(file, added, modified, deleted), renamed, added, deleted, modified }
}

function functionChanges(file: string, added: CodePart[], modified: CodePart[], deleted: CodePart[]): FunctionChange[] {
  const symbols = new Map<string, FunctionChange>()
  const lists: [CodePart[], FunctionChange['action']][] = [
    [added, 'new'],
    [modified, 'modified'],
    [deleted, 'deleted'],
  ]
  for (const [parts, action] of lists) {
    for (const part of parts.filter(isSymbol)) {
      const name = cleanName(part.name)
      if (name !== '' && !symbols.has(name) && symbols.size < MAX_SYMBOLS) symbols.set(name, { name, file, action })
    }
  }
  return [...symbols.values()]
}

/** Members of a renamed class are renamed with it. */
function renamedMembers([from, to]: [CodePart, CodePart], deleted: CodePart[], added: CodePart[]) {
  const members = deleted.filter((part) => part.parent === from)
  return members.flatMap((member): [CodePart, CodePart][] => {
    const same = added.find((part) => part.parent === to && part.ownName === member.ownName)
    return same ? [[member, same]] : []
  })
}

/** A test or route may have the name of a function. */
function partKey(part: CodePart): string {
  return part.kind === 'test' || part.kind === 'route' ? `${part.kind} ${part.name}` : part.name
}

export function isSymbol(part: CodePart): boolean {
  return part.kind !== 'test' && part.kind !== 'route' && part.kind !== 'namespace' && part.ownName !== ''
}

function isChanged({ side }: OutlinedSide, line: number): boolean {
  return (side.change[line] ?? 0) > 0
}

const ONLY_BRACKETS = /^[\s{}()[\];,]*(?:end|done|fi)?[\s{}()[\];,]*$/

/** The innermost parts with a changed line, in the order of the new side. */
function touchedParts(
  before: OutlinedSide,
  after: OutlinedSide,
  language: Language,
  countComments: boolean,
): CodePart[] {
  const found = new Map<string, CodePart>()
  for (const [view, other] of [
    [after, before],
    [before, after],
  ] as const) {
    view.side.lines.forEach((line, i) => {
      if (view.side.change[i] === 0) return
      const part = withoutNamespace(view.outline.owner[i] ?? null)
      if (part === null || found.has(partKey(part)) || ONLY_BRACKETS.test(line)) return
      if (i < part.at && hasSameDecorators(part, view, other)) return
      if (!countComments && language.nesting !== 'flat' && language.comment.test(line.trimStart())) return
      found.set(partKey(part), part)
    })
  }
  return [...found.values()]
}

/** Where a part is inserted above another one, a patch may show the decorators of the other one as new. */
function hasSameDecorators(part: CodePart, view: OutlinedSide, other: OutlinedSide): boolean {
  const decorators = (one: CodePart, { side }: OutlinedSide) => side.lines.slice(one.start, one.at).join('\n')
  const twin = other.outline.parts.find((one) => partKey(one) === partKey(part))
  return twin !== undefined && decorators(part, view) === decorators(twin, other)
}

function findRenames(
  deleted: CodePart[],
  added: CodePart[],
  before: OutlinedSide,
  after: OutlinedSide,
): [CodePart, CodePart][] {
  const renames = new Map<CodePart, CodePart>()
  for (const old of deleted.slice(0, MAX_RENAME_CANDIDATES)) {
    let best: CodePart | null = null
    let bestScore = 0
    for (const now of added.slice(0, MAX_RENAME_CANDIDATES)) {
      if (renames.has(now) || now.kind !== old.kind || now.parent?.name !== old.parent?.name) continue
      const score = similarity(old, now, before, after)
      if (score <= bestScore) continue
      best = now
      bestScore = score
    }
    if (best !== null && bestScore >= SAME_BODY) renames.set(best, old)
  }
  return [...renames].map(([now, old]) => [old, now])
}

/** 0 to 1: the share of lines that both bodies have; without bodies, whether the declarations are equal. */
function similarity(old: CodePart, now: CodePart, before: OutlinedSide, after: OutlinedSide): number {
  const declaration = ({ side }: OutlinedSide, part: CodePart) =>
    (side.lines[part.at] ?? '').replace(part.ownName, '').trim()
  const sameDeclaration =
    before.side.change[old.at] === after.side.change[now.at] && declaration(before, old) === declaration(after, now)
  const oldBody = bodyLines(before, old)
  const newBody = bodyLines(after, now)
  if (oldBody.length === 0 || newBody.length === 0) return sameDeclaration && oldBody.length === newBody.length ? 1 : 0
  const newLines = new Set(newBody)
  const shared = oldBody.filter((line) => newLines.has(line)).length / Math.max(oldBody.length, newBody.length)
  const isShort = oldBody.length <= 2 && newBody.length <= 2
  return sameDeclaration && isShort ? Math.max(shared, SAME_BODY) : shared
}

function bodyLines({ side }: OutlinedSide, part: CodePart): string[] {
  return side.lines
    .slice(part.at + 1, Math.min(part.end + 1, part.at + MAX_BODY_LINES))
    .map((line) => line.trim())
    .filter((line) => line !== '' && !ONLY_BRACKETS.test(line))
}
