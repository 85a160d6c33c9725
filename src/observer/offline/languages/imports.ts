/** Modules that came or went. */
import type { Language, Side } from './language.ts'
import { clean } from './text.ts'

export const IMPORTS_MAX = 30
const MODULE = /^[@~./\w\\:*+-]+$/

export function importChanges(before: Side, after: Side, language: Language): { added: string[]; removed: string[] } {
  const old = importsOf(before, language)
  const now = importsOf(after, language)
  const without = (list: Set<string>, other: Set<string>): string[] =>
    [...list].filter((it) => !other.has(it)).slice(0, IMPORTS_MAX)
  return { added: without(now, old), removed: without(old, now) }
}

function importsOf(side: Side, language: Language): Set<string> {
  const found = new Set<string>()
  if (!language.imports) return found
  for (let i = 0; i < side.lines.length; i++) {
    if (side.change[i] === 0) continue
    const text = (side.lines[i] ?? '').trim()
    if (text.length < 4) continue
    for (const pattern of language.imports) {
      const match = pattern.exec(text)
      if (!match) continue
      for (const piece of (match[1] ?? '').split(',')) {
        const name = clean(
          piece
            .trim()
            .replace(/\s+as\s+.*$/, '')
            .replace(/(?:::)?\{.*$/, '')
            .replace(/(?:::|\.)\*?$/, ''),
        )
        if (MODULE.test(name)) found.add(name)
      }
      break
    }
  }
  return found
}
