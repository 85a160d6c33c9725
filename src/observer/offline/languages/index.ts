/** What an edit did to a file, in the words of its language. Pure, bounded, and never throws. */
import type { CodeChange, FileEdit } from '../types.ts'
import { detect } from './detect.ts'
import { IMPORTS_MAX, importChanges } from './imports.ts'
import type { Language, Side } from './language.ts'
import { NOTABLE_MAX, notableChanges } from './notable.ts'
import { outline } from './outline.ts'
import { regionsOf } from './regions.ts'
import { type Sides, sidesOf } from './sides.ts'
import { SYMBOLS_MAX, symbolChanges } from './symbols.ts'
import { clean, looksBinary } from './text.ts'
import { VALUES_MAX, valueChanges } from './values.ts'

type Findings = Pick<CodeChange, 'symbols' | 'renamed' | 'values' | 'imports' | 'notable'>

export function describeChange(edit: FileEdit): CodeChange {
  const kind = edit.before === null ? 'created' : edit.after === null ? 'deleted' : 'edited'
  const sides = sidesOf(edit)
  const binary = isBinary(edit)
  const found = binary ? null : detect(edit.file)
  const base = {
    file: edit.file,
    language: found?.name ?? null,
    kind,
    linesAdded: sides.added,
    linesRemoved: sides.removed,
  } as const
  if (found === null || found.generated) return { ...base, ...nothing() }
  if (found.language) return { ...base, ...settle(read(edit, sides.old, sides.new, found.language), edit) }
  return { ...base, ...settle(readRegions(edit, sides), edit) }
}

function nothing(): Findings {
  return { symbols: [], renamed: [], values: [], imports: { added: [], removed: [] }, notable: [] }
}

function isBinary(edit: FileEdit): boolean {
  return [
    edit.before ?? '',
    edit.after ?? '',
    ...edit.hunks.slice(0, 3).flatMap((hunk) => hunk.lines.slice(0, 20)),
  ].some(looksBinary)
}

function read(edit: FileEdit, old: Side, now: Side, language: Language): Findings {
  const before = { side: old, outline: outline(old, language) }
  const after = { side: now, outline: outline(now, language) }
  const changes = symbolChanges(clean(edit.file, 1_000), before, after, language)
  return {
    symbols: changes.symbols,
    renamed: changes.renamed,
    values: valueChanges(before, after, language),
    imports: importChanges(old, now, language),
    notable: notableChanges(before, after, changes, language),
  }
}

function readRegions(edit: FileEdit, sides: Sides): Findings {
  const all = regionsOf(sides.old, sides.new, edit.file).map((region) =>
    read(edit, region.old, region.new, region.language),
  )
  return {
    symbols: all.flatMap((one) => one.symbols).slice(0, SYMBOLS_MAX),
    renamed: all.flatMap((one) => one.renamed).slice(0, SYMBOLS_MAX),
    values: all.flatMap((one) => one.values).slice(0, VALUES_MAX),
    imports: {
      added: all.flatMap((one) => one.imports.added).slice(0, IMPORTS_MAX),
      removed: all.flatMap((one) => one.imports.removed).slice(0, IMPORTS_MAX),
    },
    notable: all.flatMap((one) => one.notable).slice(0, NOTABLE_MAX),
  }
}

/** Where nobody said what was there before, nothing can be called new. */
function settle(findings: Findings, edit: FileEdit): Findings {
  if (edit.before !== undefined || edit.hunks.length > 0) return findings
  return { ...findings, symbols: findings.symbols.map((symbol) => ({ ...symbol, action: 'modified' as const })) }
}
