/** Sentences about what came with a change: routes, exports, variables of the environment, tests. */
import type { Language, Sign, SignKind } from './language.ts'
import { COMMON_SIGNS, TODO } from './signs.ts'
import { isSymbol, type SymbolChanges, type View } from './symbols.ts'
import { clean, discreet } from './text.ts'

export const NOTABLE_MAX = 30
/** A new test file would otherwise push everything else out. */
const TESTS_MAX = 15
const EXPORTS_MAX = 8
/** Lines looked at on each side. */
const LINES_MAX = 2_000

interface Saying {
  added: (subject: string) => string
  removed?: (subject: string) => string
}

/** In the order in which they are worth telling. */
const SAYINGS: [SignKind, Saying][] = [
  ['route', { added: (it) => `New route ${it}`, removed: (it) => `Removes route ${it}` }],
  ['schema', { added: (it) => it }],
  ['error', { added: (it) => `Defines error ${it}`, removed: (it) => `Removes error ${it}` }],
  ['code', { added: (it) => `Uses error code ${it}` }],
  [
    'env',
    {
      added: (it) => `Reads environment variable ${it}`,
      removed: (it) => `No longer reads environment variable ${it}`,
    },
  ],
  ['flag', { added: (it) => `Adds CLI flag ${it}`, removed: (it) => `Removes CLI flag ${it}` }],
  ['feature', { added: (it) => `Uses feature flag ${it}`, removed: (it) => `Drops feature flag ${it}` }],
  ['todo', { added: (it) => it }],
]

export function notableChanges(before: View, after: View, changes: SymbolChanges, language: Language): string[] {
  const old = signsOf(before, language)
  const now = signsOf(after, language)
  const sentences: string[] = []
  for (const [kind, say] of SAYINGS) {
    if (kind === 'env') sentences.push(...exportSentences(changes))
    const was = old.get(kind) ?? new Set()
    const is = now.get(kind) ?? new Set()
    for (const subject of is) if (!was.has(subject)) sentences.push(say.added(subject))
    if (say.removed) for (const subject of was) if (!is.has(subject)) sentences.push(say.removed(subject))
  }
  for (const part of changes.modified) if (part.kind === 'route') sentences.push(`Changes route ${part.name}`)
  sentences.push(...testSentences(changes))
  return [...new Set(sentences.map((sentence) => clean(discreet('', sentence))))]
    .filter((it) => it !== '')
    .slice(0, NOTABLE_MAX)
}

function exportSentences(changes: SymbolChanges): string[] {
  const say = (verb: string, names: string[]): string[] => {
    if (names.length === 0) return []
    const more = names.length - EXPORTS_MAX
    return [`${verb} ${names.slice(0, EXPORTS_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`]
  }
  const exported = (parts: SymbolChanges['added']): string[] =>
    parts.filter((part) => part.exported && isSymbol(part) && !part.test).map((part) => part.name)
  return [...say('Exports', exported(changes.added)), ...say('No longer exports', exported(changes.deleted))]
}

function testSentences(changes: SymbolChanges): string[] {
  const tests = (parts: SymbolChanges['added']): string[] =>
    parts.filter((part) => part.kind === 'test' || part.test).map((part) => part.own)
  return [
    ...tests(changes.added).map((name) => `Adds test: ${name}`),
    ...tests(changes.deleted).map((name) => `Removes test: ${name}`),
    ...tests(changes.modified).map((name) => `Changes test: ${name}`),
  ].slice(0, TESTS_MAX)
}

function signsOf(view: View, language: Language): Map<SignKind, Set<string>> {
  const found = new Map<SignKind, Set<string>>()
  const { lines, change } = view.side
  const look = (sign: Sign, text: string): void => {
    const match = sign.pattern.exec(text)
    const subject = match && sign.subject(match)
    if (!subject) return
    const set = found.get(sign.kind)
    if (set) set.add(subject)
    else found.set(sign.kind, new Set([subject]))
  }
  let seen = 0
  for (let i = 0; i < lines.length && seen < LINES_MAX; i++) {
    if (change[i] === 0) continue
    const text = (lines[i] ?? '').trim()
    if (text.length < 4) continue
    seen++
    if (language.comment.test(text)) {
      if (language.name !== 'markdown' && /TODO|FIXME|HACK|XXX/.test(text)) for (const sign of TODO) look(sign, text)
      continue
    }
    for (const gate of language.signs ? COMMON_SIGNS : [])
      if (gate.when.test(text)) for (const sign of gate.signs) look(sign, text)
    for (const sign of language.signs ?? []) look(sign, text)
  }
  return found
}
