/** What an edit did to a file, in terms of its language. Pure, bounded in time and size, and never throws. */
import type { CodeChange, FileEdit } from '../types.ts'
import { cleanName, looksBinary } from './code-text.ts'
import { detectLanguage, splitRegions } from './detect.ts'
import { readEditSides } from './edit-sides.ts'
import type { EditSide, Language } from './language.ts'
import { MAX_NOTABLE_CHANGES, notableChanges } from './notable.ts'
import { outlineSide } from './outline.ts'
import { MAX_SYMBOLS, symbolChanges } from './symbols.ts'
import { MAX_VALUE_CHANGES, valueChanges } from './values.ts'

const MAX_IMPORTS = 30

type Findings = Pick<CodeChange, 'symbols' | 'renamed' | 'values' | 'imports' | 'notable'>

export function describeChange(edit: FileEdit): CodeChange {
  const sides = readEditSides(edit)
  const detected = isBinary(edit) ? null : detectLanguage(edit.file)
  const change: CodeChange = {
    file: edit.file,
    language: detected?.name ?? null,
    kind: edit.before === null ? 'created' : edit.after === null ? 'deleted' : 'edited',
    symbols: [],
    renamed: [],
    values: [],
    imports: { added: [], removed: [] },
    notable: [],
    linesAdded: sides.added,
    linesRemoved: sides.removed,
  }
  if (detected === null || detected.generated) return change
  const regions = detected.language
    ? [{ language: detected.language, old: sides.old, new: sides.new }]
    : splitRegions(sides.old, sides.new, edit.file)
  const findings = merge(regions.map((region) => compareSides(edit, region.old, region.new, region.language)))
  // Without the text before or a patch, no symbol is known to be new.
  const isUnknown = edit.before === undefined && edit.hunks.length === 0
  const symbols = isUnknown
    ? findings.symbols.map((one) => ({ ...one, action: 'modified' as const }))
    : findings.symbols
  return { ...change, ...findings, symbols }
}

function isBinary(edit: FileEdit): boolean {
  const hunkLines = edit.hunks.slice(0, 3).flatMap((hunk) => hunk.lines.slice(0, 20))
  return [edit.before ?? '', edit.after ?? '', ...hunkLines].some(looksBinary)
}

function compareSides(edit: FileEdit, old: EditSide, now: EditSide, language: Language): Findings {
  const before = outlineSide(old, language)
  const after = outlineSide(now, language)
  const changes = symbolChanges(cleanName(edit.file, 1_000), before, after, language)
  return {
    symbols: changes.symbols,
    renamed: changes.renamed,
    values: valueChanges(before, after, language),
    imports: importChanges(old, now, language),
    notable: notableChanges(before, after, changes, language),
  }
}

function merge(all: Findings[]): Findings {
  return {
    symbols: all.flatMap((one) => one.symbols).slice(0, MAX_SYMBOLS),
    renamed: all.flatMap((one) => one.renamed).slice(0, MAX_SYMBOLS),
    values: all.flatMap((one) => one.values).slice(0, MAX_VALUE_CHANGES),
    imports: {
      added: all.flatMap((one) => one.imports.added).slice(0, MAX_IMPORTS),
      removed: all.flatMap((one) => one.imports.removed).slice(0, MAX_IMPORTS),
    },
    notable: all.flatMap((one) => one.notable).slice(0, MAX_NOTABLE_CHANGES),
  }
}

function importChanges(before: EditSide, after: EditSide, language: Language): CodeChange['imports'] {
  const old = findImports(before, language)
  const now = findImports(after, language)
  return { added: [...now].filter((name) => !old.has(name)), removed: [...old].filter((name) => !now.has(name)) }
}

function findImports(side: EditSide, language: Language): Set<string> {
  const modules = new Set<string>()
  side.lines.forEach((line, i) => {
    const text = line.trim()
    if (side.change[i] === 0 || text.length < 4) return
    let modulesOfLine: string | undefined
    for (const pattern of language.imports ?? []) modulesOfLine ??= pattern.exec(text)?.[1]
    for (const item of modulesOfLine?.split(',') ?? []) {
      const name = cleanName(
        item
          .trim()
          .replace(/\sas\s.*$/, '')
          .replace(/(?:::)?\{.*$/, '')
          .replace(/(?:::|\.)\*?$/, ''),
      )
      if (/^[@~./\w\\:*+-]+$/.test(name)) modules.add(name)
    }
  })
  return modules
}
